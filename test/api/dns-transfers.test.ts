import { afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { resolve } from 'node:path'
import { record } from '../../src/core/change'
import { transferZone } from '../../src/dns/client/transfer'
import { message, OPCODE, RCODE } from '../../src/dns/message'
import { encodeMessage } from '../../src/dns/message-encode'
import { signTsig, verifyTsig, type TsigKey } from '../../src/dns/tsig'
import {
  nameServerSynced,
  startNameServer,
  writeTransfers,
  type RunningNameServer,
} from '../../src/features/dns/publish/name-server'
import { readRights } from '../../src/features/dns/transfers/rights'
import { dnsTsigKeys } from '../../src/features/dns/transfers/tables'
import { pruneTransfers, TransferLog } from '../../src/features/dns/transfers/transfer-log'
import { scriptedServer, type ScriptedServer } from '../support/scripted-server'
import { recordText } from '../support/served-zone'
import { world, type Caller, type World } from '../support/world'
import { createZone } from '../support/zones'

const builtin = '/v1/dns/providers/builtin'
const keyMade = async (caller: Caller, name: string, more: object = {}): Promise<any> =>
  (await caller.call('POST', `${builtin}/tsig-keys`, { name, ...more })).body
const keyOf = ({ name, algorithm, secret }: any): TsigKey => ({
  name: `${name}.`,
  algorithm,
  secret: Uint8Array.from(Buffer.from(secret, 'base64')),
  allowMd5: true,
})

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function serving(here: World): Promise<RunningNameServer> {
  const server = (await startNameServer(here.hub, resolve('src/bin/name-server.ts')))!
  stops.push(() => server.stop())
  return server
}

const around = { BAILIWICK_DNS_LISTEN: '127.0.0.1:0' }

/** Transfers the records of a zone like a secondary, sorted. */
async function transferred(here: World, at: RunningNameServer, zone: string, key: TsigKey): Promise<string[]> {
  await nameServerSynced(here.hub)
  const server = { at: { address: at.host, port: at.port }, key, now: () => Date.now() }
  const lines: string[] = []
  for await (const records of transferZone(server, zone, { records: 10_000, octets: 1e7, timeoutMs: 10_000 }))
    lines.push(...records.map(recordText))
  return lines.sort()
}

describe('TSIG keys', () => {
  test('are created, shown once with their secret, listed and deleted', async () => {
    const { acme, rival, readOnly, audited, hub } = await world()
    const created = await acme.call('POST', `${builtin}/tsig-keys`, { name: 'NS2.Example.com.' }, { 'idempotency-key': 'a' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ name: 'ns2.example.com', algorithm: 'hmac-sha256' })
    expect(Buffer.from(created.body.secret, 'base64')).toHaveLength(32)
    expect(created.headers.get('location')).toBe(`${builtin}/tsig-keys/${created.body.id}`)
    const { secret, ...shown } = created.body
    const replay = await acme.call('POST', `${builtin}/tsig-keys`, { name: 'NS2.Example.com.' }, { 'idempotency-key': 'a' })
    expect([replay.status, replay.body]).toEqual([201, { ...shown, secret_shown_before: true }])
    expect((await acme.call('GET', `${builtin}/tsig-keys/${created.body.id}`)).body).toEqual(shown)
    const list = await acme.call('GET', `${builtin}/tsig-keys`)
    expect(list.body.data).toEqual([shown])
    expect(await audited()).toEqual(['dns.tsig_key.create'])
    const audit = await acme.call('GET', '/v1/audit-events?action=dns.tsig_key.create')
    const stored = await hub.read.select().from((await import('../../src/features/dns/transfers/tables')).dnsTsigKeys)
    for (const text of [list.text, audit.text, JSON.stringify(stored)]) expect(text).not.toContain(secret)

    expect((await rival.call('GET', `${builtin}/tsig-keys/${created.body.id}`)).status).toBe(404)
    expect((await rival.call('DELETE', `${builtin}/tsig-keys/${created.body.id}`)).status).toBe(404)
    expect((await readOnly.call('DELETE', `${builtin}/tsig-keys/${created.body.id}`)).status).toBe(403)
    const taken = await rival.call('POST', `${builtin}/tsig-keys`, { name: 'ns2.example.com' })
    expect(taken).toMatchObject({ status: 409, body: { code: 'already_exists' } })
    expect((await acme.call('DELETE', `${builtin}/tsig-keys/${created.body.id}`)).status).toBe(204)
    expect((await acme.call('GET', `${builtin}/tsig-keys`)).body.data).toEqual([])
  })

  test('can have an existing secret', async () => {
    const { acme } = await world()
    const secret = Buffer.alloc(20, 5).toString('base64')
    expect(await keyMade(acme, 'own', { algorithm: 'hmac-sha1', secret })).toMatchObject({ algorithm: 'hmac-sha1', secret })
    expect(await keyMade(acme, 'bare', { secret: secret.replace('=', '') })).toMatchObject({ secret })
    expect(await keyMade(acme, 'old', { algorithm: 'hmac-md5', allow_md5: true })).toMatchObject({ algorithm: 'hmac-md5' })
  })

  test.each([
    [{ name: 'a..b' }, '#/name'],
    [{ name: '.' }, '#/name'],
    [{ name: 'a', algorithm: 'hmac-md5' }, '#/algorithm'],
    [{ name: 'a', algorithm: 'hmac-md5', allow_md5: false }, '#/algorithm'],
    [{ name: 'a', algorithm: 'hmac-sha3' }, '#/algorithm'],
    [{ name: 'a', secret: 'not base64!' }, '#/secret'],
    [{ name: 'a', secret: Buffer.alloc(15).toString('base64') }, '#/secret'],
    [{ name: 'a', secret: Buffer.alloc(513).toString('base64') }, '#/secret'],
  ])('%j is refused', async (body, pointer) => {
    const { acme, audited } = await world()
    const answer = await acme.call('POST', `${builtin}/tsig-keys`, body)
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer }] } })
    expect((await acme.call('GET', `${builtin}/tsig-keys`)).body.data).toEqual([])
    expect((await audited()).filter(one => !one.endsWith('failure'))).toEqual([])
  })

  test('are limited to a hundred', async () => {
    const { acme } = await world()
    for (let n = 0; n < 100; n++) await keyMade(acme, `k${n}`)
    expect((await acme.call('POST', `${builtin}/tsig-keys`, { name: 'one.more' })).status).toBe(409)
  })
})

