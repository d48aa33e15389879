import { expect, test } from 'bun:test'
import { world } from '../support/world'
import { createZone } from '../support/zones'

async function scene() {
  const w = await world()
  const zone = await createZone(w.acme)
  const at = `/v1/dns/zones/${zone.id}`
  const www = (await w.acme.call('POST', `${at}/records`, { type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 })).body
  const check = (body: object) => w.acme.call('POST', `${at}/records/check`, body)
  const records = async () => (await w.acme.call('GET', `${at}/records?limit=100`)).body.data
  await Promise.all([w.audited(), w.emitted()])
  return { ...w, zone, at, www, check, records }
}
const pointers = (answer: { body: any }) => answer.body.errors?.map((one: any) => one.pointer)

test('a record is validated without being saved', async () => {
  const { check, records, audited, emitted, acme, at, zone } = await scene()
  const before = await records()
  const answer = await check({ type: 'MX', name: '@', content: '10 mail' })
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    name: '@',
    fqdn: 'example.com',
    type: 'MX',
    ttl: 3600,
    content: '10 mail.example.com.',
    fields: { preference: 10, exchange: 'mail.example.com.' },
  })
  expect(await records()).toEqual(before)
  expect((await acme.call('GET', at)).body.version).toBe(zone.version + 1)
  expect([await audited(), await emitted()]).toEqual([[], []])
})

test('errors point to the invalid field', async () => {
  const { check } = await scene()
  expect(pointers(await check({ type: 'A', name: 'www', content: 'one' }))).toEqual(['#/content'])
  expect(pointers(await check({ type: 'CNAME', name: 'www', content: '@' }))).toEqual(['#'])
  expect(pointers(await check({ type: 'A', name: 'www', content: '192.0.2.2', ttl: 60 }))).toEqual(['#/ttl'])
  expect(pointers(await check({ type: 'MX', name: '@', fields: { preference: 70_000, exchange: 'mail' } }))).toEqual(['#/fields'])
  expect(pointers(await check({ type: 'SOA', name: '@', content: 'a' }))).toEqual(['#/type'])
  const both = { type: 'A', name: 'www.example.com', content: '192.0.2.300' }
  expect(pointers(await check(both))).toEqual(['#/name', '#/content'])
})

test('an update is validated, and may keep its value', async () => {
  const { check, www, acme } = await scene()
  const same = { record_id: www.id, type: 'A', name: 'www', content: '192.0.2.1', ttl: 60 }
  expect((await check(same)).body).toMatchObject({ name: 'www', ttl: 60 })
  expect((await check({ ...same, name: 'web' })).body).toMatchObject({ name: 'web' })
  expect((await acme.call('GET', `/v1/dns/records/${www.id}`)).body).toMatchObject({ name: 'www', ttl: 300, version: 1 })
  expect(pointers(await check({ ...same, type: 'AAAA', content: '2001:db8::1' }))).toEqual(['#/type'])
  expect(pointers(await check({ ...same, name: 'a*', content: '192.0.2.300' }))).toEqual(['#/name', '#/content'])
  const other = await createZone(acme, 'example.net')
  expect(pointers(await acme.call('POST', `/v1/dns/zones/${other.id}/records/check`, same))).toEqual(['#/record_id'])
})

test('record types list their fields', async () => {
  const { acme } = await scene()
  const { body } = await acme.call('GET', '/v1/dns/record-types')
  const of = (type: string) =>
    body.data.find((one: any) => one.type === type)?.fields.map((one: any) => `${one.name} ${one.type}`)
  expect(of('SRV')).toEqual(['priority integer', 'weight integer', 'port integer', 'target text'])
  expect(of('TXT')).toEqual(['strings other'])
  expect(of('CAA')).toEqual(['flags integer', 'tag text', 'value text'])
  expect([of('SOA'), of('RRSIG')]).toEqual([undefined, undefined])
})

test('a dry run of an import reports its changes and block reasons', async () => {
  const { acme, at, records, audited, emitted } = await scene()
  await acme.call('POST', `${at}/records`, { type: 'MX', name: '@', content: '10 mail.example.net' })
  await Promise.all([audited(), emitted()])
  const before = await records()
  const file = (text: string, query: string) =>
    acme.call('POST', `${at}/import?dry_run=true${query}`, text, { 'content-type': 'text/dns' })
  const merge = await file('www 300 A 192.0.2.2\nnew 60 TXT hello\n', '')
  expect(merge.body).toMatchObject({
    mode: 'merge',
    dry_run: true,
    created: 2,
    deleted: 1,
    preview: { change_count: 2, blocked: [] },
  })
  expect(merge.body.preview.changes).toContainEqual({
    action: 'update',
    name: 'www',
    type: 'A',
    before: { ttl: 300, values: ['192.0.2.1'] },
    after: { ttl: 300, values: ['192.0.2.2'] },
  })
  const replace = await file('@ NS ns1.example.net.\n', '&mode=replace')
  expect(replace.body.preview.changes.map((one: any) => `${one.action} ${one.name} ${one.type}`)).toContain('delete www A')
  expect(replace.body.preview.blocked.map((one: any) => one.code)).toContain('loses_apex_mx')
  expect(pointers(await file('www A no\n', ''))).toEqual(['#/lines/1'])
  expect(await records()).toEqual(before)
  expect([await audited(), await emitted()]).toEqual([[], []])
})
