import { describe, expect, test } from 'bun:test'
import { ManualEngineClock } from '../../../test/support/engine-clock'
import { found, namesOf } from '../../../test/support/engine'
import { addressesByHost } from './hosts-file'
import type { LookupResult } from './name-lookup'
import { CheckResolver, type ResolverDependencies } from './resolver'

function resolverOf(
  answer: (name: string, family: string) => LookupResult | Promise<LookupResult>,
  more: Partial<ResolverDependencies> = {},
) {
  const clock = new ManualEngineClock()
  const queried: string[] = []
  const lookUp = async (name: string, family: string) => {
    // Probes of the resolver's health are not counted.
    if (!name.startsWith('bw-')) queried.push(`${family} ${name}`)
    return answer(name, family)
  }
  return { resolver: new CheckResolver({ ...namesOf(clock, lookUp), ...more }), clock, queried }
}

const onlyA =
  (address: string, ttl: number) =>
  (_: string, family: string): LookupResult =>
    family === 'A' ? found(address, ttl) : { kind: 'found', addresses: [], ttl: 60 }

describe('answers', () => {
  test('are cached for their TTL, at least a second and at most five minutes', async () => {
    for (const [ttl, cachedMs] of [
      [0, 1000],
      [30, 30_000],
      [86_400, 300_000],
    ] as const) {
      const { resolver, clock, queried } = resolverOf(() => found('192.0.2.1', ttl))
      expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
      await clock.advance(cachedMs - 25)
      await resolver.addresses('a.test', 4)
      expect(queried).toEqual(['A a.test'])
      await clock.advance(50)
      await resolver.addresses('a.test', 4)
      expect(queried.length).toBe(2)
      expect(resolver.counts).toEqual({ hits: 1, misses: 2, failures: 0 })
    }
  })

  test('are queried once, however many lookups wait for them', async () => {
    const answer = Promise.withResolvers<LookupResult>()
    const { resolver, queried } = resolverOf(() => answer.promise)
    const all = Array.from({ length: 50 }, () => resolver.addresses('a.test', 4))
    answer.resolve(found('192.0.2.1'))
    expect(new Set((await Promise.all(all)).flat())).toEqual(new Set(['192.0.2.1']))
    expect(queried.length).toBe(1)
  })

  test('of both families start with the family this machine can reach', async () => {
    const both = (_: string, family: string) => found(family === 'A' ? '192.0.2.1' : '2001:db8::1')
    expect(await resolverOf(both).resolver.addresses('a.test')).toEqual(['192.0.2.1', '2001:db8::1'])
    const { resolver } = resolverOf(both, { prefersIPv6: () => true })
    expect(await resolver.addresses('a.test')).toEqual(['2001:db8::1', '192.0.2.1'])
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
    await expect(resolverOf(onlyA('192.0.2.1', 60)).resolver.addresses('a.test', 6)).rejects.toThrow(
      'The hostname has no IPv6 address.',
    )
  })

  test('of one family do not wait long for the other', async () => {
    const { resolver, clock } = resolverOf((_, family) => (family === 'A' ? found('192.0.2.1') : new Promise<never>(() => {})))
    const lookup = resolver.addresses('a.test')
    await clock.advance(400)
    expect(await lookup).toEqual(['192.0.2.1'])
  })

  test('that a name does not exist are cached for five seconds', async () => {
    let there = false
    const { resolver, clock, queried } = resolverOf(() => (there ? found('192.0.2.1') : { kind: 'not_found', ttl: 60 }))
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('NXDOMAIN')
    await clock.advance(1000)
    there = true
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('NXDOMAIN')
    expect(queried.length).toBe(1)
    await clock.advance(4500)
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
  })

  test('that are errors only fail the lookup of that name', async () => {
    const { resolver } = resolverOf(name => (name === 'a.test' ? { kind: 'failed', rcode: 'SERVFAIL' } : found('192.0.2.1')))
    await resolver.addresses('b.test', 4)
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('SERVFAIL')
    expect(resolver.health.problem).toBe(null)
  })
})

