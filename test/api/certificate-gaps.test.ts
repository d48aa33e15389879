import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { HostScanner } from '../../src/checks/tls-probe/host-scan'
import { isPostgres } from '../../src/core/db/dialect'
import { events } from '../../src/core/db/tables'
import { egressOf } from '../../src/core/net/hub-egress'
import { settleMs } from '../../src/features/certificates/gaps-job'
import { watchZoneChanges, workOutAllGaps } from '../../src/features/coverage/schedule'
import { certificateGaps } from '../../src/features/coverage/tables'
import { pruneGaps, workOutGapsJob } from '../../src/features/coverage/work-out-gaps'
import { scanDue } from '../../src/features/tls-endpoints/scans/scan-due'
import { makeCertificate, type MadeCertificate } from '../support/make-certificates'
import { pointers } from '../support/pointers'
import { startTlsServer, type TlsServer } from '../support/tls-server'
import { otherHub } from '../support/watched-monitors'
import { closeLater, world, type World } from '../support/world'
import { createZone } from '../support/zones'

const minuteMs = 60_000
const dayMs = 86_400_000

let server: TlsServer
/** Makes the TLS server present a certificate. */
async function serve({ pem, keyPem }: MadeCertificate) {
  await server.close()
  server = await startTlsServer({ certificate: { pem, key: keyPem }, port: server.port })
}
beforeAll(async () => {
  server = await startTlsServer()
})
afterAll(() => server.close())

/** Works out the gaps. Scans have added a job for it that is due a little later. */
async function workOut(w: World) {
  await workOutAllGaps(w.hub)
  await w.advance(settleMs)
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
  const shop = await create({ name: 'shop', type: 'A', content: '192.0.2.1' })
  const caa = await create({ name: '@', type: 'CAA', content: '0 issue "letsencrypt.org"' })
  await w.settle()
  await w.emitted()
  const selfSigned = await makeCertificate({ names: ['shop.example.com'], notAfter: new Date(w.clock.now() + 90 * dayMs) })
  const where = { host: '127.0.0.1', port: server.port, servername: 'shop.example.com' }
  const addEndpoint = async (): Promise<string> => {
    const created = await w.acme.call('POST', '/v1/tls-endpoints', where)
    await w.settle()
    return created.body.id
  }
  return { w, zone, caa, shop, selfSigned, addEndpoint }
}

/** Scans an endpoint and returns the ID of the certificate that it presents. */
async function scan(w: World, endpointId: string): Promise<string> {
  expect((await w.acme.call('POST', `/v1/tls-endpoints/${endpointId}/scan`)).status).toBe(202)
  await w.settle()
  return (await w.acme.call('GET', `/v1/tls-endpoints/${endpointId}`)).body.addresses[0].certificate_id
}

/** A root that the workspace trusts. */
async function trustedRoot(w: World) {
  const root = await makeCertificate({ subject: 'CN=Root', isCa: true })
  await w.acme.call('POST', '/v1/certificate-authorities', { name: 'Root', pem: root.pem })
  return root
}

/** Kinds and statuses of the gaps in the events since the beginning. */
async function published(w: World): Promise<string[]> {
  const rows = await w.hub.read.select().from(events).where(eq(events.kind, 'certificate.gap_changed')).orderBy(events.id)
  return rows.map(row => {
    const { data } = JSON.parse(row.body) as { data: { gap: { kind: string }; status: string } }
    return `${data.gap.kind} ${data.status}`
  })
}

test('a certificate for the IP address of an endpoint has no gaps', async () => {
  const { w } = await scene()
  const issuer = await trustedRoot(w)
  await serve(await makeCertificate({ names: ['127.0.0.1'], issuer, notAfter: new Date(w.clock.now() + 90 * dayMs) }))
  const { id } = (await w.acme.call('POST', '/v1/tls-endpoints', { host: '127.0.0.1', port: server.port })).body
  await w.settle()
  await w.advance(5 * minuteMs)
  await scan(w, id)
  await workOut(w)
  expect(await gapsOf(w)).toEqual([])
})

