import { useNavigate } from '@tanstack/react-router'
import { Pencil, Power, PowerOff, Rocket } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ActionView } from '../../../features/actions/shapes'
import type { CatalogImageView } from '../../../features/servers/accounts/catalog-shapes'
import type { ServerView } from '../../../features/servers/shapes'
import type { Call } from '../../client'
import { Button, LinkButton } from '../../parts/button'
import { CheckboxField, NumberField, SelectField, TextareaField, TextField, type Values } from '../../parts/form'
import { Menu, type MenuItem } from '../../parts/menu'
import { confirmDelete, openForm } from '../../parts/open-dialog'
import { ChooseField } from '../../parts/pick-field'
import { usePerson } from '../../session'
import { useCatalog } from './accounts'
import { PriceOfDraft } from './draft-price'
import { noPrice, PriceFields } from './price-fields'
import { ResizeFields } from './resize-fields'
import { SafetySnapshotField, safetySnapshotIn } from './safety-snapshot-field'
import { invalidates, verbTitles, type Verb } from './server-text'

interface VerbDialog {
  /** What happens. */
  text: string
  danger?: true
  /** Whether the name of the server has to be typed. */
  typed?: true
  initial?: Values
  fields?(server: ServerView): ReactNode
  /** Parameters of the action, from the values. */
  paramsOf?(values: Values): Values
}

const plain = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === '' || value === null ? [] : [[name.replace(/^params\./, ''), value]],
    ),
  )

/** The dialog of each action, in the order of the menu. */
const dialogs: Partial<Record<Verb, VerbDialog>> = {
  provision: {
    text: 'The server is created at the cloud, at this price at most.',
    fields: server => (
      <>
        {server.status === 'error' && (
          <p>The same order is sent again, unless the cloud has created the server already. It is never bought twice.</p>
        )}
        <PriceOfDraft server={server} />
      </>
    ),
    paramsOf: plain,
  },
  power_on: { text: 'The server starts.' },
  resume: { text: 'The server continues where it was suspended.' },
  shutdown: {
    text: 'The operating system is asked to shut down.',
    initial: { 'params.timeout_seconds': 120, 'params.then_force': false },
    fields: () => (
      <>
        <NumberField name="params.timeout_seconds" label="Time to shut down" unit="seconds" min={5} max={3600} />
        <CheckboxField name="params.then_force" label="Power off if it takes longer" hint="Unsaved data is lost then." />
      </>
    ),
    paramsOf: plain,
  },
  reboot: { text: 'The operating system is asked to restart.' },
  restart_unit: {
    text: 'The agent restarts a unit of systemd, if the owner of the server allows it.',
    initial: { 'params.unit': '' },
    fields: () => <TextField name="params.unit" label="Unit" placeholder="e.g. nginx.service" mono autoFocus />,
    paramsOf: plain,
  },
  collect: { text: 'The agent reads everything again, and reports it at once.' },
  update_agent: {
    text: 'The agent installs the version of this hub, and restarts. If the new version doesn’t report within two minutes, the previous one is restored.',
  },
  suspend: { text: 'The server is paused, and keeps its memory.' },
  power_off: { text: 'The server is switched off at once, like pulling the plug. Unsaved data is lost.', danger: true },
  power_cycle: {
    text: 'The server is switched off and on again at once, like pulling the plug. Unsaved data is lost.',
    danger: true,
  },
  rename: {
    text: 'The server gets this name at the cloud, too. The hostname in its system doesn’t change.',
    fields: () => <TextField name="params.name" label="Name" autoFocus />,
    paramsOf: plain,
  },
  resize: {
    text: 'The server gets another size, at the new price.',
    initial: { 'params.size': null, 'params.upgrade_disk': false },
    fields: server => <ResizeFields server={server} />,
    paramsOf: values => {
      const { size, 'size.cores': cores, 'size.memory_bytes': memory, 'size.disk_bytes': disk, ...rest } = plain(values)
      return { size: size ?? { cores, memory_bytes: memory, disk_bytes: disk }, ...rest }
    },
  },
  rebuild: {
    text: 'All data on its disk is deleted, and the image is installed. The addresses stay. This can’t be undone.',
    danger: true,
    typed: true,
    initial: { 'params.image': '', 'params.user_data': '' },
    fields: server => <RebuildFields server={server} />,
    paramsOf: plain,
  },
  snapshot: {
    text: 'The disks of the server are saved at the cloud, and can be restored later.',
    initial: { 'params.name': '', 'params.quiesce': 'none', ...noPrice('params.') },
    fields: () => (
      <>
        <TextField name="params.name" label="Name" placeholder="e.g. before the upgrade" autoFocus />
        <SelectField
          name="params.quiesce"
          label="Running server"
          choices={{ none: 'Keep it running', shutdown: 'Shut it down first, and start it again' }}
        />
        <PriceFields prefix="params." />
      </>
    ),
    paramsOf: plain,
  },
  restore_snapshot: {
    text: 'The disks of the server are replaced. Data that was written since then is lost.',
    danger: true,
    typed: true,
    initial: { 'params.snapshot_id': '', 'params.safety_snapshot': '', ...noPrice('params.') },
    fields: server => (
      <>
        <ChooseField
          name="params.snapshot_id"
          label="Snapshot"
          list="/snapshots"
          filter={{ server_id: server.id, state: 'available', sort: '-created_at' }}
          none="Choose a snapshot"
        />
        <SafetySnapshotField name="params.safety_snapshot" />
        <PriceFields prefix="params." />
      </>
    ),
    paramsOf: values => {
      const { safety_snapshot, ...rest } = plain(values)
      return { ...rest, ...safetySnapshotIn(safety_snapshot) }
    },
  },
  set_protection: {
    text: 'The cloud refuses what a server is protected from, also in its own interface.',
    fields: () => (
      <>
        <CheckboxField name="params.delete" label="Protect from deletion" />
        <CheckboxField name="params.rebuild" label="Protect from being rebuilt" />
      </>
    ),
    paramsOf: plain,
  },
  enable_rescue: { text: 'The server boots a rescue system after its next restart.' },
  disable_rescue: { text: 'The server boots from its disk again after its next restart.' },
  enable_backups: { text: 'The cloud backs up the server automatically, for a surcharge.' },
  disable_backups: { text: 'The backups that exist are deleted. This can’t be undone.', danger: true },
}

