import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { EgressRefused, type VettedHost } from '../../src/core/net/egress'
import { HostScanner, type HostScanRequest } from '../../src/checks/tls-probe/host-scan'
import { checkContext } from '../support/check-context'
import { alert } from '../support/tls-messages'
import { scriptedTls, type ScriptedTls } from '../support/tls-scan'

let server: ScriptedTls
/** Connections that wait for the answer, and the most there were. */
let [waiting, most] = [0, 0]
beforeAll(async () => {
  server = await scriptedTls(socket => {
    most = Math.max(most, ++waiting)
    socket.once('data', () =>
      setTimeout(() => {
        waiting--
        socket.end(alert(70))
      }, 5),
    )
  })
})
afterAll(() => server.stop())

const vetted = (address: string): VettedHost => ({ address, family: 4, host: 'a.test', port: server.port, listed: false })
const request = { host: 'a.test', port: 443, protocol: 'tls', servername: null, group: 'wks_a' } as const
const scanner = new HostScanner()

test('every address of a host is scanned, up to eight', async () => {
  const addresses = Array.from({ length: 10 }, (_, at) => `127.0.0.${at + 1}`)
  const facts = await scanner.scan(request, async () => addresses.map(vetted), checkContext())
  expect(facts.addresses.map(one => one.address)).toEqual(addresses.slice(0, 8))
  // The server listens on the first address only.
  expect(facts.addresses.map(one => one.versions['1.2'].status)).toEqual(['not_offered', ...Array(7).fill('not_tested')])
  expect(facts.addresses[1]!.errors).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }])
  expect([facts.skipped_addresses, facts.error, facts.addresses[0]!.servername]).toEqual([2, null, 'a.test'])
})

test('an address that hosts share is scanned for one at a time', async () => {
  most = 0
  const scans = Array.from({ length: 5 }, () => scanner.scan(request, async () => [vetted('127.0.0.1')], checkContext()))
  for (const { addresses } of await Promise.all(scans)) expect(addresses[0]!.versions['1.2'].status).toBe('not_offered')
  expect(most).toBe(2)
})

test('a name is sent instead of the host, and an address never', async () => {
  const named = { ...request, servername: 'other.test' }
  const [facts] = (await scanner.scan(named, async () => [vetted('127.0.0.1')], checkContext())).addresses
  expect(facts!.servername).toBe('other.test')
  const literal = { ...vetted('127.0.0.1'), host: '127.0.0.1' }
  expect((await scanner.scan(request, async () => [literal], checkContext())).addresses[0]!.servername).toBeNull()
})

describe('port 80', () => {
  const closed = 1
  const asking: HostScanRequest = { ...request, asksPlainHttp: true }
  /** Scans 127.0.0.1 and 127.0.0.2. @param tls the port that stands for 443 @param http for 80 */
  const scanWith = async (tls: number, http: number, more: Partial<HostScanRequest> = {}) => {
    const vettedPorts: number[] = []
    const vet = async (_: string, port: number) => {
      vettedPorts.push(port)
      return ['127.0.0.1', '127.0.0.2'].map(address => ({ ...vetted(address), port: port === 443 ? tls : http }))
    }
    const limits = { connectionMs: 300, scanMs: 5000, waitMs: 5000, hostMs: 5000 }
    const { plain_http } = await new HostScanner(limits).scan({ ...asking, ...more }, vet, checkContext())
    return { plain_http, vettedPorts }
  }
  const requests: string[] = []
  const talkers: ScriptedTls[] = []
  const answering = async (answer: string) => {
    const one = await scriptedTls(socket =>
      socket.on('data', octets => {
        requests.push(octets.toString())
        socket.write(answer)
      }),
    )
    talkers.push(one)
    return one
  }
  afterAll(() => talkers.forEach(one => one.stop()))

  test('is asked once for HTTP if the port is closed at every address', async () => {
    const http = await answering('HTTP/1.1 301 Moved Permanently\r\nLocation: https://a.test/\r\n\r\n')
    expect(await scanWith(closed, http.port)).toEqual({
      plain_http: { address: '127.0.0.1', status: 301 },
      vettedPorts: [443, 80],
    })
    expect(http.all()).toBe(1)
    expect(requests.splice(0)).toEqual([expect.stringMatching(/^HEAD \/ HTTP\/1\.1\r\nHost: a\.test\r\n/)])
    await scanWith(closed, http.port, { servername: 'other.test' })
    expect(requests.splice(0)[0]).toContain('Host: other.test\r\n')
  })

  test('is not asked if any address accepts connections, or nobody wants to know', async () => {
    const http = await answering('HTTP/1.1 200 OK\r\n\r\n')
    expect(await scanWith(server.port, http.port)).toEqual({ plain_http: undefined, vettedPorts: [443] })
    expect(await scanWith(closed, http.port, { asksPlainHttp: false })).toEqual({ plain_http: undefined, vettedPorts: [443] })
    expect(http.all()).toBe(0)
  })

  test('may be closed, speak something else, or not answer', async () => {
    expect((await scanWith(closed, closed)).plain_http).toBeNull()
    for (const answer of ['220 a.test ESMTP\r\n', `HTTP/1.1${' '.repeat(20_000)}\r\n`])
      expect((await scanWith(closed, (await answering(answer)).port)).plain_http).toBeNull()
    // It may answer later: nothing is known.
    expect((await scanWith(closed, (await answering('')).port)).plain_http).toBeUndefined()
  })

  test('is not asked at forbidden addresses', async () => {
    const vet = async (_: string, port: number) => {
      if (port === 80) throw new EgressRefused('blocked_address', 'The host is forbidden.')
      return [{ ...vetted('127.0.0.1'), port: closed }]
    }
    expect(await scanner.scan(asking, vet, checkContext())).not.toHaveProperty('plain_http')
  })
})