describe('settings of the built-in name server', () => {
  test('are returned with the fields that it has as one of the providers', async () => {
    const { acme, clock } = await world(around)
    const sameInList = async () => {
      const { body } = await acme.call('GET', builtin)
      const [listed] = (await acme.call('GET', '/v1/dns/providers')).body.data
      expect(body).toMatchObject(listed)
      return listed
    }
    const before = await sameInList()
    const { id: tsig_key_id } = await keyMade(acme, 'ns2')
    clock.advance(60_000)
    await acme.call('PATCH', builtin, { secondaries: [{ address: '192.0.2.1', tsig_key_id }], transfer_key_ids: [] })
    const after = await sameInList()
    expect(after).toEqual({ ...before, version: 2, updated_at: expect.any(String), warnings: [expect.any(String)] })
    expect(after.updated_at).not.toBe(before.updated_at)
    const other = await acme.call('POST', '/v1/dns/providers', {
      ...{ kind: 'powerdns', name: 'other', settings: { url: 'http://127.0.0.1:9', api_key: 'secret' } },
    })
    expect(Object.keys(after)).toEqual(Object.keys(other.body))
  })

  test('are empty by default, and keep the ids of existing secondaries', async () => {
    const { acme, rival, readOnly, audited } = await world(around)
    const before = await acme.call('GET', builtin)
    expect(before.body).toMatchObject({
      ...{ id: 'builtin', kind: 'builtin', state: 'ok', warnings: [], version: 1 },
      ...{ secondaries: [], transfer_key_ids: null },
      catalog: { enabled: false, name: `catalog.${acme.workspaceId.replace('_', '-')}.bailiwick`, tsig_key_id: null },
    })
    const { id: tsig_key_id } = await keyMade(acme, 'ns2')
    await audited()
    const secondaries = [{ name: 'two', address: '127.0.0.1', port: 5399, tsig_key_id }, { address: '192.0.2.1' }]
    const set = await acme.call('PATCH', builtin, { secondaries }, { 'if-match': '"1"' })
    expect(set.body).toMatchObject({ version: 2, catalog: before.body.catalog })
    expect(set.body.secondaries.map((one: any) => [one.name, one.address, one.port, one.tsig_key_id])).toEqual([
      ['two', '127.0.0.1', 5399, tsig_key_id],
      ['', '192.0.2.1', 53, null],
    ])
    expect(await audited()).toEqual(['dns.builtin.update'])
    const again = await acme.call('PATCH', builtin, { secondaries: [{ ...secondaries[0], name: 'other' }] })
    expect(again.body.secondaries).toEqual([{ ...set.body.secondaries[0], name: 'other' }])
    expect((await acme.call('PATCH', builtin, {}, { 'if-match': '"1"' })).status).toBe(412)
    await audited()
    for (const same of [{}, { catalog: { enabled: false } }, { secondaries: [{ ...secondaries[0], name: 'other' }] }])
      expect((await acme.call('PATCH', builtin, same)).body).toEqual(again.body)
    expect(await audited()).toEqual([])
    expect((await rival.call('GET', builtin)).body).toMatchObject({ version: 1, secondaries: [] })
    expect((await readOnly.call('PATCH', builtin, { secondaries: [] })).status).toBe(403)
  })

  test('report invalid fields, and change nothing', async () => {
    const { acme, rival } = await world(around)
    const { id } = await keyMade(acme, 'ours')
    const theirs = (await keyMade(rival, 'theirs')).id
    const { name: _, ...some } = { name: '', address: '192.0.2.1' }
    for (const [patch, pointer] of [
      [{ secondaries: [{ ...some, tsig_key_id: theirs }] }, '#/secondaries/0/tsig_key_id'],
      [{ secondaries: [some, some] }, '#/secondaries/1/address'],
      [{ secondaries: [{ address: '169.254.169.254' }] }, '#/secondaries/0/address'],
      [{ secondaries: [{ address: 'a b' }] }, '#/secondaries/0/address'],
      [{ secondaries: Array.from({ length: 21 }, (_, n) => ({ address: `192.0.2.${n}` })) }, '#/secondaries'],
      [{ transfer_key_ids: [id, 'tsig_nothing'] }, '#/transfer_key_ids/1'],
      [{ catalog: { enabled: true } }, '#/catalog/tsig_key_id'],
      [{ catalog: { tsig_key_id: theirs } }, '#/catalog/tsig_key_id'],
      [{ catalog: { name: 'a..b' } }, '#/catalog/name'],
      [{ catalog: { name: 'other.bailiwick' } }, '#/catalog/name'],
    ] as const) {
      const answer = await acme.call('PATCH', builtin, patch)
      expect([patch, answer.status, answer.body.errors?.[0].pointer]).toEqual([patch, 422, pointer])
    }
    expect((await acme.call('GET', builtin)).body.version).toBe(1)
    const refused = await rival.call('PATCH', builtin, { secondaries: [{ address: '127.0.0.1', port: 5399 }] })
    expect(refused.body.errors[0]).toMatchObject({ pointer: '#/secondaries/0/address', code: 'blocked_address' })
  })

  test('reject catalog names that are zone names, or reserved', async () => {
    const { acme, rival } = await world(around)
    const { id: tsig_key_id } = await keyMade(acme, 'ours')
    const theirKey = (await keyMade(rival, 'theirs')).id
    const named = async (caller: Caller, name: string, key = tsig_key_id) =>
      (await caller.call('PATCH', builtin, { catalog: { enabled: true, name, tsig_key_id: key } })).status
    const create = async (caller: Caller, name: string) => (await createZone(caller, name)).status
    await createZone(acme, 'example.com')
    await createZone(rival, 'rival.example')
    for (const name of ['example.com', 'Rival.example', 'catalog.rival.example'])
      expect([name, await named(acme, name)]).toEqual([name, 409])
    expect((await acme.call('GET', builtin)).body.catalog.enabled).toBe(false)
    // An unused name is checked when the catalog is enabled.
    await acme.call('PATCH', builtin, { catalog: { name: 'later.example', tsig_key_id } })
    await createZone(rival, 'later.example')
    expect((await acme.call('PATCH', builtin, { catalog: { enabled: true } })).status).toBe(409)
    expect(await named(acme, 'catalog.example.com')).toBe(200)
    expect(await named(rival, 'below.catalog.example.com', theirKey)).toBe(409)
    expect(await create(acme, 'catalog.example.com')).toBe(409)
    expect(await create(rival, 'catalog.example.com')).toBe(409)
    await named(acme, 'catalog.acme.example')
    expect(await create(rival, 'x.catalog.acme.example')).toBe(409)
    expect(await create(acme, 'x.catalog.acme.example')).toBe('active')
    for (const name of ['catalog.ws-a.bailiwick', 'ws-a.bailiwick', 'bailiwick'])
      expect([name, await create(rival, name)]).toEqual([name, 422])
  })

  test('and a zone created at the same time do not get the same name', async () => {
    const { acme, rival } = await world(around)
    const { id: tsig_key_id } = await keyMade(acme, 'ours')
    for (let n = 0; n < 8; n++) {
      const name = `n${n}.example`
      const patch = () => acme.call('PATCH', builtin, { catalog: { enabled: true, name, tsig_key_id } })
      const zone = () => rival.call('POST', '/v1/dns/zones', { name })
      const statuses = (await Promise.all(n % 2 ? [patch(), zone()] : [zone(), patch()])).map(one => one.status)
      expect(statuses.filter(one => one === 409)).toHaveLength(1)
    }
  })

  test('warn about secondaries whose key can’t transfer zones', async () => {
    const { acme } = await world(around)
    const [first, second] = [(await keyMade(acme, 'first')).id, (await keyMade(acme, 'second')).id]
    const secondaries = [
      { name: 'ns2', address: '192.0.2.1', tsig_key_id: first },
      { name: 'ns3', address: '192.0.2.2', tsig_key_id: second },
      { name: 'ns4', address: '192.0.2.3' },
    ]
    expect((await acme.call('PATCH', builtin, { secondaries })).body.warnings).toEqual([])
    const { status, body } = await acme.call('PATCH', builtin, { transfer_key_ids: [second] })
    expect([status, body.warnings.length]).toEqual([200, 1])
    for (const word of [first, 'ns2']) expect(body.warnings[0]).toContain(word)
    expect((await acme.call('GET', builtin)).body.warnings).toEqual(body.warnings)
    expect((await acme.call('PATCH', builtin, { transfer_key_ids: [first, second] })).body.warnings).toEqual([])
  })

  test('prevent deleting keys that they use', async () => {
    const { acme } = await world(around)
    const keys = [await keyMade(acme, 'a'), await keyMade(acme, 'b'), await keyMade(acme, 'c')]
    const [a, b, c] = keys.map(key => key.id)
    await acme.call('PATCH', builtin, {
      secondaries: [{ address: '192.0.2.1', tsig_key_id: a }],
      catalog: { enabled: true, tsig_key_id: b },
      transfer_key_ids: [c],
    })
    for (const id of [a, b, c]) expect((await acme.call('DELETE', `${builtin}/tsig-keys/${id}`)).status).toBe(409)
    const none = { secondaries: [], catalog: { enabled: false, tsig_key_id: null }, transfer_key_ids: null }
    expect((await acme.call('PATCH', builtin, none)).status).toBe(200)
    for (const id of [a, b, c]) expect((await acme.call('DELETE', `${builtin}/tsig-keys/${id}`)).status).toBe(204)
  })
})

