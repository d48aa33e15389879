import type { AgentView } from '../../../features/servers/agents/shapes'
import type { ServerView } from '../../../features/servers/shapes'
import { Card, Facts } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { Status, StatusIcon, Tags } from '../../parts/status'
import { TextWithCode } from '../../parts/text-with-code'
import { formatDuration, RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { AgentUpdate, hasUpdate } from '../agents/agent-update'
import { agentTones } from '../agents/install-agent'
import { clockText, isClockWrong } from '../agents/clock-text'
import { stopReasons } from '../agents/stop-reasons'
import { permissions } from '../agents/key-fields'
import { useInventory } from './server-inventory'

/** How the settings of an install profile begin. */
const profileLine = 'install.NAME = …'

/** What agents are asked to do, if the owner of the server allows it. */
const offered: readonly (readonly [word: string, means: string])[] = [
  ['reboot', permissions.reboot],
  ['restart:UNIT', 'Restart a unit of systemd'],
  ['firewall', permissions.firewall],
  ['wake', permissions.wake],
  ['update', permissions.update],
  [profileLine, 'Issue and install certificates'],
]

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
    <Card title="Agent">
      <Facts
        rows={[
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
          ['Update', agent && hasUpdate(agent) && <AgentUpdate agent={agent} />],
          ['Last report', agent && <RelativeTime at={agent.last_report_at} />],
          ['Interval', agent && formatDuration(agent.interval_seconds * 1000)],
          ['Clock', agent && <Clock offsetMs={agent.clock_offset_ms} />],
          ['Waiting to be sent', agent && agent.spooled > 0 && pluralize(agent.spooled, 'minute', 'minutes')],
          [
            'Dropped',
            agent && agent.dropped > 0 && <span className="text-warn">{pluralize(agent.dropped, 'minute', 'minutes')}</span>,
          ],
          ['Allowed', agent && <Tags tags={agent.allow} />],
          [
            'Installs certificates',
            agent && agent.install_profiles.length > 0 && `With the profiles ${agent.install_profiles.join(', ')}`,
          ],
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
      {agent && <NotAllowed {...agent} />}
    </Card>
  )
}

function Clock({ offsetMs }: { offsetMs: number | null }) {
  return <span className={isClockWrong(offsetMs) ? 'text-warn' : ''}>{clockText(offsetMs)}</span>
}

/** Why actions of the agent are not offered, and how the owner of the server allows them. Nothing if all are allowed. */
function NotAllowed({ allow, install_profiles: profiles, facts }: Pick<AgentView, 'allow' | 'install_profiles' | 'facts'>) {
  const isAllowed = (word: string) =>
    word === profileLine
      ? profiles.length > 0
      : allow.some(one => (word === 'restart:UNIT' ? one.startsWith('restart:') : one === word))
  // Without systemd, the agent reports only what it can do without root.
  const isWithoutRoot = facts?.agent_as_root === false
  const missing = offered.filter(([word]) => !isAllowed(word) && !(isWithoutRoot && word !== 'wake'))
  if (missing.length === 0 && !isWithoutRoot) return null
  // The program can always be asked to collect data.
  if (allow.length === 0)
    return <p className="mt-3 text-[13px] text-muted">The shell agent only reports. It performs no actions.</p>
  return (
    <div className="mt-3 border-t border-line pt-3 text-[13px] text-muted">
      {isWithoutRoot && (
        <p>The server doesn’t run systemd, so its agent can’t restart it or its services, set its firewall, or update itself.</p>
      )}
      {missing.length > 0 && <Missing words={missing} />}
    </div>
  )
}

function Missing({ words }: { words: typeof offered }) {
  return (
    <>
      <p>The server doesn’t allow these actions, so they are not offered:</p>
      <ul className="my-1 list-disc pl-4">
        {words.map(([word, means]) => (
          <li key={word}>
            <TextWithCode text={`${means}: \`${word}\``} />
          </li>
        ))}
      </ul>
      <p>
        <TextWithCode text="To allow one, add the word to `allow` in `/etc/bailiwick-agent/agent.conf`, or the line of an install profile, and restart the agent. " />
        <a href="/docs/agent-commands" className="text-accent underline">
          Permissions of agents
        </a>
      </p>
    </>
  )
}
