import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { QueryFailed } from '../../src/dns/client/failure'
import { transferZone } from '../../src/dns/client/transfer'
import type { TsigKey } from '../../src/dns/tsig'
import { call, fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { queryHub } from '../support/query-hub'
import { recordText } from '../support/served-zone'

const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)

test('after three calls from an empty folder a name is served, and follows its record', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const zone = await call(hub, token, 'POST', '/v1/dns/zones', { name: 'example.com' })
  const records = `/v1/dns/zones/${zone.body.id}/records`
  const record = await call(hub, token, 'POST', records, { type: 'A', name: 'www', content: '192.0.2.10', ttl: 300 })
  expect([zone.status, record.status]).toEqual([201, 201])
  const resolvesTo = (content: string) =>
    until(content, async () => (await queryHub(hub, 'www.example.com.'))?.answer[0] === `www.example.com. 300 A ${content}`, 1000)
  await resolvesTo('192.0.2.10')
  expect(await queryHub(hub, 'www.example.com.')).toMatchObject({ rcode: 'NOERROR', flags: 'qr aa', answer: { length: 1 } })
  expect(await queryHub(hub, 'no.example.com.')).toMatchObject({ rcode: 'NXDOMAIN' })

  await call(hub, token, 'PATCH', `/v1/dns/records/${record.body.id}`, { content: '192.0.2.11' })
  await resolvesTo('192.0.2.11')
  await call(hub, token, 'PATCH', `/v1/dns/zones/${zone.body.id}`, { status: 'paused' })
  await until('REFUSED', async () => (await queryHub(hub, 'www.example.com.'))?.rcode === 'REFUSED', 1000)
  await call(hub, token, 'PATCH', `/v1/dns/zones/${zone.body.id}`, { status: 'active' })
  await resolvesTo('192.0.2.11')

  const text = async () => (await call(hub, '', 'GET', '/metrics')).body as string
  await until('counts', async () => /bailiwick_dns_answers_total\{kind="NOERROR"\} [1-9]/.test(await text()))
  expect(await text()).toMatch(/bailiwick_dns_queries_total\{kind="udp"\} [1-9]/)

  await hub.stop()
  expect(await queryHub(hub, 'www.example.com.')).toBe(null)
  await using again = await startHub(here)
  await until('after a restart', async () => (await queryHub(again, 'www.example.com.'))?.rcode === 'NOERROR', 2000)
}, 180_000)

test.skipIf(!onPostgres)(
  'all hubs of a database answer with a change within a second',
  async () => {
    await using here = await installation()
    const token = await fullToken(here)
    await using one = await startHub(here)
    await using other = await startHub(here)
    const zone = await call(one, token, 'POST', '/v1/dns/zones', { name: 'example.com' })
    const records = `/v1/dns/zones/${zone.body.id}/records`
    for (let n = 0; n < 5; n++) {
      await call(one, token, 'POST', records, { type: 'A', name: `n${n}`, content: '192.0.2.10' })
      await Promise.all(
        [one, other].map(hub =>
          until(`n${n}`, async () => (await queryHub(hub, `n${n}.example.com.`))?.rcode === 'NOERROR', 1000),
        ),
      )
    }
  },
  180_000,
)

test.skipIf(!onPostgres)(
  'hubs with one database serve the same transfers and keys',
  async () => {
    await using here = await installation()
    const token = await fullToken(here)
    await using one = await startHub(here)
    await using other = await startHub(here)
    const zone = await call(one, token, 'POST', '/v1/dns/zones', { name: 'example.com' })
    const created = (await call(one, token, 'POST', '/v1/dns/providers/builtin/tsig-keys', { name: 'transfer' })).body
    const secret = Uint8Array.from(Buffer.from(created.secret, 'base64'))
    const key: TsigKey = { name: 'transfer.', algorithm: created.algorithm, secret }
    const limits = { records: 100, octets: 100_000, timeoutMs: 5000 }
    const whole = async ({ dnsPort: port }: HubProcess) => {
      const lines: string[] = []
      try {
        const at = { address: '127.0.0.1', port }
        for await (const records of transferZone({ at, key, now: systemClock.now }, 'example.com.', limits))
          lines.push(...records.map(recordText))
      } catch (error) {
        if (!(error instanceof QueryFailed)) throw error
      }
      return lines.sort()
    }
    const times: number[] = []
    for (let n = 0; n < 5; n++) {
      await call(one, token, 'POST', `/v1/dns/zones/${zone.body.id}/records`, { type: 'A', name: `n${n}`, content: '192.0.2.10' })
      const from = performance.now()
      await Promise.all(
        [one, other].map(hub =>
          until(`n${n}`, async () => (await whole(hub)).some(line => line.startsWith(`n${n}.example.com. `)), 10_000),
        ),
      )
      times.push(Math.round(performance.now() - from))
    }
    process.stdout.write(`both hubs transferred a change after ${times.join(', ')} ms\n`)
    expect(await whole(one)).toEqual(await whole(other))
  },
  180_000,
)

describe('BAILIWICK_DNS_LISTEN', () => {
  test('fails to start with a message if the port is in use', async () => {
    await using here = await installation()
    using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { code, out, err } = await here.run(['serve', '--listen', '127.0.0.1:0', '--dns-listen', `127.0.0.1:${listener.port}`])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`--dns-listen: port ${listener.port} is already in use on 127.0.0.1.`)
  })

  test('can disable the name server', async () => {
    await using here = await installation()
    await using hub = await startHub(here, { args: ['--dns-listen', 'off'] })
    expect(hub.out()).not.toContain('name server')
  })
})