test('a key in the settings that was deleted gives no access', async () => {
  const { acme, hub } = await world(around)
  const { id } = await keyMade(acme, 'gone')
  await acme.call('PATCH', builtin, { catalog: { enabled: true, tsig_key_id: id } })
  // As after a deletion at the same time as the update.
  await record(hub, async tx => {
    await tx.delete(dnsTsigKeys).where(eq(dnsTsigKeys.id, id))
    return { result: undefined }
  })
  expect(await readRights(hub)).toMatchObject({ keys: [], zones: [{ keys: [] }] })
})

describe('transfers', () => {
  test('require a key of the workspace, contain committed data, and are listed', async () => {
    const here = await world(around)
    const { acme, rival, hub } = here
    const at = await serving(here)
    const zone = await createZone(acme, 'example.com')
    const [ours, other, theirs] = [await keyMade(acme, 'ours'), await keyMade(acme, 'other'), await keyMade(rival, 'theirs')]
    await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'TXT', name: 'a', content: 'x; y' })
    const lines = await transferred(here, at, 'example.com.', keyOf(ours))
    expect(lines).toHaveLength(4)
    expect(lines).toContain('a.example.com. 3600 TXT "x; y"')
    await expect(transferred(here, at, 'example.com.', keyOf(theirs))).rejects.toThrow('REFUSED')
    await acme.call('PATCH', builtin, { transfer_key_ids: [other.id] })
    await expect(transferred(here, at, 'example.com.', keyOf(ours))).rejects.toThrow('REFUSED')
    expect(await transferred(here, at, 'example.com.', keyOf(other))).toEqual(lines)
    // The thread reports it when the client has read everything.
    let received: any
    for (let tries = 0; tries < 1_000 && received?.data.length !== 2; tries++) {
      await Bun.sleep(10)
      await writeTransfers(hub)
      received = (await acme.call('GET', `${builtin}/transfers`)).body
    }
    const byOther = received.data.find((one: any) => one.tsig_key_id === other.id)
    expect(byOther).toMatchObject({ zone: 'example.com', address: '127.0.0.1', type: 'axfr', serial: 2, secondary_id: null })
    expect(received.truncated).toBe(false)
    expect((await acme.call('GET', `${builtin}/transfers?zone=other.com`)).body.data).toEqual([])
    expect((await rival.call('GET', `${builtin}/transfers`)).body.data).toEqual([])
    here.clock.advance(91 * 86_400_000)
    await pruneTransfers(hub)
    expect((await acme.call('GET', `${builtin}/transfers`)).body.data).toEqual([])
    await acme.call('PATCH', builtin, { transfer_key_ids: null })
    await acme.call('DELETE', `${builtin}/tsig-keys/${ours.id}`)
    await expect(transferred(here, at, 'example.com.', keyOf(ours))).rejects.toThrow('BADKEY')
  })

  test('to two servers at one address are distinguished by key, and deleted with the zone', async () => {
    const { acme, hub, clock } = await world(around)
    const [one, two, free] = [await keyMade(acme, 'one'), await keyMade(acme, 'two'), await keyMade(acme, 'free')]
    const at = (port: number, key: any) => ({ address: '127.0.0.1', port, tsig_key_id: key.id })
    const set = await acme.call('PATCH', builtin, { secondaries: [at(5401, one), at(5402, two)] })
    const zone = await createZone(acme, 'example.com')
    await createZone(acme, 'other.com')
    const log = new TransferLog(hub)
    const give = async (name: string, key: any, serial: number) => {
      log.add({ zone: `${name}.`, hidden: false, key: `${key.name}.`, peer: '127.0.0.1', serial, type: 'axfr' })
      await log.flush()
    }
    await give('example.com', one, 3)
    await give('example.com', two, 4)
    await give('example.com', two, 5)
    await give('other.com', free, 1)
    const rows = async () =>
      (await acme.call('GET', `${builtin}/transfers`)).body.data
        .map((row: any) => [row.zone, row.serial, row.tsig_key_id, row.secondary_id])
        .sort()
    const [first, second] = [one, two].map(key => set.body.secondaries.find((row: any) => row.tsig_key_id === key.id).id)
    expect(await rows()).toEqual([
      ['example.com', 3, one.id, first],
      ['example.com', 5, two.id, second],
      ['other.com', 1, free.id, null],
    ])
    await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
    // A transfer that ended before the zone was deleted may be stored after it.
    await give('example.com', one, 6)
    expect(await rows()).toEqual([['other.com', 1, free.id, null]])
    clock.advance(1000)
    await createZone(acme, 'example.com')
    expect(await rows()).toEqual([['other.com', 1, free.id, null]])
  })

  test('of the catalog list the served zones, and only change with them', async () => {
    const here = await world(around)
    const { acme } = here
    const at = await serving(here)
    const one = await createZone(acme, 'one.com')
    const [key, other] = [await keyMade(acme, 'cat'), await keyMade(acme, 'other')]
    const name = 'catalog.example.com'
    await acme.call('PATCH', builtin, { catalog: { enabled: true, name, tsig_key_id: key.id } })
    const catalog = async () => {
      const lines = await transferred(here, at, `${name}.`, keyOf(key))
      const serial = Number(lines.find(line => line.includes(' SOA '))!.split(' ')[5])
      return {
        serial,
        members: lines.filter(line => line.includes(' PTR ')),
        others: lines.filter(line => / (NS|TXT) /.test(line)),
      }
    }
    const member = (zone: any) => `${zone.id.slice(5)}.zones.${name}. 0 PTR ${zone.name}.`
    const first = await catalog()
    expect(first).toEqual({
      serial: 1,
      members: [member(one)],
      others: [`${name}. 0 NS invalid.`, `version.${name}. 0 TXT "2"`],
    })
    const two = await createZone(acme, 'two.com')
    expect(await catalog()).toMatchObject({ serial: 2, members: [member(one), member(two)].sort() })
    await acme.call('POST', `/v1/dns/zones/${two.id}/records`, { type: 'A', name: 'www', content: '192.0.2.1' })
    expect((await catalog()).serial).toBe(2)
    await acme.call('PATCH', `/v1/dns/zones/${two.id}`, { status: 'paused' })
    expect(await catalog()).toMatchObject({ serial: 3, members: [member(one)] })
    await acme.call('PATCH', `/v1/dns/zones/${two.id}`, { status: 'active' })
    expect(await catalog()).toMatchObject({ serial: 4, members: { length: 2 } })
    await acme.call('DELETE', `/v1/dns/zones/${one.id}`)
    const again = await createZone(acme, 'one.com')
    expect(await catalog()).toMatchObject({ serial: 6, members: [member(again), member(two)].sort() })
    expect(member(again)).not.toBe(member(one))
    expect((await acme.call('GET', builtin)).body.catalog.serial).toBe(6)

    await expect(transferred(here, at, `${name}.`, keyOf(other))).rejects.toThrow('NOTAUTH')
    await expect(transferred(here, at, 'one.com.', keyOf(key))).resolves.toHaveLength(3)
    await acme.call('PATCH', builtin, { catalog: { name: 'renamed.example.com' } })
    await expect(transferred(here, at, `${name}.`, keyOf(key))).rejects.toThrow('NOTAUTH')
    expect(await transferred(here, at, 'renamed.example.com.', keyOf(key))).toHaveLength(5)
    await acme.call('PATCH', builtin, { catalog: { enabled: false } })
    await expect(transferred(here, at, 'renamed.example.com.', keyOf(key))).rejects.toThrow('NOTAUTH')
    await acme.call('PATCH', builtin, { catalog: { enabled: true } })
    expect((await transferred(here, at, 'renamed.example.com.', keyOf(key))).join()).toContain(' 7 3600 ')
  })
})

