import type { AgentUpdatesView, AgentView } from '../../../features/servers/agents/shapes'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'

type Update = AgentView['update']

const tones = { updating: 'busy', updated: 'ok', rolled_back: 'warn', failed: 'warn' } as const

/** Whether an agent was updated, or can be. */
export const hasUpdate = ({ update: { available, state } }: { update: Update }): boolean => available !== null || state !== null

/** The last update of an agent, and whether it can be updated. */
export function AgentUpdate({ agent: { update, facts } }: { agent: Pick<AgentView, 'update' | 'facts'> }) {
  const { available, state, version, detail, changed_at: at } = update
  const updates = useOne<AgentUpdatesView>(available === null ? null : '/agent-updates').data
  const reason = updates?.programs.find(one => one.platform === facts?.agent_platform)?.reason ?? null
  return (
    <span className="flex flex-col">
      {available !== null && state !== 'updating' && <span>{reason ?? `${available} is available`}</span>}
      {state !== null && (
        <span className="flex flex-wrap items-center gap-x-2">
          <Status status={state} tone={tones[state]} />
          <span className="text-[13px] text-muted">
            {version} <RelativeTime at={at} />
          </span>
        </span>
      )}
      {detail !== null && <span className="text-[13px] text-muted">{detail}</span>}
    </span>
  )
}

/** The same in a line: a version that is available, or the state of the last update. */
export function AgentUpdateState({ update: { available, state } }: { update: Update }) {
  if (state !== null && (state === 'updating' || available !== null)) return <Status status={state} tone={tones[state]} />
  return available !== null && <span className="text-muted">{available} available</span>
}
