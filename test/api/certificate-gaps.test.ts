import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events } from '../../src/core/db/tables'
import { watchZoneChanges, workOutAllGaps } from '../../src/features/certificates/coverage/schedule'
import { certificateGaps } from '../../src/features/certificates/coverage/tables'
import { pruneGaps } from '../../src/features/certificates/coverage/work-out-gaps'
import type { Presence } from '../../src/features/certificates/places'
import { endPresences, recordCertificates } from '../../src/features/certificates/record'
import { makeCertificate, type MadeCertificate } from '../support/make-certificates'
import { pointers } from '../support/pointers'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

const minuteMs = 60_000
const dayMs = 86_400_000
const endpointId = 'tls_01k3zc1d3e5f7g9h1j3k5m7n9p'
const endpoint: Presence = { kind: 'endpoint', endpointId, address: '192.0.2.1', host: 'shop.example.com', port: 443 }

const see = (w: World, one: MadeCertificate, presence: Presence = endpoint) =>
  record(w.hub, async tx => ({
    result: await recordCertificates(tx, w.acme.workspaceId, [{ chain: [one.der], presence }], w.clock.now()),
  }))

async function workOut(w: World) {
  await workOutAllGaps(w.hub)
  await w.settle()
}

const gapsOf = async (w: World, query = '') => (await w.acme.call('GET', `/v1/certificate-gaps${query}`)).body.data

async function scene() {
  const w = await world()
  const zone = await createZone(w.acme, 'example.com')
  const create = async (body: object) => {
    const created = await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { ttl: 300, ...body })
    expect(created.status).toBe(201)
    return created.body
  }
  await create({ name: 'shop', type: 'A', content: '192.0.2.1' })
  const caa = await create({ name: '@', type: 'CAA', content: '0 issue "letsencrypt.org"' })
  await w.settle()
  await w.emitted()
  const selfSigned = await makeCertificate({ names: ['shop.example.com'], notAfter: new Date(w.clock.now() + 90 * dayMs) })
  return { w, zone, caa, selfSigned }
}

/** Kinds and statuses of the gaps in the events since the beginning. */
async function published(w: World): Promise<string[]> {
  const rows = await w.hub.read.select().from(events).where(eq(events.kind, 'certificate.gap_changed')).orderBy(events.id)
  return rows.map(row => {
    const { data } = JSON.parse(row.body) as { data: { gap: { kind: string }; status: string } }
    return `${data.gap.kind} ${data.status}`
  })
}

