import { describe, expect, test } from 'bun:test'
import { world } from '../support/world'
import { createZone } from '../support/zones'

async function scene() {
  const w = await world()
  const zone = await createZone(w.acme)
  const add = (record: object) => w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, record)
  const put = (...rrsets: object[]) => w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  const patch = (id: string, body: object) => w.acme.call('PATCH', `/v1/dns/records/${id}`, body)
  const lastChanges = async () => (await w.acme.call('GET', '/v1/events?limit=1')).body.data[0].data.changes
  await Promise.all([w.audited(), w.emitted()])
  return { ...w, zone, add, put, patch, lastChanges }
}

const www = { type: 'A', name: 'www', content: '192.0.2.1' }

describe('options of a record', () => {
  test('are null by default, and shared by all records of the record set', async () => {
    const { acme, add, put, lastChanges } = await scene()
    const plain = (await add(www)).body
    expect(plain.options).toBeNull()
    const second = await add({ ...www, content: '192.0.2.2', options: { proxied: true } })
    expect(second.body.options).toEqual({ proxied: true })
    expect((await acme.call('GET', `/v1/dns/records/${plain.id}`)).body).toMatchObject({ options: { proxied: true }, version: 2 })
    expect((await lastChanges()).map((one: any) => [one.action, one.before, one.after])).toEqual([
      ['updated', { ttl: 3600, content: '192.0.2.1' }, { ttl: 3600, content: '192.0.2.1', options: { proxied: true } }],
      ['created', null, { ttl: 3600, content: '192.0.2.2', options: { proxied: true } }],
    ])
    const values = [{ content: '192.0.2.1' }, { content: '192.0.2.2' }]
    const kept = await put({ name: 'www', type: 'A', records: values })
    expect(kept.body).toMatchObject({ updated: 0, records: [{ options: { proxied: true } }, { options: { proxied: true } }] })
    const cleared = await put({ name: 'www', type: 'A', options: null, records: values })
    expect(cleared.body).toMatchObject({ updated: 2, records: [{ options: null }, { options: null }] })
  })

  test('are reported as a record change', async () => {
    const { acme, zone, add, put, patch, audited, emitted } = await scene()
    const { id } = (await add({ ...www, options: { proxied: false } })).body
    const { serial } = (await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
    await Promise.all([audited(), emitted()])
    expect((await patch(id, { options: { proxied: false } })).body).toMatchObject({ options: { proxied: false }, version: 1 })
    expect([await audited(), await emitted()]).toEqual([[], []])
    expect((await patch(id, { options: { proxied: true } })).body).toMatchObject({ options: { proxied: true }, version: 2 })
    const same = await put({ name: 'www', type: 'A', options: { proxied: true }, records: [{ content: '192.0.2.1' }] })
    expect(same.body).toMatchObject({ serial: serial + 1, updated: 0 })
    const put2 = await put({ name: 'www', type: 'A', options: { proxied: false }, records: [{ content: '192.0.2.1' }] })
    expect(put2.body).toMatchObject({ updated: 1, created: 0, deleted: 0 })
    expect(await emitted()).toEqual(['dns.records_changed', 'dns.records_changed'])
  })

  test('can be reset to null, all or individually', async () => {
    const { add, patch } = await scene()
    const { id } = (await add({ ...www, options: { proxied: true } })).body
    expect((await patch(id, { options: {} })).body.options).toEqual({ proxied: true })
    expect((await patch(id, { options: { proxied: null } })).body.options).toBeNull()
    expect((await patch(id, { options: { proxied: true } })).body.options).toEqual({ proxied: true })
    expect((await patch(id, { options: null })).body.options).toBeNull()
  })

  test('move with a renamed record', async () => {
    const { add, patch } = await scene()
    const { id } = (await add({ ...www, options: { proxied: true } })).body
    expect((await patch(id, { name: 'web' })).body).toMatchObject({ name: 'web', options: { proxied: true } })
  })

  test('are only allowed for A, AAAA, CNAME and ALIAS', async () => {
    const { add, put, patch } = await scene()
    const proxied = { options: { proxied: true } }
    for (const [type, name, content] of [
      ['AAAA', 'v6', '2001:db8::1'],
      ['CNAME', 'alias', 'example.net.'],
      ['ALIAS', '@', 'example.net.'],
    ])
      expect((await add({ type, name, content, ...proxied })).body).toMatchObject({ type, ...proxied })
    const rejected = await add({ type: 'TXT', name: 'www', content: 'x', options: { proxied: true } })
    expect(rejected.status).toBe(422)
    expect(rejected.body.errors).toMatchObject([{ pointer: '#/options', code: 'not_allowed' }])
    const many = await put({ name: 'www', type: 'MX', options: { proxied: false }, records: [{ content: '10 mail' }] })
    expect(many.body.errors).toMatchObject([{ pointer: '#/rrsets/0/options', code: 'not_allowed' }])
    const { id } = (await add({ type: 'TXT', name: 'www', content: 'x' })).body
    expect((await patch(id, { options: { proxied: true } })).status).toBe(422)
    expect((await patch(id, { options: { weight: 1 } })).status).toBe(422)
    expect((await add({ ...www, options: { proxied: 'yes' } })).status).toBe(422)
  })

  test('are exported to JSON and imported again', async () => {
    const { acme, zone, add } = await scene()
    await add({ ...www, options: { proxied: true } })
    const read = async () => (await acme.call('GET', `/v1/dns/zones/${zone.id}/export?format=json`)).body.rrsets
    const rrsets = await read()
    expect(rrsets.map((one: any) => [one.name, one.type, one.options])).toContainEqual(['www', 'A', { proxied: true }])
    expect((await acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })).body).toMatchObject({ updated: 0, created: 0 })
    expect(await read()).toEqual(rrsets)
  })
})
