import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import { Advanced, Group } from '../../parts/advanced'
import { DurationField } from '../../parts/duration-field'
import { CheckboxesField, CheckboxField, ListField, NumberField, TextareaField, TextField, type Values } from '../../parts/form'
import { changedFields, isSame, valuesFor } from '../../parts/values'
import { hostBody, HostsField, newHost, type HostValues } from './hosts-field'
import { familyLabels } from './source-text'

const defaults = {
  name: '',
  description: '',
  tags: [],
  families: ['ipv4', 'ipv6'],
  ttl: 60,
  stale_after_seconds: null,
  prefix_from_ipv6: null,
  allow_private: false,
  require_https: false,
  allowed_cidrs: [],
}

/** Form values for a new or an existing source. */
export const sourceValues = (source: DynamicIpView | null): Values => ({
  ...valuesFor(defaults, source),
  hosts: source ? source.hosts.map(one => valuesFor({ ...newHost }, one)) : [newHost],
})

/** The request body: the fields that differ from the previous values, or from the defaults for a new source. */
export const sourceBody = (values: Values, before: Values | null): Values => ({
  ...(before === null && { name: values.name }),
  ...changedFields(before ?? defaults, values, Object.keys(defaults)),
  ...(!isSame(values.hosts, before?.hosts) && { hosts: (values.hosts as HostValues[]).map(hostBody) }),
})

/** The form fields of a source. */
export const SourceFields = () => (
  <>
    <TextField
      name="name"
      label="Name"
      hint="For example, the location of the router."
      placeholder="e.g. Office router"
      autoFocus
    />
    <CheckboxesField name="families" label="IP versions" hint="Other reported addresses are ignored." choices={familyLabels} />
    <HostsField />
    <DurationField
      name="stale_after_seconds"
      label="Stale after"
      hint="You get a notice if there is no report for this time. Leave empty if your router reports only changes."
    />
    <Advanced>
      <Group label="Records">
        <NumberField
          name="ttl"
          label="TTL"
          unit="seconds"
          hint="Of new records. DNS providers with a higher minimum use their minimum."
          min={30}
          max={86_400}
        />
        <NumberField
          name="prefix_from_ipv6"
          label="Length of the IPv6 prefix"
          hint="From 48 to 64, for routers that don’t report their prefix: it is derived from the reported IPv6 address. Leave empty to use only a reported prefix."
          min={48}
          max={64}
        />
      </Group>
      <Group label="Restrictions">
        <ListField
          name="allowed_cidrs"
          label="Allowed client addresses"
          hint="Addresses or CIDR ranges that the token can be used from, such as 192.0.2.0/24. Leave empty to allow any."
        />
        <CheckboxField
          name="require_https"
          label="Require HTTPS"
          hint="Refuses reports over plain HTTP, which reveal the token. Some older routers can’t use HTTPS."
        />
        <CheckboxField
          name="allow_private"
          label="Allow private addresses"
          hint="Accepts addresses of private networks (RFC 1918), carrier-grade NAT (RFC 6598), and unique local addresses (RFC 4193)."
        />
      </Group>
      <Group label="Organization">
        <ListField name="tags" label="Tags" placeholder="e.g. office, home" />
        <TextareaField name="description" label="Notes" />
      </Group>
    </Advanced>
  </>
)