describe('unreachable resolvers', () => {
  test('leave cached names usable for an hour', async () => {
    let dead = false
    const { resolver, clock } = resolverOf(() => (dead ? { kind: 'timeout' } : found('192.0.2.1', 10)))
    await resolver.addresses('a.test', 4)
    dead = true
    await clock.advance(3_000_000)
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
    expect(resolver.isImpaired).toBe(false)
    await clock.advance(700_000)
    await expect(resolver.addresses('a.test', 4)).rejects.toThrow('The resolvers of this machine do not respond.')
    await clock.advance(25)
    expect(resolver.isImpaired).toBe(true)
    dead = false
    await clock.advance(1000)
    await resolver.recheckHealth()
    expect(resolver.isImpaired).toBe(false)
  })

  test('and resolvers without internet access are distinguished from a single broken name', async () => {
    let upstream = true
    const { resolver, clock } = resolverOf(name =>
      name === 'broken.test' || !upstream ? { kind: 'failed', rcode: 'SERVFAIL' } : found('192.0.2.1', 10),
    )
    await resolver.addresses('a.test', 4)
    await clock.advance(11_000)
    await expect(resolver.addresses('broken.test', 4)).rejects.toThrow('the resolver returned SERVFAIL')
    await clock.advance(1000)
    upstream = false
    expect(await resolver.addresses('a.test', 4)).toEqual(['192.0.2.1'])
    expect(resolver.health.problem).toBe('The resolvers of this machine only return errors.')
  })

  test('are distinguished from an isolated network, in which the reference names are never found', async () => {
    const { resolver, clock } = resolverOf(name => (name === 'nas.lan.test' ? found('192.0.2.1', 1) : { kind: 'timeout' }))
    await resolver.addresses('nas.lan.test', 4)
    await clock.advance(2000)
    await expect(resolver.addresses('gone.lan.test', 4)).rejects.toThrow('no resolver responded in time')
    await clock.advance(100)
    expect(resolver.health.problem).toBe(null)
  })
})

describe('names that DNS does not know', () => {
  test('come from the hosts file first', async () => {
    const hosts = addressesByHost(
      '127.0.0.1 localhost\n# 192.0.2.9 no.test\n192.0.2.7\tNAS.test nas # mine\n2001:db8::7 nas.test\nx y\n',
    )
    expect([...hosts]).toEqual([
      ['localhost', ['127.0.0.1']],
      ['nas.test', ['192.0.2.7', '2001:db8::7']],
      ['nas', ['192.0.2.7']],
    ])
    const { resolver, queried } = resolverOf(() => ({ kind: 'timeout' }), { hosts: name => hosts.get(name) })
    expect(await resolver.addresses('nas.test', 6)).toEqual(['2001:db8::7'])
    expect(queried).toEqual([])
  })

  test('are resolved by the system: without a dot, below .local, and with a search list, everything DNS does not find', async () => {
    const system: string[] = []
    const more = {
      system: async (name: string) => {
        system.push(name)
        return ['192.0.2.5']
      },
    }
    const { resolver, queried } = resolverOf(() => ({ kind: 'not_found', ttl: 60 }), more)
    expect(await resolver.addresses('nas', 4)).toEqual(['192.0.2.5'])
    expect(await resolver.addresses('printer.local', 4)).toEqual(['192.0.2.5'])
    expect(queried).toEqual([])
    await expect(resolver.addresses('db.prod', 4)).rejects.toThrow('NXDOMAIN')
    const searching = resolverOf(() => ({ kind: 'not_found', ttl: 60 }), { ...more, hasSearchList: () => true })
    expect(await searching.resolver.addresses('db.prod', 4)).toEqual(['192.0.2.5'])
    expect(system).toEqual(['nas', 'printer.local', 'db.prod'])
  })
})
