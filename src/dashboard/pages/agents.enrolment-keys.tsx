import { KeyRound } from 'lucide-react'
import type { EnrolmentKeyView } from '../../features/servers/enrolment-keys/shapes'
import { CheckboxField, NumberField, TextField } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { ChooseField } from '../parts/pick-field'
import { showSecret } from '../parts/secret'
import { Status, Tags } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { agentTabs } from './agents/agent-tabs'
import { agentInvalidates as invalidates } from './agents/install-agent'
import { AllowFields, keyBody, keyValues, ValidityFields } from './agents/key-fields'
import { ServerLink } from './cloud/server-link'
import { labelsFrom, labelsText } from './cloud/server-text'

const tones = { active: 'ok', used_up: 'idle', expired: 'idle' } as const

/** The keys with which agents are enrolled. */
export default function EnrolmentKeys() {
  const { canWrite } = usePerson()
  const columns: TableColumns<EnrolmentKeyView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    { title: 'State', width: '7rem', onPhone: 'corner', render: one => <Status status={one.state} tone={tones[one.state]} /> },
    { title: 'Uses', width: '6rem', onPhone: 'plain', render: describeUses },
    { title: 'Key', width: '11rem', showFrom: 'lg', onPhone: 'line', look: 'mono', render: one => one.hint },
    { title: 'Approval', width: '7rem', showFrom: 'lg', onPhone: 'hidden', render: one => approvals[one.approve] },
    { title: 'Expires', width: '8rem', showFrom: 'md', render: one => <RelativeTime at={one.expires_at} /> },
    canWrite &&
      menuColumn<EnrolmentKeyView>(
        one => one.name,
        one => [
          {
            label: 'Delete key',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'key',
                name: one.name,
                path: `/enrolment-keys/${one.id}`,
                invalidates,
                text: 'It can’t be used anymore. Agents that were enrolled with it are not affected; those that await approval have to be enrolled again.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="Enrolment keys"
      description="Keys for enrolling agents, for example from a golden image or a playbook."
      path="/enrolment-keys"
      tabs={agentTabs}
      columns={columns}
      search
      details={one => ({ title: one.name, content: <Details enrolmentKey={one} /> })}
      create={canWrite && { label: 'Create key', onClick: createKey }}
      empty={{
        icon: KeyRound,
        text: 'To install the agent on a single server, use the button on its page: it creates a key that can be used once.',
      }}
    />
  )
}

const approvals = { auto: 'Automatic', manual: 'Manual' }

const describeUses = ({ used, uses }: EnrolmentKeyView): string => (uses === null ? String(used) : `${used} of ${uses}`)

const Details = ({ enrolmentKey: one }: { enrolmentKey: EnrolmentKeyView }) => (
  <Facts
    rows={[
      ['State', <Status key="" status={one.state} tone={tones[one.state]} />],
      ['Key', one.hint],
      ['Uses', describeUses(one)],
      ['Server', one.server_id && <ServerLink key="" id={one.server_id} />],
      ['Approval', approvals[one.approve]],
      ['Linked by address', one.match ? 'Yes' : 'No'],
      [
        'Labels',
        Object.keys(one.labels).length > 0 && (
          <Tags key="" tags={Object.entries(one.labels).map(([key, value]) => labelsText({ [key]: value }))} />
        ),
      ],
      ['Allowed', one.allow.join(', ')],
      ['Last used', <RelativeTime key="" at={one.last_used_at} />],
      ['Expires', <RelativeTime key="" at={one.expires_at} />],
      ['Created', <RelativeTime key="" at={one.created_at} />],
    ]}
  />
)

const createKey = () =>
  openForm<EnrolmentKeyView & { key: string | null }>({
    title: 'Create key',
    wide: true,
    initial: { ...keyValues, name: '', server_id: '', uses: '1', labels: '', match: false, monitor: true },
    call: values => ({
      method: 'POST',
      path: '/enrolment-keys',
      body: {
        name: values.name,
        server_id: values.server_id === '' ? null : values.server_id,
        uses: values.uses === '' ? null : Number(values.uses),
        labels: labelsFrom(String(values.labels)),
        match: values.match,
        ...keyBody(values),
        ...(values.monitor === false && { monitor: false }),
      },
    }),
    send: {
      invalidates,
      onSuccess: ({ key, name }) =>
        showSecret({
          title: 'Copy the key',
          description: 'It is shown only once. Bailiwick stores only a hash.',
          value: key ?? undefined,
          file: `enrolment key ${name}`,
        }),
    },
    fields: (
      <>
        <TextField name="name" label="Name" placeholder="e.g. Golden image of the web servers" autoFocus />
        <NumberField name="uses" label="Uses" hint="How many agents can be enrolled with it. Empty: any number." />
        <ValidityFields />
        <ChooseField name="server_id" label="Server" list="/servers" none="Follows from the agent" />
        <TextField name="labels" label="Labels of new servers" mono placeholder="e.g. role=web, env=production" />
        <CheckboxField
          name="match"
          label="Link to a server of a cloud account"
          hint="If a server has the public address from which the agent connects."
        />
        <CheckboxField name="monitor" label="Create monitors" hint="For servers that agents add." />
        <AllowFields />
      </>
    ),
  })
