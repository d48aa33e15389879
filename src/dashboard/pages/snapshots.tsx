import { Camera } from 'lucide-react'
import type { ActionView } from '../../features/actions/shapes'
import type { ServerView } from '../../features/servers/shapes'
import type { SnapshotView } from '../../features/servers/snapshots/shapes'
import type { VolumeView } from '../../features/servers/volumes/shapes'
import { CopyableText } from '../parts/code'
import { CheckboxField, Columns, SelectField, TextField, useForm, type Values } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { ChooseField } from '../parts/pick-field'
import { ResourceLink } from '../parts/resource'
import { useResourceNames } from '../parts/resource-search'
import { Status, Tag } from '../parts/status'
import { localInputToIso, toLocalInput } from '../parts/timezone'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { useAccountNames, useAccounts, useCloudKinds } from './cloud/accounts'
import { formatAmount, formatGibibytes } from './cloud/amounts'
import { labelsFact } from './cloud/labels-fact'
import { acceptedIn, noPrice, PriceFields } from './cloud/price-fields'
import { SafetySnapshotField, safetySnapshotIn } from './cloud/safety-snapshot-field'
import { labelsFrom, labelsText } from './cloud/server-text'
import { snapshotStateTitles, storageOriginTitles, toneOfStorage } from './cloud/storage-text'

const invalidates = ['/snapshots', '/servers', '/cloud-accounts', '/actions']

