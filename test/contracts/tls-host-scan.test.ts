import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { EgressRefused, type VettedHost } from '../../src/core/net/egress'
import { HostScanner } from '../../src/checks/tls-probe/host-scan'
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
