import { limitTable } from '../../access/limit-table'
import type { PlanView } from '../../features/plans/shapes'
import type { LimitView } from '../../features/limits/shapes'
import type { WorkspaceView } from '../../features/workspaces/shapes'
import { Meter, usageTone } from '../parts/meter'
import { Card, Loaded, Page } from '../parts/page'
import { StatusIcon } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { apiAccessLabels } from './plan/api-access'

/** The limits of the workspace and their usage. */
export default function Plan() {
  const { workspace } = usePerson()
  const limits = useOne<{ data: LimitView[] }>('/limits')
  const own = useOne<WorkspaceView>(`/workspaces/${workspace.id}`)
  const plan = useOne<PlanView>(own.data ? `/plans/${own.data.plan}` : null)
  return (
    <Loaded query={limits}>
      {({ data }) => (
        <Page
          narrow
          description="Resources over a limit are kept, but you can’t create new ones. Webhook endpoints over the limit are disabled after 14 days."
        >
          <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
            <Card title="Usage">
              <ul className="flex flex-col gap-4">
                {data
                  .filter(one => one.used !== null)
                  .map(one => (
                    <Usage key={one.limit} limit={one} />
                  ))}
              </ul>
            </Card>
            <div className="flex flex-col gap-4">
              <Card
                title="Plan"
                facts={[
                  ['Plan', plan.data?.title ?? own.data?.plan ?? '…'],
                  ['API access', plan.data ? apiAccessLabels[plan.data.api_access] : '…'],
                ]}
              />
              <Card
                title="Other limits"
                facts={data
                  .filter(one => one.used === null)
                  .map(one => [limitTable[one.limit].label, one.max === null ? 'No limit' : one.max.toLocaleString()] as const)}
              />
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  )
}

function Usage({ limit: { limit, max, used, resets_at: resetsAt } }: { limit: LimitView }) {
  const tone = usageTone(used ?? 0, max)
  const name = limitTable[limit].label
  return (
    <li>
      <div className="mb-1 flex items-baseline gap-2">
        <span className="grow font-medium">{name}</span>
        {tone !== 'ok' && <StatusIcon status={tone} tone={tone} />}
        <span className="text-muted">
          {(used ?? 0).toLocaleString()} {max === null ? '· no limit' : `of ${max.toLocaleString()}`}
        </span>
      </div>
      {max !== null && <Meter label={name} value={used ?? 0} max={max} />}
      {resetsAt && (
        <p className="mt-0.5 text-[13px] text-muted">
          resets <RelativeTime at={resetsAt} />
        </p>
      )}
    </li>
  )
}
