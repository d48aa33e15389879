import { describe, expect, test } from 'bun:test'
import { constants } from 'node:os'
import { CheckInputRefused, type Facts } from '../../src/checks/check'
import { icmp, icmpBy } from '../../src/checks/icmp'
import { echoRequest } from '../../src/checks/ping/echo'
import type { IcmpKernel, Received } from '../../src/checks/ping/kernel'
import { pingWays } from '../../src/checks/ping/ways'
import { around } from '../support/around'

/** What a kernel does with the nth packet that is sent, from 0: gives its answers, or an errno at once. */
type Network = (sent: Uint8Array, nth: number) => Partial<Received>[] | number

const answer = (sent: Uint8Array, change: (octets: Uint8Array) => void = () => {}): Partial<Received> => {
  const octets = Uint8Array.from(sent)
  octets[0] = 0
  change(octets)
  return { octets }
}

/** A kernel whose clock stands still, so that its times are those that its answers say. */
function kernelOf(network: Network, refused: { datagram?: number; raw?: number } = {}) {
  const kernel: IcmpKernel & { open_sockets: number; sizes: number[] } = {
    open_sockets: 0,
    sizes: [],
    clock: () => 1_000_000_000n,
    open(_, kind) {
      if (refused[kind] !== undefined) return refused[kind]
      kernel.open_sockets++
      const queue: Received[] = []
      return {
        send(__, octets) {
          const said = network(octets, kernel.sizes.length)
          kernel.sizes.push(octets.length)
          if (typeof said === 'number') return said
          queue.push(...said.map(one => ({ octets: new Uint8Array(), atNs: 1_000_000_000n, errno: null, ...one })))
          return 0
        },
        next: () => queue.shift() ?? null,
        close: () => void kernel.open_sockets--,
      }
    },
  }
  return kernel
}

const run = async (network: Network, options: Parameters<typeof icmp.run>[1] = {}, withinMs = 5000): Promise<Facts> => {
  const kernel = kernelOf(network)
  const ways = pingWays(kernel, () => null)
  const facts = await icmpBy(() => ways).run('a.test', { gap_ms: 10, answer_within_ms: 100, ...options }, around({ withinMs }))
  expect(kernel.open_sockets).toBe(0)
  return facts
}

