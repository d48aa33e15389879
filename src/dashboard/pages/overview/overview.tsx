import { Plus } from 'lucide-react'
import type { OverviewView } from '../../../features/overview/shapes'
import { LinkButton } from '../../parts/button'
import { Loaded, Page } from '../../parts/page'
import { Status } from '../../parts/status'
import { counted } from '../../parts/counted'
import { useOne } from '../../queries'
import { usePerson } from '../../session'
import { Changes } from './changes'
import { Counts } from './counts'
import { Ending } from './ending'
import { FirstSteps } from './first-steps'
import { Slowest } from './slowest'
import { troublesOf, type Trouble } from './troubles'
import { Windows } from './windows'
import { WrongNow } from './wrong-now'

// The stream tells of most changes; what it does not tell is found so.
const everyMs = 30_000

/** How the workspace stands: what is wrong now in front, then what it has, what ends soon and what was changed last. */
export default function Overview() {
  const found = useOne<OverviewView>('/overview', {}, { everyMs })
  return <Loaded found={found}>{seen => <Shown seen={seen} />}</Loaded>
}

function Shown({ seen }: { seen: OverviewView }) {
  const { mayWrite } = usePerson()
  const troubles = troublesOf(seen)
  const newMonitor = mayWrite && seen.monitors && (
    <LinkButton to="/monitors/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
      New monitor
    </LinkButton>
  )
  return (
    <Page title="Overview" aside={<Standing seen={seen} troubles={troubles} />} actions={newMonitor}>
      <div className="flex flex-col gap-4">
        <FirstSteps seen={seen} />
        <div className="grid gap-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,3fr)] lg:grid-rows-[auto_1fr]">
          <WrongNow seen={seen} troubles={troubles} />
          <div className="flex min-w-0 flex-col gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
            <Counts seen={seen} />
            <Ending seen={seen} />
            {seen.maintenance && <Windows maintenance={seen.maintenance} />}
            {seen.monitors && seen.monitors.slowest.length > 0 && <Slowest monitors={seen.monitors.slowest} />}
          </div>
          {seen.changes && <Changes changes={seen.changes} />}
        </div>
      </div>
    </Page>
  )
}

/** The whole in a word, beside the title. */
function Standing({ seen, troubles }: { seen: OverviewView; troubles: readonly Trouble[] }) {
  const { total, data } = seen.incidents ?? { total: 0, data: [] }
  const taken = data.filter(one => one.status === 'acknowledged').length
  const open = total - taken
  if (open > 0) return <Status state="open" label={counted(open, 'open incident', 'open incidents')} />
  if (taken > 0) return <Status state="acknowledged" label={counted(taken, 'incident seen to', 'incidents seen to')} />
  const count = troubles.filter(one => one.mood === 'bad' || one.mood === 'warn').length
  if (count > 0) return <Status state="warning" label="Something needs a look" />
  return <Status state="ok" label="All is well" />
}