describe('NOTIFY', () => {
  /** A secondary that responds with this RCODE, signed if requested; null for no response. */
  async function secondary(here: World, key: TsigKey | null, rcode: () => number | null): Promise<ScriptedServer> {
    const server = await scriptedServer(({ octets, message: notify }) => {
      const code = rcode()
      if (code === null) return [null]
      const time = Math.floor(here.clock.now() / 1000)
      const answer = encodeMessage({ ...message({ ...notify, rcode: code, answer: [] }), flags: { ...notify.flags, qr: true } })
      if (!key) return [answer]
      expect(verifyTsig(octets, notify.tsig!, [key], { now: time }).ok).toBe(true)
      return [signTsig(answer, key, { time, prior: notify.tsig!.mac }).message]
    })
    stops.push(() => server.stop())
    return server
  }
  const notified = (server: ScriptedServer) =>
    server.requests.splice(0).map(({ message: { opcode, flags, question, answer } }) => {
      expect([opcode, flags.aa, question[0]!.type]).toEqual([OPCODE.NOTIFY, true, 'SOA'])
      return `${question[0]!.name} ${recordText(answer[0]!).split(' ')[5]}`
    })

  test('is sent to the others if a key can’t be decrypted, which is reported', async () => {
    const here = await world(around)
    const { acme, hub, advance } = here
    const key = await keyMade(acme, 'two')
    const [one, two] = [await secondary(here, null, () => 0), await secondary(here, keyOf(key), () => 0)]
    const zone = await createZone(acme)
    await acme.call('PATCH', builtin, {
      secondaries: [
        { address: '127.0.0.1', port: one.port },
        { address: '127.0.0.1', port: two.port, tsig_key_id: key.id },
      ],
    })
    await advance(1000)
    await record(hub, async tx => {
      await tx.update(dnsTsigKeys).set({ secretSealed: 'nothing' }).where(eq(dnsTsigKeys.id, key.id))
      return { result: undefined }
    })
    await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'a', content: '192.0.2.1' })
    await advance(60_000)
    expect([notified(one), notified(two)]).toEqual([['example.com. 2'], []])
    expect((await acme.call('GET', builtin)).body.secondaries).toMatchObject([
      { error: null },
      { error: 'The secret of its TSIG key can’t be decrypted.', acknowledged_at: null },
    ])
  })

  test('is sent to each secondary, once for many changes, signed with its key', async () => {
    const here = await world(around)
    const { acme, advance } = here
    const key = await keyMade(acme, 'two')
    const [one, two] = [await secondary(here, null, () => 0), await secondary(here, keyOf(key), () => 0)]
    const zone = await createZone(acme)
    await acme.call('PATCH', builtin, {
      secondaries: [
        { address: '127.0.0.1', port: one.port },
        { address: '127.0.0.1', port: two.port, tsig_key_id: key.id },
      ],
    })
    await advance(1000)
    expect([notified(one), notified(two)]).toEqual([[], []])
    const records = `/v1/dns/zones/${zone.id}/records`
    for (const content of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      await acme.call('POST', records, { type: 'A', name: 'a', content })
    await advance(100)
    expect([notified(one), notified(two)]).toEqual([['example.com. 4'], ['example.com. 4']])
    const { secondaries } = (await acme.call('GET', builtin)).body
    const at = new Date(here.clock.now()).toISOString()
    expect(secondaries).toMatchObject([
      { notified_at: at, acknowledged_at: at, error: null },
      { notified_at: at, acknowledged_at: at, error: null },
    ])
    await advance(120_000)
    expect([notified(one), notified(two)]).toEqual([[], []])
    await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { status: 'paused' })
    await advance(100)
    expect(notified(one)).toEqual([])
  })

  test('is repeated without a response, five times in a minute, but not after a refusal', async () => {
    const here = await world(around)
    const { acme, advance } = here
    const zone = await createZone(acme)
    let silent = true
    const one = await secondary(here, null, () => (silent ? null : 0))
    const two = await secondary(here, null, () => RCODE.REFUSED)
    // Nothing listens there on UDP or TCP, so that each attempt fails immediately.
    one.stop()
    const server = { address: '127.0.0.1', port: one.port }
    await acme.call('PATCH', builtin, { secondaries: [server, { address: '127.0.0.1', port: two.port }] })
    await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'a', content: '192.0.2.1' })
    await advance(100)
    const times = new Set<string>()
    for (let seconds = 0; seconds < 120; seconds++) {
      times.add((await acme.call('GET', builtin)).body.secondaries[0].notified_at)
      await advance(1000)
    }
    expect(times.size).toBe(5)
    expect(notified(two)).toEqual(['example.com. 2'])
    expect((await acme.call('GET', builtin)).body.secondaries).toMatchObject([
      { acknowledged_at: null, error: expect.any(String) },
      { acknowledged_at: expect.any(String), error: expect.stringContaining('REFUSED') },
    ])
    silent = false
  }, 180_000)

  test('is sent for the catalog instead of a new or deleted zone', async () => {
    const here = await world(around)
    const { acme, advance } = here
    const one = await secondary(here, null, () => 0)
    const key = await keyMade(acme, 'cat')
    await acme.call('PATCH', builtin, {
      secondaries: [{ address: '127.0.0.1', port: one.port }],
      catalog: { enabled: true, name: 'cat.example', tsig_key_id: key.id },
    })
    await advance(100)
    expect(notified(one)).toEqual(['cat.example. 1'])
    const zone = await createZone(acme)
    await advance(100)
    expect(notified(one)).toEqual(['cat.example. 2'])
    await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
    await advance(100)
    expect(notified(one)).toEqual(['cat.example. 3'])
  })

  test('is not sent to addresses that the network policy no longer allows', async () => {
    const here = await world(around)
    const { acme, rival, advance, hub } = here
    const zone = await createZone(rival, 'rival.com')
    const policy = (allow_ranges: string[]) =>
      acme.call('PATCH', `/v1/workspaces/${rival.workspaceId}`, { network_policy: { allow_private: false, allow_ranges } })
    const one = await secondary(here, null, () => 0)
    await policy(['127.0.0.0/8'])
    expect((await rival.call('PATCH', builtin, { secondaries: [{ address: '127.0.0.1', port: one.port }] })).status).toBe(200)
    await policy([])
    await rival.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'a', content: '192.0.2.1' })
    await advance(100)
    expect(notified(one)).toEqual([])
    expect((await rival.call('GET', builtin)).body.secondaries[0]).toMatchObject({
      error: expect.stringContaining('network policy'),
    })
    expect(hub.listeners).toEqual([])
  })
})
