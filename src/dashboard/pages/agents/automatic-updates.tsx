import type { AgentUpdatesView, AgentView } from '../../../features/servers/agents/shapes'
import { Button } from '../../parts/button'
import { SelectField } from '../../parts/form'
import { confirm, openForm } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { agentInvalidates as invalidates } from './install-agent'

const path = '/agent-updates'

/** Whether agents are updated automatically, and the progress of updates to the version of the hub. */
export function AutomaticUpdates({ canWrite }: { canWrite: boolean }) {
  const updates = useOne<AgentUpdatesView>(path, {}, { refetchMs: 60_000 }).data
  if (!updates) return null
  return (
    <div className="mb-4">
      <Card
        title="Automatic updates"
        actions={
          canWrite && (
            <>
              {updates.stopped && <Button onClick={retry}>Continue updates</Button>}
              <Button onClick={() => changePolicy(updates)}>Change policy</Button>
            </>
          )
        }
      >
        <p className="text-muted">
          {updates.policy === 'auto'
            ? `Agents that allow updates are updated to version ${updates.version} in maintenance windows.`
            : 'Agents are only updated when you start an update, except for agents with their own policy.'}
        </p>
        <Progress of={updates} />
        <OtherVersions of={updates} />
      </Card>
    </div>
  )
}

function Progress({ of: updates }: { of: AgentUpdatesView }) {
  const { state, version, waiting, updating, updated, first_count: first, continues_at: at, stopped } = updates
  if (stopped) return <Stopped stopped={stopped} version={version} />
  if (state === 'idle') return null
  const left = pluralize(waiting, 'agent waits', 'agents wait')
  return (
    <p>
      {state === 'first' && `Version ${version} is installed on ${pluralize(first ?? 1, 'agent', 'agents')} first. `}
      {state === 'observing' && (
        <>
          The first agents have version {version}. The others follow <RelativeTime at={at} />.{' '}
        </>
      )}
      {`${updated} updated, ${updating} being updated, ${left}.`}
    </p>
  )
}

/** Programs of other versions, which are probably left from an earlier release. */
const OtherVersions = ({ of: { programs } }: { of: AgentUpdatesView }) =>
  programs
    .filter(({ state }) => state === 'other_version')
    .map(({ platform, reason }) => (
      <p key={platform} className="text-warn">
        {reason}
      </p>
    ))

function Stopped({ stopped, version }: { stopped: NonNullable<AgentUpdatesView['stopped']>; version: string }) {
  const agent = useOne<AgentView>(`/agents/${stopped.agent_id}`).data
  return (
    <p className="text-warn">
      Updates to version {version} have stopped: the update of {agent?.name ?? 'an agent'} was rolled back{' '}
      <RelativeTime at={stopped.stopped_at} />. {stopped.detail}
    </p>
  )
}

const changePolicy = ({ policy }: AgentUpdatesView): void =>
  openForm({
    title: 'Agent updates',
    description: 'Agents that allow updates are updated in maintenance windows. Each agent can have its own policy.',
    submitLabel: 'Save changes',
    initial: { policy },
    call: values => ({ method: 'PATCH', path, body: { policy: values.policy } }),
    send: { toast: 'Policy saved', invalidates: [...invalidates, path] },
    fields: (
      <SelectField
        name="policy"
        label="Policy"
        choices={[
          ['manual', 'Manually'],
          ['auto', 'Automatically'],
        ]}
      />
    ),
  })

const retry = (): void =>
  confirm({
    title: 'Continue the updates of agents?',
    text: 'First, 5% of the agents are updated again, then the others an hour later, unless an update is rolled back.',
    action: 'Continue updates',
    call: { method: 'POST', path: `${path}/retry` },
    send: { toast: 'Updates continue', invalidates: [...invalidates, path] },
  })