test('a gap opens after two scans, is acknowledged, expires, resolves, and opens again', async () => {
  const { w, zone, selfSigned } = await scene()
  const [certificateId] = await see(w, selfSigned)
  await workOut(w)
  expect(await gapsOf(w)).toEqual([])
  const [pending] = await w.hub.read.select().from(certificateGaps)
  const path = `/v1/certificate-gaps/${pending!.id}`
  expect((await w.acme.call('GET', path)).status).toBe(404)
  expect((await w.acme.call('POST', `${path}/acknowledge`, { note: 'x' })).status).toBe(404)

  await w.advance(60 * minuteMs)
  await see(w, selfSigned)
  await workOut(w)
  const [gap, ...others] = await gapsOf(w)
  expect(others).toEqual([])
  expect(gap).toMatchObject({
    ...{ kind: 'untrusted_served', severity: 'high', status: 'open', name: 'shop.example.com', zone_id: zone.id },
    ...{ endpoint_id: endpointId, certificate_id: certificateId, issuable: true, acknowledged_by: null, resolved_at: null },
    detail: 'shop.example.com:443 serves a self-signed certificate.',
  })
  await workOut(w)
  expect((await gapsOf(w))[0]).toEqual(gap)
  expect(await published(w)).toEqual(['untrusted_served opened'])

  await w.audited()
  const until = new Date(w.clock.now() + dayMs).toISOString()
  const acknowledged = await w.acme.call('POST', `${path}/acknowledge`, { note: 'Replaced tomorrow.', until })
  expect(acknowledged.body).toMatchObject({ status: 'acknowledged', note: 'Replaced tomorrow.', acknowledged_until: until })
  expect(acknowledged.body.acknowledged_by.type).toBe('token')
  expect(await w.audited()).toEqual(['certificates.gap.acknowledge'])
  await workOut(w)
  expect((await gapsOf(w, '?status=acknowledged')).length).toBe(1)
  await w.advance(dayMs)
  await workOut(w)
  expect(await w.audited()).toEqual(['certificates.gap.unacknowledge'])
  expect((await gapsOf(w))[0]).toMatchObject({ status: 'open', note: '', acknowledged_by: null, opened_at: gap.opened_at })

  await w.acme.call('POST', `${path}/acknowledge`, { note: 'Accepted.' })
  const removed = await w.acme.call('POST', `${path}/unacknowledge`)
  expect(removed.body).toMatchObject({ status: 'open', acknowledged_until: null })
  expect(await w.audited()).toEqual(['certificates.gap.acknowledge', 'certificates.gap.unacknowledge'])

  const scope = [{ kind: 'endpoint' as const, scopeId: endpointId }]
  await record(w.hub, async tx => ({ result: await endPresences(tx, w.acme.workspaceId, scope, w.clock.now()) }))
  await workOut(w)
  expect((await w.acme.call('GET', path)).body).toMatchObject({
    status: 'resolved',
    resolved_at: new Date(w.clock.now()).toISOString(),
  })
  expect((await w.acme.call('POST', `${path}/acknowledge`, { note: 'x' })).status).toBe(409)

  await see(w, selfSigned)
  await workOut(w)
  expect((await w.acme.call('GET', path)).body.status).toBe('resolved')
  await w.advance(60 * minuteMs)
  await see(w, selfSigned)
  await workOut(w)
  expect((await w.acme.call('GET', path)).body).toMatchObject({
    status: 'open',
    opened_at: new Date(w.clock.now()).toISOString(),
    resolved_at: null,
  })
  expect(await published(w)).toEqual([
    'untrusted_served opened',
    'untrusted_served acknowledged',
    'untrusted_served opened',
    'untrusted_served acknowledged',
    'untrusted_served opened',
    'untrusted_served resolved',
    'untrusted_served opened',
  ])
})

test('changed zones are noticed, and resolved gaps are deleted after 90 days', async () => {
  const { w, caa } = await scene()
  await watchZoneChanges(w.hub)
  await watchZoneChanges(w.hub)
  await w.advance(minuteMs)
  expect(await gapsOf(w)).toEqual([])
  await w.acme.call('DELETE', `/v1/dns/records/${caa.id}`)
  await watchZoneChanges(w.hub)
  await w.advance(29_000)
  expect(await gapsOf(w)).toEqual([])
  await w.advance(1000)
  expect(await gapsOf(w)).toMatchObject([{ kind: 'caa_missing', severity: 'low', name: 'example.com', issuable: false }])

  const changed = await w.acme.call('PATCH', '/v1/certificate-settings', { ignore: ['*.example.com'] })
  expect(changed.body).toEqual({ coverage: 'all', ignore: ['*.example.com'], ports: [443] })
  await w.settle()
  expect(await gapsOf(w)).toMatchObject([{ status: 'resolved' }])
  await w.advance(90 * dayMs)
  await pruneGaps(w.hub)
  expect(await gapsOf(w)).toHaveLength(1)
  await w.advance(1)
  await pruneGaps(w.hub)
  expect(await gapsOf(w)).toEqual([])
})

