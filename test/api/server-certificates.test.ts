import { expect, test } from 'bun:test'
import { count } from 'drizzle-orm'
import { agentCertificateFiles, agentCertificates, agentServedCertificates } from '../../src/features/servers/certificates/tables'
import type { AgentCertificateFile, AgentServedCertificate } from '../../src/wire/agent-certificates'
import { certificateLimits } from '../../src/wire/agent-limits'
import { AgentDouble } from '../support/agent-double'
import { ownCertificate, type OwnCertificate } from '../support/own-certificate'
import { world, type World } from '../support/world'

const dayMs = 86_400_000
const minuteMs = 60_000

async function scene() {
  const here = await world()
  const { id } = (await here.acme.call('POST', '/v1/servers', { name: 'web-1' }, { 'Idempotency-Key': 'web-1' })).body
  const agent = await AgentDouble.enroll(here, id)
  const now = here.clock.now()
  return {
    here,
    agent,
    id,
    /** A certificate that has been valid for some days, and is valid for 90 days altogether. */
    issued: (daysAgo: number, more: Partial<Parameters<typeof ownCertificate>[0]> = {}) =>
      ownCertificate({ from: now - daysAgo * dayMs, until: now + (90 - daysAgo) * dayMs, ...more }),
    get: () => here.acme.call('GET', `/v1/servers/${id}/certificates`),
    report: (files: readonly AgentCertificateFile[], served: readonly AgentServedCertificate[], all: readonly OwnCertificate[]) =>
      agent.sendReport({ certificates: { files, served, certificates: all.map(one => one.base64) } }),
  }
}

const path = '/etc/letsencrypt/live/shop.example.com/fullchain.pem'
const file = (of: OwnCertificate | null, more: Partial<AgentCertificateFile> = {}): AgentCertificateFile => ({
  ...{ path, kind: 'certbot', chain: of ? [of.sha256] : [], modified_at: 1_795_000_000_000, mode: '0644', owner: 'root' },
  ...{ references: ['nginx: shop.example.com'], error: null, ...more },
  key: { path: '/etc/letsencrypt/live/shop.example.com/privkey.pem', mode: '0600', owner: 'root', matches: true },
})
const served = (of: OwnCertificate | null, more: Partial<AgentServedCertificate> = {}): AgentServedCertificate => ({
  ...{ address: '0.0.0.0', port: 443, process: 'nginx', starttls: null, sni: 'shop.example.com', protocol: '1.3' },
  ...{ chain: of ? [of.sha256] : [], error: null, ...more },
})
const time = ({ clock }: World) => new Date(clock.now()).toISOString()

