import { describe, expect, test } from 'bun:test'
import { HandClock } from '../../../test/support/engine-clock'
import { found, namesOf } from '../../../test/support/engine'
import { addressesByHost } from './hosts-file'
import type { NameAnswer } from './name-answer'
import { CheckResolver, type ResolverGround } from './resolver'

function resolverOf(
  answer: (name: string, family: string) => NameAnswer | Promise<NameAnswer>,
  more: Partial<ResolverGround> = {},
) {
  const clock = new HandClock()
  const asked: string[] = []
  const ask = async (name: string, family: string) => {
    // What trust asks of its own accord.
    if (!name.startsWith('bw-')) asked.push(`${family} ${name}`)
    return answer(name, family)
  }
  return { resolver: new CheckResolver({ ...namesOf(clock, ask), ...more }), clock, asked }
}

const onlyA =
  (address: string, ttl: number) =>
  (_: string, family: string): NameAnswer =>
    family === 'A' ? found(address, ttl) : { kind: 'found', addresses: [], ttl: 60 }

describe('answers', () => {
  test('are kept for their TTL, at least a second and five minutes at most', async () => {
    for (const [ttl, keptMs] of [
      [0, 1000],
      [30, 30_000],
      [86_400, 300_000],
    ] as const) {
      const { resolver, clock, asked } = resolverOf(() => found('192.0.2.1', ttl))
      expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
      await clock.pass(keptMs - 25)
      await resolver.addresses('a.test', 4)
      expect(asked).toEqual(['A a.test'])
      await clock.pass(50)
      await resolver.addresses('a.test', 4)
      expect(asked.length).toBe(2)
      expect(resolver.counts).toEqual({ hits: 1, misses: 2, failures: 0 })
    }
  })

  test('are asked for once, however many wait for them', async () => {
    const answered = Promise.withResolvers<NameAnswer>()
    const { resolver, asked } = resolverOf(() => answered.promise)
    const all = Array.from({ length: 50 }, () => resolver.addresses('a.test', 4))
    answered.resolve(found('192.0.2.1'))
    expect(new Set((await Promise.all(all)).flat())).toEqual(new Set(['192.0.2.1']))
    expect(asked.length).toBe(1)
  })

  test('of both families come with the one in front that this machine reaches', async () => {
    const both = (_: string, family: string) => found(family === 'A' ? '192.0.2.1' : '2001:db8::1')
    expect(await resolverOf(both).resolver.addresses('a.test')).toEqual(['192.0.2.1', '2001:db8::1'])
    const { resolver } = resolverOf(both, { prefersIPv6: () => true })
    expect(await resolver.addresses('a.test')).toEqual(['2001:db8::1', '192.0.2.1'])
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
    await expect(resolverOf(onlyA('192.0.2.1', 60)).resolver.addresses('a.test', 6)).rejects.toThrow(
      'The host name has no IPv6 address.',
    )
  })

  test('of one family do not wait long for the other', async () => {
    const { resolver, clock } = resolverOf((_, family) => (family === 'A' ? found('192.0.2.1') : new Promise<never>(() => {})))
    const asking = resolver.addresses('a.test')
    await clock.pass(400)
    expect(await asking).toEqual(['192.0.2.1'])
  })

  test('that there is no such name are believed, and forgotten after five seconds', async () => {
    let there = false
    const { resolver, clock, asked } = resolverOf(() => (there ? found('192.0.2.1') : { kind: 'no_such_name', ttl: 60 }))
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('NXDOMAIN')
    await clock.pass(1000)
    there = true
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('NXDOMAIN')
    expect(asked.length).toBe(1)
    await clock.pass(4500)
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
  })

  test('that are errors fail the lookup of that name alone', async () => {
    const { resolver } = resolverOf(name => (name === 'a.test' ? { kind: 'failed', rcode: 'SERVFAIL' } : found('192.0.2.1')))
    await resolver.addresses('b.test', 4)
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('SERVFAIL')
    expect(resolver.trust.broken).toBe(null)
  })
})

describe('resolvers that are dead', () => {
  test('leave known what was known, for an hour', async () => {
    let dead = false
    const { resolver, clock } = resolverOf(() => (dead ? { kind: 'silent' } : found('192.0.2.1', 10)))
    await resolver.addresses('a.test', 4)
    dead = true
    await clock.pass(3_000_000)
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
    expect(resolver.helpless).toBe(false)
    await clock.pass(700_000)
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('The resolvers of this machine do not answer.')
    await clock.pass(25)
    expect(resolver.helpless).toBe(true)
    dead = false
    await clock.pass(1000)
    await resolver.recheck()
    expect(resolver.helpless).toBe(false)
  })

  test('and such that lost the internet are told from a name whose own servers are', async () => {
    let upstream = true
    const { resolver, clock } = resolverOf(name =>
      name === 'broken.test' || !upstream ? { kind: 'failed', rcode: 'SERVFAIL' } : found('192.0.2.1', 10),
    )
    await resolver.addresses('a.test', 4)
    await clock.pass(11_000)
    await expect(resolver.addresses('broken.test', 4)).rejects.toThrow('the resolver answered SERVFAIL')
    await clock.pass(1000)
    upstream = false
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
    expect(resolver.trust.broken).toBe('The resolvers of this machine answer with errors only.')
  })

  test('are told from a network without the internet, in which the reference is never found', async () => {
    const { resolver, clock } = resolverOf(name => (name === 'nas.lan.test' ? found('192.0.2.1', 1) : { kind: 'silent' }))
    await resolver.addresses('nas.lan.test', 4)
    await clock.pass(2000)
    await expect(resolver.addresses('gone.lan.test', 4)).rejects.toThrow('no resolver answered in time')
    await clock.pass(100)
    expect(resolver.trust.broken).toBe(null)
  })
})

describe('names that DNS does not know', () => {
  test('are those of the hosts file first', async () => {
    const hosts = addressesByHost(
      '127.0.0.1 localhost\n# 192.0.2.9 no.test\n192.0.2.7\tNAS.test nas # mine\n2001:db8::7 nas.test\nx y\n',
    )
    expect([...hosts]).toEqual([
      ['localhost', ['127.0.0.1']],
      ['nas.test', ['192.0.2.7', '2001:db8::7']],
      ['nas', ['192.0.2.7']],
    ])
    const { resolver, asked } = resolverOf(() => ({ kind: 'silent' }), { hosts: name => hosts.get(name) })
    expect(await resolver.addresses('nas.test', 6)).toEqual(['2001:db8::7'])
    expect(asked).toEqual([])
  })

  test('are asked of the system: without a dot, below .local, and with a search list all that DNS does not find', async () => {
    const system: string[] = []
    const more = {
      system: async (name: string) => {
        system.push(name)
        return ['192.0.2.5']
      },
    }
    const { resolver, asked } = resolverOf(() => ({ kind: 'no_such_name', ttl: 60 }), more)
    expect(await resolver.addresses('nas', 4)).toEqual(['192.0.2.5'])
    expect(await resolver.addresses('printer.local', 4)).toEqual(['192.0.2.5'])
    expect(asked).toEqual([])
    await expect(resolver.addresses('db.prod', 4)).rejects.toThrow('NXDOMAIN')
    const searching = resolverOf(() => ({ kind: 'no_such_name', ttl: 60 }), { ...more, hasSearchList: () => true })
    expect(await searching.resolver.addresses('db.prod', 4)).toEqual(['192.0.2.5'])
    expect(system).toEqual(['nas', 'printer.local', 'db.prod'])
  })
})
