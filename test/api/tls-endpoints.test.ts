import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { ScanInterrupted } from '../../src/checks/engine/pending-scans'
import { record } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { parseCertificate } from '../../src/core/x509/chain'
import { certificateAuthorities, certificatePresences } from '../../src/features/certificates/tables'
import type { Finish } from '../../src/core/jobs/job'
import { LaneCapacity } from '../../src/core/jobs/lanes'
import { gatherEndpoints } from '../../src/features/tls-endpoints/gather'
import { scanChanged } from '../../src/features/tls-endpoints/scans/scan-changed'
import { pruneTlsScans, scanDue } from '../../src/features/tls-endpoints/scans/scan-due'
import { scanJob } from '../../src/features/tls-endpoints/scans/scan-job'
import { scanJobFor } from '../../src/features/tls-endpoints/scans/scan-queue'
import { tlsEndpoints, tlsScans } from '../../src/features/tls-endpoints/tables'
import { workspaces } from '../../src/access/tables'
import { makeCertificate } from '../support/make-certificates'
import { startTlsServer, type TlsServer } from '../support/tls-server'
import { world } from '../support/world'

const hour = 3_600_000
const day = 24 * hour

/** What a check tells about a certificate. */
const seen = (sha256: string) => ({
  ...{ sha256, subject: 'CN=127.0.0.1', issuer: 'CN=127.0.0.1', serial: '01', names: ['127.0.0.1'] },
  ...{ not_before: 0, not_after: 4e12, chain_not_after: 4e12 },
})

let server: TlsServer
beforeAll(async () => {
  server = await startTlsServer()
})
afterAll(() => server.close())

async function scene() {
  const here = await world()
  const call = (method: string, path: string, body?: unknown) => here.acme.call(method, `/v1${path}`, body)
  const create = async (fields: object = {}) => {
    const created = await call('POST', '/tls-endpoints', { host: '127.0.0.1', port: server.port, ...fields })
    await here.settle()
    return created
  }
  const get = async (id: string) => (await call('GET', `/tls-endpoints/${id}`)).body
  const scansOf = async (id: string) => (await call('GET', `/tls-endpoints/${id}/scans`)).body.data
  const importLines = (text: string) =>
    here.app
      .handle(
        new Request('http://localhost:8484/v1/tls-endpoints/import', {
          method: 'POST',
          headers: { authorization: `Bearer ${here.acme.token}`, 'content-type': 'text/plain' },
          body: text,
        }),
      )
      .then(async response => ({ status: response.status, body: (await response.json()) as any }))
  return { here, call, create, get, scansOf, importLines }
}

