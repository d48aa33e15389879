import { CircleCheck, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { Drift } from '../../../../features/dns/drift/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { useUrlState } from '../../../parts/url-state'
import { Button, LinkButton } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Filters, UrlFilter, UrlSearch } from '../../../parts/filters'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { SendButton } from '../../../parts/send-button'
import { capitalize, humanize } from '../../../parts/status'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ActionOutcome } from '../action-outcome'
import { useProviderNames } from '../provider-names'
import { ZoneFrame } from '../zone-frame'
import { DriftEntry, keyOf, canAdopt } from './drift-entry'
import { type DriftRow, useDecisions } from './decisions'
import { ForeignEntries } from './foreign-entries'
import { IgnoreRules } from './ignore-rules'
import { PlanDialog } from './plan-review'

const pageSize = 100

/** Rrsets of a zone that are out of sync, and what to do about them. */
export default function DriftTab({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const nameOf = useProviderNames()
  const path = `/dns/zones/${zone.id}`
  const found = useOne<Drift>(`${path}/drift`, {}, { refetchMs: 15_000 })
  const [{ q, state, target }, set] = useUrlState({ q: '', state: '', target: '', plan: '' })
  const [selectedKeys, setSelectedKeys] = useState<ReadonlySet<string>>(new Set())
  const [shownCount, setShownCount] = useState(pageSize)
  const [refreshId, setRefreshId] = useState<string | null>(null)
  const decide = useDecisions(zone, id => set({ plan: id }))

  const all = found.data?.rrsets ?? []
  const rows = all.filter(
    one =>
      (state === '' || one.state === state) && (target === '' || one.target_id === target) && one.name.includes(q.toLowerCase()),
  )
  const picked = rows.filter(one => selectedKeys.has(keyOf(one)))
  const byTarget = [...Map.groupBy(rows.slice(0, shownCount), one => one.target_id)]
  const choose = (row: DriftRow) => {
    const next = new Set(selectedKeys)
    if (!next.delete(keyOf(row))) next.add(keyOf(row))
    setSelectedKeys(next)
  }
  return (
    <ZoneFrame
      zone={zone}
      actions={
        canWrite &&
        zone.sync.targets.length > 0 && (
          <SendButton<ActionView>
            icon={RefreshCw}
            call={{ method: 'POST', path: `${path}/refresh`, body: {} }}
            send={{ onSuccess: action => setRefreshId(action.id) }}
          >
            Refresh from providers
          </SendButton>
        )
      }
    >
      {refreshId && (
        <div className="mb-4">
          <ActionOutcome
            key={refreshId}
            id={refreshId}
            done={() => 'Refreshed from the providers.'}
            onEnd={() => void found.refetch()}
          />
        </div>
      )}
      {found.error && !found.data ? (
        <Problem error={found.error} onRetry={() => void found.refetch()} />
      ) : all.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface">
          {found.data ? <Nothing zone={zone} /> : <div className="h-64 animate-pulse bg-hover" />}
        </div>
      ) : (
        <>
          <Filters>
            <UrlSearch name="q" label="Search names" />
            <UrlFilter name="state" label="Status" all="All statuses" choices={statesOf(all)} />
            {zone.sync.targets.length > 1 && (
              <UrlFilter
                name="target"
                label="Provider"
                all="All providers"
                choices={zone.sync.targets.map(one => [one.id, nameOf(one.provider_id)] as const)}
              />
            )}
            {canWrite && (
              <span className="flex grow flex-wrap items-center justify-end gap-2">
                <span className="text-[13px] text-muted">
                  {picked.length > 0 ? `${picked.length} selected` : `${rows.length} out of sync`}
                </span>
                <Button
                  small
                  disabled={decide.isPending || !(picked.length > 0 ? picked : rows).some(canAdopt)}
                  onClick={() => decide.adopt((picked.length > 0 ? picked : rows).filter(canAdopt))}
                >
                  {picked.length > 0 ? 'Adopt selected changes' : 'Adopt all changes'}
                </Button>
                <Button small disabled={decide.isPending} onClick={() => decide.enforce(picked.length > 0 ? picked : rows)}>
                  {picked.length > 0 ? 'Overwrite selected at provider…' : 'Overwrite all at provider…'}
                </Button>
              </span>
            )}
          </Filters>
          {byTarget.map(([id, ofTarget]) => (
            <Card key={id} title={nameOf(ofTarget[0]!.provider_id)} className="mb-4" flush>
              <ul className="divide-y divide-line">
                {ofTarget.map(row => (
                  <DriftEntry
                    key={keyOf(row)}
                    row={row}
                    isSelected={selectedKeys.has(keyOf(row))}
                    onSelect={() => choose(row)}
                    decide={decide}
                  />
                ))}
              </ul>
            </Card>
          ))}
          {rows.length === 0 && <p className="p-4 text-muted">No matches</p>}
          {rows.length > shownCount && (
            <Button onClick={() => setShownCount(shownCount + pageSize)}>
              Show more ({shownCount.toLocaleString()} of {rows.length.toLocaleString()})
            </Button>
          )}
          {found.data!.truncated && <p className="text-muted">Only the first 1,000 record sets are shown.</p>}
        </>
      )}
      {found.data && <ForeignEntries entries={found.data.foreign} />}
      {zone.sync.targets.length > 0 && !found.isPending && <IgnoreRules zone={zone} />}
      <PlanDialog />
    </ZoneFrame>
  )
}

const statesOf = (rows: readonly DriftRow[]): (readonly [string, string])[] =>
  [...Map.groupBy(rows, one => one.state)].map(([state, ofState]) => [
    state,
    `${capitalize(humanize(state))} (${ofState.length})`,
  ])

function Nothing({ zone }: { zone: ZoneView }) {
  const hasTargets = zone.sync.targets.length > 0
  return hasTargets ? (
    <Empty icon={CircleCheck} title="In sync">
      All records at the providers match the zone.
    </Empty>
  ) : (
    <Empty
      icon={CircleCheck}
      title="No sync targets"
      action={
        <LinkButton to="/dns/zones/$id/$tab" params={{ id: zone.id, tab: 'settings' }}>
          Add sync target
        </LinkButton>
      }
    >
      This zone is only served by the built-in name server, so there is nothing to sync.
    </Empty>
  )
}
