import type { AgentView } from '../../../features/servers/agents/shapes'
import type { ServerView } from '../../../features/servers/shapes'
import { Card } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { Status, StatusIcon, Tags } from '../../parts/status'
import { TextWithCode } from '../../parts/text-with-code'
import { formatDuration, RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { agentTones } from '../agents/install-agent'
import { useInventory } from './server-inventory'

/** What agents can do for a server if its owner allows it. */
const permissions = [
  { word: 'reboot', means: 'restart and shut down the server' },
  { word: 'restart:UNIT', means: 'restart a unit of systemd, such as `restart:nginx.service`' },
  { word: 'firewall', means: 'set its firewall' },
]

const stopReasons: Readonly<Record<NonNullable<AgentView['stop_reason']>, string>> = {
  shutdown: 'The server shut down.',
  reboot: 'The server restarts.',
  stop: 'The program was stopped.',
}

/** Differences that matter to people. */
const shownOffsetMs = 5000

type Summary = NonNullable<ServerView['agent']>

/** The agent of a server as it is now. The hub does not announce each report. */
const useAgentOf = (id: string): AgentView | null | undefined =>
  useOne<ServerView>(`/servers/${id}`, { expand: 'agent' }, { refetchMs: 60_000 }).data?.expanded?.agent as AgentView | null

/** Whether the agent of a server reports, and when it last did. */
export function AgentState({ of: { state, last_seen_at: seenAt }, id }: { of: Summary; id: string }) {
  const agent = useAgentOf(id)
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <Status status={state} tone={agentTones[state]} />
      <span className="text-[13px] text-muted">
        last seen <RelativeTime at={agent?.last_seen_at ?? seenAt} />
      </span>
    </span>
  )
}

/** The agent of a server: whether it reports, what it can’t do, and what it may do. */
export function ServerAgent({ server: { id, agent: summary } }: { server: ServerView }) {
  return summary && <AgentCard id={id} of={summary} />
}

function AgentCard({ id, of }: { id: string; of: Summary }) {
  const agent = useAgentOf(id)
  const problems = useInventory(id).data?.problems.items ?? []
  return (
    <Card
      title="Agent"
      facts={[
        [
          'State',
          <>
            <AgentState of={of} id={id} />
            {of.state !== 'reporting' && (
              <p className="text-[13px] text-muted">
                {agent?.stop_reason && `${stopReasons[agent.stop_reason]} `}
                Its actions are offered again once it reports.
              </p>
            )}
          </>,
        ],
        ['Version', of.version],
        ['Last report', agent && <RelativeTime at={agent.last_report_at} />],
        ['Interval', agent && formatDuration(agent.interval_seconds * 1000)],
        ['Clock', agent && <ClockOffset ms={agent.clock_offset_ms} />],
        ['Waiting to be sent', agent && agent.spooled > 0 && pluralize(agent.spooled, 'minute', 'minutes')],
        [
          'Dropped',
          agent && agent.dropped > 0 && <span className="text-warn">{pluralize(agent.dropped, 'minute', 'minutes')}</span>,
        ],
        ['Allowed', agent && <Tags tags={agent.allow} />],
        ['Not allowed', agent && <NotAllowed allow={agent.allow} />],
        [
          'Problems',
          problems.length > 0 && (
            <ul className="flex flex-col gap-1">
              {problems.map(one => (
                <li key={one} className="flex gap-1">
                  <StatusIcon status="warning" className="mt-1 size-3.5" />
                  <span className="min-w-0">{one}</span>
                </li>
              ))}
            </ul>
          ),
        ],
      ]}
    />
  )
}

function ClockOffset({ ms }: { ms: number | null }) {
  if (ms === null) return 'Unknown'
  if (Math.abs(ms) < shownOffsetMs) return 'Accurate'
  return (
    <span className="text-warn">
      {formatDuration(Math.abs(ms))} {ms > 0 ? 'behind' : 'ahead of'} the hub
    </span>
  )
}

/** Why actions of the agent are not offered, and how the owner of the server allows them. Null if all are allowed. */
function NotAllowed({ allow }: Pick<AgentView, 'allow'>) {
  const missing = permissions.filter(
    ({ word }) => !allow.some(one => (word.startsWith('restart:') ? one.startsWith('restart:') : one === word)),
  )
  if (missing.length === 0) return 'Nothing'
  return (
    <>
      {missing.map(({ word, means }) => (
        <p key={word}>
          <TextWithCode text={`\`${word}\`: ${means}`} />
        </p>
      ))}
      <p className="mt-1 text-[13px] text-muted">
        <TextWithCode text="The owner of the server doesn’t allow this, so it is not offered. To allow it, add the word to `allow` in `/etc/bailiwick-agent/agent.conf`, and restart the agent." />{' '}
        <a href="/docs/agent-commands" className="text-accent hover:underline">
          Permissions
        </a>
      </p>
    </>
  )
}