const orderOfMenu = Object.keys(dialogs) as Verb[]
const separatedBy: readonly Verb[] = ['rename', 'snapshot', 'enable_rescue']

/** The image for a rebuild. */
function RebuildFields({ server }: { server: ServerView }) {
  const images = useCatalog<CatalogImageView>(server.account_id, 'images').data?.data ?? []
  return (
    <>
      <SelectField
        name="params.image"
        label="Image"
        choices={[['', 'Choose an image'] as const, ...images.map(one => [one.slug, one.title] as const)]}
      />
      <TextareaField name="params.user_data" label="Cloud-init user data" mono rows={3} hint="Optional." />
    </>
  )
}

/** Values of the server that a dialog starts with. */
const valuesFrom = (server: ServerView): Partial<Record<Verb, Values>> => ({
  rename: { 'params.name': server.name },
  set_protection: { 'params.delete': server.protection.delete, 'params.rebuild': server.protection.rebuild },
})

/** Opens the dialog of an action. @param onStart gets the action once it has started */
function openVerb(server: ServerView, { action, via }: ServerView['actions'][number], onStart: (id: string) => void): void {
  const { text, danger, typed, initial, fields, paramsOf } = dialogs[action]!
  const actionCall = ({ via: way, ...values }: Values): Call => ({
    method: 'POST',
    path: `/servers/${server.id}/actions`,
    body: { action, ...(paramsOf && { params: paramsOf(values) }), ...(via.length > 1 && { via: way }) },
  })
  openForm<ActionView>({
    title: `${titleOf(server, action)}: ${server.name}`,
    submitLabel: titleOf(server, action),
    description: text,
    ...(danger && { danger }),
    ...(typed && { typeToConfirm: server.name }),
    initial: { ...initial, ...valuesFrom(server)[action], ...(via.length > 1 && { via: via[0] }) },
    call: actionCall,
    send: { invalidates, onSuccess: started => onStart(started.id) },
    fields: (
      <>
        {fields?.(server)}
        {via.length > 1 && <SelectField name="via" label="Method" choices={via} />}
      </>
    ),
  })
}