describe('a ping', () => {
  test('that is answered is up, and takes what the kernel says', async () => {
    const facts = await run(sent => [answer(sent)], { count: 3, packet_size: 100 })
    expect(facts).toMatchObject({ connected: true, error: null, address: '127.0.0.1', phases: { total: 0, first_byte: 0 } })
    expect(facts.body).toBe('3 sent, 3 received, least/average/most 0.000/0.000/0.000 ms')
  })

  test('that is answered by a clock that was set takes what passed here', async () => {
    const facts = await run(sent => [{ ...answer(sent), atNs: 999_000_000_000n }])
    expect(facts.error).toBeNull()
    expect(facts.phases.total).toBeLessThan(5000)
    expect(facts.phases.total).toBeGreaterThan(0)
  })

  test.each<[string, (octets: Uint8Array) => void]>([
    ['other data', octets => octets.fill(0, 8)],
    ['another number', octets => (octets[7]! ^= 1)],
    ['another kind', octets => (octets[0] = 3)],
    ['fewer octets', octets => octets.copyWithin(8, 9)],
  ])('is not answered by what has %s', async (_, change) => {
    const { error, connected } = await run(sent => [answer(sent, change)])
    expect({ error, connected }).toEqual({
      error: { kind: 'timeout', message: 'no answer to the echo request within the time limit' },
      connected: false,
    })
  })

  test('may lose as many as is allowed, and no answer counts twice', async () => {
    const half: Network = (sent, nth) => (nth % 2 ? [] : [answer(sent), answer(sent)])
    expect((await run(half, { count: 4 })).error).toBeNull()
    const strict = await run(half, { count: 4, max_loss_percent: 49 })
    expect(strict).toMatchObject({ connected: true, error: { kind: 'content', message: '2 of 4 packets lost, more than 49 %' } })
    expect(strict.phases.total).toBe(0)
  })

  test('is waited for no longer than the check may take', async () => {
    const began = performance.now()
    const facts = await run(() => [], { answer_within_ms: 30_000 }, 100)
    expect(facts.error!.kind).toBe('timeout')
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test.each([
    ['EHOSTUNREACH', 'unreachable', /host unreachable/],
    ['EMSGSIZE', 'unreachable', /packets of this size/],
    ['EPERM', 'unreachable', /forbidden/],
  ] as const)('that ends with %s says so, at once or later', async (name, kind, message) => {
    const errno = constants.errno[name]
    for (const network of [() => errno, (sent: Uint8Array) => [{ octets: sent, errno }]])
      expect((await run(network)).error).toEqual({ kind, message: expect.stringMatching(message) })
  })
})

describe('the way of pings', () => {
  const eacces = constants.errno.EACCES
  const eperm = constants.errno.EPERM
  const byCommand = { by: 'ping_command' as const, run: async () => ({ sent: 1, times: [2, 4], error: null }) }

  test('is the kernel’s own where it is allowed', () => {
    const ways = pingWays(
      kernelOf(() => []),
      () => byCommand,
    )
    expect(ways.capability()).toEqual({ by: 'ping_socket', problem: null })
  })

  test('is a raw socket where only that is', async () => {
    let id: Uint8Array | undefined
    const kernel = kernelOf(
      sent => {
        id = sent.slice(4, 6)
        const header = Uint8Array.of(0x45, ...Array(19).fill(0))
        const other = answer(sent, octets => (octets[4]! ^= 1))
        return [other, answer(sent)].map(one => ({ octets: Buffer.concat([header, one.octets!]) }))
      },
      { datagram: eacces },
    )
    const ways = pingWays(kernel, () => byCommand)
    expect(ways.capability()).toEqual({ by: 'raw_socket', problem: null })
    const facts = await icmpBy(() => ways).run('a.test', {}, around())
    expect(facts.error).toBeNull()
    expect(id).toHaveLength(2)
  })

  test('is the program ping where no socket is, or nothing, with what to do', async () => {
    const kernel = kernelOf(() => [], { datagram: eacces, raw: eperm })
    const ways = pingWays(kernel, () => byCommand)
    expect(ways.capability()).toEqual({ by: 'ping_command', problem: expect.stringContaining('ping_group_range') })
    expect((await icmpBy(() => ways).run('a.test', {}, around())).phases.total).toBe(3)
    const none = pingWays(null, () => null)
    expect(none.capability()).toEqual({ by: 'none', problem: expect.stringContaining('CAP_NET_RAW') })
    const facts = await icmpBy(() => none).run('a.test', {}, around())
    expect(facts.error).toMatchObject({ kind: 'unsupported', message: expect.stringContaining('ping_group_range') })
  })

  test('is looked for again when there was none a minute ago', () => {
    let now = 0
    let allowed = false
    const kernel = kernelOf(() => [])
    const closed = kernelOf(() => [], { datagram: eacces, raw: eperm })
    const ways = pingWays(
      { clock: kernel.clock, open: (...given) => (allowed ? kernel : closed).open(...given) },
      () => null,
      () => now,
    )
    expect(ways.of(4)).toBeNull()
    allowed = true
    expect(ways.of(4)).toBeNull()
    now = 60_000
    expect(ways.of(4)!.by).toBe('ping_socket')
  })
})

test('a target is a host or an address', () => {
  expect(icmp.target('[2001:DB8::1]')).toBe('2001:db8::1')
  expect(() => icmp.target('a.test:80')).toThrow(CheckInputRefused)
  expect(echoRequest(6, 1, 2, new Uint8Array(8))).toHaveLength(16)
})