/** Lists and manages the snapshots of servers and volumes. */
export default function Snapshots() {
  const { canWrite } = usePerson()
  const columns: TableColumns<SnapshotView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    {
      title: 'State',
      width: '8rem',
      onPhone: 'corner',
      render: one => <Status status={one.state} tone={toneOfStorage(one.state)} label={snapshotStateTitles[one.state]} />,
    },
    {
      title: 'Server or volume',
      width: 'clamp(8rem, 18cqw, 18rem)',
      onPhone: 'line',
      render: one => <Owner snapshot={one} />,
    },
    { title: 'Protected', width: '7rem', showFrom: 'lg', onPhone: 'plain', render: one => one.protected && <Tag>protected</Tag> },
    {
      title: 'Size',
      width: '6rem',
      showFrom: 'md',
      onPhone: 'plain',
      render: one => one.size_bytes !== null && formatGibibytes(one.size_bytes),
    },
    {
      title: 'Price',
      width: '6rem',
      showFrom: 'lg',
      alignRight: true,
      render: one => one.price.monthly && formatAmount(one.price.monthly, one.price.currency),
    },
    {
      title: 'Expires',
      width: '8rem',
      showFrom: 'xl',
      onPhone: 'hidden',
      render: one => <RelativeTime at={one.expires_at} fallback="Never" />,
    },
    { title: 'Created', sort: 'created_at', width: '8rem', render: one => <RelativeTime at={one.created_at} /> },
    canWrite &&
      menuColumn<SnapshotView>(
        one => one.name,
        one => [
          { label: 'Edit snapshot', onSelect: () => editSnapshot(one) },
          (one.server_id ?? one.volume_id) !== null && one.state === 'available'
            ? { label: 'Restore snapshot', danger: true, onSelect: () => restoreSnapshot(one) }
            : null,
          '-',
          {
            label: 'Delete snapshot',
            danger: true,
            disabled: one.protected || one.action_id !== null,
            onSelect: () =>
              confirmDelete({
                noun: 'snapshot',
                name: one.name,
                path: `/snapshots/${one.id}`,
                invalidates,
                typed: true,
                text: 'The snapshot is deleted at the cloud, too. This can’t be undone.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="Snapshots"
      description="The disks of servers, and volumes, at a point in time. Prices are per month."
      path="/snapshots"
      columns={columns}
      sort="-created_at"
      search
      params={{ server_id: '', volume_id: '' }}
      filters={[
        { name: 'state', label: 'State', all: 'All states', choices: snapshotStateTitles },
        { name: 'origin', label: 'Origin', all: 'All origins', choices: storageOriginTitles },
      ]}
      details={one => ({ title: one.name, content: <Details snapshot={one} /> })}
      create={canWrite && { label: 'Create snapshot', onClick: createSnapshot }}
      empty={{
        icon: Camera,
        text: 'Create a snapshot before you change something on a server, so that you can go back.',
      }}
    />
  )
}

function Details({ snapshot: one }: { snapshot: SnapshotView }) {
  const accountName = useAccountNames()
  return (
    <Facts
      rows={[
        ['State', <Status key="" status={one.state} tone={toneOfStorage(one.state)} label={snapshotStateTitles[one.state]} />],
        [one.volume_id === null ? 'Server' : 'Volume', <Owner key="" snapshot={one} />],
        ['Account', accountName(one.account_id)],
        ['Origin', storageOriginTitles[one.origin]],
        ['Size', one.size_bytes !== null && formatGibibytes(one.size_bytes)],
        ['Price per month', one.price.monthly && formatAmount(one.price.monthly, one.price.currency)],
        ['Memory', one.includes_memory ? 'Included' : 'Not included'],
        ['If the server is deleted', one.survives_server ? 'The snapshot remains' : 'The snapshot is deleted, too'],
        ['Protected', one.protected ? 'From being deleted' : 'No'],
        labelsFact(one.labels),
        ['Taken', <RelativeTime key="" at={one.taken_at} fallback="Unknown" />],
        ['Expires', <RelativeTime key="" at={one.expires_at} fallback="Never" />],
        ['ID at the cloud', one.provider_ref && <CopyableText key="" text={one.provider_ref} label="ID at the cloud" />],
        ['ID', <CopyableText key="" text={one.id} />],
      ]}
    />
  )
}

/** A link to the server or volume that a snapshot was created from. */
function Owner({ snapshot: { server_id: server, volume_id: volume } }: { snapshot: SnapshotView }) {
  const id = volume ?? server
  const name = useResourceNames(id === null ? [] : [id]).get(id ?? '') ?? null
  return id === null ? null : <ResourceLink id={id} type={volume === null ? 'server' : 'volume'} name={name} />
}

const bodyOf = ({ labels, expires_at: expires, max_monthly_price, currency, accept_unknown_price, ...values }: Values) => ({
  ...values,
  labels: labelsFrom(String(labels)),
  expires_at: expires === '' ? null : localInputToIso(String(expires)),
  ...acceptedIn({ max_monthly_price, currency, accept_unknown_price }),
})

const createSnapshot = () =>
  openForm<SnapshotView>({
    title: 'Create snapshot',
    wide: true,
    initial: {
      ...{
        server_id: '',
        volume_id: '',
        name: '',
        labels: '',
        protected: false,
        expires_at: '',
        includes_memory: false,
        quiesce: 'none',
      },
      ...noPrice(),
    },
    call: ({ volume_id, server_id, includes_memory, quiesce, ...values }) => ({
      method: 'POST',
      path: '/snapshots',
      body: { ...bodyOf(values), ...(volume_id ? { volume_id } : { server_id, includes_memory, quiesce }) },
    }),
    send: { toast: 'Snapshot is being created', invalidates },
    fields: (
      <>
        <OwnerFields />
        <CommonFields />
        <ServerFields />
      </>
    ),
  })

/** What only snapshots of servers have. */
function ServerFields() {
  const { values } = useForm()
  if (values.volume_id) return null
  return (
    <>
      <CheckboxField name="includes_memory" label="Include the memory" hint="Only on Proxmox VE and Incus." />
      <SelectField
        name="quiesce"
        label="Running server"
        choices={{ none: 'Keep it running', shutdown: 'Shut it down first, and start it again' }}
        hint="While a server runs, data that it has not written to its disks yet is missing."
      />
      <PriceFields />
    </>
  )
}

const ServerField = () => (
  <ChooseField<ServerView>
    name="server_id"
    label="Server"
    list="/servers"
    isOffered={one => one.actions.some(({ action }) => action === 'snapshot')}
    none="Choose a server"
  />
)

/** What to create a snapshot of. Not all clouds have snapshots of volumes. */
function OwnerFields() {
  const kinds = useCloudKinds().data?.data ?? []
  const able = new Set(kinds.filter(one => one.capabilities.volume_snapshots).map(one => one.kind))
  const accounts = (useAccounts().data?.data ?? []).filter(one => able.has(one.kind)).map(one => one.id)
  if (accounts.length === 0) return <ServerField />
  return (
    <Columns>
      <ServerField />
      <ChooseField<VolumeView>
        name="volume_id"
        label="Or a volume"
        list="/volumes"
        filter={{ state: ['available', 'in_use'] }}
        isOffered={one => accounts.includes(one.account_id)}
        none="No volume"
      />
    </Columns>
  )
}

const editSnapshot = ({ id, name, labels, protected: isProtected, expires_at: expires }: SnapshotView) =>
  openForm<SnapshotView>({
    title: 'Edit snapshot',
    submitLabel: 'Save changes',
    initial: {
      ...{ name, labels: labelsText(labels), protected: isProtected },
      expires_at: expires === null ? '' : toLocalInput(new Date(expires).getTime()),
    },
    call: values => ({ method: 'PATCH', path: `/snapshots/${id}`, body: bodyOf(values) }),
    send: { toast: 'Snapshot saved', invalidates },
    fields: <CommonFields />,
  })

const CommonFields = () => (
  <>
    <TextField name="name" label="Name" placeholder="e.g. before the upgrade" autoFocus />
    <TextField name="labels" label="Labels" placeholder="e.g. role=web, tier=gold" mono />
    <TextField
      name="expires_at"
      label="Expires"
      type="datetime-local"
      hint="In your time zone. The snapshot is deleted then. Leave empty to keep it."
    />
    <CheckboxField name="protected" label="Protect from deletion" hint="Also when it expires." />
  </>
)

const restoreSnapshot = (snapshot: SnapshotView) =>
  snapshot.volume_id === null ? restoreServer(snapshot) : restoreVolume(snapshot)

const restoreVolume = ({ id, name, volume_id: volume }: SnapshotView) =>
  openForm<ActionView>({
    title: `Restore ${name}?`,
    submitLabel: 'Restore snapshot',
    danger: true,
    typeToConfirm: name,
    description: 'The data of the volume is replaced. What was written since then is lost. The volume must not be attached.',
    initial: {},
    call: () => ({
      method: 'POST',
      path: `/volumes/${volume}/actions`,
      body: { action: 'restore_snapshot', params: { snapshot_id: id } },
    }),
    send: { toast: 'Snapshot is being restored', invalidates: [...invalidates, '/volumes'] },
    fields: null,
  })

const restoreServer = ({ id, name, server_id: server }: SnapshotView) =>
  openForm<ActionView>({
    title: `Restore ${name}?`,
    submitLabel: 'Restore snapshot',
    danger: true,
    typeToConfirm: name,
    description: 'The disks of the server are replaced. Data that was written since then is lost.',
    initial: { safety_snapshot: '', ...noPrice() },
    call: ({ safety_snapshot, ...price }) => ({
      method: 'POST',
      path: `/servers/${server}/actions`,
      body: {
        action: 'restore_snapshot',
        params: { snapshot_id: id, ...safetySnapshotIn(safety_snapshot), ...acceptedIn(price) },
      },
    }),
    send: { toast: 'Snapshot is being restored', invalidates },
    fields: (
      <>
        <SafetySnapshotField name="safety_snapshot" />
        <PriceFields />
      </>
    ),
  })