test('certificates are shown by file and by port, with when they were first seen', async () => {
  const { here, agent, issued, get, report } = await scene()
  expect((await get()).body).toMatchObject({ agent_id: agent.id, files: [], served: [], reported_at: null })
  expect((await get()).body.reason).toBe('The agent has not reported this yet.')
  const one = issued(60)
  const unreadable = file(null, { path: '/root/.acme.sh', kind: 'acme_sh', error: 'Permission denied.', references: [] })
  const first = time(here)
  expect((await report([file(one), unreadable], [served(one)], [one])).status).toBe(200)
  const certificate = {
    ...{ sha256: one.sha256, subject: 'O=Shop, CN=shop.example.com', issuer: 'O=Test CA, CN=CA', names: ['shop.example.com'] },
    ...{ serial_number: expect.stringMatching(/^01[0-9a-f]{16}$/) },
    not_before: new Date(here.clock.now() - 60 * dayMs).toISOString(),
    not_after: new Date(here.clock.now() + 30 * dayMs).toISOString(),
    key: { type: 'ec', bits: 256, spki_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  }
  const { modified_at: _, ...shown } = file(one)
  const { modified_at: __, ...shownUnreadable } = unreadable
  const modified_at = '2026-11-18T11:06:40.000Z'
  const { status, body } = await get()
  expect([status, body]).toEqual([
    200,
    {
      ...{ agent_id: agent.id, observed_at: first, stale: false, reported_at: first, reason: null },
      files: [
        { ...shown, modified_at, first_seen_at: first },
        { ...shownUnreadable, modified_at, first_seen_at: first },
      ],
      served: [{ ...served(one), on_disk_not_served: false, newer_file: null, first_seen_at: first }],
      certificates: [certificate],
    },
  ])
  // The time of a certificate stays while it is reported, also if something else about its file changes.
  await here.advance(minuteMs)
  expect((await report([file(one, { mode: '0600' })], [], [one])).status).toBe(200)
  expect((await get()).body).toMatchObject({
    reported_at: time(here),
    files: [{ mode: '0600', first_seen_at: first }],
    served: [],
  })
  expect((await get()).body.files).toHaveLength(1)
  await agent.isDeleted()
  expect((await get()).body).toMatchObject({ agent_id: null, files: [], reason: 'The server has no agent.' })
  for (const table of [agentCertificates, agentCertificateFiles, agentServedCertificates])
    expect(await here.hub.read.select({ rows: count() }).from(table)).toEqual([{ rows: 0 }])
})

test('events about certificates that are not served are limited for each server and day', async () => {
  const { here, issued, report } = await scene()
  const [former, renewed] = [issued(60), issued(1)]
  const all = [former, renewed]
  const ports = (of: OwnCertificate) => Array.from({ length: 25 }, (_, at) => served(of, { port: 8000 + at }))
  const sent = async () =>
    (await here.acme.call('GET', '/v1/events?kind=server.certificate_not_served&limit=1&include=total')).body.pagination.total
  const reloads = async () => {
    for (const one of [former, renewed]) {
      await here.advance(minuteMs)
      expect((await report([file(renewed)], ports(one), all)).status).toBe(200)
    }
  }
  await reloads()
  expect(await sent()).toBe(40)
  for (let round = 0; round < 3; round++) await reloads()
  expect(await sent()).toBe(100)
  await here.advance(dayMs)
  await reloads()
  expect(await sent()).toBe(140)
})

test('a certificate that was renewed on disk is not served until the service was reloaded, and opens one incident', async () => {
  const { here, agent, id, issued, get, report } = await scene()
  const monitor = { target: id, interval_seconds: 60, degraded_if: ['[CERTIFICATES_NOT_SERVED] > 0'] }
  const created = (await here.acme.call('POST', '/v1/monitors', monitor)).body
  const incidents = async () =>
    (await here.acme.call('GET', '/v1/incidents')).body.data.map((one: any) => [one.status, one.cause])
  const pass = async (minutes: number) => {
    for (let at = 0; at < minutes; at++) {
      await agent.reports()
      for (let seconds = 0; seconds < 60; seconds += 5) await here.advance(5000)
    }
  }
  const [former, renewed] = [issued(60), issued(1)]
  expect((await report([file(former)], [served(former), served(former, { sni: null })], [former])).status).toBe(200)
  await pass(2)
  const events = async () =>
    (await here.acme.call('GET', '/v1/events?kind=server.certificate_not_served&sort=occurred_at')).body.data
  const state = async () => (await here.acme.call('GET', `/v1/monitors/${created.id}`)).body
  expect([(await state()).status, await incidents()]).toEqual(['up', []])

  const rows = [served(former), served(former, { sni: null })]
  expect((await report([file(renewed)], rows, [former, renewed])).status).toBe(200)
  expect((await get()).body.served).toMatchObject([
    { sni: null, on_disk_not_served: true, chain: [former.sha256] },
    { sni: 'shop.example.com', on_disk_not_served: true, newer_file: { path, sha256: renewed.sha256 } },
  ])
  const about = { server: { id, name: 'web-1' }, port: 443, process: 'nginx', names: ['shop.example.com'], sha256: former.sha256 }
  const raised = { ...about, status: 'raised', file: path, observed_at: time(here) }
  expect((await events()).map((one: any) => one.data)).toEqual([raised])
  await pass(4)
  expect(await state()).toMatchObject({
    status: 'degraded',
    last_result: {
      error: {
        message: 'Number of renewed certificates that are not served is 1, more than 0: shop.example.com on port 443',
      },
    },
  })
  expect((await incidents()).map(([status]: [string]) => status)).toEqual(['open'])
  // The same certificates again change nothing.
  expect((await report([file(renewed)], rows, [former, renewed])).status).toBe(200)
  await pass(1)
  expect([await incidents(), await events()].map(list => list.length)).toEqual([1, 1])

  expect((await report([file(renewed)], [served(renewed)], [renewed])).status).toBe(200)
  expect((await get()).body.served).toMatchObject([{ on_disk_not_served: false, newer_file: null }])
  const resolved = { ...about, status: 'resolved', file: null, observed_at: time(here) }
  expect((await events()).map((one: any) => one.data)).toEqual([raised, resolved])
  await pass(4)
  expect([(await state()).status, (await incidents()).map(([status]: [string]) => status)]).toEqual(['up', ['resolved']])
})

test('what is refused names the field', async () => {
  const { agent, issued, report, get } = await scene()
  const one = issued(1)
  const problems = async (changed: object) => {
    const { status, body } = await agent.sendReport({ certificates: { files: [], served: [], certificates: [], ...changed } })
    return [status, body.errors?.map((error: any) => error.pointer)]
  }
  expect(await problems({ certificates: ['AAAA'] })).toEqual([422, ['#/certificates/certificates/0']])
  expect(await problems({ certificates: ['-----BEGIN PRIVATE KEY-----'] })).toEqual([422, ['#/certificates/certificates/0']])
  expect(await problems({ files: [file(one)] })).toEqual([422, ['#/certificates/files/0/chain/0']])
  expect(await problems({ served: [served(null, { port: 65_536 })] })).toEqual([422, ['#/certificates/served/0/port']])
  expect(await problems({ files: [file(null, { path: 'a\u0007' })] })).toEqual([422, ['#/certificates/files/0/path']])
  expect(await problems({ files: [file(null, { mode: '9999' })] })).toEqual([422, ['#/certificates/files/0/mode']])
  const many = Array.from({ length: certificateLimits.files + 1 }, (_, at) => file(null, { path: `/a/${at}` }))
  expect(await problems({ files: many })).toEqual([422, ['#/certificates/files']])
  const large = Array.from({ length: 40 }, () => issued(1, { padding: 15_000 }))
  expect((await report([], [], large)).body.errors).toMatchObject([{ pointer: '#/certificates/certificates' }])
  expect((await get()).body.reported_at).toBeNull()
  // The size is checked before anything is parsed.
  const unreadable = Array.from({ length: 40 }, () => 'A'.repeat(20_000))
  expect(await problems({ certificates: unreadable })).toEqual([422, ['#/certificates/certificates']])
})

test('as many certificates as a report may have are stored without blocking others', async () => {
  const { issued, get, report } = await scene()
  // One of them has more names than are stored.
  const names = (at: number) => [
    `n${at}.example.com`,
    ...Array.from({ length: at === 0 ? 1000 : 0 }, (_, more) => `${more}.test`),
  ]
  const some = Array.from({ length: certificateLimits.files }, (_, at) => issued(1, { names: names(at) }))
  const files = some.map((one, at) => file(one, { path: `/etc/ssl/${at}.pem` }))
  const ports = some.map((one, at) => served(one, { sni: `n${at}.example.com` }))
  expect((await report(files, ports, some)).status).toBe(200)
  const { body } = await get()
  expect([body.files.length, body.served.length]).toEqual([certificateLimits.files, certificateLimits.served])
  const namesOf = new Map<string, string[]>(body.certificates.map((one: any) => [one.sha256, one.names]))
  expect(namesOf.size).toBe(certificateLimits.files)
  expect(namesOf.get(some[0]!.sha256)).toHaveLength(200)
  expect(body.served.every((one: any) => !one.on_disk_not_served && namesOf.get(one.chain[0])!.includes(one.sni))).toBe(true)
})

test('certificates of other workspaces are not found, and reading them needs cloud.read', async () => {
  const { here, id } = await scene()
  const url = `/v1/servers/${id}/certificates`
  expect((await here.rival.call('GET', url)).status).toBe(404)
  const { call } = await here.scoped('dns.read')
  expect((await call('GET', url)).status).toBe(403)
})
