import fc from 'fast-check'
import { textOf } from '../../src/dns/rdata'
import { readZoneSnapshot } from '../../src/features/dns/publish/zone-snapshot'
import type { ApiResponse, Caller, World } from './world'

/** An edit of a zone by a caller. A rejected edit changes nothing. */
export type ZoneEdit = (caller: Caller, zoneId: string) => Promise<ApiResponse>

const name = fc.constantFrom('@', 'www', 'a.b', '*.w', 'mail')
const ttl = fc.constantFrom(60, 300, 3600)
const comment = fc.constantFrom('', 'first', 'second')
const value = fc.oneof(
  fc.record({ type: fc.constant('A'), content: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3') }),
  fc.record({
    type: fc.constant('MX'),
    content: fc.constantFrom('10 mx.example.net.', '10 MX.example.net.', '20 mx.example.net.'),
  }),
  fc.record({ type: fc.constant('TXT'), content: fc.constantFrom('one', 'two; three', `"a" "b"`, 'x'.repeat(300)) }),
  fc.record({ type: fc.constant('CNAME'), content: fc.constantFrom('www', 'else.example.net.') }),
)
const rrset = fc.record({ name, ttl, comment, values: fc.array(value, { minLength: 1, maxLength: 3 }) })

// Block reasons that replacing a zone may have.
const losses = 'deletes_over_limit,zone_emptied,loses_apex_ns,loses_apex_mx,loses_apex_address,loses_ds,loses_caa'

async function nth(caller: Caller, zoneId: string, n: number): Promise<any> {
  const { data } = (await caller.call('GET', `/v1/dns/zones/${zoneId}/records?limit=100`)).body
  return data[n % data.length]
}

/** Edits with every write operation of a zone. Most change something. */
export const zoneEdit: fc.Arbitrary<ZoneEdit> = fc.oneof(
  fc
    .record({ name, value })
    .map<ZoneEdit>(one => (caller, id) => caller.call('POST', `/v1/dns/zones/${id}/records`, { name: one.name, ...one.value })),
  fc
    .tuple(
      fc.nat(100),
      fc.oneof(
        fc.record({ ttl }),
        fc.record({ comment }),
        fc.record({ name }),
        value.map(({ content }) => ({ content })),
      ),
    )
    .map<ZoneEdit>(([n, patch]) => async (caller, id) => {
      const record = await nth(caller, id, n)
      return await caller.call('PATCH', `/v1/dns/records/${record.id}`, patch)
    }),
  fc.nat(100).map<ZoneEdit>(n => async (caller, id) => {
    const record = await nth(caller, id, n)
    return await caller.call('DELETE', `/v1/dns/records/${record.id}`)
  }),
  fc.array(rrset, { minLength: 1, maxLength: 3 }).map<ZoneEdit>(
    rrsets => (caller, id) =>
      caller.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
        rrsets: rrsets.map(({ values, ...one }) => ({
          ...one,
          type: values[0]!.type,
          records: values.filter(each => each.type === values[0]!.type).map(({ content }) => ({ content })),
        })),
      }),
  ),
  fc
    .record({ refresh: fc.constantFrom(600, 1200), minimum: fc.constantFrom(60, 120) })
    .map<ZoneEdit>(soa => (caller, id) => caller.call('PATCH', `/v1/dns/zones/${id}`, { soa })),
  fc
    .tuple(
      fc.array(fc.tuple(name, ttl, fc.nat(9)), { minLength: 1, maxLength: 5 }),
      fc.constantFrom('merge', 'replace'),
      fc.nat(3),
    )
    .map<ZoneEdit>(
      ([lines, mode, serial]) =>
        (caller, id) =>
          caller.call(
            'POST',
            `/v1/dns/zones/${id}/import?mode=${mode}&allow=${losses}&note=test`,
            `$TTL 900\n@ IN SOA ns1 hostmaster ${20261121 + serial} 1h 10m 2w 5m\n@ IN NS ns1\nns1 IN A 192.0.2.53\n` +
              lines.map(([at, seconds, n]) => `${at} ${seconds} IN AAAA 2001:db8::${n}\n`).join(''),
            { 'content-type': 'text/dns' },
          ),
    ),
)

/** The served records of a zone with the SOA, as text for comparison. */
export async function servedText(w: World, zoneId: string): Promise<{ serial: number; lines: Set<string> }> {
  const { published } = (await readZoneSnapshot(w.hub.read, zoneId))!
  const lines = published.rrsets.flatMap(({ name: at, type, ttl: seconds, rdata }) =>
    rdata.map(one => recordLine({ name: at, type, ttl: seconds, rdata: one })),
  )
  return {
    serial: published.serial,
    lines: new Set([...lines, recordLine({ name: published.name, type: 'SOA', ...published.soa })]),
  }
}

export const recordLine = (of: { name: string; type: string; ttl: number; rdata: Uint8Array }): string =>
  `${of.name} ${of.ttl} ${of.type} ${textOf(of.type, of.rdata)}`
