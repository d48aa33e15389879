import type { DnsRecordView } from '../../../../features/dns/records/shapes'
import { call, type Call, type Page } from '../../../client'
import { Columns, TextareaField, TextField, type Values } from '../../../parts/form'
import { openForm } from '../../../parts/open-dialog'
import { ttlOf } from './record-draft'

type Change = (call: Call, done: string) => Promise<unknown>

const maxValues = 1000

/** Edits all values of a name and type as text, one per line. */
export async function editRrset({ zone_id: zone, name, type, ttl }: DnsRecordView, change: Change): Promise<void> {
  const query = { zone, name, type, limit: maxValues }
  const { data, pagination } = await call<Page<DnsRecordView>>({ method: 'GET', path: '/dns/records', query })
  if (pagination.has_more) throw new Error('Too many records to edit as text.')
  // For the API, the name of a wildcard includes all names below it.
  const records = data.filter(one => one.name === name && one.type === type)
  openForm({
    title: `Edit all ${type} records of ${name}`,
    description: 'One value per line, in zone file format. Without values, the records are deleted.',
    submitLabel: 'Replace records',
    wide: true,
    initial: { ttl: String(ttl), records: records.map(one => one.content).join('\n') },
    call: values => ({
      method: 'PUT',
      path: `/dns/zones/${zone}/rrsets`,
      body: { rrsets: [{ name, type, ttl: ttlOf(String(values.ttl)), records: valuesOf(values) }] },
    }),
    send: request => change(request, `${type} records of ${name} replaced`),
    fields: (
      <>
        <TextareaField name="records" label="Values" mono rows={8} />
        <Columns>
          <TextField name="ttl" label="TTL" hint="In seconds, or with a unit: 5m, 1h, 1d." />
        </Columns>
      </>
    ),
  })
}

const valuesOf = ({ records }: Values): { content: string }[] =>
  String(records)
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .map(content => ({ content }))