const titleOf = ({ status }: ServerView, verb: Verb): string =>
  verb === 'provision' && status === 'error' ? 'Retry creation' : verbTitles[verb]

/** Whether the action would change nothing. */
const isSoAlready = ({ backups }: ServerView, verb: Verb): boolean =>
  (verb === 'enable_backups' && backups === true) || (verb === 'disable_backups' && backups === false)

const icons = { provision: Rocket, power_on: Power, shutdown: PowerOff }

interface ServerActionsProps {
  server: ServerView
  onStart(id: string): void
}

/** The actions for a server that are possible now. */
export function ServerActions({ server, onStart }: ServerActionsProps) {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  if (!canWrite || server.status === 'deleted') return null
  const possible = new Map(server.actions.map(one => [one.action, one]))
  const open = (verb: Verb) => openVerb(server, possible.get(verb)!, onStart)
  const first = (['provision', 'power_on', 'shutdown'] as const).find(one => possible.has(one))
  const items = orderOfMenu
    .filter(one => possible.has(one) && one !== first && !isSoAlready(server, one))
    .flatMap((verb): MenuItem[] => [
      separatedBy.includes(verb) ? '-' : null,
      { label: verbTitles[verb], ...(dialogs[verb]!.danger && { danger: true }), onSelect: () => open(verb) },
    ])
  return (
    <>
      {first && (
        <Button kind={first === 'shutdown' ? 'secondary' : 'primary'} icon={icons[first]} onClick={() => open(first)}>
          {titleOf(server, first)}
        </Button>
      )}
      <LinkButton to="/servers/$id/edit" params={{ id: server.id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu
        label="More actions"
        items={[
          ...items,
          items.length > 0 ? '-' : null,
          {
            label: 'Delete',
            danger: true,
            disabled: server.action_id !== null,
            onSelect: () => remove(server, onStart, () => void navigate({ to: '/servers' })),
          },
        ]}
      />
    </>
  )
}

/** Asks what happens at the cloud, if the server exists there. */
function remove(server: ServerView, onStart: (id: string) => void, onGone: () => void): void {
  const { id, name, account_id: account, provider_ref: ref, status } = server
  const path = `/servers/${id}`
  if (account === null || ref === null || status === 'missing') {
    confirmDelete({
      noun: 'server',
      name,
      path,
      invalidates,
      next: '/servers',
      typed: true,
      text: 'This deletes what is stored here: its history, labels, and notes. This can’t be undone.',
    })
    return
  }
  openForm<ActionView | undefined>({
    title: `Delete ${name}?`,
    submitLabel: 'Delete server',
    danger: true,
    typeToConfirm: name,
    initial: { at_provider: 'destroy', snapshots: false },
    call: ({ at_provider: at, snapshots }) => ({
      ...{ method: 'DELETE', path },
      query: { at_provider: String(at), ...(snapshots === true && { snapshots: 'destroy' }) },
    }),
    send: {
      invalidates,
      toast: started => (started ? `${name} is being deleted` : `${name} removed`),
      onSuccess: started => (started ? onStart(started.id) : onGone()),
    },
    fields: (
      <>
        <SelectField
          name="at_provider"
          label="At the cloud"
          hint="Deleting it there deletes its disk, and can’t be undone. A server that you keep is not added again by itself."
          choices={{ destroy: 'Delete it there, too', keep: 'Keep it, and only remove it here' }}
        />
        <CheckboxField
          name="snapshots"
          label="Delete its snapshots, too"
          hint="Required at hypervisors, where snapshots can’t exist without their server."
        />
      </>
    ),
  })
}
