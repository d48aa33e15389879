import type { Drift } from '../../../../features/dns/drift/shapes'
import type { PlanView } from '../../../../features/dns/plans/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { toast } from '../../../parts/toast'
import { useSend } from '../../../queries'
import { useZoneChange } from '../zone-change'

export type DriftRow = Drift['rrsets'][number]

export interface Decisions {
  /** Adopts the state at the providers for these rows. */
  adopt(rows: readonly DriftRow[]): void
  /** Creates a plan that reverts these rows at the providers, and opens it. */
  enforce(rows: readonly DriftRow[]): void
  /** Ignores an unmanaged rrset from now on. */
  ignore(row: DriftRow): void
  isPending: boolean
}

/** Actions for drift. @param show opens a plan by its id */
export function useDecisions(zone: ZoneView, show: (planId: string) => void): Decisions {
  const path = `/dns/zones/${zone.id}`
  const { change, isPending: isAdopting } = useZoneChange(zone)
  const plan = useSend<PlanView>({ invalidates: [`${path}/plans`], onSuccess: made => show(made.id) })
  const ignore = useSend<ZoneView>({
    toast: 'Ignore rule added',
    invalidates: ['/dns/zones'],
    undo: () => ({ method: 'PATCH', path, body: { ignore_rules: zone.ignore_rules } }),
  })
  return {
    async adopt(rows) {
      try {
        // One call per provider, since names and types refer to one target.
        for (const [target_id, ofTarget] of Map.groupBy(rows, one => one.target_id)) {
          const rrsets = ofTarget.map(({ name, type }) => ({ name, type }))
          const done =
            rrsets.length === 1 ? `${rrsets[0]!.name} ${rrsets[0]!.type} adopted` : `${rrsets.length} record sets adopted`
          await change({ call: { method: 'POST', path: `${path}/adopt`, body: { rrsets, target_id } }, done, rrsets })
        }
      } catch (error) {
        toast.error(error)
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
