import { BrickWall } from 'lucide-react'
import type { FirewallView } from '../../features/servers/firewalls/shapes'
import { SelectField, TextareaField, TextField } from '../parts/form'
import { ListPage, type Column } from '../parts/list'
import { closeDialog, openDialog } from '../parts/open-dialog'
import { UrlSearch } from '../parts/filters'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { driftPolicies, firewallBody, firewallDefaults, stateTitles, toneOfFirewall } from './cloud/firewall-text'
import { GuardedForm } from './cloud/guarded-form'

const columns: readonly Column<FirewallView>[] = [
  { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
  {
    title: 'State',
    width: '13rem',
    onPhone: 'corner',
    render: one =>
      one.attached.length === 0 ? (
        <span className="text-muted">Not attached</span>
      ) : (
        <Status status={one.state} label={stateTitles[one.state]} tone={toneOfFirewall(one.state)} />
      ),
  },
  { title: 'Rules', width: '7rem', onPhone: 'plain', render: one => pluralize(one.rules.length, 'rule', 'rules') },
  { title: 'Servers', width: '8rem', onPhone: 'plain', render: one => pluralize(one.attached.length, 'server', 'servers') },
  {
    title: 'Created',
    sort: 'created_at',
    width: '8rem',
    showFrom: 'md',
    onPhone: 'hidden',
    render: one => <RelativeTime at={one.created_at} />,
  },
]

/** The firewalls of the workspace. */
export default function Firewalls() {
  const { canWrite } = usePerson()
  return (
    <ListPage
      label="Firewalls"
      description="A firewall is a list of allowed traffic. You can attach it to servers at different clouds."
      path="/firewalls"
      page="/firewalls/$id"
      create={canWrite && { label: 'Create firewall', onClick: createFirewall }}
      columns={columns}
      sort="name"
      search
      params={{ label_selector: '' }}
      controls={<UrlSearch name="label_selector" label="Label selector" />}
      filters={[{ name: 'drift_policy', label: 'Drift policy', all: 'All drift policies', choices: driftPolicies }]}
      empty={{
        icon: BrickWall,
        text: 'Create a firewall, list what is allowed, and attach it to servers. They drop all other incoming traffic.',
      }}
    />
  )
}

const createFirewall = () =>
  openDialog({
    title: 'Create firewall',
    description:
      'It has no effect until you attach it to servers, or its label selector selects some. Add the rules on its page.',
    content: (
      <GuardedForm<FirewallView>
        initial={firewallDefaults}
        callFor={values => ({ method: 'POST', path: '/firewalls', body: firewallBody(values) })}
        submitLabel="Create firewall"
        overrideLabel="Override and create"
        title="Firewall created"
        onCancel={closeDialog}
        onStart={closeDialog}
      >
        <FirewallFields />
      </GuardedForm>
    ),
  })

/** The settings of a firewall. */
export const FirewallFields = () => (
  <>
    <TextField name="name" label="Name" autoFocus />
    <TextareaField name="description" label="Description" rows={2} />
    <TextField
      name="label_selector"
      label="Attach to servers with these labels"
      hint="A label selector such as role=web,!temporary. Servers get the firewall as soon as their labels match."
      mono
    />
    <TextField name="labels" label="Labels" placeholder="e.g. team=web" mono />
    <SelectField
      name="drift_policy"
      label="Drift policy"
      hint="What happens if the rules are changed at the cloud, or on the host of an agent."
      choices={driftPolicies}
    />
  </>
)