test('a host that must not be reached is not scanned', async () => {
  const refuse = async () => {
    throw new EgressRefused('blocked_address', 'The host is forbidden.')
  }
  expect(await scanner.scan(request, refuse, checkContext())).toEqual({
    addresses: [],
    skipped_addresses: 0,
    error: { kind: 'blocked_address', message: 'The host is forbidden.' },
  })
})

describe('limits of time and number', () => {
  /** Accepts connections and never answers. */
  let silent: ScriptedTls
  let listening: Set<string>
  let reached: () => void
  beforeAll(async () => {
    silent = await scriptedTls(socket => {
      listening.add(socket.localAddress!)
      reached()
    }, '0.0.0.0')
  })
  afterAll(() => silent.stop())
  beforeEach(() => {
    listening = new Set()
    reached = () => {}
  })
  const at = (address: string, port = silent.port): VettedHost => ({ ...vetted(address), port })

  test('a host ends with what was found, also if an address does not answer', async () => {
    // Only the limit of the host ends the silent address.
    const scans = new HostScanner({ connectionMs: 60_000, scanMs: 120_000, waitMs: 60_000, hostMs: 3000 })
    const { addresses, error } = await scans.scan(
      request,
      async () => [at('127.0.0.1', server.port), at('127.0.0.2')],
      checkContext({ withinMs: 170_000 }),
    )
    expect(error).toBeNull()
    expect(addresses.map(one => one.versions['1.2'].status)).toEqual(['not_offered', 'not_tested'])
    expect(addresses[1]!.errors).toMatchObject([{ kind: 'timeout' }, { kind: 'timeout' }])
  })

  test('a group scans four addresses at once, and others need not wait for it', async () => {
    const limit = new AbortController()
    const scans = new HostScanner({ connectionMs: 60_000, scanMs: 120_000, waitMs: 60_000, hostMs: 60_000 })
    const context = checkContext({ signal: limit.signal })
    const addresses = Array.from({ length: 6 }, (_, index) => at(`127.0.1.${index + 1}`))
    const isFull = new Promise<void>(resolve => (reached = () => listening.size === 4 && resolve()))
    const busy = scans.scan(request, async () => addresses, context)
    await isFull
    const other = { ...request, group: 'wks_b' }
    const { addresses: found } = await scans.scan(other, async () => [at('127.0.0.1', server.port)], context)
    expect(found[0]!.versions['1.2'].status).toBe('not_offered')
    expect(listening.size).toBe(4)
    limit.abort()
    expect((await busy).addresses.map(one => one.speaks_tls)).toEqual(Array(6).fill(false))
    // No connections without a slot.
    expect(listening.size).toBe(4)
  })

  test('a host for which there is no time is not scanned', async () => {
    const limit = new AbortController()
    const scans = new HostScanner({ connectionMs: 60_000, scanMs: 120_000, waitMs: 200, hostMs: 60_000 })
    const context = checkContext({ signal: limit.signal })
    const isBusy = new Promise<void>(resolve => (reached = resolve))
    const busy = scans.scan(request, async () => [at('127.0.0.1')], context)
    await isBusy
    const facts = await scans.scan(request, async () => [at('127.0.0.1')], context)
    const error = { kind: 'timeout', message: 'too many other scans are running' }
    expect(facts as unknown).toEqual({ addresses: [], skipped_addresses: 0, error, isPostponed: true })
    limit.abort()
    await busy
  })
})
