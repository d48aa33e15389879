import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Advanced, Group } from '../../../parts/advanced'
import { Columns, Form, NumberField, TextField } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { flattened, nested } from '../../../parts/values'
import { usePerson } from '../../../session'

const intervals = [
  ['refresh', 'Refresh', 'How often secondaries check for changes.'],
  ['retry', 'Retry', 'How long secondaries wait before they retry a failed check.'],
  ['expire', 'Expire', 'How long secondaries keep answering while they can’t reach the primary.'],
  ['minimum', 'Negative caching TTL', 'How long resolvers cache that a name or type doesn’t exist.'],
  ['ttl', 'SOA TTL', 'TTL of the SOA record itself.'],
] as const

/** SOA fields and default TTL of a zone. The serial is managed automatically. */
export function SoaForm({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const { soa } = zone
  if (!canWrite) {
    return (
      <Card
        title="SOA"
        facts={[
          ['Primary name server', soa.mname],
          ['Contact', soa.rname],
          ...intervals.map(([name, label]) => [label, `${soa[name]} s`] as const),
          ['Default TTL', `${zone.default_ttl} s`],
        ]}
      />
    )
  }
  return (
    <Card title="SOA">
      <Form
        initial={{ default_ttl: zone.default_ttl, ...flattened('soa', soa) }}
        call={values => ({
          method: 'PATCH',
          path,
          ifMatch: zone.version,
          body: { default_ttl: values.default_ttl, soa: nested('soa', values) },
        })}
        send={{
          toast: 'SOA saved',
          invalidates: [path],
          undo: () => ({ method: 'PATCH', path, body: { soa, default_ttl: zone.default_ttl } }),
        }}
        submitLabel="Save changes"
      >
        <Columns>
          <TextField name="soa.mname" label="Primary name server" hint="Hostname in the SOA record." mono />
          <TextField
            name="soa.rname"
            label="Contact"
            hint="Email address, also in the notation of SOA records (hostmaster.example.com)."
            mono
          />
        </Columns>
        <NumberField name="default_ttl" label="Default TTL" hint="For records created without a TTL." unit="seconds" min={0} />
        <Advanced>
          <Group label="Timers">
            <Columns>
              {intervals.map(([name, label, hint]) => (
                <NumberField key={name} name={`soa.${name}`} label={label} hint={hint} unit="seconds" min={0} />
              ))}
            </Columns>
          </Group>
        </Advanced>
      </Form>
    </Card>
  )
}
