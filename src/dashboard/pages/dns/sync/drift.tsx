import { CircleCheck, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { Drift } from '../../../../features/dns/sync/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { useAddress } from '../../../parts/address'
import { Button, LinkButton } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Choice, Filters, SearchField } from '../../../parts/filters'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { wordsOf } from '../../../parts/status'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ActionOutcome } from '../action-outcome'
import { useProviderNames } from '../provider-names'
import { ZoneFrame } from '../zone-frame'
import { DriftEntry, keyOf, mayAdopt, type DriftRow } from './drift-entry'
import { IgnoreRules } from './ignore-rules'
import { PlanDialog } from './plan-review'
import { useDecisions } from './decisions'

const atOnce = 100

/** What of a zone is not at its providers as it is to be, and whose word is taken. */
export default function DriftTab({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const nameOf = useProviderNames()
  const path = `/dns/zones/${zone.id}`
  const found = useOne<Drift>(`${path}/drift`, {}, { everyMs: 15_000 })
  const [{ q, state, target, plan }, set] = useAddress({ q: '', state: '', target: '', plan: '' })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [most, setMost] = useState(atOnce)
  const [reading, setReading] = useState<string | null>(null)
  const decide = useDecisions(zone, id => set({ plan: id }))
  const refresh = useSend<ActionView>({ onDone: action => setReading(action.id) })

  const all = found.data?.rrsets ?? []
  const rows = all.filter(
    one =>
      (state === '' || one.state === state) && (target === '' || one.target_id === target) && one.name.includes(q.toLowerCase()),
  )
  const picked = rows.filter(one => chosen.has(keyOf(one)))
  const byTarget = [...Map.groupBy(rows.slice(0, most), one => one.target_id)]
  const choose = (row: DriftRow) => {
    const next = new Set(chosen)
    if (!next.delete(keyOf(row))) next.add(keyOf(row))
    setChosen(next)
  }
  return (
    <ZoneFrame
      zone={zone}
      actions={
        mayWrite &&
        zone.sync.targets.length > 0 && (
          <Button
            icon={<RefreshCw className="size-4" aria-hidden />}
            disabled={refresh.isPending}
            onClick={() => refresh.mutate({ method: 'POST', path: `${path}/refresh`, body: {} })}
          >
            Read now
          </Button>
        )
      }
    >
      {reading && (
        <div className="mb-4">
          <ActionOutcome
            key={reading}
            id={reading}
            done={() => 'The providers were read. What differs is below.'}
            onEnd={() => void found.refetch()}
          />
        </div>
      )}
      {found.error && !found.data ? (
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      ) : all.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface">
          {found.data ? <Nothing zone={zone} /> : <div className="h-64 animate-pulse bg-hover" />}
        </div>
      ) : (
        <>
          <Filters>
            <SearchField label="Search names" value={q} onChange={text => set({ q: text })} />
            <Choice
              label="State"
              value={state}
              onChange={value => set({ state: value })}
              choices={[['', 'All states'], ...statesOf(all)]}
            />
            {zone.sync.targets.length > 1 && (
              <Choice
                label="Provider"
                value={target}
                onChange={value => set({ target: value })}
                choices={[['', 'All providers'], ...zone.sync.targets.map(one => [one.id, nameOf(one.provider_id)] as const)]}
              />
            )}
            {mayWrite && (
              <span className="flex grow flex-wrap items-center justify-end gap-2">
                <span className="text-[13px] text-muted">
                  {picked.length > 0 ? `${picked.length} chosen` : `${rows.length} differ`}
                </span>
                <Button
                  small
                  disabled={decide.isPending || !(picked.length > 0 ? picked : rows).some(mayAdopt)}
                  onClick={() => decide.adopt((picked.length > 0 ? picked : rows).filter(mayAdopt))}
                >
                  {picked.length > 0 ? 'Take theirs' : 'Take all of theirs'}
                </Button>
                <Button small disabled={decide.isPending} onClick={() => decide.enforce(picked.length > 0 ? picked : rows)}>
                  {picked.length > 0 ? 'Write ours…' : 'Write all of ours…'}
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
                    isChosen={chosen.has(keyOf(row))}
                    onChosen={() => choose(row)}
                    decide={decide}
                  />
                ))}
              </ul>
            </Card>
          ))}
          {rows.length === 0 && <p className="p-4 text-muted">Nothing that differs is like that.</p>}
          {rows.length > most && (
            <Button onClick={() => setMost(most + atOnce)}>
              {most.toLocaleString()} of {rows.length.toLocaleString()}: show more
            </Button>
          )}
          {found.data!.truncated && <p className="text-muted">There are more than these; they follow as these are settled.</p>}
        </>
      )}
      {zone.sync.targets.length > 0 && !found.isPending && <IgnoreRules zone={zone} />}
      <PlanDialog id={plan === '' ? null : plan} onClose={() => set({ plan: '' })} />
    </ZoneFrame>
  )
}

const statesOf = (rows: readonly DriftRow[]): (readonly [string, string])[] =>
  [...Map.groupBy(rows, one => one.state)].map(([state, ofState]) => [state, `${wordsOf(state)} (${ofState.length})`])

function Nothing({ zone }: { zone: ZoneView }) {
  const hasTargets = zone.sync.targets.length > 0
  return hasTargets ? (
    <Empty icon={CircleCheck} title="Nothing differs">
      What was last read at each provider is as it is to be.
    </Empty>
  ) : (
    <Empty
      icon={CircleCheck}
      title="Nothing can differ"
      action={
        <LinkButton to="/dns/zones/$id/$tab" params={{ id: zone.id, tab: 'settings' }}>
          Add a provider
        </LinkButton>
      }
    >
      The zone is kept at no provider: the hub serves what is here.
    </Empty>
  )
}
