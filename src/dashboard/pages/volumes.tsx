import { HardDrive } from 'lucide-react'
import type { ActionView } from '../../features/actions/shapes'
import type { VolumeView } from '../../features/servers/volumes/shapes'
import type { Query } from '../client'
import { UrlSearch } from '../parts/filters'
import { CopyableText } from '../parts/code'
import { CheckboxField, Columns, NumberField, SelectField, TextField, useForm, type Values } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { ChooseField } from '../parts/pick-field'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { useAccountNames, useAccounts, useCatalog, useCloudKinds } from './cloud/accounts'
import { formatAmount, formatGibibytes } from './cloud/amounts'
import { labelsFact } from './cloud/labels-fact'
import { acceptedIn, noPrice, PriceFields } from './cloud/price-fields'
import { ResourceMetrics } from './cloud/server-metrics'
import { ServerLink } from './cloud/server-link'
import { labelsFrom, labelsText } from './cloud/server-text'
import { storageOriginTitles, toneOfStorage, volumeStateTitles } from './cloud/storage-text'

const invalidates = ['/volumes', '/servers', '/cloud-accounts', '/actions']
const gibibyte = 2 ** 30

/** Lists and manages volumes. */
export default function Volumes() {
  const { canWrite } = usePerson()
  const kinds = useCloudKinds().data?.data
  const found = useAccounts().data?.data
  const accounts = (found ?? []).filter(one => kinds?.find(({ kind }) => kind === one.kind)?.capabilities.volumes ?? false)
  // While they load, the page has the layout that it usually has then.
  const hasAccounts = !kinds || !found || accounts.length > 0
  const account = accounts[0]
  const columns: TableColumns<VolumeView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    {
      title: 'State',
      width: '8rem',
      onPhone: 'corner',
      render: one => <Status status={one.state} tone={toneOfStorage(one.state)} label={volumeStateTitles[one.state]} />,
    },
    {
      title: 'Server',
      width: 'clamp(8rem, 18cqw, 18rem)',
      onPhone: 'line',
      render: one => one.server_id && <ServerLink id={one.server_id} />,
    },
    { title: 'Location', width: '7rem', showFrom: 'lg', onPhone: 'plain', render: one => one.location },
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
    { title: 'Created', sort: 'created_at', width: '8rem', render: one => <RelativeTime at={one.created_at} /> },
    canWrite &&
      menuColumn<VolumeView>(
        one => one.name,
        one => {
          const isFree = one.action_id === null
          return [
            one.state === 'available' ? { label: 'Attach volume', onSelect: () => attach(one), disabled: !isFree } : null,
            one.state === 'in_use' ? { label: 'Detach volume', onSelect: () => detach(one), disabled: !isFree } : null,
            { label: 'Resize volume', onSelect: () => resize(one), disabled: !isFree },
            { label: 'Change protection', onSelect: () => protect(one), disabled: !isFree },
            { label: 'Edit volume', onSelect: () => edit(one), disabled: !isFree },
            '-',
            {
              label: 'Delete volume',
              danger: true,
              disabled: !isFree || one.protection.delete || one.state === 'in_use',
              onSelect: () =>
                confirmDelete({
                  noun: 'volume',
                  name: one.name,
                  path: `/volumes/${one.id}`,
                  invalidates,
                  typed: true,
                  text: 'The volume and all data on it are deleted at the cloud, too. This can’t be undone.',
                }),
            },
          ]
        },
      ),
  ]
  return (
    <ListPage
      label="Volumes"
      description="Disks that can be moved from one server to another. Prices are per month."
      path="/volumes"
      columns={columns}
      sort="name"
      search
      params={{ label_selector: '', server_id: '' }}
      filters={[
        { name: 'state', label: 'State', all: 'All states', choices: volumeStateTitles },
        hasAccounts && {
          name: 'account_id',
          label: 'Account',
          all: 'All accounts',
          choices: accounts.map(one => [one.id, one.name] as const),
        },
      ]}
      controls={<UrlSearch name="label_selector" label="Label selector" />}
      details={one => ({ title: one.name, content: <Details volume={one} /> })}
      create={
        canWrite &&
        hasAccounts && { label: 'Create volume', disabled: !account, onClick: () => account && createVolume(account.id) }
      }
      empty={{
        icon: HardDrive,
        text: 'A volume keeps its data when a server is deleted or rebuilt, and can be attached to another server. Hetzner Cloud, Incus, and LXD have volumes.',
      }}
    />
  )
}