describe('TLS endpoints', () => {
  test('wait if too many others are scanned, without a failed scan', async () => {
    const { here, create, get, scansOf } = await scene()
    const scan = here.engine.scanTls
    let waits = 0
    here.engine.scanTls = async () => {
      waits++
      const error = { kind: 'timeout' as const, message: 'too many other scans are running' }
      return { addresses: [], skipped_addresses: 0, error, isPostponed: true }
    }
    const { id } = (await create()).body
    for (let times = 0; times < 4; times++) await here.advance(30_000)
    expect(waits).toBe(5)
    expect(await scansOf(id)).toEqual([])
    expect(await get(id)).toMatchObject({ failures: 0, last_error: null, last_scan_id: null })
    here.engine.scanTls = scan
    await here.advance(30_000)
    expect(await scansOf(id)).toHaveLength(1)
  })

  test('are scanned when they are created, on schedule, and on request, and keep their scans', async () => {
    const { here, call, create, get, scansOf } = await scene()
    const created = await create()
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ origin: 'manual', grade: null, last_scan_id: null, protocol: 'tls' })
    const { id } = created.body
    const scanned = await get(id)
    expect(scanned).toMatchObject({ grade: 'T', score: 0, chain: 'untrusted', failures: 0, last_error: null, version: 1 })
    expect(scanned.reasons.map((one: any) => one.rule)).toEqual(['untrusted', 'name_mismatch', 'no_hsts'])
    expect(scanned.addresses).toEqual([
      { address: '127.0.0.1', state: 'tls', grade: 'T', certificate_id: scanned.certificate_id, error: null },
    ])
    const scan = (await call('GET', `/tls-endpoints/${id}/scans/${scanned.last_scan_id}`)).body
    expect(scan).toMatchObject({ trigger: 'created', grade: 'T', compared_to: null, changes: [], opportunistic: false })
    expect(scan.reasons[0].config.nginx).toContain('ssl_certificate ')
    const [address] = scan.addresses
    expect(address.versions.map((one: any) => [one.version, one.status])).toEqual([
      ...['ssl2', 'ssl3', '1.0', '1.1'].map(one => [one, 'not_offered']),
      ...['1.2', '1.3'].map(one => [one, 'offered']),
    ])
    expect(address.chains[0]).toMatchObject({ trust: 'untrusted', names: ['localhost'], covers_host: false })
    expect(address.chains[0].sent[0]).toMatchObject({ key: 'EC 256', signature_algorithm: 'ecdsa-with-SHA256' })

    await here.advance(day - 1000)
    await scanDue(here.hub)
    await here.settle()
    expect(await scansOf(id)).toHaveLength(1)
    await here.advance(2000)
    await Promise.all([scanDue(here.hub), scanDue(here.hub)])
    await here.settle()
    expect((await call('POST', `/tls-endpoints/${id}/scan`)).status).toBe(202)
    await here.settle()
    expect((await scansOf(id)).map((one: any) => one.trigger)).toEqual(['manual', 'schedule', 'created'])
    const statuses = []
    for (let at = 0; at < 5; at++) statuses.push((await call('POST', `/tls-endpoints/${id}/scan`)).status)
    expect(statuses).toEqual([202, 202, 202, 202, 429])
    expect(await here.audited()).toEqual([
      'certificates.tls_endpoint.create',
      ...Array.from({ length: 5 }, () => 'certificates.tls_endpoint.scan'),
    ])
  })

  test('send an event when the grade gets worse, once', async () => {
    const { here, call, create, get } = await scene()
    const { id } = (await create()).body
    await record(here.hub, async tx => {
      await tx.update(tlsEndpoints).set({ grade: 'A' }).where(eq(tlsEndpoints.id, id))
      return { result: undefined }
    })
    for (let at = 0; at < 2; at++) {
      await call('POST', `/tls-endpoints/${id}/scan`)
      await here.settle()
    }
    expect(await here.emitted()).toEqual(['tls_endpoint.grade_changed'])
    expect(await get(id)).toMatchObject({ grade: 'T', previous_grade: 'A' })
    const { data } = (await call('GET', '/events?kind=tls_endpoint.grade_changed')).body
    expect(data[0].data).toMatchObject({
      endpoint: { id, host: '127.0.0.1', port: server.port },
      grade: 'T',
      previous_grade: 'A',
      reasons: ['untrusted', 'name_mismatch', 'no_hsts'],
    })
  })

  test('that can’t be scanned keep their grade, and are tried again within an hour', async () => {
    const { here, call, create, get, scansOf } = await scene()
    const closed = await startTlsServer()
    const { id } = (await create({ port: closed.port })).body
    await closed.close()
    await call('POST', `/tls-endpoints/${id}/scan`)
    await here.settle()
    const failed = await get(id)
    expect(failed).toMatchObject({ grade: 'T', failures: 1 })
    expect(failed.last_error).toEndWith('.')
    expect(Date.parse(failed.next_scan_at) - here.clock.now()).toBe(hour)
    expect((await scansOf(id))[0]).toMatchObject({ grade: null, score: null, rules: [] })
    const scan = (await call('GET', `/tls-endpoints/${id}/scans/${failed.last_scan_id}`)).body
    expect(scan.changes).toContainEqual({ field: 'grade', from: 'T', to: null })
  })

  test('are scanned again if the check thread ends during a scan', async () => {
    const { here, create, get, scansOf } = await scene()
    const { scanTls } = here.engine
    here.engine.scanTls = () => Promise.reject(new ScanInterrupted())
    const { id } = (await create()).body
    expect(await get(id)).toMatchObject({ grade: null, last_scan_id: null, failures: 0 })
    const [job] = await here.hub.read.select().from(jobs).where(eq(jobs.kind, 'tls.scan'))
    expect(job).toMatchObject({ state: 'ready', attempts: 1, lastError: new ScanInterrupted().message })
    here.engine.scanTls = scanTls
    await here.advance(60_000)
    expect(await scansOf(id)).toMatchObject([{ trigger: 'created', grade: 'T' }])
  })

  test('report the differences between two scans', async () => {
    const { here, call, create, get } = await scene()
    const changing = await startTlsServer({ maxVersion: 'TLSv1.2', header: 'Strict-Transport-Security: max-age=31536000\r\n' })
    const { id } = (await create({ port: changing.port })).body
    const first = (await get(id)).last_scan_id
    await changing.close()
    const next = await startTlsServer({ port: changing.port })
    await call('POST', `/tls-endpoints/${id}/scan`)
    await here.settle()
    const second = (await get(id)).last_scan_id
    const scan = (await call('GET', `/tls-endpoints/${id}/scans/${second}`)).body
    expect(scan.compared_to).toBe(first)
    expect(scan.changes).toContainEqual({ field: 'rules', from: 'no_tls13', to: null })
    expect(scan.changes).toContainEqual({ field: 'versions', from: null, to: '1.3' })
    expect(scan.changes.filter((one: any) => one.field === 'certificates')).toHaveLength(2)
    const backwards = (await call('GET', `/tls-endpoints/${id}/scans/${first}?compare_to=${second}`)).body
    expect(backwards.changes).toContainEqual({ field: 'versions', from: '1.3', to: null })
    await next.close()
  })

  test('keep 100 scans, for 400 days', async () => {
    const { here, call, create, scansOf } = await scene()
    const { id } = (await create()).body
    const [row] = await here.hub.read.select().from(tlsScans)
    await record(here.hub, async tx => {
      const old = Array.from({ length: 100 }, (_, at) => ({ ...row!, id: `tsc_00${String(at).padStart(3, '0')}` }))
      await tx.insert(tlsScans).values(old)
      return { result: undefined }
    })
    await call('POST', `/tls-endpoints/${id}/scan`)
    await here.settle()
    expect(await here.hub.read.select({ id: tlsScans.id }).from(tlsScans)).toHaveLength(100)
    here.clock.advance(401 * day)
    await pruneTlsScans(here.hub)
    expect(await scansOf(id)).toEqual([])
  })

  test('are updated and deleted', async () => {
    const { here, call, create, get, scansOf } = await scene()
    const { id } = (await create({ active: false, tags: ['shop'] })).body
    expect((await get(id)).next_scan_at).toBeNull()
    const patched = await call('PATCH', `/tls-endpoints/${id}`, { servername: 'shop.example.com' })
    expect(patched.body).toMatchObject({ servername: 'shop.example.com', version: 2 })
    await call('PATCH', `/tls-endpoints/${id}`, { active: true, interval_seconds: 3600 })
    await here.settle()
    expect(await scansOf(id)).toHaveLength(1)
    expect(Date.parse((await get(id)).next_scan_at) - here.clock.now()).toBe(hour)
    expect((await call('GET', '/tls-endpoints?tag=shop&grade=T&sort=grade&q=127')).body.data).toHaveLength(1)
    expect((await call('GET', '/tls-endpoints?grade=A')).body.data).toEqual([])
    expect((await call('GET', `/tls-endpoints?ids=${id}`)).body.data).toHaveLength(1)
    expect((await here.rival.call('GET', `/v1/tls-endpoints/${id}`)).status).toBe(404)
    expect((await here.rival.call('GET', `/v1/tls-endpoints/${id}/scans`)).status).toBe(404)
    expect((await here.readOnly.call('POST', `/v1/tls-endpoints/${id}/scan`)).status).toBe(403)
    expect((await call('DELETE', `/tls-endpoints/${id}`)).status).toBe(204)
    expect(await here.hub.read.select({ id: tlsScans.id }).from(tlsScans)).toEqual([])
  })

  test('are refused if they are invalid, exist already, or exceed the plan', async () => {
    const { here, call, create } = await scene()
    const refused = async (fields: object) => {
      const { status, body } = await create(fields)
      return [status, body.errors?.[0]?.pointer ?? body.code]
    }
    expect(await refused({ host: 'not a host' })).toEqual([422, '#/host'])
    expect(await refused({ port: 0 })).toEqual([422, '#/port'])
    expect(await refused({ port: 65_536 })).toEqual([422, '#/port'])
    expect(await refused({ protocol: 'gopher' })).toEqual([422, '#/protocol'])
    expect(await refused({ servername: '192.0.2.1' })).toEqual([422, '#/servername'])
    expect(await refused({ interval_seconds: 1 })).toEqual([422, '#/interval_seconds'])
    expect(await refused({ host: '169.254.169.254' })).toEqual([422, '#/host'])
    expect(await here.hub.read.select().from(tlsEndpoints)).toEqual([])
    expect((await here.rival.call('POST', '/v1/tls-endpoints', { host: '127.0.0.1' })).status).toBe(422)
    await create({ active: false })
    expect(await refused({})).toEqual([409, 'already_exists'])
    const bulk = await call('POST', '/tls-endpoints/bulk', {
      operations: Array(2).fill({ op: 'create', body: { host: '127.0.0.1', port: 9, active: false } }),
    })
    expect([bulk.status, bulk.body.errors]).toMatchObject([422, [{ pointer: '#/operations/1', code: 'already_exists' }]])
    await here.limit(here.acme.workspaceId, { tls_endpoints: 1 })
    expect(await refused({ protocol: 'smtp' })).toEqual([403, 'plan_limit_reached'])
    expect((await call('GET', '/tls-endpoints')).body.data).toHaveLength(1)
  })

  test('are imported from a list', async () => {
    const { here, call, create, importLines } = await scene()
    await create({ active: false })
    const list = `# our servers\n\n127.0.0.1:${server.port}\nmail.a.test/smtp\r\n[::1]:8443/tls\nb.test:993\nb.test:993/tls\n`
    const { status, body } = await importLines(list)
    expect(status).toBe(200)
    expect(body).toMatchObject({ created: 3, existing: 1 })
    expect((await importLines(list)).body).toMatchObject({ created: 0, existing: 4 })
    const { data } = (await call('GET', '/tls-endpoints?sort=host')).body
    expect(data.map((one: any) => [one.host, one.port, one.protocol])).toEqual([
      ['127.0.0.1', server.port, 'tls'],
      ['::1', 8443, 'tls'],
      ['b.test', 993, 'tls'],
      ['mail.a.test', 25, 'smtp'],
    ])
    const bad = await importLines('a.test:443\na.test:0\na.test:443/gopher\n:443\n169.254.169.254:443\n')
    expect(bad.status).toBe(422)
    expect(bad.body.errors.map((one: any) => one.pointer)).toEqual(['#/lines/2', '#/lines/3', '#/lines/4', '#/lines/5'])
    const many = Array.from({ length: 1001 }, (_, at) => `${at}.a.test:443`).join('\n')
    expect((await importLines(many)).body.errors[0].pointer).toBe('#/lines/1001')
    await here.limit(here.acme.workspaceId, { tls_endpoints: 5 })
    expect((await importLines('c.test:443\nd.test:443\n')).status).toBe(403)
    expect((await call('GET', '/tls-endpoints')).body.data).toHaveLength(4)
  })

  test('are scanned at most four at a time in each workspace', async () => {
    const { here } = await scene()
    const laneOf = (workspaceId: string, host: string) => scanJobFor({ id: 'tls_a', workspaceId, host }, 'schedule').lane!
    const capacity = new LaneCapacity(here.hub, scanJob.lanes!, scanJob.concurrency, [])
    for (const host of ['a.test', 'a.test', 'b.test', 'c.test']) capacity.reserve(laneOf('wks_a', host), 100)
    expect(capacity.available(laneOf('wks_a', 'd.test'), 100)).toBe(0)
    expect(capacity.available(laneOf('wks_b', 'a.test'), 100)).toBe(2)
  })

  test('of a suspended workspace are not scanned', async () => {
    const { here, create, scansOf } = await scene()
    const { id } = (await create()).body
    await record(here.hub, async tx => {
      await tx.update(workspaces).set({ suspendedAt: 1 })
      return { result: undefined }
    })
    here.clock.advance(2 * day)
    await scanDue(here.hub)
    await here.settle()
    const [{ nextScanAt }] = (await here.hub.read.select({ nextScanAt: tlsEndpoints.nextScanAt }).from(tlsEndpoints)) as any
    expect(nextScanAt).toBe(here.clock.now() + day)
    await record(here.hub, async tx => {
      await tx.update(workspaces).set({ suspendedAt: null })
      return { result: undefined }
    })
    expect(await scansOf(id)).toHaveLength(1)
  })
})

