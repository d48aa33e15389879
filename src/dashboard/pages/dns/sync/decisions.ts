import type { PlanView } from '../../../../features/dns/sync/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { toast } from '../../../parts/toast'
import { useSend } from '../../../queries'
import { useZoneChange } from '../zone-change'
import type { DriftRow } from './drift-entry'

export interface Decisions {
  /** Makes the zone here as it is at the providers, for these rows. */
  adopt(rows: readonly DriftRow[]): void
  /** Plans to put these rows back at the providers, and shows the plan. */
  enforce(rows: readonly DriftRow[]): void
  /** Leaves what is at the provider alone from now on. */
  ignore(row: DriftRow): void
  isPending: boolean
}

/** What can be decided of what differs. @param show opens a plan by its id */
export function useDecisions(zone: ZoneView, show: (planId: string) => void): Decisions {
  const path = `/dns/zones/${zone.id}`
  const { change, isPending: isAdopting } = useZoneChange(zone)
  const plan = useSend<PlanView>({ stale: [`${path}/plans`], onDone: made => show(made.id) })
  const ignore = useSend<ZoneView>({
    done: 'It is left alone from now on',
    stale: ['/dns/zones'],
    undo: () => ({ method: 'PATCH', path, body: { ignore_rules: zone.ignore_rules } }),
  })
  return {
    async adopt(rows) {
      try {
        // One call a provider, since names and types are those of one.
        for (const [target_id, ofTarget] of Map.groupBy(rows, one => one.target_id)) {
          const rrsets = ofTarget.map(({ name, type }) => ({ name, type }))
          const done = rrsets.length === 1 ? `Took over ${rrsets[0]!.name} ${rrsets[0]!.type}` : `Took over ${rrsets.length}`
          await change({ call: { method: 'POST', path: `${path}/adopt`, body: { rrsets, target_id } }, done, rrsets })
        }
      } catch (error) {
        toast.failed(error)
      }
    },
    enforce: rows => {
      const rrsets = new Map(rows.map(({ name, type }) => [`${name} ${type}`, { name, type }]))
      const targets = [...new Set(rows.map(one => one.target_id))]
      plan.mutate({ method: 'POST', path: `${path}/plan`, body: { targets, enforce: [...rrsets.values()] } })
    },
    ignore: ({ name, type }) =>
      ignore.mutate({ method: 'PATCH', path, body: { ignore_rules: [...zone.ignore_rules, { name, types: [type] }] } }),
    isPending: isAdopting || plan.isPending || ignore.isPending,
  }
}
