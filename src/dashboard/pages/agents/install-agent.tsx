import type { AgentInstallationView, AgentView } from '../../../features/servers/agents/shapes'
import { Code } from '../../parts/code'
import { CheckboxField, TextField } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { showSecret } from '../../parts/secret'
import { Status } from '../../parts/status'
import { useOne } from '../../queries'
import { labelsFrom } from '../cloud/server-text'
import { ServerLink } from '../cloud/server-link'
import { AllowFields, keyBody, keyValues, ValidityFields } from './key-fields'

export const agentInvalidates = ['/agents', '/enrolment-keys', '/servers']

/** Asks what the agent of a server may do, and shows the command that installs it. */
export const installAgentOn = ({ id, name }: { id: string; name: string }): void =>
  openForm<AgentInstallationView>({
    title: `Install the agent on ${name}`,
    submitLabel: 'Show command',
    initial: keyValues,
    call: values => ({ method: 'POST', path: `/servers/${id}/agent`, body: keyBody(values) }),
    send: { invalidates: agentInvalidates, onSuccess: showCommands },
    fields: (
      <>
        <AllowFields />
        <ValidityFields />
      </>
    ),
  })

/** The same for a server that isn’t known yet. It is added when its agent connects. */
export const installAgentOnNew = (): void =>
  openForm<AgentInstallationView>({
    title: 'Install agent',
    description: 'On a server that is not listed yet. It is added with the name of its host when the agent connects.',
    submitLabel: 'Show command',
    initial: { ...keyValues, labels: '', match: true, monitor: true },
    call: values => ({
      method: 'POST',
      path: '/agents',
      body: {
        ...keyBody(values),
        labels: labelsFrom(String(values.labels)),
        match: values.match,
        ...(values.monitor === false && { monitor: false }),
      },
    }),
    send: { invalidates: agentInvalidates, onSuccess: showCommands },
    fields: (
      <>
        <AllowFields />
        <ValidityFields />
        <TextField name="labels" label="Labels" mono placeholder="e.g. role=web, env=production" />
        <CheckboxField
          name="match"
          label="Link to a server of a cloud account"
          hint="If a server has the public address from which the agent connects."
        />
        <CheckboxField name="monitor" label="Create a monitor" hint="It alerts you when the server is down." />
      </>
    ),
  })

function showCommands({ enrolment_key_id: id, commands }: AgentInstallationView): void {
  showSecret({
    title: 'Run this command on the server',
    description: 'It installs the agent and enrolls it. It contains a key that can be used once.',
    value: commands?.curl,
    file: 'install agent',
    wide: true,
    more: <Arrival keyId={id} />,
    usage: commands && (
      <>
        <Code label="Without curl" text={commands.wget} wrap />
        <Code label="User data for cloud-init" text={commands.cloud_init} wrap />
        <Code label="Router or small board (only measures)" text={commands.shell_agent} wrap />
      </>
    ),
  })
}

/** The agent, as soon as it has connected. */
function Arrival({ keyId }: { keyId: string }) {
  const { data } = useOne<{ data: AgentView[] }>('/agents', { limit: 10 }, { refetchMs: 3000 })
  const agent = data?.data.find(one => one.enrolment_key_id === keyId)
  return (
    <div role="status" className="flex flex-wrap items-center gap-3">
      {agent ? (
        <>
          <Status status={agent.state} tone={agentTones[agent.state]} />
          <span>{agent.name}</span>
          {agent.server_id && agent.state === 'reporting' && <ServerLink id={agent.server_id} />}
        </>
      ) : (
        <span className="text-muted">Waiting for the agent…</span>
      )}
    </div>
  )
}

export const agentTones = {
  reporting: 'ok',
  silent: 'bad',
  stopped: 'idle',
  awaiting_approval: 'warn',
  revoked: 'idle',
} as const
