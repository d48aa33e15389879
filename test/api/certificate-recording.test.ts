import { expect, spyOn, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { and, eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import type { Presence } from '../../src/features/certificates/places'
import { endPresences, recordCertificates } from '../../src/features/certificates/record'
import { certificateNames, certificatePresences, certificates } from '../../src/features/certificates/tables'
import { makeCertificate, type MadeCertificate } from '../support/make-certificates'
import { world } from '../support/world'

const w = await world()
const day = 86_400_000
const endpoint = (id: string, address = '192.0.2.1'): Presence => ({
  ...{ kind: 'endpoint', endpointId: id, address, host: 'shop.test', port: 443 },
})
const root = await makeCertificate({ subject: 'CN=Root', isCa: true })
const middle = await makeCertificate({ subject: 'O=Test CA, CN=Middle', isCa: true, issuer: root })
const leaf = (names: string[], options: Partial<Parameters<typeof makeCertificate>[0]> = {}) =>
  makeCertificate({ names, issuer: middle, ...options })

const save = (
  sightings: [MadeCertificate[], Presence][],
  more: { all?: Parameters<typeof endPresences>[2]; workspaceId?: string } = {},
) =>
  record(w.hub, async tx => ({
    result: await recordCertificates(
      tx,
      more.workspaceId ?? w.acme.workspaceId,
      sightings.map(([chain, presence]) => ({ chain: chain.map(one => one.der), presence })),
      w.clock.now(),
      more,
    ),
  }))
const rowOf = async (id: string | null | undefined) => {
  const [row] = await w.hub.read.select().from(certificates).where(eq(certificates.id, id!))
  return row!
}
const presencesOf = (scopeId: string) =>
  w.hub.read.select().from(certificatePresences).where(eq(certificatePresences.scopeId, scopeId))

test('a certificate is recorded once with its issuers, its names, and its places', async () => {
  const made = await leaf(['a.shop.test', '*.shop.test', '192.0.2.1'])
  const [id] = await save([[[made, middle], endpoint('tls_a')]])
  const again = await save([
    [[made, middle], endpoint('tls_a')],
    [[made], endpoint('tls_a', '2001:db8::1')],
  ])
  expect(again).toEqual([id!, id!])
  const row = await rowOf(id)
  expect(row).toMatchObject({
    commonName: 'a.shop.test',
    trust: 'untrusted',
    inUse: true,
    presenceCount: 2,
    sources: ['endpoint'],
  })
  expect(await rowOf(row.chain[0])).toMatchObject({
    commonName: 'Middle',
    isCa: true,
    isOnlyIssuer: true,
    inUse: false,
    presenceCount: 0,
  })
  const names = await w.hub.read.select().from(certificateNames).where(eq(certificateNames.certificateId, id!))
  expect(names.map(one => one.name).sort()).toEqual(['*.shop.test', '192.0.2.1', 'a.shop.test'])
  // Another workspace has its own.
  const [other] = await save([[[made], endpoint('tls_a')]], { workspaceId: w.rival.workspaceId })
  expect(other).not.toBe(id!)
  expect((await rowOf(id)).presenceCount).toBe(2)
})

test('the path is found again when a missing issuer becomes known', async () => {
  const upper = await makeCertificate({ subject: 'CN=Upper', isCa: true, issuer: root })
  const lower = await makeCertificate({ subject: 'CN=Lower', isCa: true, issuer: upper })
  const [id] = await save([[[await leaf(['late.test'], { issuer: lower })], endpoint('tls_late')]])
  expect((await rowOf(id)).chain).toEqual([])
  await save([[[await leaf(['other.test'], { issuer: lower }), lower, upper], endpoint('tls_other')]])
  await w.settle()
  const { chain } = await rowOf(id)
  expect(await Promise.all(chain.map(async one => (await rowOf(one)).commonName))).toEqual(['Lower', 'Upper'])
})

test('a place has one certificate, and one that comes back keeps its first time', async () => {
  const [first, second] = [await leaf(['swap.test']), await leaf(['swap.test'])]
  const show = (one: MadeCertificate) => save([[[one, middle], endpoint('tls_swap')]])
  const [firstId] = await show(first)
  const firstSeen = w.clock.now()
  await w.advance(60_000)
  const [secondId] = await show(second)
  await w.advance(60_000)
  await show(first)
  const rows = Object.fromEntries((await presencesOf('tls_swap')).map(row => [row.certificateId, row]))
  expect(rows[firstId!]).toMatchObject({ firstSeenAt: firstSeen, lastSeenAt: firstSeen + 120_000, endedAt: null })
  expect(rows[secondId!]).toMatchObject({ endedAt: firstSeen + 120_000 })
  expect(await rowOf(secondId)).toMatchObject({ presenceCount: 0, inUse: false, lastSeenAt: firstSeen + 120_000 })
})

test('a complete report ends the other places of its scope, and so does the end of the scope', async () => {
  const made = await leaf(['files.test'])
  const file = (path: string): Presence => ({
    ...{ kind: 'file', serverId: 'srv_1', serverName: 'web-1', path, key: 'matches', mode: '0640', references: ['nginx'] },
  })
  const all = [{ kind: 'file', scopeId: 'srv_1' } as const]
  const [id] = await save([
    [[made], file('/a.pem')],
    [[made], file('/b.pem')],
    [[made], endpoint('tls_files')],
  ])
  await save([[[made], file('/b.pem')]], { all })
  expect(await rowOf(id)).toMatchObject({ presenceCount: 2, sources: ['agent', 'endpoint'] })
  await record(w.hub, async tx => ({ result: await endPresences(tx, w.acme.workspaceId, all, w.clock.now()) }))
  expect(await rowOf(id)).toMatchObject({ presenceCount: 1, sources: ['endpoint'] })
  // The same id in another workspace is another scope.
  await save([], { all: [{ kind: 'endpoint', scopeId: 'tls_files' }], workspaceId: w.rival.workspaceId })
  expect((await rowOf(id)).presenceCount).toBe(1)
})

test('a certificate is superseded when a newer one of its lineage is in use and it is served nowhere', async () => {
  const dates = (start: number) => ({ notBefore: new Date(start), notAfter: new Date(start + 90 * day) })
  const start = w.clock.now()
  const [old, next] = [await leaf(['line.test'], dates(start)), await leaf(['line.test'], dates(start + day))]
  const [oldId] = await save([
    [[old], endpoint('tls_line')],
    [[old], endpoint('tls_line', '192.0.2.2')],
  ])
  expect((await rowOf(oldId)).alarmAt).toBe(start + 60 * day)
  const [nextId] = await save([[[next], endpoint('tls_line')]])
  expect(await rowOf(oldId)).toMatchObject({ supersededBy: null, inUse: true })
  await save([[[next], endpoint('tls_line', '192.0.2.2')]])
  expect(await rowOf(oldId)).toMatchObject({ supersededBy: nextId!, inUse: false, alarmAt: null })
  expect(await rowOf(nextId)).toMatchObject({ supersededBy: null, inUse: true, alarmAt: start + 61 * day })
  // It is served again somewhere.
  await save([[[old], endpoint('tls_line')]])
  expect(await rowOf(oldId)).toMatchObject({ supersededBy: null, inUse: true, alarmAt: start + 60 * day })
})

test('the time of the last sighting is updated once an hour', async () => {
  const made = await leaf(['often.test'])
  const start = w.clock.now()
  const times: number[] = []
  for (const minutes of [0, 30, 29, 1]) {
    await w.advance(minutes * 60_000)
    await save([[[made], endpoint('tls_often')]])
    times.push(((await presencesOf('tls_often'))[0]!.lastSeenAt - start) / 60_000)
  }
  expect(times).toEqual([0, 0, 0, 60])
})

test('a thousand places of one report are recorded, repeated, and ended', async () => {
  const made = await leaf(['many.test'])
  const all = [{ kind: 'served', scopeId: 'srv_many' } as const]
  const places = Array.from({ length: 1000 }, (_, port): [MadeCertificate[], Presence] => [
    [made],
    {
      ...{ kind: 'served', serverId: 'srv_many', serverName: 'many', address: '0.0.0.0', port: port + 1 },
      ...{ servername: null, process: null },
    },
  ])
  const [id] = await save(places, { all })
  await w.advance(3_600_000)
  await save(places.slice(0, 600), { all })
  expect((await rowOf(id)).presenceCount).toBe(600)
  await save([], { all })
  expect(await rowOf(id)).toMatchObject({ presenceCount: 0, inUse: false })
})

test('a precertificate and its certificate are one', async () => {
  const poison = new x509.Extension('1.3.6.1.4.1.11129.2.4.3', true, Buffer.from('0500', 'hex'))
  const plain = await leaf(['ct.test'], { serial: '0102030405' })
  const precertificate = await leaf(['ct.test'], { serial: '0102030405', keysOf: plain, extensions: [poison] })
  const [id] = await save([[[precertificate], { kind: 'ct' }]])
  expect(await rowOf(id)).toMatchObject({ isPrecertificate: true, inUse: false, sources: ['ct'] })
  const [same] = await save([[[plain, middle], endpoint('tls_ct')]])
  expect(same).toBe(id!)
  expect(await rowOf(id)).toMatchObject({ isPrecertificate: false, inUse: true, sources: ['ct', 'endpoint'], presenceCount: 2 })
  expect(await save([[[precertificate], { kind: 'ct' }]])).toEqual([id!])
  const rows = await w.hub.read
    .select()
    .from(certificates)
    .where(and(eq(certificates.workspaceId, w.acme.workspaceId), eq(certificates.commonName, 'ct.test')))
  expect(rows).toHaveLength(1)
})

test('what is no certificate is not recorded', async () => {
  const broken = { ...root, der: root.der.subarray(1) }
  expect(
    await save([
      [[broken], endpoint('tls_broken')],
      [[], endpoint('tls_none')],
    ]),
  ).toEqual([null, null])
  expect([...(await presencesOf('tls_broken')), ...(await presencesOf('tls_none'))]).toEqual([])
})

test('few signatures are verified for crafted chains, and none again', async () => {
  const same = (name: string, issuer?: MadeCertificate) =>
    makeCertificate({ subject: `CN=${name}`, isCa: true, issuer, ...(issuer && { keysOf: issuer }) })
  const crafted = await Promise.all(
    Array.from({ length: 6 }, async (_, at): Promise<[MadeCertificate[], Presence]> => {
      const first = await same(`Same ${at}`)
      const others = await Promise.all(Array.from({ length: 18 }, () => same(`Same ${at}`, first)))
      return [[await leaf([`crafted-${at}.test`], { issuer: first }), first, ...others], endpoint(`tls_crafted_${at}`)]
    }),
  )
  const verify = spyOn(X509Certificate.prototype, 'verify')
  try {
    const ids = await save(crafted)
    expect(ids).not.toContain(null)
    // 20 and 4 for each, and whether each certificate and the end of its path are signed by themselves.
    expect(verify.mock.calls.length).toBeWithin(1, 20 + 6 * 4 + 6 * 2 + 1)
    const before = verify.mock.calls.length
    await save(crafted)
    expect(verify.mock.calls.length).toBe(before)
  } finally {
    verify.mockRestore()
  }
})
