import { History as HistoryIcon } from 'lucide-react'
import type { ChangesetView, RevertInput } from '../../../../features/dns/history/shapes'
import type { PlanView } from '../../../../features/dns/sync/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { useAddress } from '../../../parts/address'
import { Button } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Choice, Filters, SearchField } from '../../../parts/filters'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { dayOf } from '../../../parts/time'
import { useList, useSend } from '../../../queries'
import { PlanDialog } from '../sync/plan-review'
import { ZoneFrame } from '../zone-frame'
import { Changeset } from './changeset'
import { Comparison } from './comparison'

const origins = ['api', 'dashboard', 'template', 'import', 'dynamic', 'external'] as const satisfies ChangesetView['origin'][]

/** What was changed in a zone, by whom and when; any two versions beside each other; and the way back. */
export default function HistoryTab({ zone }: { zone: ZoneView }) {
  const path = `/dns/zones/${zone.id}`
  const [{ name, type, origin, open, from, to, plan }, set] = useAddress({
    name: '',
    type: '',
    origin: '',
    open: '',
    from: '',
    to: '',
    plan: '',
  })
  const list = useList<ChangesetView>(`${path}/history`, { name, type: type.toUpperCase(), origin })
  const revert = useSend<PlanView>({ stale: [`${path}/plans`], onDone: made => set({ plan: made.id }) })
  const undo = (what: RevertInput) => revert.mutate({ method: 'POST', path: `${path}/revert`, body: what })
  const byDay = [...Map.groupBy(list.rows, one => dayOf(one.occurred_at))]
  return (
    <ZoneFrame zone={zone}>
      <Filters>
        <SearchField label="Search for a name" value={name} onChange={text => set({ name: text })} />
        <SearchField label="Type" value={type} onChange={text => set({ type: text })} />
        <Choice
          label="Origin"
          value={origin}
          onChange={value => set({ origin: value })}
          choices={[['', 'All origins'], ...origins.map(one => [one, one] as const)]}
        />
      </Filters>
      {from !== '' && <Comparison zone={zone} from={from} to={to} onChange={set} onRevert={version => undo({ version })} />}
      {list.error && list.rows.length === 0 ? (
        <Problem error={list.error} onAgain={list.again} />
      ) : list.isLoading ? (
        <div className="h-64 animate-pulse rounded-lg bg-hover" />
      ) : list.rows.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface">
          <Empty icon={HistoryIcon} title="No changes">
            Every change of the zone is kept here, with what was before and after it.
          </Empty>
        </div>
      ) : (
        byDay.map(([day, changes]) => (
          <Card key={day} title={day} className="mb-4" flush>
            <ol className="divide-y divide-line">
              {changes.map(one => (
                <Changeset
                  key={one.id}
                  zone={zone}
                  change={one}
                  asked={{ name, type: type.toUpperCase() }}
                  isOpen={open === one.id}
                  onOpen={() => set({ open: open === one.id ? '' : one.id })}
                  onUndo={() => undo({ changeset_id: one.id })}
                  onBack={() => undo({ version: one.version })}
                  onCompare={() => set({ from: String(one.version - 1 || 1), to: '' })}
                />
              ))}
            </ol>
          </Card>
        ))
      )}
      {list.hasMore && (
        <Button onClick={list.more} disabled={list.isLoadingMore}>
          {list.isLoadingMore ? 'Reading…' : 'Earlier changes'}
        </Button>
      )}
      <PlanDialog id={plan === '' ? null : plan} onClose={() => set({ plan: '' })} />
    </ZoneFrame>
  )
}