describe('grades at once', () => {
  test('are returned with everything, and keep nothing', async () => {
    const { here, call } = await scene()
    const { status, body } = await call('POST', '/tls-grades', { host: '127.0.0.1', port: server.port })
    expect(status).toBe(200)
    expect(body).toMatchObject({ grade: 'T', protocol: 'tls', error: null, opportunistic: false })
    expect(body.addresses[0].versions).toHaveLength(6)
    expect(await here.hub.read.select().from(tlsScans)).toEqual([])
    expect(await here.audited()).toEqual([])
  })

  test('explain why there is none', async () => {
    const { call, here } = await scene()
    const unknown = (await call('POST', '/tls-grades', { host: 'unknown.test' })).body
    expect(unknown).toMatchObject({ grade: null, error: 'The hostname could not be resolved.', addresses: [{ grade: null }] })
    const closed = await startTlsServer()
    await closed.close()
    expect((await call('POST', '/tls-grades', { host: '127.0.0.1', port: closed.port })).body).toMatchObject({ grade: null })
    const plain = Bun.serve({ port: 0, fetch: () => new Response('plain') })
    const { body } = await call('POST', '/tls-grades', { host: '127.0.0.1', port: plain.port })
    expect(body).toMatchObject({ grade: null, reasons: [] })
    expect(body.error).toEndWith('.')
    await plain.stop(true)
    here.engine.scanTls = () => Promise.reject(new ScanInterrupted())
    const { body: interrupted } = await call('POST', '/tls-grades', { host: '127.0.0.1', port: server.port })
    expect(interrupted).toMatchObject({ grade: null, reasons: [] })
    expect(interrupted.error).toStartWith('The scan was interrupted')
    expect((await here.rival.call('POST', '/v1/tls-grades', { host: '127.0.0.1' })).body.errors[0]).toMatchObject({
      pointer: '#/host',
    })
  })

  test('are limited to 10 a minute, and need the permission to change certificates', async () => {
    const { here, call } = await scene()
    const statuses = new Set<number>()
    for (let at = 0; at < 10; at++) statuses.add((await call('POST', '/tls-grades', { host: 'unknown.test' })).status)
    expect([...statuses]).toEqual([200])
    expect((await call('POST', '/tls-grades', { host: 'unknown.test' })).status).toBe(429)
    expect((await here.readOnly.call('POST', '/v1/tls-grades', { host: 'unknown.test' })).status).toBe(403)
  })
})

