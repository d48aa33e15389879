import type { CatalogImageView, CatalogLocationView, CatalogNetworkView } from '../../../features/servers/accounts/catalog-shapes'
import type { CloudAccountView, CloudKindView } from '../../../features/servers/accounts/shapes'
import type { ServerView } from '../../../features/servers/shapes'
import type { VolumeView } from '../../../features/servers/volumes/shapes'
import { Group } from '../../parts/advanced'
import { CheckboxesField, CheckboxField, SelectField, TextareaField, useForm, type Values } from '../../parts/form'
import { ChooseManyField } from '../../parts/pick-field'
import { flattened, isSame, nested } from '../../parts/values'
import { useCatalog } from './accounts'
import { FreeSizeFields, SizeField } from './size-field'
import { SshKeysField } from './ssh-keys-field'

type Order = NonNullable<ServerView['order']>

const defaults: Order = {
  location: null,
  fallback_locations: [],
  size: null,
  image: null,
  ssh_keys: [],
  networks: [],
  volume_ids: [],
  firewall_ids: [],
  enable_ipv4: true,
  enable_ipv6: true,
  backups: false,
  start: true,
}

const freeSize = { cores: null, memory_bytes: null, disk_bytes: null }

/** Form values of an order, or of a new one. */
export function orderValues(order: Order | null): Values {
  const { size, ssh_keys: keys, ...rest } = order ?? defaults
  return {
    ...rest,
    size: typeof size === 'string' ? size : null,
    ...flattened('size', typeof size === 'object' && size !== null ? size : freeSize),
    ssh_keys: keys.filter(isId),
    public_keys: keys.filter(one => !isId(one)).join('\n'),
    user_data: '',
  }
}

/** The fields of an order that differ from the values before, or from the defaults. */
export function orderBody(values: Values, before: Values | null): Values {
  const [order, previous] = [orderOf(values), before ? orderOf(before) : defaults] as Values[]
  return {
    ...Object.fromEntries(Object.entries(order!).filter(([name, value]) => !isSame(value, previous![name]))),
    ...(values.user_data !== '' && { user_data: values.user_data }),
  }
}

function orderOf(values: Values): Values {
  const free = nested('size', values)
  const isFree = Object.values(free).some(one => one !== null)
  return {
    ...Object.fromEntries(Object.keys(defaults).map(name => [name, values[name] === '' ? null : values[name]])),
    size: isFree ? Object.fromEntries(Object.entries(free).filter(([, value]) => value !== null)) : values.size,
    ssh_keys: [...(values.ssh_keys as string[]), ...linesOf(String(values.public_keys))],
  }
}

const isId = (key: string) => key.startsWith('sshk_')

/** Public keys contain spaces, so there is one per line. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map(one => one.trim())
    .filter(one => one !== '')

interface OrderFieldsProps {
  account: CloudAccountView
  kind: CloudKindView
  /** Whether user data is stored, which is never shown. */
  hasUserData?: boolean
}

/** What to order at a cloud: location, size, image, and keys. */
export function OrderFields({ account: { id }, kind: { capabilities: can }, hasUserData }: OrderFieldsProps) {
  const { values } = useForm()
  const locations = useCatalog<CatalogLocationView>(id, 'locations').data?.data ?? []
  const images = useCatalog<CatalogImageView>(id, 'images').data?.data ?? []
  const location = (values.location || null) as string | null
  return (
    <>
      {locations.length > 0 && (
        <SelectField
          name="location"
          label="Location"
          choices={[
            ['', can.needs_location ? 'Choose a location' : 'Default'] as const,
            ...locations.map(one => [one.slug, placeOf(one)] as const),
          ]}
        />
      )}
      {can.sizes === 'free' ? <FreeSizeFields name="size" /> : <SizeField name="size" accountId={id} location={location} />}
      <SelectField
        name="image"
        label="Image"
        choices={[
          ['', 'Choose an image'] as const,
          ...images.map(one => [one.slug, `${one.title}${one.deprecated ? ' (deprecated)' : ''}`] as const),
        ]}
      />
      {can.ssh_keys !== 'unsupported' && <SshKeysField isRequired={can.ssh_keys === 'required'} />}
      {can.firewall_protocols.length > 0 && (
        <ChooseManyField
          name="firewall_ids"
          label="Firewalls"
          hint="The server also gets the firewalls whose label selector matches its labels."
          list="/firewalls"
          none={null}
        />
      )}
      {can.user_data && (
        <TextareaField
          name="user_data"
          label="Cloud-init user data"
          mono
          rows={4}
          hint={
            hasUserData
              ? 'Set, and not shown. Leave empty to keep it.'
              : 'Optional. Stored encrypted, up to 32 KiB. It is run when the server starts for the first time.'
          }
        />
      )}
    </>
  )
}

const placeOf = ({ slug, title, city }: CatalogLocationView): string => {
  const place = city ?? title
  return place === slug ? slug : `${slug} · ${place}`
}

/** What most people leave as it is. For `Advanced`. */
export function OrderGroups({ account: { id }, kind: { capabilities: can } }: OrderFieldsProps) {
  const { values } = useForm()
  const locations = useCatalog<CatalogLocationView>(id, 'locations').data?.data ?? []
  const networks = useCatalog<CatalogNetworkView>(can.networks ? id : null, 'networks').data?.data ?? []
  const others = locations.filter(one => one.slug !== values.location)
  return (
    <>
      <Group label="Network">
        {can.address_families && (
          <>
            <CheckboxField name="enable_ipv4" label="Public IPv4 address" />
            <CheckboxField name="enable_ipv6" label="Public IPv6 addresses" />
          </>
        )}
        {networks.length > 0 ? (
          <CheckboxesField
            name="networks"
            label="Private networks"
            choices={networks.map(one => [one.ref, one.title] as const)}
          />
        ) : (
          <p className="text-muted">The account has no private networks.</p>
        )}
      </Group>
      {can.volumes && (
        <Group label="Volumes">
          <ChooseManyField<VolumeView>
            name="volume_ids"
            label="Attach volumes"
            list="/volumes"
            filter={{ account_id: id, state: 'available' }}
            isOffered={one => !values.location || one.location === null || one.location === values.location}
            none={<p className="text-muted">No volume is available in this location.</p>}
          />
        </Group>
      )}
      <Group label="Options">
        {can.backups && (
          <CheckboxField name="backups" label="Backups" hint="The cloud backs up the server automatically, for a surcharge." />
        )}
        <CheckboxField name="start" label="Start the server after it was created" />
        {others.length > 0 && (
          <CheckboxesField
            name="fallback_locations"
            label="Fallback locations"
            hint="Tried one after another if the size is out of stock. The price is the one of the most expensive location."
            choices={others.map(one => [one.slug, placeOf(one)] as const)}
          />
        )}
      </Group>
    </>
  )
}
