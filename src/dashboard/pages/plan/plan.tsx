import type { LimitView } from '../../../features/limits/shapes'
import type { PlanView, WorkspaceView } from '../../../access/workspace-shapes'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { StatusIcon, wordsOf } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useOne } from '../../queries'
import { usePerson } from '../../session'

/** What the workspace may use, and how much of it is used. */
export default function Plan() {
  const { workspace } = usePerson()
  const limits = useOne<{ data: LimitView[] }>('/limits')
  const own = useOne<WorkspaceView>(`/workspaces/${workspace.id}`)
  const plan = useOne<PlanView>(own.data ? `/plans/${own.data.plan}` : null)
  return (
    <Loaded found={limits}>
      {({ data }) => (
        <Page
          title="Plan and limits"
          lead="Nothing is deleted when a limit is reached: no more can be made until there is room again."
        >
          <div className="grid gap-4 lg:grid-cols-[1fr_20rem] lg:items-start">
            <Card title="In use">
              <ul className="flex flex-col gap-4">
                {data
                  .filter(one => one.used !== null)
                  .map(one => (
                    <Usage key={one.limit} limit={one} />
                  ))}
              </ul>
            </Card>
            <div className="flex flex-col gap-4">
              <Card title="Plan">
                <Facts
                  rows={[
                    ['Plan', plan.data?.title ?? own.data?.plan ?? '…'],
                    [
                      'API',
                      plan.data ? { none: 'no access', read: 'reading', full: 'reading and writing' }[plan.data.api_access] : '…',
                    ],
                  ]}
                />
              </Card>
              <Card title="Kept and paced">
                <Facts
                  rows={data
                    .filter(one => one.used === null)
                    .map(one => [capital(one.limit), one.max === null ? 'no limit' : one.max.toLocaleString()] as const)}
                />
              </Card>
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  )
}

function Usage({ limit: { limit, max, used, resets_at: resetsAt } }: { limit: LimitView }) {
  const part = max === null || max === 0 ? 0 : Math.min((used ?? 0) / max, 1)
  const mood = part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'ok'
  const name = capital(limit)
  return (
    <li>
      <div className="mb-1 flex items-baseline gap-2">
        <span className="grow font-medium">{name}</span>
        {part >= 0.8 && <StatusIcon state={mood} mood={mood} />}
        <span className="text-muted">
          {(used ?? 0).toLocaleString()} {max === null ? '· no limit' : `of ${max.toLocaleString()}`}
        </span>
      </div>
      {max !== null && (
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={max}
          aria-valuenow={Math.min(used ?? 0, max)}
          className="h-1.5 overflow-hidden rounded-full bg-idle-soft"
        >
          <div
            className={`h-full ${{ ok: 'bg-ok-mark', warn: 'bg-warn-mark', bad: 'bg-bad-mark' }[mood]}`}
            style={{ width: `${part * 100}%` }}
          />
        </div>
      )}
      {resetsAt && (
        <p className="mt-0.5 text-[13px] text-muted">
          whole again <Ago at={resetsAt} />
        </p>
      )}
    </li>
  )
}

const capital = (limit: string) => {
  const words = wordsOf(limit).replace(/\bdns\b/, 'DNS')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
