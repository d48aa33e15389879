import { X509Certificate } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'bun:test'
import * as x509 from '@peculiar/x509'
import { startRevocationChecks } from '../../src/features/certificates/revocation/check-revocation'
import { limiterOf } from '../../src/access/limiter'
import { revocationLists } from '../../src/access/rate-limits'
import { workspacePolicy } from '../../src/access/network-policy'
import { record } from '../../src/core/change'
import { newUuid4 } from '../../src/core/ids'
import { parseCertificate } from '../../src/core/x509/chain'
import { isPathRevoked, waitForDownloads } from '../../src/features/certificates/revocation/chain-revocation'
import { pruneCrls, saveCrl } from '../../src/features/certificates/revocation/crl-rows'
import { currentCrl } from '../../src/features/certificates/revocation/current-crl'
import { downloadCrl } from '../../src/features/certificates/revocation/download-crl'
import { describe } from '../../src/features/certificates/describe'
import { crlParts, crls } from '../../src/features/certificates/tables'
import { settleMs } from '../../src/features/certificates/gaps-job'
import { scanDue } from '../../src/features/tls-endpoints/scans/scan-due'
import { makeCertificate } from '../support/make-certificates'
import { revocationList } from '../support/revocation-list'
import { startTlsServer } from '../support/tls-server'
import { world, type Caller, type World } from '../support/world'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** What the server of the CA sends, by path, and what it was asked for. */
const sent = new Map<string, (request: Request) => Response | Promise<Response>>()
let requests: string[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    requests.push(pathname)
    return sent.get(pathname)?.(request) ?? new Response('no such list', { status: 404 })
  },
})
const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`
const send = (path: string, bytes: Uint8Array) => sent.set(path, () => new Response(new Uint8Array(bytes)))
afterAll(() => server.stop(true))
beforeEach(() => {
  requests = []
})

const ca = (subject: string) =>
  makeCertificate({ subject, isCa: true, extensions: [new x509.SubjectKeyIdentifierExtension('11223344')] })
const issuer = await ca('CN=Issuing CA')
const leafWith = (path: string, w: World, days = 90) =>
  makeCertificate({
    ...{ names: [`${path.slice(1).replaceAll('/', '-')}.example.com`], issuer, serial: '1234abcd' },
    ...{ notBefore: new Date(w.clock.now() - dayMs), notAfter: new Date(w.clock.now() + days * dayMs) },
    extensions: [new x509.CRLDistributionPointsExtension([urlOf(path)])],
  })
/** A list that is valid for a week. */
const listNow = (w: World, revoked: { serial: string; reason?: string }[] = [], from = w.clock.now()) =>
  revocationList(issuer, { revoked, from: new Date(from), until: new Date(from + 7 * dayMs) })

async function upload(caller: Caller, pem: string): Promise<string> {
  const created = await caller.call('POST', '/v1/certificates', pem, { 'content-type': 'application/x-pem-file' })
  expect(created.status).toBe(201)
  return created.body.id
}

async function check(w: World) {
  await startRevocationChecks(w.hub)
  await w.settle()
}

const shown = async (caller: Caller, id: string) => {
  const { status, revoked_at, revocation_reason, revocation_checked_at, revocation_error } = (
    await caller.call('GET', `/v1/certificates/${id}`)
  ).body
  return { status, revoked_at, revocation_reason, revocation_checked_at, revocation_error }
}
const iso = (ms: number) => new Date(ms).toISOString()
const unknown = {
  ...{ status: 'valid', revoked_at: null, revocation_reason: null },
  ...{ revocation_checked_at: null, revocation_error: null },
}

test('a certificate is revoked when its list contains it, and lists are downloaded once a day', async () => {
  const w = await world()
  const { pem } = await leafWith('/daily', w)
  send('/daily', await listNow(w, [{ serial: '05' }]))
  const id = await upload(w.acme, pem + issuer.pem)
  expect(await shown(w.acme, id)).toEqual(unknown)
  await check(w)
  const first = iso(w.clock.now())
  expect(await shown(w.acme, id)).toEqual({ ...unknown, revocation_checked_at: first })

  await w.advance(dayMs - 1)
  send('/daily', await listNow(w, [{ serial: '1234abcd', reason: 'keyCompromise' }]))
  await check(w)
  expect(await shown(w.acme, id)).toMatchObject({ status: 'valid', revocation_checked_at: first })
  expect(requests).toEqual(['/daily'])
  const revokedAt = iso(Math.floor(w.clock.now() / 1000) * 1000)
  await w.advance(1)
  await check(w)
  const revoked = {
    ...{ status: 'revoked', revoked_at: revokedAt, revocation_reason: 'key_compromise' },
    ...{ revocation_checked_at: iso(w.clock.now()), revocation_error: null },
  }
  expect(await shown(w.acme, id)).toEqual(revoked)
  expect((await w.acme.call('GET', '/v1/certificates?status=revoked')).body.data.map((one: any) => one.id)).toEqual([id])
  // Revocation is final.
  await w.advance(2 * dayMs)
  await check(w)
  expect(requests).toEqual(['/daily', '/daily'])
  expect(await shown(w.acme, id)).toEqual(revoked)
})

test('one download serves all workspaces whose network policies allow the address', async () => {
  const w = await world()
  const { pem } = await leafWith('/shared', w)
  sent.set('/shared', () => new Response(null, { status: 302, headers: { location: '/moved' } }))
  send('/moved', await listNow(w, [{ serial: '1234abcd' }]))
  const own = await upload(w.acme, pem + issuer.pem)
  await check(w)
  expect((await shown(w.acme, own)).status).toBe('revoked')
  expect(requests).toEqual(['/shared', '/moved'])

  const other = await upload(w.rival, pem + issuer.pem)
  await check(w)
  expect(await shown(w.rival, other)).toMatchObject({
    ...{ status: 'valid', revocation_checked_at: null },
    revocation_error: expect.stringContaining('network policy'),
  })
  const network_policy = { allow_private: false, allow_ranges: ['127.0.0.0/8'] }
  await w.acme.call('PATCH', `/v1/workspaces/${w.rival.workspaceId}`, { network_policy })
  await w.advance(hourMs)
  await check(w)
  expect((await shown(w.rival, other)).status).toBe('revoked')
  expect(requests).toEqual(['/shared', '/moved'])
})

test('further addresses are tried if the first list can’t be used', async () => {
  const w = await world()
  const urls = ['/first', '/second', '/third', '/fourth'].map(path => urlOf(path))
  const made = await makeCertificate({
    ...{ names: ['several.example.com'], issuer, serial: '1234abcd', notBefore: new Date(w.clock.now() - dayMs) },
    extensions: [new x509.CRLDistributionPointsExtension(urls)],
  })
  send('/fourth', await listNow(w))
  const id = await upload(w.acme, made.pem + issuer.pem)
  await check(w)
  expect(requests).toEqual(['/first', '/second', '/third'])
  expect((await shown(w.acme, id)).revocation_error).toBe(
    'The revocation list can’t be downloaded: the server responded with status 404.',
  )
  send('/second', Buffer.from('<!doctype html>'))
  send('/third', await listNow(w, [{ serial: '1234abcd' }]))
  await w.advance(hourMs)
  const path = [certificateOf(made.pem), certificateOf(issuer.pem)]
  const { policy } = await useOf(w)
  expect(await isPathRevoked(w.hub, w.acme.workspaceId, path, { policy, downloads: waitForDownloads() })).toBe(true)
  await check(w)
  expect(await shown(w.acme, id)).toMatchObject({ status: 'revoked', revocation_error: null })
})

test('a certificate on hold is released when it is no longer listed', async () => {
  const w = await world()
  const { pem } = await leafWith('/hold', w)
  send('/hold', await listNow(w, [{ serial: '1234abcd', reason: 'certificateHold' }]))
  const id = await upload(w.acme, pem + issuer.pem)
  await check(w)
  expect(await shown(w.acme, id)).toMatchObject({ status: 'revoked', revocation_reason: 'certificate_hold' })
  await w.advance(dayMs)
  send('/hold', await listNow(w))
  await check(w)
  expect(await shown(w.acme, id)).toMatchObject({ status: 'valid', revoked_at: null, revocation_reason: null })
})

test('lists that can’t be trusted are not believed, and tried again after an hour', async () => {
  const w = await world()
  const now = w.clock.now()
  const entry = [{ serial: '1234abcd' }]
  const week = { revoked: entry, from: new Date(now), until: new Date(now + 7 * dayMs) }
  const good = await listNow(w, entry)
  const wrong = Buffer.from(good)
  wrong[wrong.length - 1]! ^= 1
  const point = ['issuingDistributionPoint=critical,@point', '[point]']
  const cases: [string, Uint8Array | ((request: Request) => Response), string][] = [
    [
      'of another issuer',
      await revocationList(await ca('CN=Other CA'), week),
      'The revocation list is one of an issuer whose certificate is not known.',
    ],
    [
      'signed by a CA with the same name',
      await revocationList(await ca('CN=Issuing CA'), week),
      'The revocation list is not signed by the issuer of the certificate.',
    ],
    ['with a wrong signature', wrong, 'The revocation list is not signed by the issuer of the certificate.'],
    ['expired', await listNow(w, entry, now - 7 * dayMs), 'The revocation list expired on 2026-11-21 10:00 UTC.'],
    ['of tomorrow', await listNow(w, entry, now + dayMs), 'The revocation list is valid from 2026-11-22 10:00 UTC.'],
    [
      'of another address',
      await revocationList(issuer, { ...week, extensions: [...point, 'fullname=URI:http://crl.test/2'] }),
      'The revocation list is one that belongs to another address.',
    ],
    [
      'of CA certificates',
      await revocationList(issuer, { ...week, extensions: [...point, 'onlyCA=TRUE'] }),
      'The revocation list is not for certificates of this kind.',
    ],
    ['HTML', Buffer.from('<!doctype html>'), 'The revocation list is neither DER nor PEM with a revocation list.'],
    ['cut', good.subarray(0, good.length - 5), 'The revocation list has an element that is longer than the data.'],
    [
      'missing',
      () => new Response(null, { status: 404 }),
      'The revocation list can’t be downloaded: the server responded with status 404.',
    ],
    [
      'behind endless redirects',
      (request: Request) => Response.redirect(request.url),
      'The revocation list can’t be downloaded: the server redirects without end.',
    ],
    [
      'at an address that is forbidden',
      () => Response.redirect('http://169.254.169.254/latest'),
      'The revocation list can’t be downloaded. The host is, or resolves to, an address that the network policy of this workspace does not allow.',
    ],
    ['of 100 MiB', hugeResponse, 'The revocation list can’t be downloaded. The server’s response is larger than 10485760 bytes.'],
  ]
  const ids: string[] = []
  for (const [at, [, what]] of cases.entries()) {
    const path = `/bad/${at}`
    sent.set(path, typeof what === 'function' ? what : () => new Response(new Uint8Array(what)))
    ids.push(await upload(w.acme, (await leafWith(path, w)).pem + issuer.pem))
  }
  await check(w)
  const errors: [string, string, string][] = []
  for (const [at, [name]] of cases.entries()) {
    const { status, revocation_error } = await shown(w.acme, ids[at]!)
    errors.push([name, status, revocation_error])
  }
  expect(errors).toEqual(cases.map(([name, , message]) => [name, 'valid', message]))

  for (const at of cases.keys()) send(`/bad/${at}`, good)
  await w.advance(hourMs - 1)
  await check(w)
  expect((await shown(w.acme, ids[0]!)).status).toBe('valid')
  await w.advance(1)
  await check(w)
  // The one for other certificates was signed by their issuer, so it is stored for a day.
  const stored = cases.findIndex(([name]) => name === 'of CA certificates')
  for (const [at, id] of ids.entries())
    if (at !== stored) expect(await shown(w.acme, id)).toMatchObject({ status: 'revoked', revocation_error: null })
  expect((await shown(w.acme, ids[stored]!)).status).toBe('valid')
  await w.advance(dayMs)
  await check(w)
  expect((await shown(w.acme, ids[stored]!)).status).toBe('revoked')
})

const hugeResponse = () => {
  const chunk = new Uint8Array(1024 * 1024)
  let left = 100
  return new Response(new ReadableStream({ pull: controller => (left-- > 0 ? controller.enqueue(chunk) : controller.close()) }))
}

test('without an issuer, no list is downloaded until it is known', async () => {
  const w = await world()
  send('/orphan', await listNow(w, [{ serial: '1234abcd' }]))
  const id = await upload(w.acme, (await leafWith('/orphan', w)).pem)
  await check(w)
  expect((await shown(w.acme, id)).revocation_error).toBe(
    'The issuer of the certificate is not known, so its revocation list can’t be verified.',
  )
  await w.advance(hourMs)
  await upload(w.acme, (await ca('CN=Another CA')).pem)
  await w.settle()
  await check(w)
  expect(requests).toEqual([])
  await upload(w.acme, issuer.pem)
  await w.settle()
  await check(w)
  expect(await shown(w.acme, id)).toMatchObject({ status: 'revoked', revocation_error: null })
  expect(requests).toEqual(['/orphan'])
})

const useOf = async (w: World, workspaceId = w.acme.workspaceId) => ({
  workspaceId,
  policy: await workspacePolicy(w.hub.read, w.acme.workspaceId, false),
  issuers: [describe(certificateOf(issuer.pem))!],
})
const certificateOf = (pem: string) => parseCertificate(new X509Certificate(pem).raw)
const crlRow = (w: World, url: string, more: object = {}) => ({
  ...{ id: newUuid4(), url, visited: [url], issuerHash: '', spkiSha256: '', scope: 'all' as const, size: 0, buckets: 1 },
  ...{ thisUpdate: w.clock.now(), nextUpdate: w.clock.now() + dayMs, keptUntil: w.clock.now() + dayMs, ...more },
})
const save = (w: World, row: ReturnType<typeof crlRow>) =>
  record(w.hub, async tx => ({ result: await saveCrl(tx, row, [new Uint8Array()], w.clock.now()) }))

test('a list that is needed several times at once is downloaded and stored once', async () => {
  const w = await world()
  send('/at-once', await listNow(w))
  const url = urlOf('/at-once')
  const uses = await Promise.all([useOf(w), useOf(w), useOf(w, w.rival.workspaceId)])
  const lists = await Promise.all(uses.map(use => currentCrl(w.hub, url, use)))
  expect(new Set(lists.map(one => one.id)).size).toBe(1)
  expect(requests).toEqual(['/at-once'])
  // Other hubs download it, too.
  const rows = [1, 2, 3].map(() => crlRow(w, 'http://crl.test/'))
  const saved = await Promise.all(rows.map(row => save(w, row)))
  expect(new Set(saved.map(one => one.id)).size).toBe(1)
})

test('lists are not stored beyond their total size, nor downloaded beyond the limit of a workspace', async () => {
  const w = await world()
  send('/full', await listNow(w, [{ serial: '05' }]))
  const full = crlRow(w, 'http://crl.test/', { size: 512 * 1024 ** 2 })
  await save(w, full)
  const download = async () => currentCrl(w.hub, urlOf('/full'), await useOf(w))
  const tooLarge = 'The revocation list can’t be stored: all lists together would be larger than 512 MiB.'
  await expect(download()).rejects.toThrow(tooLarge)
  limiterOf(w.hub).take([revocationLists(w.acme.workspaceId)], w.clock.now(), 127)
  const limited = 'The revocation list was not downloaded: the limit of the workspace is 128 lists of up to 1 MiB per hour.'
  await expect(download()).rejects.toThrow(limited)
  expect(requests).toHaveLength(1)
  await expect(currentCrl(w.hub, urlOf('/full'), await useOf(w, w.rival.workspaceId))).rejects.toThrow(tooLarge)
  await w.advance(2 * dayMs + 1)
  await pruneCrls(w.hub)
  expect((await download()).url).toBe(urlOf('/full'))
})

test('all redirects share a time limit', async () => {
  const w = await world()
  for (const [from, to] of ['/slow/1', '/slow/2', '/slow/3', '/slow/4'].entries())
    sent.set(to, async () => {
      await Bun.sleep(120)
      return Response.redirect(urlOf(`/slow/${from + 2}`))
    })
  const { policy } = await useOf(w)
  await expect(downloadCrl(w.hub, urlOf('/slow/1'), { policy, totalMs: 300 })).rejects.toThrow('can’t be downloaded')
  expect(requests.length).toBeLessThan(4)
})

test('while someone waits, a list that can’t be downloaded is tried once, and none after the time limit', async () => {
  const w = await world()
  const path = [certificateOf((await leafWith('/missing', w)).pem), certificateOf(issuer.pem)]
  const { policy } = await useOf(w)
  const downloads = waitForDownloads()
  const isRevoked = (more: object = {}) =>
    isPathRevoked(w.hub, w.acme.workspaceId, path, { policy, downloads: { ...downloads, ...more } })
  expect(await isRevoked({ until: performance.now() - 1 })).toBeNull()
  expect(requests).toEqual([])
  for (let n = 0; n < 3; n++) expect(await isRevoked()).toBeNull()
  expect(requests).toEqual(['/missing'])
})

test('an older list does not replace a newer one', async () => {
  const w = await world()
  send('/old', await listNow(w))
  const own = await upload(w.acme, (await leafWith('/old', w)).pem + issuer.pem)
  await check(w)
  expect((await shown(w.acme, own)).revocation_error).toBeNull()
  await w.advance(dayMs)
  send('/old', await listNow(w, [{ serial: '1234abcd' }], w.clock.now() - 2 * dayMs))
  await check(w)
  expect(await shown(w.acme, own)).toMatchObject({
    status: 'valid',
    revocation_error: 'The revocation list is older than the one that was downloaded before. It is from 2026-11-20 10:00 UTC.',
  })
})

test('a server with a revoked certificate gets the grade T and a gap', async () => {
  const w = await world()
  await w.acme.call('POST', '/v1/certificate-authorities', { name: 'Own', pem: issuer.pem })
  const made = await leafWith('/served', w)
  send('/served', await listNow(w))
  const tls = await startTlsServer({ certificate: { pem: made.pem + issuer.pem, key: made.keyPem } })
  try {
    const target = { host: '127.0.0.1', port: tls.port, servername: 'served.example.com' }
    const grade = async () => {
      const { body } = await w.acme.call('POST', '/v1/tls-grades', target)
      return [body.grade, body.reasons.some((one: any) => one.rule === 'revoked')]
    }
    expect(await grade()).toEqual(['A-', false])
    expect(requests).toEqual(['/served'])
    const { id } = (await w.acme.call('POST', '/v1/tls-endpoints', target)).body
    await w.settle()
    await check(w)

    await w.advance(dayMs)
    send('/served', await listNow(w, [{ serial: '1234abcd' }]))
    await check(w)
    // The last scan is a day old, so the endpoint is scanned again.
    await scanDue(w.hub)
    await w.settle()
    expect((await w.acme.call('GET', `/v1/tls-endpoints/${id}`)).body.grade).toBe('T')
    await w.advance(settleMs)
    const { data } = (await w.acme.call('GET', '/v1/certificate-gaps?kind=revoked_served')).body
    expect(data).toMatchObject([{ status: 'open', severity: 'critical', endpoint_id: id }])
    expect(await grade()).toEqual(['T', true])
    expect(requests).toEqual(['/served', '/served'])
  } finally {
    await tls.close()
  }
})

test('a server with a certificate of a revoked intermediate has a gap', async () => {
  const w = await world()
  const root = await ca('CN=Root CA')
  await w.acme.call('POST', '/v1/certificate-authorities', { name: 'Own', pem: root.pem })
  const middle = await makeCertificate({
    ...{ subject: 'CN=Middle CA', isCa: true, issuer: root, serial: '77', notBefore: new Date(w.clock.now() - dayMs) },
    extensions: [new x509.CRLDistributionPointsExtension([urlOf('/middle')])],
  })
  const listOf = (revoked: { serial: string }[]) =>
    revocationList(root, { revoked, from: new Date(w.clock.now()), until: new Date(w.clock.now() + 7 * dayMs) })
  send('/middle', await listOf([]))
  const leaf = await makeCertificate({ names: ['below.example.com'], issuer: middle, notBefore: new Date(w.clock.now() - dayMs) })
  const tls = await startTlsServer({ certificate: { pem: leaf.pem + middle.pem, key: leaf.keyPem } })
  try {
    const target = { host: '127.0.0.1', port: tls.port, servername: 'below.example.com' }
    const { id } = (await w.acme.call('POST', '/v1/tls-endpoints', target)).body
    await w.settle()
    await check(w)
    await w.advance(dayMs)
    send('/middle', await listOf([{ serial: '77' }]))
    await check(w)
    await scanDue(w.hub)
    await w.settle()
    await w.advance(settleMs)
    const { data } = (await w.acme.call('GET', '/v1/certificate-gaps?kind=revoked_served')).body
    expect(data).toMatchObject([
      {
        ...{ status: 'open', severity: 'critical', endpoint_id: id },
        detail: expect.stringMatching(/serves a certificate whose issuer, Middle CA, was revoked on \d{4}-\d\d-\d\d\.$/),
        evidence: { issuer_certificate_id: expect.stringMatching(/^cert_/) },
      },
    ])
    expect((await shown(w.acme, data[0].certificate_id)).status).toBe('valid')
  } finally {
    await tls.close()
  }
})

test('lists are deleted a day after the next one is due', async () => {
  const w = await world()
  send('/pruned', await listNow(w, [{ serial: '05' }]))
  await upload(w.acme, (await leafWith('/pruned', w, 1)).pem + issuer.pem)
  await check(w)
  await w.advance(2 * dayMs)
  await pruneCrls(w.hub)
  expect((await w.hub.read.select().from(crls)).length).toBe(1)
  await w.advance(1)
  await pruneCrls(w.hub)
  expect(await w.hub.read.select().from(crls)).toEqual([])
  expect(await w.hub.read.select().from(crlParts)).toEqual([])
})
