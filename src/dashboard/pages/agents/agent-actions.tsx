import type { AgentView, AgentWithTokenView } from '../../../features/servers/agents/shapes'
import { ListField, NumberField, SelectField } from '../../parts/form'
import type { MenuItem } from '../../parts/menu'
import { confirm, confirmDelete, openForm } from '../../parts/open-dialog'
import { ChooseField } from '../../parts/pick-field'
import { showSecret } from '../../parts/secret'
import { agentInvalidates as invalidates } from './install-agent'

/** What can be done with an agent in its state. */
export const agentMenu = (agent: AgentView): readonly MenuItem[] => [
  ...(agent.state === 'awaiting_approval'
    ? [
        { label: 'Approve agent', onSelect: () => approve(agent) },
        { label: 'Reject agent', danger: true, onSelect: () => reject(agent) },
        '-' as const,
      ]
    : agent.state === 'revoked'
      ? []
      : [
          ...(canUpdate(agent) ? [{ label: 'Update agent', onSelect: () => update(agent) }] : []),
          { label: 'Edit settings', onSelect: () => editSettings(agent) },
          { label: 'Rotate token', onSelect: () => rotate(agent) },
          '-' as const,
          { label: 'Revoke agent', danger: true, onSelect: () => revoke(agent) },
        ]),
  {
    label: 'Delete agent',
    danger: true,
    onSelect: () =>
      confirmDelete({
        noun: 'agent',
        name: agent.name,
        path: `/agents/${agent.id}`,
        invalidates,
        text: 'Its token stops working, and nothing is accepted from it. The server and its metrics are kept.',
      }),
  },
]

const canUpdate = ({ state, allow, server_id, update: { available, state: progress } }: AgentView): boolean =>
  state === 'reporting' && server_id !== null && available !== null && progress !== 'updating' && allow.includes('update')

const update = ({ name, server_id, update: { available } }: AgentView): void =>
  confirm({
    title: `Update the agent of ${name}?`,
    text: `It installs version ${available}, and restarts. If the new version doesn’t report within two minutes, the previous one is restored.`,
    action: 'Update agent',
    call: { method: 'POST', path: `/servers/${server_id}/actions`, body: { action: 'update_agent' } },
    send: { toast: `The agent of ${name} is being updated`, invalidates },
  })

const approve = ({ id, name, address, server_id }: AgentView): void =>
  openForm({
    title: `Approve the agent of ${name}`,
    description: `It called from ${address ?? 'an unknown address'}. Approve it only if you installed it: it then decides whether the server is up.`,
    submitLabel: 'Approve agent',
    initial: { server_id: server_id ?? '' },
    call: values => ({
      method: 'POST',
      path: `/agents/${id}/approve`,
      body: { server_id: values.server_id === '' ? null : values.server_id },
    }),
    send: { toast: `The agent of ${name} was approved`, invalidates },
    fields: (
      <ChooseField
        name="server_id"
        label="Server"
        list="/servers"
        none="Add a new server"
        hint="An agent that the server already has is revoked."
      />
    ),
  })

const reject = ({ id, name }: AgentView): void =>
  confirm({
    title: `Reject the agent of ${name}?`,
    text: 'Nothing is accepted from it. To use it later, enroll it with another key.',
    action: 'Reject agent',
    call: { method: 'POST', path: `/agents/${id}/reject` },
    send: { toast: `The agent of ${name} was rejected`, invalidates },
  })

const revoke = ({ id, name }: AgentView): void =>
  confirm({
    title: `Revoke the agent of ${name}?`,
    text: 'Nothing is accepted from it anymore, and the program on the server ends. The server and its metrics are kept. To use it again, install it with a new key.',
    action: 'Revoke agent',
    call: { method: 'POST', path: `/agents/${id}/revoke` },
    send: { toast: `The agent of ${name} was revoked`, invalidates },
  })

const editSettings = ({ id, name, config, update: { policy } }: AgentView): void =>
  openForm({
    title: `Settings of the agent of ${name}`,
    submitLabel: 'Save changes',
    initial: {
      interval_seconds: String(config.interval_seconds),
      watched_units: config.watched_units,
      watched_processes: config.watched_processes,
      policy: policy ?? '',
    },
    call: ({ interval_seconds, policy: chosen, ...watched }) => ({
      method: 'PATCH',
      path: `/agents/${id}`,
      body: {
        config: { ...watched, interval_seconds: Number(interval_seconds) },
        update: { policy: chosen === '' ? null : chosen },
      },
    }),
    send: { toast: 'Settings saved', invalidates },
    fields: (
      <>
        <NumberField name="interval_seconds" label="Interval" unit="seconds" hint="How often it reports." />
        <ListField
          name="watched_units"
          label="Watched services"
          placeholder="e.g. nginx.service, postgresql.service"
          hint="systemd units whose state is reported each time."
        />
        <ListField
          name="watched_processes"
          label="Watched processes"
          placeholder="e.g. nginx, redis-server"
          hint="Programs whose processes are counted each time."
        />
        <SelectField
          name="policy"
          label="Updates"
          choices={[
            ['', 'As for all agents'],
            ['manual', 'Manually'],
            ['auto', 'Automatically'],
          ]}
        />
      </>
    ),
  })

const rotate = ({ id, name }: AgentView): void =>
  openForm<AgentWithTokenView>({
    title: `Rotate the token of ${name}`,
    submitLabel: 'Rotate token',
    initial: { grace_seconds: '86400' },
    call: values => ({ method: 'POST', path: `/agents/${id}/rotate`, body: { grace_seconds: Number(values.grace_seconds) } }),
    send: {
      invalidates,
      onSuccess: ({ token }) =>
        showSecret({
          title: 'Copy the token',
          description: 'Store it on the server, in place of the old one. It is shown only once.',
          value: token ?? undefined,
          file: `agent token ${name}`,
        }),
    },
    fields: (
      <SelectField
        name="grace_seconds"
        label="The old token keeps working"
        choices={[
          ['0', 'Not at all: it stops working immediately'],
          ['3600', 'For 1 hour'],
          ['86400', 'For 1 day'],
          ['604800', 'For 7 days'],
        ]}
      />
    ),
  })
