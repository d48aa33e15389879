import { describe, expect, test } from 'bun:test'
import { constants } from 'node:os'
import { InvalidCheckInput, type Facts } from '../../src/checks/check'
import { icmp, icmpCheck } from '../../src/checks/icmp'
import { echoRequest } from '../../src/checks/ping/echo'
import type { IcmpKernel, Received } from '../../src/checks/ping/kernel'
import { findPingMethods } from '../../src/checks/ping/methods'
import { checkContext } from '../support/check-context'

/** What a kernel does with the nth packet sent, from 0: its replies, or an immediate errno. */
type Network = (sent: Uint8Array, nth: number) => Partial<Received>[] | number

const answer = (sent: Uint8Array, change: (octets: Uint8Array) => void = () => {}): Partial<Received> => {
  const octets = Uint8Array.from(sent)
  octets[0] = 0
  change(octets)
  return { octets }
}

/** A kernel with a stopped clock, so that only the timestamps of replies count. */
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
          const output = network(octets, kernel.sizes.length)
          kernel.sizes.push(octets.length)
          if (typeof output === 'number') return output
          queue.push(...output.map(one => ({ octets: new Uint8Array(), atNs: 1_000_000_000n, errno: null, ...one })))
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
  const methods = findPingMethods(kernel, () => null)
  const facts = await icmpCheck(() => methods).run(
    'a.test',
    { packet_interval_ms: 10, packet_timeout_ms: 100, ...options },
    checkContext({ withinMs }),
  )
  expect(kernel.open_sockets).toBe(0)
  return facts
}

describe('a ping', () => {
  test('with replies is up, and takes the time the kernel measured', async () => {
    const facts = await run(sent => [answer(sent)], { count: 3, packet_size: 100 })
    expect(facts).toMatchObject({ connected: true, error: null, address: '127.0.0.1', phases: { total: 0, first_byte: 0 } })
    expect(facts.body).toBe('3 sent, 3 received, min/avg/max 0.000/0.000/0.000 ms')
  })

  test('falls back to its own clock if the kernel clock was changed', async () => {
    const facts = await run(sent => [{ ...answer(sent), atNs: 999_000_000_000n }])
    expect(facts.error).toBeNull()
    expect(facts.phases.total).toBeLessThan(5000)
    expect(facts.phases.total).toBeGreaterThan(0)
  })

  test.each<[string, (octets: Uint8Array) => void]>([
    ['other data', octets => octets.fill(0, 8)],
    ['another sequence number', octets => (octets[7]! ^= 1)],
    ['another message type', octets => (octets[0] = 3)],
    ['fewer bytes', octets => octets.copyWithin(8, 9)],
  ])('ignores replies with %s', async (_, change) => {
    const { error, connected } = await run(sent => [answer(sent, change)])
    expect({ error, connected }).toEqual({
      error: { kind: 'timeout', message: 'timed out: no reply to the echo request' },
      connected: false,
    })
  })

  test('may lose packets up to the limit, and ignores duplicate replies', async () => {
    const half: Network = (sent, nth) => (nth % 2 ? [] : [answer(sent), answer(sent)])
    expect((await run(half, { count: 4 })).error).toBeNull()
    const strict = await run(half, { count: 4, max_loss_percent: 49 })
    expect(strict).toMatchObject({ connected: true, error: { kind: 'content', message: '2 of 4 packets lost, more than 49%' } })
    expect(strict.phases.total).toBe(0)
  })

  test('ends at the time limit of the check', async () => {
    const startedAt = performance.now()
    const facts = await run(() => [], { packet_timeout_ms: 30_000 }, 100)
    expect(facts.error!.kind).toBe('timeout')
    expect(performance.now() - startedAt).toBeLessThan(5000)
  })

  test.each([
    ['EHOSTUNREACH', 'unreachable', /host unreachable/],
    ['EMSGSIZE', 'unreachable', /packets of this size/],
    ['EPERM', 'unreachable', /blocked by a local firewall/],
  ] as const)('reports %s, whether immediate or delayed', async (name, kind, message) => {
    const errno = constants.errno[name]
    for (const network of [() => errno, (sent: Uint8Array) => [{ octets: sent, errno }]])
      expect((await run(network)).error).toEqual({ kind, message: expect.stringMatching(message) })
  })
})

describe('the ping method', () => {
  const eacces = constants.errno.EACCES
  const eperm = constants.errno.EPERM
  const byCommand = { name: 'ping_command' as const, run: async () => ({ sent: 1, times: [2, 4], error: null }) }

  test('is a ping socket if permitted', () => {
    const methods = findPingMethods(
      kernelOf(() => []),
      () => byCommand,
    )
    expect(methods.capability()).toEqual({ method: 'ping_socket', problem: null })
  })

  test('is a raw socket if only that is permitted', async () => {
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
    const methods = findPingMethods(kernel, () => byCommand)
    expect(methods.capability()).toEqual({ method: 'raw_socket', problem: null })
    const facts = await icmpCheck(() => methods).run('a.test', {}, checkContext())
    expect(facts.error).toBeNull()
    expect(id).toHaveLength(2)
  })

  test('is the ping program if no socket is permitted, or none, with instructions', async () => {
    const kernel = kernelOf(() => [], { datagram: eacces, raw: eperm })
    const methods = findPingMethods(kernel, () => byCommand)
    expect(methods.capability()).toEqual({ method: 'ping_command', problem: expect.stringContaining('ping_group_range') })
    expect((await icmpCheck(() => methods).run('a.test', {}, checkContext())).phases.total).toBe(3)
    const none = findPingMethods(null, () => null)
    expect(none.capability()).toEqual({ method: 'none', problem: expect.stringContaining('CAP_NET_RAW') })
    const facts = await icmpCheck(() => none).run('a.test', {}, checkContext())
    expect(facts.error).toMatchObject({ kind: 'unsupported', message: expect.stringContaining('ping_group_range') })
  })

  test('is looked for again after a minute', () => {
    let now = 0
    let allowed = false
    const kernel = kernelOf(() => [])
    const closed = kernelOf(() => [], { datagram: eacces, raw: eperm })
    const methods = findPingMethods(
      { clock: kernel.clock, open: (...input) => (allowed ? kernel : closed).open(...input) },
      () => null,
      () => now,
    )
    expect(methods.of(4)).toBeNull()
    allowed = true
    expect(methods.of(4)).toBeNull()
    now = 60_000
    expect(methods.of(4)!.name).toBe('ping_socket')
  })
})

test('a target is a hostname or IP address', () => {
  expect(icmp.target('[2001:DB8::1]')).toBe('2001:db8::1')
  expect(() => icmp.target('a.test:80')).toThrow(InvalidCheckInput)
  expect(echoRequest(6, 1, 2, new Uint8Array(8))).toHaveLength(16)
})
