import { Cpu } from 'lucide-react'
import type { AgentView } from '../../features/servers/agents/shapes'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { Facts } from '../parts/page'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { agentMenu } from './agents/agent-actions'
import { AgentUpdate, AgentUpdateState, hasUpdate } from './agents/agent-update'
import { agentTabs } from './agents/agent-tabs'
import { AutomaticUpdates } from './agents/automatic-updates'
import { clockText } from './agents/clock-text'
import { stopReasons } from './agents/stop-reasons'
import { agentTones, installAgentOnNew } from './agents/install-agent'
import { ServerLink } from './cloud/server-link'

const states = {
  reporting: 'Reporting',
  silent: 'Silent',
  stopped: 'Stopped',
  awaiting_approval: 'Awaiting approval',
  revoked: 'Revoked',
}

const updateStates = { updating: 'Updating', updated: 'Updated', rolled_back: 'Rolled back', failed: 'Update failed' }

/** The agents of servers, and those that await approval. */
export default function Agents() {
  const { canWrite } = usePerson()
  const columns: TableColumns<AgentView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    {
      title: 'State',
      width: '11rem',
      onPhone: 'corner',
      render: one => <Status status={one.state} tone={agentTones[one.state]} />,
    },
    {
      title: 'Server',
      width: 'clamp(8rem, 16cqw, 18rem)',
      showFrom: 'md',
      onPhone: 'line',
      render: one => one.server_id && <ServerLink id={one.server_id} />,
    },
    { title: 'Version', width: '6rem', showFrom: 'lg', onPhone: 'plain', look: 'mono', render: one => one.version },
    {
      title: 'Update',
      width: '11rem',
      showFrom: 'lg',
      onPhone: 'hidden',
      render: one => <AgentUpdateState update={one.update} />,
    },
    { title: 'Address', width: '9.5rem', showFrom: 'xl', onPhone: 'hidden', look: 'mono', render: one => one.address },
    {
      title: 'Waiting',
      width: '6rem',
      showFrom: 'lg',
      onPhone: 'hidden',
      alignRight: true,
      render: one => one.spooled > 0 && `${one.spooled} min`,
    },
    { title: 'Last seen', width: '8rem', showFrom: 'md', render: one => <RelativeTime at={one.last_seen_at} /> },
    canWrite && menuColumn<AgentView>(one => one.name, agentMenu),
  ]
  return (
    <ListPage
      label="Agents"
      description="Programs on your servers that report metrics, inventory, and events."
      path="/agents"
      tabs={agentTabs}
      above={<AutomaticUpdates canWrite={canWrite} />}
      columns={columns}
      search
      filters={[
        { name: 'state', label: 'State', all: 'All states', choices: states },
        { name: 'update_state', label: 'Update', all: 'All updates', choices: updateStates },
      ]}
      details={one => ({ title: one.name, content: <Details agent={one} /> })}
      create={canWrite && { label: 'Install agent', onClick: installAgentOnNew }}
      empty={{
        icon: Cpu,
        text: 'An agent reports CPU, memory, disks, services, and containers of a server. Installing it takes one command.',
      }}
    />
  )
}

const minutesText = (count: number): string => (count === 0 ? 'None' : pluralize(count, 'minute', 'minutes'))

const Details = ({ agent: one }: { agent: AgentView }) => (
  <Facts
    rows={[
      ['State', <Status key="" status={one.state} tone={agentTones[one.state]} />],
      ['Server', one.server_id && <ServerLink key="" id={one.server_id} />],
      ['Version', one.version],
      ['Update', hasUpdate(one) && <AgentUpdate key="" agent={one} />],
      ['Address', one.address],
      ['Credentials', one.assurance === 'key' ? 'Token, and signed requests' : 'Token only'],
      ['Token', one.hint],
      ['Allowed', one.allow.join(', ')],
      ['Interval', `${one.interval_seconds} seconds`],
      ['Watched services', one.config.watched_units.join(', ')],
      ['Watched processes', one.config.watched_processes.join(', ')],
      ['Clock', clockText(one.clock_offset_ms)],
      ['Waiting to be sent', minutesText(one.spooled)],
      ['Dropped', minutesText(one.dropped)],
      ['Stopped', one.stop_reason && stopReasons[one.stop_reason]],
      ['Silent since', one.silent_since_at && <RelativeTime key="" at={one.silent_since_at} />],
      ['Last report', <RelativeTime key="" at={one.last_report_at} />],
      ['Last seen', <RelativeTime key="" at={one.last_seen_at} />],
      ['Enrolled', <RelativeTime key="" at={one.created_at} />],
      ['System', one.facts?.os],
      ['Kernel', one.facts?.kernel],
      ['Addresses', one.facts?.addresses?.join(', ')],
    ]}
  />
)