test('a gap opens after two scans, is acknowledged, expires, resolves, and opens again', async () => {
  const { w, zone, selfSigned, addEndpoint } = await scene()
  await serve(selfSigned)
  const endpointId = await addEndpoint()
  await workOut(w)
  expect(await gapsOf(w)).toEqual([])
  const [pending] = await w.hub.read.select().from(certificateGaps)
  const path = `/v1/certificate-gaps/${pending!.id}`
  expect((await w.acme.call('GET', path)).status).toBe(404)
  expect((await w.acme.call('POST', `${path}/acknowledge`, { note: 'x' })).status).toBe(404)

  await w.advance(5 * minuteMs)
  const certificateId = await scan(w, endpointId)
  await workOut(w)
  const [gap, ...others] = await gapsOf(w)
  expect(others).toEqual([])
  expect(gap).toMatchObject({
    ...{ kind: 'untrusted_served', severity: 'high', status: 'open', name: 'shop.example.com', zone_id: zone.id },
    ...{ endpoint_id: endpointId, certificate_id: certificateId, issuable: true, acknowledged_by: null, resolved_at: null },
    detail: `shop.example.com:${server.port} serves a self-signed certificate.`,
  })
  await workOut(w)
  expect((await gapsOf(w))[0]).toEqual(gap)
  expect(await published(w)).toEqual(['untrusted_served opened'])

  await w.audited()
  const until = new Date(w.clock.now() + dayMs).toISOString()
  const acknowledged = await w.acme.call('POST', `${path}/acknowledge`, { note: 'Replaced tomorrow.', until })
  expect(acknowledged.body).toMatchObject({ status: 'acknowledged', note: 'Replaced tomorrow.', acknowledged_until: until })
  expect(acknowledged.body.acknowledged_by.type).toBe('token')
  expect(await w.audited()).toEqual(['certificates.gap.acknowledge', 'incident.acknowledge'])
  await workOut(w)
  expect((await gapsOf(w, '?status=acknowledged')).length).toBe(1)
  // Exactly when it expires, although nothing else happens.
  await w.advance(Date.parse(until) - w.clock.now() - 1)
  expect((await gapsOf(w))[0].status).toBe('acknowledged')
  await w.advance(1)
  expect(await w.audited()).toEqual(['incident.unacknowledge', 'certificates.gap.unacknowledge'])
  expect((await gapsOf(w))[0]).toMatchObject({ status: 'open', note: '', acknowledged_by: null, opened_at: gap.opened_at })

  await w.acme.call('POST', `${path}/acknowledge`, { note: 'Accepted.' })
  const removed = await w.acme.call('POST', `${path}/unacknowledge`)
  expect(removed.body).toMatchObject({ status: 'open', acknowledged_until: null })
  expect((await w.audited()).filter(one => one.startsWith('certificates.'))).toEqual([
    'certificates.gap.acknowledge',
    'certificates.gap.unacknowledge',
  ])

  const root = await trustedRoot(w)
  await serve(
    await makeCertificate({ names: ['shop.example.com'], issuer: root, notAfter: new Date(w.clock.now() + dayMs * 90) }),
  )
  await scan(w, endpointId)
  await workOut(w)
  expect((await w.acme.call('GET', path)).body).toMatchObject({
    status: 'resolved',
    resolved_at: new Date(w.clock.now()).toISOString(),
  })
  expect((await w.acme.call('POST', `${path}/acknowledge`, { note: 'x' })).status).toBe(409)

  await serve(selfSigned)
  await scan(w, endpointId)
  await workOut(w)
  expect((await w.acme.call('GET', path)).body.status).toBe('resolved')
  await w.advance(5 * minuteMs)
  await scan(w, endpointId)
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

test('two hubs that evaluate the gaps at once open and resolve each of them once', async () => {
  const { w, caa } = await scene()
  // SQLite has one hub, with which the runs overlap too.
  const other = isPostgres ? await otherHub(w) : null
  const evaluate = async () => {
    const job = { payload: { workspace_id: w.acme.workspaceId } } as Parameters<typeof workOutGapsJob.run>[1]
    await Promise.all([w.hub, other?.hub ?? w.hub].map(hub => workOutGapsJob.run(hub, job, undefined)))
  }
  await w.acme.call('DELETE', `/v1/dns/records/${caa.id}`)
  const names = Array.from({ length: 6 }, (_, at) => `zone${at}.example`)
  for (const name of names) {
    const { id } = await createZone(w.acme, name)
    await w.acme.call('POST', `/v1/dns/zones/${id}/records`, { name: 'www', type: 'A', content: '192.0.2.1' })
  }
  await evaluate()
  const found = await gapsOf(w, '?kind=caa_missing&limit=100')
  expect(found.map((one: any) => one.name).toSorted()).toEqual(['example.com', ...names])
  expect((await w.acme.call('GET', '/v1/certificates/coverage?q=www&include=total')).body.pagination.total).toBe(6)
  await w.acme.call('PATCH', '/v1/certificate-settings', { coverage: 'off' })
  await evaluate()
  expect(await gapsOf(w, '?status=open')).toEqual([])
  const counts = Map.groupBy(await published(w), one => one)
  expect([...counts].map(([what, { length }]) => [what, length])).toEqual([
    ['caa_missing opened', 7],
    ['caa_missing resolved', 7],
  ])
  await other?.close()
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
  expect(changed.body).toMatchObject({ coverage: 'all', ignore: ['*.example.com'], ports: [443] })
  await w.advance(settleMs)
  expect(await gapsOf(w)).toMatchObject([{ status: 'resolved' }])
  await w.advance(90 * dayMs)
  await pruneGaps(w.hub)
  expect(await gapsOf(w)).toHaveLength(1)
  await w.advance(1)
  await pruneGaps(w.hub)
  expect(await gapsOf(w)).toEqual([])
})

test('settings and acknowledgements are checked', async () => {
  const { w, selfSigned, addEndpoint } = await scene()
  const patch = (body: object) => w.acme.call('PATCH', '/v1/certificate-settings', body)
  expect(pointers(await patch({ coverage: 'some' }))).toEqual([422, ['#/coverage']])
  expect(pointers(await patch({ ports: [0] }))).toEqual([422, ['#/ports/0']])
  expect(pointers(await patch({ ports: [] }))).toEqual([422, ['#/ports']])
  expect(pointers(await patch({ ignore: ['a b'] }))).toEqual([422, ['#/ignore/0']])
  expect(pointers(await patch({ ignore: Array.from({ length: 101 }, (_, at) => `n${at}.test`) }))).toEqual([422, ['#/ignore']])
  expect((await w.readOnly.call('PATCH', '/v1/certificate-settings', {})).status).toBe(403)
  expect((await w.rival.call('GET', '/v1/certificate-settings')).body).toEqual({
    ...{ coverage: 'all', ignore: [], ports: [443] },
    ct: { kind: 'off', url: null, token_set: false, last_checked_at: null, last_error: null },
  })

  await serve(selfSigned)
  const endpointId = await addEndpoint()
  await workOut(w)
  await w.advance(5 * minuteMs)
  await scan(w, endpointId)
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
  const { w, zone, addEndpoint } = await scene()
  await workOut(w)
  const path = '/v1/certificates/coverage'
  const names = (await w.acme.call('GET', `${path}?q=shop`)).body.data
  // The glue record of the name server has an address too.
  expect((await w.acme.call('GET', path)).body.data.map((one: any) => one.name)).toEqual(['ns1.example.com', 'shop.example.com'])
  expect(names).toEqual([
    {
      ...{ name: 'shop.example.com', zone_id: zone.id, sources: ['record'], covered: 'none' },
      ...{ certificate_id: null, valid_until: null, endpoint_ids: [], gap_ids: [] },
    },
  ])
  const root = await trustedRoot(w)
  const ends = w.clock.now() + 90 * dayMs
  const wildcard = await makeCertificate({ names: ['*.example.com'], issuer: root, notAfter: new Date(ends) })
  await serve(wildcard)
  const endpointId = await addEndpoint()
  const certificateId = await scan(w, endpointId)
  await workOut(w)
  const covered = { covered: 'wildcard', certificate_id: certificateId, endpoint_ids: expect.arrayContaining([endpointId]) }
  expect((await w.acme.call('GET', `${path}?q=shop`)).body.data).toMatchObject([covered])
  expect((await w.acme.call('GET', `${path}?covered=none`)).body.data).toEqual([])
  expect((await w.acme.call('GET', `${path}?covered=wildcard&include=total`)).body.pagination.total).toBe(2)
  expect((await w.acme.call('GET', `${path}?zone_id=${zone.id}&q=shop`)).body.data).toHaveLength(1)
  expect((await w.rival.call('GET', path)).body.data).toEqual([])
  for (const fields of [
    { target: 'https://partner.test:8443/health' },
    { type: 'tls', target: '192.0.2.1:443', options: { server_name: 'named.test' } },
    { target: 'http://plain.test/' },
  ])
    expect((await w.acme.call('POST', '/v1/monitors', fields)).status).toBe(201)
  expect((await w.rival.call('POST', '/v1/monitors', { target: 'https://other.test/' })).status).toBe(201)
  await w.acme.call('PATCH', '/v1/certificate-settings', { coverage: 'watched' })
  await w.advance(settleMs)
  const watched = (await w.acme.call('GET', path)).body.data.map((one: any) => [one.name, one.sources, one.zone_id])
  expect(watched).toEqual(['named.test', 'partner.test'].map(name => [name, ['monitor'], null]))
  await w.acme.call('PATCH', '/v1/certificate-settings', { coverage: 'off' })
  await w.advance(settleMs)
  expect((await w.acme.call('GET', path)).body.data).toEqual([])
})

test('open ports without TLS, and chains without their intermediate certificate, are gaps', async () => {
  const { w, addEndpoint } = await scene()
  const plain = createServer(socket => {
    socket.on('error', () => {}).resume()
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(plain, 'listening')
  const where = { host: '127.0.0.1', servername: 'shop.example.com' }
  const { port } = plain.address() as AddressInfo
  const { id } = (await w.acme.call('POST', '/v1/tls-endpoints', { ...where, port })).body
  await w.settle()
  await workOut(w)
  await w.advance(5 * minuteMs)
  await w.acme.call('POST', `/v1/tls-endpoints/${id}/scan`)
  await w.settle()
  const [{ addresses }] = (await w.acme.call('GET', '/v1/tls-endpoints?origin=manual')).body.data
  expect(addresses).toMatchObject([{ address: '127.0.0.1', state: 'no_tls', grade: null }])
  await workOut(w)
  expect(await gapsOf(w)).toMatchObject([{ kind: 'uncovered', name: 'shop.example.com', endpoint_id: id, issuable: true }])
  plain.close()
  await once(plain, 'close')
  // Its port is closed now: nobody can connect to it without TLS.
  await w.acme.call('POST', `/v1/tls-endpoints/${id}/scan`)
  await w.settle()
  await workOut(w)
  expect(await gapsOf(w)).toMatchObject([{ kind: 'uncovered', status: 'resolved' }])

  const issuer = await makeCertificate({ subject: 'CN=Issuer', isCa: true, issuer: await trustedRoot(w) })
  const notAfter = new Date(w.clock.now() + 90 * dayMs)
  const leaf = await makeCertificate({ names: ['shop.example.com'], issuer, notAfter })
  await serve({ ...leaf, pem: leaf.pem + issuer.pem })
  const endpointId = await addEndpoint()
  await serve(leaf)
  await scan(w, endpointId)
  await workOut(w)
  await w.advance(5 * minuteMs)
  // A scan that fails confirms nothing, and resolves nothing.
  await server.close()
  await w.acme.call('POST', `/v1/tls-endpoints/${endpointId}/scan`)
  await w.settle()
  await workOut(w)
  expect(await gapsOf(w, '?status=open')).toEqual([])
  await serve(leaf)
  await scan(w, endpointId)
  await workOut(w)
  const open = () => gapsOf(w, '?status=open')
  expect(await open()).toMatchObject([{ kind: 'chain_incomplete', endpoint_id: endpointId }])
  await server.close()
  await w.acme.call('POST', `/v1/tls-endpoints/${endpointId}/scan`)
  await w.settle()
  await workOut(w)
  expect(await open()).toHaveLength(1)
})

test('names that answer HTTP, but not HTTPS, are gaps', async () => {
  const { w } = await scene()
  w.hub.resolve = async name => (name === 'shop.example.com' ? ['127.0.0.1'] : [])
  const http = createServer(socket => {
    socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  closeLater(async () => void http.close())
  // Only root may listen at the real ports.
  const ports: Record<number, number> = { 443: 1, 80: (http.address() as AddressInfo).port }
  const scanner = new HostScanner()
  w.engine.scanTls = (request, policy, signal) =>
    scanner.scan(
      request,
      async (host, port) =>
        (await egressOf(w.hub).vetAddresses(host, port, policy)).map(one => ({ ...one, port: ports[port] ?? port })),
      { now: () => performance.now(), wallNow: () => w.clock.now(), signal },
    )
  await workOut(w)
  const endpoint = async () =>
    (await w.acme.call('GET', '/v1/tls-endpoints?origin=coverage')).body.data.find((one: any) => one.host === 'shop.example.com')
  const { id, last_scan_id: first } = await endpoint()
  const scanPath = `/v1/tls-endpoints/${id}/scans`
  expect((await w.acme.call('GET', `${scanPath}/${first}`)).body).toMatchObject({
    ...{ grade: null, error: 'Connection refused.', plain_http: { address: '127.0.0.1', status: 200 } },
  })
  await workOut(w)
  expect(await gapsOf(w)).toEqual([])
  // The gap is confirmed by another scan.
  const again = async () => {
    await w.advance(5 * minuteMs)
    await scanDue(w.hub)
    await w.settle()
    await workOut(w)
  }
  await again()
  const found = { kind: 'plain_http', name: 'shop.example.com', endpoint_id: id, incident_id: null, issuable: false }
  expect(await gapsOf(w)).toMatchObject([
    { ...found, status: 'open', severity: 'medium', evidence: { address: '127.0.0.1', status: 200 } },
  ])
  const scanNow = async () => {
    await w.acme.call('POST', `/v1/tls-endpoints/${id}/scan`)
    await w.settle()
    await workOut(w)
  }
  // Nothing is known while the host can’t be resolved.
  const { resolve } = w.hub
  w.hub.resolve = async () => []
  await scanNow()
  expect(await gapsOf(w)).toMatchObject([{ ...found, status: 'open' }])
  w.hub.resolve = resolve
  await serve(await makeCertificate({ names: ['shop.example.com'], issuer: await trustedRoot(w) }))
  ports[443] = server.port
  await scanNow()
  expect(await gapsOf(w)).toMatchObject([{ ...found, status: 'resolved' }])
  const { last_scan_id: last } = await endpoint()
  expect((await w.acme.call('GET', `${scanPath}/${last}`)).body.plain_http).toBeNull()
})

test('names without a TLS endpoint get one, which is scanned again to confirm a gap, and goes with the name', async () => {
  const { w, selfSigned, shop, addEndpoint } = await scene()
  w.hub.resolve = async name => (name === 'shop.example.com' ? ['127.0.0.1'] : [])
  await serve(selfSigned)
  const endpoints = async () =>
    ((await w.acme.call('GET', '/v1/tls-endpoints?sort=host')).body.data as any[])
      .filter(one => one.deletes_at === null)
      .map(one => `${one.host}:${one.port} ${one.origin}`)
  const own = (name: string) => `${name}.example.com:${server.port} coverage`
  await w.limit(w.acme.workspaceId, { tls_endpoints: 1 })
  await w.acme.call('PATCH', '/v1/certificate-settings', { ports: [server.port], ignore: ['unused.*'] })
  await w.audited()
  await w.settle()
  expect(await endpoints()).toHaveLength(1)
  await w.limit(w.acme.workspaceId, { tls_endpoints: 10 })
  await workOut(w)
  await workOut(w)
  expect(await endpoints()).toEqual([own('ns1'), own('shop')])
  expect(await w.audited()).toEqual(['certificates.tls_endpoint.create', 'certificates.tls_endpoint.create'])

  // Names that don’t speak TLS are tried once a day, others five minutes after something was found.
  const [unknown, known] = (await w.acme.call('GET', '/v1/tls-endpoints?sort=host')).body.data
  expect(Date.parse(unknown.next_scan_at) - Date.parse(unknown.last_scan_at)).toBe(dayMs)
  expect(Date.parse(known.next_scan_at) - Date.parse(known.last_scan_at)).toBe(5 * minuteMs)
  expect(await gapsOf(w)).toEqual([])
  await w.advance(5 * minuteMs)
  await scanDue(w.hub)
  await w.settle()
  await w.advance(settleMs)
  expect(await gapsOf(w)).toMatchObject([{ kind: 'untrusted_served', status: 'open', endpoint_id: known.id }])
  const after = (await w.acme.call('GET', `/v1/tls-endpoints/${known.id}`)).body
  expect(Date.parse(after.next_scan_at) - Date.parse(after.last_scan_at)).toBe(dayMs)

  const manual = await addEndpoint()
  await workOut(w)
  expect(await endpoints()).toEqual([`127.0.0.1:${server.port} manual`, own('ns1')])
  await w.acme.call('DELETE', `/v1/tls-endpoints/${manual}`)
  await workOut(w)
  expect(await endpoints()).toEqual([own('ns1'), own('shop')])
  expect((await w.acme.call('GET', `/v1/tls-endpoints/${known.id}`)).body.deletes_at).toBeNull()
  await w.acme.call('PATCH', `/v1/tls-endpoints/${unknown.id}`, { tags: ['kept'] })
  await w.acme.call('DELETE', `/v1/dns/records/${shop.id}`)
  await workOut(w)
  expect(await endpoints()).toEqual([`ns1.example.com:${server.port} manual`])
  await w.acme.call('PATCH', '/v1/certificate-settings', { coverage: 'off' })
  await w.advance(settleMs)
  expect(await endpoints()).toEqual([`ns1.example.com:${server.port} manual`])
  await w.advance(dayMs)
  await workOut(w)
  expect((await w.acme.call('GET', `/v1/tls-endpoints/${known.id}`)).status).toBe(404)
})
