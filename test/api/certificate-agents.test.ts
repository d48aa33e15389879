import { expect, test } from 'bun:test'
import { recordAgentCertificates } from '../../src/features/servers/certificates/inventory'
import { AgentDouble } from '../support/agent-double'
import { ownCertificate } from '../support/own-certificate'
import { world } from '../support/world'

const dayMs = 86_400_000

test('what agents report is in the inventory until it is gone, the agent is revoked, or the server is deleted', async () => {
  const here = await world()
  const { acme, clock, hub } = here
  const { id } = (await acme.call('POST', '/v1/servers', { name: 'web-1' }, { 'Idempotency-Key': 'web-1' })).body
  let agent = await AgentDouble.enroll(here, id)
  const [old, renewed] = [60, 1].map(ago =>
    ownCertificate({ from: clock.now() - ago * dayMs, until: clock.now() + (90 - ago) * dayMs }),
  )
  const path = '/etc/ssl/shop.pem'
  const file = (sha256: string, more = {}) => ({
    ...{ path, kind: 'nginx' as const, chain: [sha256], modified_at: null, mode: '0644', owner: 'root', error: null },
    ...{
      key: { path: '/etc/ssl/shop.key', mode: '0644', owner: 'root', matches: true },
      references: ['nginx: shop.example.com'],
    },
    ...more,
  })
  const served = (sha256: string) => ({
    ...{ address: '0.0.0.0', port: 443, process: 'nginx', starttls: null, sni: 'shop.example.com', protocol: '1.3' },
    ...{ chain: [sha256], error: null },
  })
  const report = async (files: ReturnType<typeof file>[], ports: ReturnType<typeof served>[]) => {
    const certificates = [old!, renewed!].map(one => one.base64)
    expect((await agent.sendReport({ certificates: { files, served: ports, certificates } })).status).toBe(200)
    await recordAgentCertificates(hub)
  }
  const inventory = async () => {
    const { data } = (await acme.call('GET', '/v1/certificates?sort=not_after')).body
    return data.map((one: { fingerprint_sha256: string; status: string; in_use: boolean; presence_count: number }) => [
      one.fingerprint_sha256 === old!.sha256 ? 'old' : 'renewed',
      ...[one.status, one.in_use, one.presence_count],
    ])
  }

  await report([file(old!.sha256)], [served(old!.sha256)])
  expect(await inventory()).toEqual([['old', 'expiring', true, 2]])
  const [shown] = (await acme.call('GET', `/v1/certificates?server_id=${id}`)).body.data
  expect(shown.sources).toEqual(['agent'])
  expect(shown.presences.map((one: object) => one)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'file',
        server_id: id,
        path,
        key: 'matches',
        mode: '0644',
        references: ['nginx: shop.example.com'],
      }),
      expect.objectContaining({ kind: 'served', server_id: id, port: 443, servername: 'shop.example.com', process: 'nginx' }),
    ]),
  )
  expect(shown.findings.map((one: { code: string }) => one.code)).toContain('key_readable')
  expect((await acme.call('DELETE', `/v1/certificates/${shown.id}`)).status).toBe(409)

  // Renewed on disk, but not loaded.
  await report([file(renewed!.sha256)], [served(old!.sha256)])
  expect(await inventory()).toEqual([
    ['old', 'expiring', true, 1],
    ['renewed', 'valid', true, 1],
  ])
  const gaps = async () =>
    (await acme.call('GET', '/v1/certificate-gaps?kind=stale_on_disk')).body.data.map(
      (one: { status: string; detail: string }) => [one.status, one.detail],
    )
  await here.advance(14 * 60_000)
  expect(await gaps()).toEqual([])
  await here.advance(60_000)
  const ends = new Date(clock.now() + 30 * dayMs).toISOString().slice(0, 10)
  const detail = `nginx on web-1 serves the certificate that ends on ${ends}, although ${path} contains a newer one.`
  expect(await gaps()).toEqual([['open', detail]])
  await report([file(renewed!.sha256)], [served(renewed!.sha256)])
  await here.advance(30_000)
  expect(await gaps()).toEqual([['resolved', detail]])
  expect(await inventory()).toEqual([
    ['old', 'superseded', false, 0],
    ['renewed', 'valid', true, 2],
  ])
  // A file that no service uses is no use.
  await report([file(renewed!.sha256, { references: [] })], [])
  expect((await inventory())[1]).toEqual(['renewed', 'valid', false, 1])

  await report([file(renewed!.sha256)], [])
  await agent.isDeleted()
  expect((await inventory())[1]).toEqual(['renewed', 'valid', false, 0])

  agent = await AgentDouble.enroll(here, id)
  await report([file(renewed!.sha256)], [])
  expect((await inventory())[1]).toEqual(['renewed', 'valid', true, 1])
  expect((await acme.call('DELETE', `/v1/servers/${id}`)).status).toBeLessThan(300)
  await here.settle()
  await recordAgentCertificates(hub)
  expect((await inventory())[1]).toEqual(['renewed', 'valid', false, 0])
})