function Details({ volume: one }: { volume: VolumeView }) {
  const accountName = useAccountNames()
  const { id, name, used_bytes: used } = one
  return (
    <>
      <Facts
        rows={[
          ['State', <Status key="" status={one.state} tone={toneOfStorage(one.state)} label={volumeStateTitles[one.state]} />],
          ['Server', one.server_id && <ServerLink key="" id={one.server_id} />],
          ['Device', one.device && <CopyableText key="" text={one.device} label="device" />],
          ['Mounted at', one.mount_path],
          ['File system', one.format],
          ['Size', one.size_bytes !== null && formatGibibytes(one.size_bytes)],
          ['Used', used !== null && formatGibibytes(used)],
          ['Price per month', one.price.monthly && formatAmount(one.price.monthly, one.price.currency)],
          ['Account', accountName(one.account_id)],
          ['Location', one.location],
          ['Origin', storageOriginTitles[one.origin]],
          ['Protected', one.protection.delete ? 'From deletion' : 'No'],
          labelsFact(one.labels),
          ['Created', <RelativeTime key="" at={one.created_at} />],
          ['ID at the cloud', one.provider_ref && <CopyableText key="" text={one.provider_ref} label="ID at the cloud" />],
          ['ID', <CopyableText key="" text={one.id} />],
        ]}
      />
      {(used !== null || one.server_id !== null) && (
        <ResourceMetrics
          path={`/volumes/${id}/metrics`}
          name={name}
          empty="No metrics yet. The agent of the server that the volume is attached to reports them, and some clouds do."
        />
      )}
    </>
  )
}

const text = (value: unknown): string | null => (value === '' || value == null ? null : String(value))

const createVolume = (accountId: string) =>
  openForm<VolumeView>({
    title: 'Create volume',
    wide: true,
    initial: {
      ...{ name: '', account_id: accountId, size_bytes: 10, server_id: '', location: '', format: '', mount_path: '', labels: '' },
      ...noPrice(),
    },
    call: values => ({
      method: 'POST',
      path: '/volumes',
      body: {
        name: values.name,
        account_id: values.account_id,
        size_bytes: Number(values.size_bytes) * gibibyte,
        server_id: text(values.server_id),
        location: text(values.location),
        format: text(values.format),
        mount_path: text(values.mount_path),
        labels: labelsFrom(String(values.labels)),
        ...acceptedIn(values),
      },
    }),
    send: { toast: 'Volume is being created', invalidates },
    fields: <NewVolumeFields />,
  })

function NewVolumeFields() {
  const { values } = useForm()
  const kinds = useCloudKinds().data?.data ?? []
  const accounts = useAccounts().data?.data ?? []
  const able = accounts.filter(one => kinds.find(({ kind }) => kind === one.kind)?.capabilities.volumes ?? false)
  const account = String(values.account_id)
  const locations = useCatalog<{ slug: string; title: string }>(account, 'locations').data?.data ?? []
  return (
    <>
      <TextField name="name" label="Name" placeholder="e.g. data-1" autoFocus />
      <Columns>
        <SelectField name="account_id" label="Account" choices={able.map(one => [one.id, one.name] as const)} />
        <NumberField name="size_bytes" label="Size" unit="GiB" min={1} />
      </Columns>
      <Columns>
        <ServerField filter={{ account_id: account }} none="No server" />
        {locations.length > 0 && (
          <SelectField
            name="location"
            label="Location"
            hint="With a server, its location is used."
            choices={[['', 'Location of the server'] as const, ...locations.map(one => [one.slug, one.title] as const)]}
          />
        )}
      </Columns>
      <Columns>
        <SelectField
          name="format"
          label="File system"
          hint="Hetzner Cloud formats the volume."
          choices={[
            ['', 'None'],
            ['ext4', 'ext4'],
            ['xfs', 'XFS'],
          ]}
        />
        <MountPathField name="mount_path" />
      </Columns>
      <LabelsField />
      <PriceFields />
    </>
  )
}