describe('TLS endpoints of monitors', () => {
  test('come and go with their monitors, and stay if someone updates them', async () => {
    const { here, call, get, scansOf } = await scene()
    const monitor = async (fields: object) => (await call('POST', '/monitors', fields)).body.id
    const site = await monitor({ target: `https://127.0.0.1:${server.port}/` })
    await monitor({ target: `https://127.0.0.1:${server.port}/other` })
    await monitor({ target: 'http://plain.a.test/' })
    const mail = await monitor({ type: 'smtp', target: 'mail.a.test:587', options: { tls: 'starttls' } })
    await monitor({ type: 'imap', target: 'mail.a.test:993' })
    await monitor({ type: 'imap', target: 'mail.a.test:143' })
    await monitor({ type: 'tls', target: 'b.test:8443', options: { server_name: 'c.test' } })
    await here.audited()
    await here.limit(here.acme.workspaceId, { tls_endpoints: 1 })
    await Promise.all([gatherEndpoints(here.hub), gatherEndpoints(here.hub)])
    await gatherEndpoints(here.hub)
    await here.settle()
    const list = async () =>
      (await call('GET', '/tls-endpoints?sort=host')).body.data.map((one: any) => [
        `${one.host}:${one.port}/${one.protocol}`,
        one.servername,
        one.origin,
      ])
    expect(await list()).toEqual([
      [`127.0.0.1:${server.port}/tls`, null, 'monitor'],
      ['b.test:8443/tls', 'c.test', 'monitor'],
      ['mail.a.test:587/smtp', null, 'monitor'],
      ['mail.a.test:993/tls', null, 'monitor'],
    ])
    expect((await here.audited()).filter(one => one === 'certificates.tls_endpoint.create')).toHaveLength(4)
    const [first, , smtp] = (await call('GET', '/tls-endpoints?sort=host')).body.data
    expect(first).toMatchObject({ grade: 'T' })
    expect((await call('PATCH', `/tls-endpoints/${smtp.id}`, { tags: ['mail'] })).body).toMatchObject({ origin: 'manual' })
    expect((await call('PATCH', `/tls-endpoints/${first.id}`, { tags: ['web'] })).body.code).toBe('plan_limit_reached')
    for (const id of [site, mail]) await call('DELETE', `/monitors/${id}`)
    await gatherEndpoints(here.hub)
    expect(await list()).toHaveLength(4)
    const { data } = (await call('GET', '/monitors')).body
    for (const one of data) await call('DELETE', `/monitors/${one.id}`)
    await gatherEndpoints(here.hub)
    // They are kept for a day without being scanned, and continue if their monitor comes back.
    const deletesAt = new Date(here.clock.now() + day).toISOString()
    expect(await get(first.id)).toMatchObject({ deletes_at: deletesAt, next_scan_at: null, active: true })
    await here.settle()
    expect((await call('GET', `/certificates/${first.certificate_id}`)).body.in_use).toBe(false)
    await here.advance(day - 1)
    await monitor({ target: `https://127.0.0.1:${server.port}/again` })
    await gatherEndpoints(here.hub)
    await here.settle()
    expect(await get(first.id)).toMatchObject({ deletes_at: null, next_scan_at: expect.any(String), origin: 'monitor' })
    expect((await scansOf(first.id)).map((one: any) => one.trigger)).toEqual(['schedule', 'created'])
    expect((await call('GET', `/certificates/${first.certificate_id}`)).body.in_use).toBe(true)
    await here.advance(1)
    await gatherEndpoints(here.hub)
    expect(await list()).toEqual([
      [`127.0.0.1:${server.port}/tls`, null, 'monitor'],
      ['mail.a.test:587/smtp', null, 'manual'],
    ])
  })

  test('are not scanned while they are about to be deleted, and are kept if someone creates one for the same server', async () => {
    const { here, call, create, get, scansOf, importLines } = await scene()
    const target = `https://127.0.0.1:${server.port}/`
    const monitor = async () => {
      const { id } = (await call('POST', '/monitors', { target })).body
      await gatherEndpoints(here.hub)
      await here.settle()
      return id as string
    }
    const first = await monitor()
    const [row] = await here.hub.read.select().from(tlsEndpoints)
    const { id, certificateId } = row!
    const gradesOf = async () => (await call('GET', '/overview')).body.posture.grades
    expect(await gradesOf()).toEqual([{ grade: 'T', count: 1 }])

    // One scan is running when the monitor is deleted, another one is about to start.
    const job = { ...scanJobFor(row!, 'schedule'), payload: { tls_endpoint_id: id, trigger: 'schedule' as const } }
    const finish = (await scanJob.run(here.hub, job as never, undefined)) as Finish
    await call('DELETE', `/monitors/${first}`)
    await gatherEndpoints(here.hub)
    expect(await gradesOf()).toEqual([])
    await record(here.hub, finish)
    await record(here.hub, async () => ({ result: undefined, jobs: [scanJobFor(row!, 'schedule')] }))
    await here.settle()
    expect(await scansOf(id)).toHaveLength(1)
    expect((await call('GET', `/certificates/${certificateId}`)).body.in_use).toBe(false)
    const refused = await call('POST', `/tls-endpoints/${id}/scan`)
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('Update it to keep it.')])

    await here.audited()
    const kept = await create({ tags: ['web'] })
    expect(kept.status).toBe(201)
    expect(kept.body).toMatchObject({ id, origin: 'manual', deletes_at: null, tags: ['web'], grade: 'T' })
    expect(await here.audited()).toEqual(['certificates.tls_endpoint.create'])
    expect(await scansOf(id)).toHaveLength(2)
    expect((await call('GET', `/certificates/${certificateId}`)).body.in_use).toBe(true)
    expect((await create({})).status).toBe(409)

    await call('DELETE', `/tls-endpoints/${id}`)
    await call('DELETE', `/monitors/${await monitor()}`)
    await gatherEndpoints(here.hub)
    await here.limit(here.acme.workspaceId, { tls_endpoints: 0 })
    expect((await create({})).body.code).toBe('plan_limit_reached')
    await here.limit(here.acme.workspaceId, { tls_endpoints: 1 })
    expect((await importLines(`127.0.0.1:${server.port}`)).body).toMatchObject({ created: 1, existing: 0 })
    const [imported] = (await call('GET', '/tls-endpoints')).body.data
    expect(await get(imported.id)).toMatchObject({ origin: 'manual', deletes_at: null })

    // An update can take the place of one that is about to be deleted, too.
    await call('DELETE', `/tls-endpoints/${imported.id}`)
    const last = await monitor()
    await gatherEndpoints(here.hub)
    await call('DELETE', `/monitors/${last}`)
    await gatherEndpoints(here.hub)
    const other = await create({ servername: 'other.example.com' })
    expect((await call('GET', '/tls-endpoints')).body.data).toHaveLength(2)
    await here.audited()
    const patched = await call('PATCH', `/tls-endpoints/${other.body.id}`, { servername: null })
    expect([patched.status, patched.body.servername]).toEqual([200, null])
    expect((await call('GET', '/tls-endpoints')).body.data.map((one: any) => one.id)).toEqual([other.body.id])
    expect(await here.audited()).toEqual(['certificates.tls_endpoint.update', 'certificates.tls_endpoint.delete'])
  })

  test('are scanned when a check gets a certificate that is not known there', async () => {
    const { here, call, get, scansOf } = await scene()
    const first = await startTlsServer()
    const { port } = first
    const target = `https://127.0.0.1:${port}/`
    const monitor = (await call('POST', '/monitors', { target })).body.id
    await gatherEndpoints(here.hub)
    await here.settle()
    const { id, certificate_id } = (await call('GET', '/tls-endpoints')).body.data[0]
    const sha256Of = async (certificate: string) =>
      (await call('GET', `/certificates/${certificate}`)).body.fingerprint_sha256 as string
    const triggersAfter = async (sha256: string) => {
      here.engine.report({ monitor, certificate: seen(sha256) })
      for (let at = 0; at < 2; at++) {
        await scanChanged(here.hub)
        await here.settle()
      }
      return (await scansOf(id)).map((one: any) => one.trigger)
    }
    expect(await triggersAfter(await sha256Of(certificate_id))).toEqual(['created'])

    const renewed = await makeCertificate({ names: ['127.0.0.1'] })
    await first.close()
    const second = await startTlsServer({ port, certificate: { pem: renewed.pem, key: renewed.keyPem } })
    const { sha256 } = parseCertificate(renewed.der)
    expect(await triggersAfter(sha256)).toEqual(['certificate', 'created'])
    expect(await sha256Of((await get(id)).certificate_id)).toBe(sha256)

    const other = 'ab'.repeat(32)
    expect(await triggersAfter(other)).toHaveLength(2)
    here.engine.pulse({ impaired: 'This machine has lost its route to other networks.' })
    await here.advance(hour + 1)
    expect(await triggersAfter(other)).toHaveLength(2)
    here.engine.pulse()
    expect(await triggersAfter(other)).toEqual(['certificate', 'certificate', 'created'])

    await call('PATCH', `/tls-endpoints/${id}`, { active: false })
    await here.advance(hour + 1)
    expect(await triggersAfter('cd'.repeat(32))).toHaveLength(3)
    await second.close()
  })
})