test('settings and acknowledgements are checked', async () => {
  const { w, selfSigned } = await scene()
  const patch = (body: object) => w.acme.call('PATCH', '/v1/certificate-settings', body)
  expect(pointers(await patch({ coverage: 'some' }))).toEqual([422, ['#/coverage']])
  expect(pointers(await patch({ ports: [0] }))).toEqual([422, ['#/ports/0']])
  expect(pointers(await patch({ ports: [] }))).toEqual([422, ['#/ports']])
  expect(pointers(await patch({ ignore: ['a b'] }))).toEqual([422, ['#/ignore/0']])
  expect(pointers(await patch({ ignore: Array.from({ length: 101 }, (_, at) => `n${at}.test`) }))).toEqual([422, ['#/ignore']])
  expect((await w.readOnly.call('PATCH', '/v1/certificate-settings', {})).status).toBe(403)
  expect((await w.rival.call('GET', '/v1/certificate-settings')).body).toEqual({ coverage: 'all', ignore: [], ports: [443] })

  await see(w, selfSigned)
  await workOut(w)
  await w.advance(60 * minuteMs)
  await see(w, selfSigned)
  await workOut(w)
  const [{ id }] = await gapsOf(w)
  const path = `/v1/certificate-gaps/${id}`
  const acknowledge = (body: object) => w.acme.call('POST', `${path}/acknowledge`, body)
  expect(pointers(await acknowledge({}))).toEqual([422, ['#/note']])
  expect(pointers(await acknowledge({ note: 'x', until: new Date(w.clock.now()).toISOString() }))).toEqual([422, ['#/until']])
  const late = new Date(w.clock.now() + 366 * dayMs + 1).toISOString()
  expect(pointers(await acknowledge({ note: 'x', until: late }))).toEqual([422, ['#/until']])
  expect((await w.rival.call('GET', path)).status).toBe(404)
  expect((await w.rival.call('POST', `${path}/acknowledge`, { note: 'x' })).status).toBe(404)
  expect((await w.readOnly.call('POST', `${path}/acknowledge`, { note: 'x' })).status).toBe(403)
  expect(await gapsOf(w, '?severity=low')).toEqual([])
  expect(await gapsOf(w, '?kind=untrusted_served&sort=severity')).toHaveLength(1)
  expect(await gapsOf(w, '?name=shop.example.com&sort=-opened_at')).toHaveLength(1)
})

test('names are listed with the certificate that covers them', async () => {
  const { w, zone } = await scene()
  await workOut(w)
  const path = '/v1/certificates/coverage'
  const names = (await w.acme.call('GET', `${path}?q=shop`)).body.data
  // The glue record of the name server has an address too.
  expect((await w.acme.call('GET', path)).body.data.map((one: any) => one.name)).toEqual(['ns1.example.com', 'shop.example.com'])
  expect(names).toEqual([
    {
      ...{ name: 'shop.example.com', zone_id: zone.id, because: ['record'], covered: 'none' },
      ...{ certificate_id: null, valid_until: null, endpoint_ids: [], gap_ids: [] },
    },
  ])
  const root = await makeCertificate({ subject: 'CN=Root', isCa: true })
  await w.acme.call('POST', '/v1/certificate-authorities', { name: 'Root', pem: root.pem })
  const ends = w.clock.now() + 90 * dayMs
  const wildcard = await makeCertificate({ names: ['*.example.com'], issuer: root, notAfter: new Date(ends) })
  const [certificateId] = await see(w, wildcard)
  await workOut(w)
  const covered = { covered: 'wildcard', certificate_id: certificateId, endpoint_ids: [endpointId] }
  expect((await w.acme.call('GET', `${path}?q=shop`)).body.data).toMatchObject([covered])
  expect((await w.acme.call('GET', `${path}?covered=none`)).body.data).toEqual([])
  expect((await w.acme.call('GET', `${path}?covered=wildcard&include=total`)).body.pagination.total).toBe(2)
  expect((await w.acme.call('GET', `${path}?zone_id=${zone.id}&q=shop`)).body.data).toHaveLength(1)
  expect((await w.rival.call('GET', path)).body.data).toEqual([])
  await w.acme.call('PATCH', '/v1/certificate-settings', { coverage: 'off' })
  await w.settle()
  expect((await w.acme.call('GET', path)).body.data).toEqual([])
})
