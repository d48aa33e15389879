import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Columns, Form, NumberField, TextField } from '../../../parts/form'
import { Card, Facts } from '../../../parts/page'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'

const spans = [
  ['refresh', 'Refresh', 'How often secondaries ask.'],
  ['retry', 'Retry', 'How soon they ask again.'],
  ['expire', 'Expire', 'How long they answer alone.'],
  ['minimum', 'Minimum', 'How long it is remembered that a name is not there.'],
  ['ttl', 'TTL of the SOA', 'Of the record itself.'],
] as const

/** The SOA of a zone, but for its serial, which moves by itself; and the TTL of records without one. */
export function SoaForm({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const { soa } = zone
  const send = useSend({
    quiet: true,
    done: 'SOA saved',
    stale: [path],
    undo: () => ({ method: 'PATCH', path, body: { soa, default_ttl: zone.default_ttl } }),
  })
  if (!mayWrite) {
    return (
      <Card title="SOA">
        <Facts
          rows={[
            ['Primary', soa.mname],
            ['Mailbox', soa.rname],
            ...spans.map(([name, label]) => [label, `${soa[name]} s`] as const),
            ['Default TTL', `${zone.default_ttl} s`],
          ]}
        />
      </Card>
    )
  }
  return (
    <Card title="SOA">
      <Form
        initial={{
          default_ttl: zone.default_ttl,
          ...Object.fromEntries(Object.entries(soa).map(([name, value]) => [`soa.${name}`, value])),
        }}
        call={values => ({
          method: 'PATCH',
          path,
          ifMatch: zone.version,
          body: {
            default_ttl: values.default_ttl,
            soa: Object.fromEntries(Object.keys(soa).map(name => [name, values[`soa.${name}`]])),
          },
        })}
        send={send.mutateAsync}
        pending={send.isPending}
        action="Save"
      >
        <Columns>
          <TextField name="soa.mname" label="Primary" hint="The server that changes are made on." mono />
          <TextField name="soa.rname" label="Mailbox" hint="Whom to write to; an e-mail address is fine." mono />
          {spans.map(([name, label, hint]) => (
            <NumberField key={name} name={`soa.${name}`} label={label} hint={hint} unit="s" min={0} />
          ))}
          <NumberField name="default_ttl" label="Default TTL" hint="Of records that are made without one." unit="s" min={0} />
        </Columns>
      </Form>
    </Card>
  )
}
