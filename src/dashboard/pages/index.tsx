import { Plus } from 'lucide-react'
import type { OverviewView } from '../../features/overview/shapes'
import { LinkButton } from '../parts/button'
import { Loaded, Page } from '../parts/page'
import { Status } from '../parts/status'
import { pluralize } from '../parts/plural'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { Changes } from './overview/changes'
import { Counts } from './overview/counts'
import { ExpiringSoon } from './overview/expiring-soon'
import { FirstSteps } from './overview/first-steps'
import { Slowest } from './overview/slowest'
import { issuesOf, type Issue } from './overview/issues'
import { useFailingChannels } from './overview/failing-channels'
import { Windows } from './overview/windows'
import { ActiveIssues } from './overview/active-issues'

// Polls for changes that the live stream does not report.
const refetchMs = 30_000

/** The overview of a workspace: active issues, counts, what expires soon, and recent changes. */
export default function Overview() {
  const found = useOne<OverviewView>('/overview', {}, { refetchMs })
  return <Loaded query={found}>{overview => <Content overview={overview} />}</Loaded>
}

function Content({ overview }: { overview: OverviewView }) {
  const { canWrite } = usePerson()
  const issues = issuesOf(overview, useFailingChannels(overview))
  const hasIssues = issues.length > 0 || (overview.incidents?.total ?? 0) > 0
  const parts = [
    <ActiveIssues key="issues" overview={overview} issues={issues} />,
    <FirstSteps key="steps" overview={overview} />,
  ]
  const newMonitor = canWrite && overview.monitors && (
    <LinkButton to="/monitors/new" kind="primary" data-new icon={Plus}>
      Create monitor
    </LinkButton>
  )
  return (
    <Page aside={<OverallStatus overview={overview} issues={issues} />} actions={newMonitor}>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)] lg:grid-rows-[auto_1fr]">
        <div className="flex min-w-0 flex-col gap-4">{hasIssues ? parts : parts.toReversed()}</div>
        <div className="flex min-w-0 flex-col gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
          <Counts overview={overview} />
          <ExpiringSoon overview={overview} />
          {overview.maintenance && <Windows maintenance={overview.maintenance} />}
          {overview.monitors && overview.monitors.slowest.length > 0 && <Slowest monitors={overview.monitors.slowest} />}
        </div>
        {overview.changes && <Changes changes={overview.changes} />}
      </div>
    </Page>
  )
}

/** The overall status, next to the title. */
function OverallStatus({ overview, issues }: { overview: OverviewView; issues: readonly Issue[] }) {
  const { total, data } = overview.incidents ?? { total: 0, data: [] }
  const acknowledged = data.filter(one => one.status === 'acknowledged').length
  const open = total - acknowledged
  if (open > 0) return <Status status="open" label={pluralize(open, 'open incident', 'open incidents')} />
  if (acknowledged > 0)
    return <Status status="acknowledged" label={pluralize(acknowledged, 'acknowledged incident', 'acknowledged incidents')} />
  const count = issues.filter(one => one.tone === 'bad' || one.tone === 'warn').length
  if (count > 0) return <Status status="warning" label="Needs attention" />
  return <Status status="ok" label="No issues" />
}
