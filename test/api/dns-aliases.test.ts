import { afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { jobs } from '../../src/core/db/tables'
import { message, RCODE } from '../../src/dns/message'
import { encodeMessage } from '../../src/dns/message-encode'
import { rdataOfText } from '../../src/dns/rdata'
import { aliasAddressesOf, expandAliases } from '../../src/features/dns/aliases/expand'
import { resolveAliasKind } from '../../src/features/dns/aliases/queue'
import { resolveAliasJob } from '../../src/features/dns/aliases/resolve-alias'
import { lastZoneChange, readPublishedChanges } from '../../src/features/dns/publish/published-zones'
import { Answerer } from '../../src/features/dns/server/answerer'
import { ZoneIndex, ZoneSet } from '../../src/features/dns/server/zone-index'
import { readPublishedZone } from '../support/published-zone'
import { recordOf, scriptedServer, type ScriptedServer } from '../support/scripted-server'
import { digOutput, queryOctets } from '../support/served-zone'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

/** Answers of a resolver by name: lines `name ttl type rdata`, or an rcode. */
type ResolverAnswers = Record<string, string[] | number>

const resolvers: ScriptedServer[] = []
afterEach(() => resolvers.splice(0).forEach(one => one.stop()))

async function resolver(known: ResolverAnswers) {
  const server = await scriptedServer(({ message: { id, flags, question } }) => {
    const [requests] = question
    const target = known[`${requests!.name} ${requests!.type}`] ?? known[requests!.name] ?? []
    if (target === -1) return [null]
    const rcode = typeof target === 'number' ? target : RCODE.NOERROR
    const records = typeof target === 'number' ? [] : target.map(line => line.split(' '))
    const answer = records.map(([name, ttl, type, rdata]) =>
      recordOf(name!, Number(ttl), type!, rdataOfText(type!, rdata!, null)),
    )
    return [encodeMessage({ ...message({ id, question, answer, rcode }), flags: { ...flags, qr: true, ra: true } })]
  })
  resolvers.push(server)
  return server
}

async function scene(known: ResolverAnswers, env: Record<string, string> = {}) {
  const server = await resolver(known)
  const w = await world({ BAILIWICK_DNS_RESOLVERS: `127.0.0.1:${server.port}`, ...env })
  const zone = await createZone(w.acme)
  await w.settle()
  const add = (caller: Caller, id: string, type: string, name: string, content: string, more: object = {}) =>
    caller.call('POST', `/v1/dns/zones/${id}/records`, { type, name, content, ttl: 600, ...more })
  const alias = (name: string, target: string, more: object = {}) => add(w.acme, zone.id, 'ALIAS', name, target, more)
  /** Records that the name server answers with. */
  const answers = async (name: string, type = 'A', id = zone.id) => {
    const { name: origin, soa, rrsets } = (await readPublishedZone(w.hub.read, id))!
    const zones = new ZoneSet()
    zones.put(
      ZoneIndex.of({ name: origin, rrsets: [{ name: origin, type: 'SOA', ttl: soa.ttl, rdata: [soa.rdata] }, ...rrsets] }),
    )
    return digOutput(new Answerer(zones).answer(queryOctets(name, type), 'udp')!).answer
  }
  const serial = async () => (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial
  return { ...w, zone, server, add, alias, answers, serial }
}

const cdn = 'cdn.far.test.'

describe('an external ALIAS target', () => {
  test('is resolved right away, through CNAMEs, and again when its TTL expires', async () => {
    const known: ResolverAnswers = {
      [`${cdn} A`]: [
        `${cdn} 300 CNAME edge.far.test.`,
        'edge.far.test. 20 A 198.51.100.7',
        'edge.far.test. 20 A 198.51.100.6',
        'x.test. 20 A 198.51.100.9',
      ],
      [`${cdn} AAAA`]: [`${cdn} 300 CNAME edge.far.test.`, 'edge.far.test. 60 AAAA 2606:4700::7'],
    }
    const { alias, answers, settle, advance, serial, server, hub, zone, audited } = await scene(known)
    expect((await alias('@', cdn)).status).toBe(201)
    const at = await serial()
    await audited()
    await settle()
    expect(await answers('example.com.')).toEqual(['example.com. 20 A 198.51.100.6', 'example.com. 20 A 198.51.100.7'])
    expect(await answers('example.com.', 'AAAA')).toEqual(['example.com. 20 AAAA 2606:4700::7'])
    expect(await serial()).toBe(at + 1)
    expect(await audited()).toEqual([])

    const seen = await lastZoneChange(hub.read)
    known[`${cdn} A`] = [`${cdn} 300 A 198.51.100.8`]
    known[`${cdn} AAAA`] = []
    await advance(19_999)
    expect(server.requests).toHaveLength(2)
    await advance(1)
    const changes = (await readPublishedChanges(hub.read, zone.id, seen))!
    expect(changes.rrsets.map(one => [one.name, one.type, one.rdata.length])).toEqual([
      ['example.com.', 'A', 1],
      ['example.com.', 'AAAA', 0],
    ])
    expect(await answers('example.com.')).toEqual(['example.com. 300 A 198.51.100.8'])
    expect(await serial()).toBe(at + 2)

    // Nothing changes: same serial, and no notifications.
    const then = await lastZoneChange(hub.read)
    await advance(60_000)
    expect(server.requests).toHaveLength(6)
    expect([await serial(), await lastZoneChange(hub.read)]).toEqual([at + 2, then])
  })

  test('keeps its addresses while resolvers fail, and loses them when its name doesn’t exist', async () => {
    const known: ResolverAnswers = { [`${cdn} A`]: [`${cdn} 60 A 198.51.100.7`] }
    const { alias, answers, settle, advance, server } = await scene(known)
    await alias('@', cdn)
    await settle()
    known[`${cdn} A`] = RCODE.SERVFAIL
    known[`${cdn} AAAA`] = RCODE.REFUSED
    await advance(60_000)
    expect(await answers('example.com.')).toEqual(['example.com. 60 A 198.51.100.7'])
    const asked = server.requests.length
    await advance(10_000)
    expect(server.requests.length).toBe(asked + 2)
    known[`${cdn} A`] = known[`${cdn} AAAA`] = RCODE.NXDOMAIN
    await advance(60_000)
    expect(await answers('example.com.')).toEqual([])
  })

  test('is resolved by the next resolver when one fails', async () => {
    const [broken, good] = [
      await resolver({ [cdn]: RCODE.SERVFAIL }),
      await resolver({ [`${cdn} A`]: [`${cdn} 60 A 198.51.100.7`] }),
    ]
    const env = { BAILIWICK_DNS_RESOLVERS: `127.0.0.1:${broken.port}, 127.0.0.1:${good.port}` }
    const { alias, answers, settle } = await scene({}, env)
    await alias('@', cdn)
    await settle()
    expect(await answers('example.com.')).toEqual(['example.com. 60 A 198.51.100.7'])
  })

  test('is dropped when the ALIAS changes, is deleted, or is replaced by an address', async () => {
    const known: ResolverAnswers = {
      [`${cdn} A`]: [`${cdn} 60 A 198.51.100.7`],
      'other.far.test. A': ['other.far.test. 60 A 198.51.100.8'],
    }
    const { acme, hub, zone, alias, answers, settle } = await scene(known)
    const created = (await alias('@', cdn)).body
    await settle()
    const seen = await lastZoneChange(hub.read)
    await acme.call('PATCH', `/v1/dns/records/${created.id}`, { content: 'other.far.test.' })
    expect(await answers('example.com.')).toEqual([])
    await settle()
    expect(await answers('example.com.')).toEqual(['example.com. 60 A 198.51.100.8'])
    const rrsets = [
      { name: '@', type: 'ALIAS', records: [] },
      { name: '@', type: 'A', ttl: 5, records: [{ content: '192.0.2.1' }] },
    ]
    await acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
    await settle()
    expect(await answers('example.com.')).toEqual(['example.com. 5 A 192.0.2.1'])
    const { rrsets: changed } = (await readPublishedChanges(hub.read, zone.id, seen))!
    expect(changed.map(one => [one.type, one.rdata.length]).sort()).toEqual([
      ['A', 1],
      ['AAAA', 0],
      ['ALIAS', 0],
    ])
  })

  test('doesn’t disclose addresses of the operator’s network', async () => {
    const known: ResolverAnswers = {
      'inside.corp.test. A': [
        'inside.corp.test. 60 A 10.0.0.5',
        'inside.corp.test. 60 A 9.9.9.9',
        'inside.corp.test. 60 A 169.254.169.254',
      ],
      'inside.corp.test. AAAA': ['inside.corp.test. 60 AAAA fd00::5', 'inside.corp.test. 60 AAAA ::1'],
    }
    const { acme, rival, add, answers, settle } = await scene(known)
    const zone = await createZone(rival, 'rival.example')
    await add(rival, zone.id, 'ALIAS', '@', 'inside.corp.test.')
    await settle()
    expect(await answers('rival.example.', 'A', zone.id)).toEqual(['rival.example. 60 A 9.9.9.9'])
    expect(await answers('rival.example.', 'AAAA', zone.id)).toEqual([])
    await acme.call('PATCH', `/v1/workspaces/${acme.workspaceId}`, {
      network_policy: { allow_private: false, allow_ranges: ['10.0.0.0/8'] },
    })
    const own = await createZone(acme, 'own.example')
    await add(acme, own.id, 'ALIAS', '@', 'inside.corp.test.')
    await settle()
    expect(await answers('own.example.', 'A', own.id)).toEqual(['own.example. 60 A 10.0.0.5', 'own.example. 60 A 9.9.9.9'])
  })
})

test('an ALIAS target in zones of the same workspace is followed there, and externally if needed', async () => {
  const { acme, hub, zone, add, alias, settle, server } = await scene({ [`${cdn} A`]: [`${cdn} 60 A 198.51.100.7`] })
  const other = await createZone(acme, 'other.example')
  await add(acme, other.id, 'A', 'web', '192.0.2.80')
  await add(acme, other.id, 'CNAME', 'old', 'web', { ttl: 30 })
  await add(acme, other.id, 'CNAME', 'away', cdn)
  await add(acme, other.id, 'NS', 'sub', 'ns1.far.test.')
  await add(acme, other.id, 'DNAME', 'moved', 'other.example.')
  for (const [name, target] of [
    ['a', 'old.other.example.'],
    ['b', 'away.other.example.'],
    ['c', 'www.sub.other.example.'],
    ['d', 'a'],
    ['e', 'web.moved.other.example.'],
    ['f', 'nothing.other.example.'],
  ])
    await alias(name!, target!)
  await settle()
  expect([...new Set(server.requests.map(one => one.message.question[0]!.name))].sort()).toEqual([cdn, 'www.sub.other.example.'])
  const addresses = await aliasAddressesOf(hub.read, zone.id)
  const input = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(name => ({ name, type: 'ALIAS', ttl: 600, values: [new Uint8Array()] }))
  const expanded = expandAliases([...input, { name: 'x', type: 'A', ttl: 1, values: [new Uint8Array(4)] }], name =>
    addresses.get(name),
  )
  expect(expanded.map(one => [one.name, one.type, one.ttl, one.values.map(value => value.join('.')).join()])).toEqual([
    ['a', 'A', 30, '192.0.2.80'],
    ['b', 'A', 60, '198.51.100.7'],
    ['d', 'A', 30, '192.0.2.80'],
    ['e', 'A', 600, '192.0.2.80'],
    ['x', 'A', 1, '0.0.0.0'],
  ])
  expect((await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)).status).toBe(204)
  await settle()
})

test('an ALIAS target can match a wildcard, or be below an apex with an ALIAS', async () => {
  const { acme, hub, zone, add, alias, settle, server } = await scene({})
  const other = await createZone(acme, 'other.example')
  for (const [name, content] of [
    ['*', '192.0.2.1'],
    ['*.deep', '192.0.2.2'],
    ['one.two.three', '192.0.2.3'],
  ])
    await add(acme, other.id, 'A', name!, content!)
  const moved = await createZone(acme, 'moved.example', { nameservers: ['ns1.far.test.'] })
  await add(acme, moved.id, 'DNAME', '@', 'other.example.')
  const targets = {
    ...{ a: 'any.other.example.', b: 'x.y.any.other.example.', c: 'any.deep.other.example.', d: 'deep.other.example.' },
    ...{ e: 'two.three.other.example.', f: 'no.two.three.other.example.', g: 'any.moved.example.', h: '*.other.example.' },
  }
  for (const [name, target] of Object.entries(targets)) await alias(name, target)
  await settle()
  const found = await aliasAddressesOf(hub.read, zone.id)
  expect(
    Object.keys(targets).map(name =>
      found
        .get(name)!
        .A.map(one => one.at(-1))
        .join(),
    ),
  ).toEqual(
    // RFC 4592: d, e and f exist, or are below an existing name.
    ['1', '1', '2', '', '', '', '1', '1'],
  )
  expect(server.requests).toEqual([])
})

test('an ALIAS target in a zone of another workspace is resolved externally', async () => {
  const target = 'www.bank.example.'
  const { rival, hub, zone, add, alias, answers, settle, server } = await scene({
    [`${target} A`]: [`${target} 60 A 198.51.100.7`],
  })
  // Any workspace may create a zone with this name.
  const other = await createZone(rival, 'bank.example')
  await add(rival, other.id, 'A', 'www', '192.0.2.66')
  await add(rival, other.id, 'A', 'secret', '192.0.2.67')
  await alias('@', target)
  await alias('asks', 'secret.bank.example.')
  await settle()
  expect(server.requests.map(one => one.message.question[0]!.name)).toContain('secret.bank.example.')
  expect(await answers('example.com.')).toEqual(['example.com. 60 A 198.51.100.7'])
  expect((await aliasAddressesOf(hub.read, zone.id)).get('asks')).toMatchObject({ A: [] })
})

test('slow lookups of a workspace only delay its own', async () => {
  const { acme, rival, hub, add, alias } = await scene({})
  const other = await createZone(rival, 'other.example')
  await alias('@', cdn)
  await add(rival, other.id, 'ALIAS', '@', cdn)
  const waiting = await hub.read.select({ lane: jobs.lane }).from(jobs).where(eq(jobs.kind, resolveAliasKind))
  expect(waiting.map(job => job.lane).sort()).toEqual([acme.workspaceId, rival.workspaceId].sort())
  expect(resolveAliasJob.lanes!.maxPerLane).toBeLessThan(resolveAliasJob.concurrency)
})

test('a CNAME at the apex is rejected, and the suggested ALIAS works', async () => {
  const { zone, acme, add, alias, answers } = await scene({})
  await add(acme, zone.id, 'A', 'www', '192.0.2.1')
  const rejected = await add(acme, zone.id, 'CNAME', '@', 'www')
  expect(rejected.body.detail).toContain('Use an ALIAS instead')
  expect((await alias('@', 'www')).status).toBe(201)
  expect(await answers('example.com.')).toEqual(['example.com. 600 A 192.0.2.1'])
})

describe('an ALIAS target in another zone of the workspace', () => {
  /** An ALIAS to `www.other.example`, which is a CNAME to a name with an address, and an ALIAS that can’t be resolved. */
  const setUp = async () => {
    const here = await scene({ [cdn]: RCODE.SERVFAIL })
    const other = await createZone(here.acme, 'other.example')
    const address = (await here.add(here.acme, other.id, 'A', 'web', '192.0.2.80')).body
    await here.add(here.acme, other.id, 'CNAME', 'www', 'web')
    await here.alias('@', 'www.other.example.')
    await here.alias('hangs', cdn)
    await here.settle()
    const stored = async () => (await aliasAddressesOf(here.hub.read, here.zone.id)).get('@')
    const addresses = async () => (await stored())?.A.map(octets => octets.join('.'))
    const readdress = (content: string) => here.acme.call('PATCH', `/v1/dns/records/${address.id}`, { content })
    return { ...here, other, address, stored, addresses, readdress }
  }

  test('is followed right away despite failing lookups, and changes the serial only with the addresses', async () => {
    const { acme, hub, zone, other, add, settle, serial, addresses, readdress, stored, address, server } = await setUp()
    expect(await addresses()).toEqual(['192.0.2.80'])
    const before = { serial: await serial(), requests: server.requests.length, change: await lastZoneChange(hub.read) }
    await readdress('192.0.2.81')
    await settle()
    expect(await addresses()).toEqual(['192.0.2.81'])
    expect(await serial()).toBe(before.serial + 1)
    expect((await readPublishedChanges(hub.read, zone.id, before.change))!.rrsets.map(one => one.type).sort()).toEqual([
      'A',
      'AAAA',
    ])
    // An unrelated change.
    await add(acme, other.id, 'TXT', 'www2', 'x')
    await settle()
    expect(await serial()).toBe(before.serial + 1)
    expect(server.requests).toHaveLength(before.requests)
    // TTLs are part of zone transfers.
    await acme.call('PATCH', `/v1/dns/records/${address.id}`, { ttl: 45 })
    await settle()
    expect([await serial(), (await stored())!.ttl]).toEqual([before.serial + 2, 45])
    await acme.call('PATCH', `/v1/dns/zones/${other.id}`, { status: 'paused' })
    await settle()
    expect(server.requests.at(-1)!.message.question[0]!.name).toBe('www.other.example.')
    await acme.call('PATCH', `/v1/dns/zones/${other.id}`, { status: 'active' })
    await readdress('192.0.2.82')
    await settle()
    expect(await addresses()).toEqual(['192.0.2.82'])
  })

  test('is transferred to secondaries, with consistent content per serial', async () => {
    const { zone, hub, settle, readdress } = await setUp()
    const read = async () => {
      const { serial, rrsets } = (await readPublishedZone(hub.read, zone.id))!
      return { serial, apex: rrsets.find(one => one.name === 'example.com.' && one.type === 'A')!.rdata[0]!.join('.') }
    }
    const first = await read()
    await readdress('192.0.2.90')
    // Not before the serial changes.
    expect(await read()).toEqual(first)
    await settle()
    expect(await read()).toEqual({ serial: first.serial + 1, apex: '192.0.2.90' })
  })

  test('follows zones being paused and resumed', async () => {
    const { acme, other, alias, settle, add, hub, zone, addresses } = await setUp()
    await acme.call('DELETE', `/v1/dns/zones/${other.id}`)
    await settle()
    const again = await createZone(acme, 'other.example')
    await add(acme, again.id, 'A', 'www', '192.0.2.99')
    await settle()
    expect(await addresses()).toEqual(['192.0.2.99'])
    await alias('chain', 'example.com.')
    await settle()
    const record = (await acme.call('GET', `/v1/dns/zones/${again.id}/records?type=A&name=www`)).body.data[0]
    await acme.call('PATCH', `/v1/dns/records/${record.id}`, { content: '192.0.2.98' })
    await settle()
    const all = await aliasAddressesOf(hub.read, zone.id)
    expect(['@', 'chain'].map(name => all.get(name)!.A[0]!.join('.'))).toEqual(['192.0.2.98', '192.0.2.98'])
  })
})