const LabelsField = () => <TextField name="labels" label="Labels" placeholder="e.g. role=database" mono />

const MountPathField = ({ name }: { name: string }) => (
  <TextField name={name} label="Mount path" placeholder="/mnt/data-1" mono hint="Incus and LXD mount the volume there." />
)

const ServerField = ({ name = 'server_id', ...field }: { filter: Query; none: string; name?: string }) => (
  <ChooseField {...field} name={name} label="Server" list="/servers" />
)

/** Opens the dialog of an action. */
function openAction(
  { id, name }: VolumeView,
  action: string,
  title: string,
  dialog: { description: string; initial?: Values; fields?: React.ReactNode; paramsOf(values: Values): Values },
): void {
  const { paramsOf, ...rest } = dialog
  openForm<ActionView>({
    title: `${title}: ${name}`,
    submitLabel: title,
    initial: {},
    ...rest,
    call: values => ({ method: 'POST', path: `/volumes/${id}/actions`, body: { action, params: paramsOf(values) } }),
    send: { toast: `${name} is being changed`, invalidates },
    fields: rest.fields ?? null,
  })
}

const attach = (volume: VolumeView) =>
  openAction(volume, 'attach', 'Attach volume', {
    description: 'The server must be in the same location as the volume.',
    initial: { 'params.server_id': '', 'params.mount_path': '' },
    fields: (
      <>
        <ServerField
          filter={{ account_id: volume.account_id, ...(volume.location !== null && { location: volume.location }) }}
          none="Choose a server"
          name="params.server_id"
        />
        <MountPathField name="params.mount_path" />
      </>
    ),
    paramsOf: values => ({ server_id: values['params.server_id'], mount_path: text(values['params.mount_path']) }),
  })

const detach = (volume: VolumeView) =>
  openAction(volume, 'detach', 'Detach volume', {
    description: 'Unmount the volume in the server first. Data that is not written yet is lost otherwise.',
    initial: { 'params.force': false },
    fields: (
      <CheckboxField name="params.force" label="Detach it even if it may be mounted" hint="Required unless the server is off." />
    ),
    paramsOf: values => ({ force: values['params.force'] }),
  })

const resize = (volume: VolumeView) =>
  openAction(volume, 'resize', 'Resize volume', {
    description: 'Volumes can only grow. At Hetzner Cloud, grow the file system in the server afterwards.',
    initial: { 'params.size_bytes': Math.ceil((volume.size_bytes ?? gibibyte) / gibibyte), ...noPrice() },
    fields: (
      <>
        <NumberField name="params.size_bytes" label="Size" unit="GiB" min={1} />
        <PriceFields />
      </>
    ),
    paramsOf: values => ({ size_bytes: Number(values['params.size_bytes']) * gibibyte, ...acceptedIn(values) }),
  })

const protect = (volume: VolumeView) =>
  openAction(volume, 'set_protection', 'Change protection', {
    description: 'The cloud refuses to delete a protected volume, also in its own interface.',
    initial: { 'params.delete': volume.protection.delete },
    fields: <CheckboxField name="params.delete" label="Protect from deletion" />,
    paramsOf: values => ({ delete: values['params.delete'] }),
  })

const edit = ({ id, name, labels }: VolumeView) =>
  openForm<VolumeView>({
    title: 'Edit volume',
    submitLabel: 'Save changes',
    description: 'Incus and LXD can rename a volume only while it is not attached.',
    initial: { name, labels: labelsText(labels) },
    call: values => ({
      method: 'PATCH',
      path: `/volumes/${id}`,
      body: { name: values.name, labels: labelsFrom(String(values.labels)) },
    }),
    send: { toast: 'Volume saved', invalidates },
    fields: (
      <>
        <TextField name="name" label="Name" />
        <LabelsField />
      </>
    ),
  })