describe('certificates of TLS endpoints', () => {
  test('stay at addresses that can’t be scanned, and end at addresses that the host no longer has', async () => {
    const { here, call, create } = await scene()
    const closed = await startTlsServer()
    const { id } = (await create({ port: closed.port })).body
    await closed.close()
    const [known] = await here.hub.read.select().from(certificatePresences)
    const data = { ...known!.data, address: '127.0.0.9' } as NonNullable<typeof known>['data']
    await record(here.hub, async tx => {
      await tx.insert(certificatePresences).values({ ...known!, id: 'other', place: '127.0.0.9', data })
      return { result: undefined }
    })
    await call('POST', `/tls-endpoints/${id}/scan`)
    await here.settle()
    const { endedAt, place } = certificatePresences
    expect(await here.hub.read.select({ place, endedAt }).from(certificatePresences).orderBy(place)).toEqual([
      { place: '127.0.0.1', endedAt: null },
      { place: '127.0.0.9', endedAt: here.clock.now() },
    ])
  })

  test('are in the inventory, and trusted by the authorities of the workspace', async () => {
    const { here, call, create, get } = await scene()
    const root = await makeCertificate({ subject: 'CN=Own root', isCa: true })
    const issuer = await makeCertificate({ subject: 'CN=Own issuer', isCa: true, issuer: root })
    const leaf = await makeCertificate({ names: ['127.0.0.1'], issuer })
    const complete = await startTlsServer({
      certificate: { pem: leaf.pem + issuer.pem, key: leaf.keyPem },
      header: 'Strict-Transport-Security: max-age=31536000\r\n',
    })
    const { id } = (await create({ port: complete.port })).body
    expect(await get(id)).toMatchObject({ grade: 'T', reasons: [{ rule: 'untrusted' }] })
    const { workspaceId } = here.acme
    const { sha256, facts } = parseCertificate(root.der)
    await record(here.hub, async tx => {
      await tx.insert(certificateAuthorities).values({
        ...{ id: 'ca_test', workspaceId, version: 1, createdAt: 1, updatedAt: 1, name: 'Own', subject: 'CN=Own root' },
        ...{ sha256, der: root.der, notBefore: facts.notBefore, notAfter: facts.notAfter },
      })
      return { result: undefined }
    })
    await call('POST', `/tls-endpoints/${id}/scan`)
    await here.settle()
    const trusted = await get(id)
    expect(trusted).toMatchObject({
      grade: 'A+',
      score: 96,
      previous_grade: 'T',
      profile: 'old',
      chain: 'ok',
      reasons: [],
    })
    expect(await here.emitted()).toEqual(['tls_endpoint.grade_changed'])
    const served = await here.hub.read.select().from(certificatePresences)
    expect(served).toMatchObject([{ certificateId: trusted.certificate_id, kind: 'endpoint', scopeId: id, endedAt: null }])
    expect(trusted.addresses[0].certificate_id).toBe(trusted.certificate_id)
    // The issuer is known from the first scans.
    const { port } = complete
    await complete.close()
    const incomplete = await startTlsServer({ certificate: { pem: leaf.pem, key: leaf.keyPem }, port })
    await call('POST', `/tls-endpoints/${id}/scan`)
    await here.settle()
    expect(await get(id)).toMatchObject({ grade: 'B', chain: 'incomplete' })
    expect(await here.emitted()).toEqual(['tls_endpoint.grade_changed'])
    await incomplete.close()
    await call('DELETE', `/tls-endpoints/${id}`)
    const [ended] = await here.hub.read.select().from(certificatePresences)
    expect(ended!.endedAt).toBe(here.clock.now())
  })
})
