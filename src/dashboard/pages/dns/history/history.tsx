import { History as HistoryIcon } from 'lucide-react'
import type { ChangesetView, RevertInput } from '../../../../features/dns/history/shapes'
import type { PlanView } from '../../../../features/dns/plans/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { useUrlState } from '../../../parts/url-state'
import { Empty } from '../../../parts/empty'
import { Filters, UrlFilter, UrlSearch } from '../../../parts/filters'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { LoadMore } from '../../../parts/table'
import { formatDate } from '../../../parts/time'
import { useList, useSend } from '../../../queries'
import { PlanDialog } from '../sync/plan-review'
import { ZoneFrame } from '../zone-frame'
import { originLabels } from '../origins'
import { Changeset } from './changeset'
import { Comparison } from './comparison'

/** History of a zone: changesets, comparison of versions, and reverting. */
export default function HistoryTab({ zone }: { zone: ZoneView }) {
  const path = `/dns/zones/${zone.id}`
  const [{ name, type, origin, open, from, to }, set] = useUrlState({
    name: '',
    type: '',
    origin: '',
    open: '',
    from: '',
    to: '',
    plan: '',
  })
  const list = useList<ChangesetView>(`${path}/history`, { name, type: type.toUpperCase(), origin })
  const revert = useSend<PlanView>({ invalidates: [`${path}/plans`], onSuccess: plan => set({ plan: plan.id }) })
  const startRevert = (input: RevertInput) => revert.mutate({ method: 'POST', path: `${path}/revert`, body: input })
  const isFiltered = name !== '' || type !== '' || origin !== ''
  const byDay = [...Map.groupBy(list.rows, one => formatDate(one.occurred_at))]
  return (
    <ZoneFrame zone={zone}>
      <Filters>
        <UrlSearch name="name" label="Search names" />
        <UrlSearch name="type" label="Record type" />
        <UrlFilter name="origin" label="Origin" all="All origins" choices={originLabels} />
      </Filters>
      {from !== '' && (
        <Comparison zone={zone} from={from} to={to} onChange={set} onRevert={version => startRevert({ version })} />
      )}
      {list.error && list.rows.length === 0 ? (
        <Problem error={list.error} onRetry={list.retry} />
      ) : list.isLoading ? (
        <div className="h-64 animate-pulse rounded-lg bg-hover" />
      ) : list.rows.length === 0 ? (
        <div className="rounded-lg border border-line bg-surface">
          <Empty icon={HistoryIcon} title={isFiltered ? 'No matches' : 'No changes yet'}>
            {isFiltered
              ? 'Try another search or filter.'
              : 'Every change to the zone appears here, with the records before and after.'}
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
                  filter={{ name, type: type.toUpperCase() }}
                  isOpen={open === one.id}
                  onOpen={() => set({ open: open === one.id ? '' : one.id })}
                  onRevert={() => startRevert({ changeset_id: one.id })}
                  onGoBack={() => startRevert({ version: one.version })}
                  onCompare={() => set({ from: String(one.version - 1 || 1), to: '' })}
                />
              ))}
            </ol>
          </Card>
        ))
      )}
      <LoadMore list={list} />
      <PlanDialog />
    </ZoneFrame>
  )
}
