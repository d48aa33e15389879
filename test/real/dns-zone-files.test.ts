import { expect, test } from 'bun:test'
import { rdataOfFields, textOf } from '../../src/dns/rdata'
import { bindFields, bindTypes, compiled } from '../support/compiled-zone'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

// Imports and exports zone files over the API, compared with what BIND reads.

const send = (caller: Caller, id: string, text: string) =>
  caller.call('POST', `/v1/dns/zones/${id}/import?mode=replace`, text, { 'content-type': 'text/dns' })
const exported = async (caller: Caller, id: string) => (await caller.call('GET', `/v1/dns/zones/${id}/export`)).text

/** Imports a file, exports it, and imports that into another zone. BIND must read the same records each time. */
async function thereAndBack(file: string, theirs = file) {
  const [{ acme: here }, { acme: there }] = [await world(), await world()]
  const [one, two] = [await createZone(here), await createZone(there)]
  const taken = await send(here, one.id, file)
  expect([taken.status, taken.body.errors]).toEqual([200, undefined])
  const text = await exported(here, one.id)
  const read = compiled(text, 'example.com.')
  expect(read).toEqual(compiled(theirs, 'example.com.'))
  expect((await send(there, two.id, text)).body).toMatchObject({ serial: taken.body.serial, skipped: 0 })
  expect(await exported(there, two.id)).toBe(text)
  // The other export format is complete too.
  const json = (await here.call('GET', `/v1/dns/zones/${one.id}/export?format=json`)).body
  await there.call('DELETE', `/v1/dns/zones/${two.id}`)
  const three = await createZone(there)
  expect((await there.call('POST', `/v1/dns/zones/${three.id}/import?mode=replace`, json)).status).toBe(200)
  expect(compiled(await exported(there, three.id), 'example.com.')).toEqual(read)
  return { taken: taken.body, text, read }
}

const long = Array.from({ length: 300 }, (_, n) => ['x', 'y', ';', '\\"', '\\\\', ' '][n % 6]).join('')
const people = `; maintained manually
$TTL 1h
@ IN SOA ns1 dns\\.admin.example.com. ( 2147483648 ; serial
    2h 15m
    2w 10m )
   IN NS ns1
   IN NS ns2.example.net.
\t60 MX 10 Mail
   60 MX 20 mail.example.net.
@ TXT "v=spf1 mx -all" ; what may send
  CAA 0 issue "ca.example; a=b"
ns1 300 IN A 192.0.2.53
    IN 300 AAAA 2001:db8::53
mail A 192.0.2.25
www.example.com. CNAME @
long TXT "${long.slice(0, 250)}" "${long.slice(250)}"
  ( A
    192.0.2.7 )
*.dev A 192.0.2.80
* MX 0 .
xn--bcher-kva CNAME xn--mnchen-3ya.example.
_imaps._tcp SRV 0 1 993 Mail
$ORIGIN child.example.com.
@ NS ns
@ NS ns.else.example.net.
@ DS 1 13 2 ${'cd'.repeat(32)}
ns A 192.0.2.54
$ORIGIN lab.example.com.
$TTL 5m
$GENERATE 1-40/3 host-$ A 192.0.2.$
$GENERATE 1-3 a\${10,4,d} 60 IN CNAME host-$
$GENERATE 0-2 \${0,3,n}.r PTR p\${4,2,x}.example.net.
deep.er TXT one two
        HINFO PC "Linux 6"
$ORIGIN example.com.
odd TYPE65280 \\# 2 abcd
`
const signed = `www RRSIG CNAME 13 3 3600 20270101000000 20260101000000 1 example.com. AAAA
www NSEC @ CNAME RRSIG NSEC
`

test('BIND reads a manually written zone file the same after import and export, except for signing records', async () => {
  const { taken, text } = await thereAndBack(people + signed, people)
  expect(taken).toMatchObject({ serial: 2_147_483_648, skipped: 2 })
  expect(text).toContain('2147483648 ; serial')
})

test('Unicode names are exported as A-labels', async () => {
  const file = (name: string, target: string) =>
    `$TTL 60\n@ SOA ns1 h 7 2 3 4 5\n@ NS ns1\nns1 A 192.0.2.1\n${name} CNAME ${target}.example.net.\n*.${name} A 192.0.2.2\n`
  await thereAndBack(file('bücher', 'münchen'), file('xn--bcher-kva', 'xn--mnchen-3ya'))
})

test('BIND reads records of every type the same after import and export', async () => {
  const named: Record<string, string> = { SRV: '_x._tcp', TLSA: '_1._tcp', SMIMEA: 'ab._smimecert' }
  const types = bindTypes.filter(type => !['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'].includes(type))
  const lines = types.flatMap(type =>
    bindFields(type, 8, 11).map((fields, n) => {
      const owner = `${named[type] ?? 't'}.${type.toLowerCase()}-${n}`
      return `${owner} ${n * 100} IN ${type} ${textOf(type, rdataOfFields(type, fields, null))}\n`
    }),
  )
  const head = '$TTL 60\n@ SOA ns1 hostmaster 7 3600 600 1209600 300\n@ NS ns1\nns1 A 192.0.2.53\n'
  const { read } = await thereAndBack(head + lines.join(''))
  expect(read).toHaveLength(lines.length + 3)
  expect(types.length).toBeGreaterThan(28)
})
