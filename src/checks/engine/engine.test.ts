import { describe, expect, test } from 'bun:test'
import { bad, engineOf, found, good, namesOf, spec, typeOf } from '../../../test/support/engine'
import type { CheckResult, CheckSpec, Facts } from '../check'
import { evidenceOf, redactorFor } from './evidence'
import type { ToEngine } from '../messages'

const configure = (upsert: CheckSpec[], full = true): ToEngine => ({ kind: 'configure', full, upsert, remove: [] })
const never = () => new Promise<Facts>(() => {})

describe('the schedule', () => {
  test('new and edited monitors run at once, the others on schedule', async () => {
    const { engine, clock, results } = engineOf(typeOf(async () => good()))
    const all = Array.from({ length: 100 }, (_, n) => spec(`mon_${n}`))
    engine.handle(configure([...all, spec('new', { confirmed_status: 'new' })]))
    await clock.advance(400)
    expect(results.map(one => one.monitor)).toContain('new')
    expect(results.length).toBeLessThan(8)
    await clock.advance(30_000)
    expect(new Set(results.map(one => one.monitor)).size).toBe(101)
    const before = results.length
    engine.handle(configure([spec('mon_1', { revision: 2 })], false))
    await clock.advance(400)
    expect(results.slice(before)).toContainEqual(expect.objectContaining({ monitor: 'mon_1', revision: 2 }))
    expect(results.length - before).toBeLessThan(8)
  })

  test('sending the same configuration again does not change the schedule, and monitors missing from a full one stop', async () => {
    const { engine, clock, results, pulses } = engineOf(typeOf(async () => good()))
    engine.handle(configure([spec('mon_1'), spec('mon_2')]))
    for (let n = 0; n < 10; n++) {
      await clock.advance(7000)
      engine.handle(configure([spec('mon_1')]))
    }
    await clock.advance(250)
    const due = results.filter(one => one.monitor === 'mon_1').map(one => one.due_at)
    expect(due.length).toBeGreaterThanOrEqual(2)
    expect(due.every((at, n) => n === 0 || at - due[n - 1]! === 30_000)).toBe(true)
    expect(results.filter(one => one.monitor === 'mon_2').length).toBeLessThanOrEqual(1)
    expect(pulses.at(-1)!.monitors).toBe(1)
  })

  test('a run is skipped and counted while the previous one is still running', async () => {
    const { engine, clock, results, pulses } = engineOf(typeOf(never))
    engine.handle(configure([spec('mon_1', { interval_ms: 10_000, timeout_ms: 60_000, confirmed_status: 'down' })]))
    await clock.advance(41_000)
    // A type that ignores the abort has two seconds of grace, so every other run is skipped.
    expect(results.length).toBeGreaterThanOrEqual(2)
    expect(results.every(({ error }) => error!.kind === 'timeout')).toBe(true)
    expect(pulses.at(-1)!.skipped).toBeGreaterThanOrEqual(1)
    expect(pulses.at(-1)!.in_flight).toBeLessThanOrEqual(1)
  })

  test('the number of checks in flight is limited; requested runs wait, and scheduled ones are skipped', async () => {
    let running = 0
    let max = 0
    const ends: (() => void)[] = []
    const type = typeOf(async () => {
      max = Math.max(max, ++running)
      await new Promise<void>(resolve => ends.push(resolve))
      running--
      return good()
    })
    const { engine, clock, results, pulses } = engineOf(type, () => ({ maxInFlight: 5 }))
    engine.handle(configure(Array.from({ length: 20 }, (_, n) => spec(`mon_${n}`, { confirmed_status: 'new' }))))
    await clock.advance(1000)
    engine.handle({ kind: 'run_now', monitors: ['mon_19'], nonce: 'now' })
    await clock.advance(1000)
    expect(max).toBe(5)
    expect(pulses.at(-1)!.in_flight).toBe(5)
    expect(pulses.at(-1)!.skipped).toBeGreaterThanOrEqual(15)
    ends.shift()!()
    await clock.advance(100)
    ends.pop()!()
    await clock.advance(300)
    expect(results.map(one => one.nonce)).toContain('now')
    expect(max).toBe(5)
  })
})

describe('results that contradict the confirmed status', () => {
  test('a failure is retried soon, then at the retry interval, and once confirmed runs on schedule', async () => {
    const { engine, clock, results } = engineOf(typeOf(async () => bad()))
    engine.handle(configure([spec('mon_1', { confirm: 4, retry_interval_ms: 5000 })]))
    await clock.advance(120_000)
    const gaps = results.map((one, n) => (n === 0 ? 0 : one.at - results[n - 1]!.at))
    expect(gaps.slice(1, 4)).toEqual([2000, 5000, 5000])
    expect(gaps[4]).toBeGreaterThanOrEqual(15_000)
    expect(gaps[4]).toBeLessThanOrEqual(45_000)
    expect(gaps.slice(5)).toEqual(gaps.slice(5).map(() => 30_000))
  })

  test('a recovery too', async () => {
    const { engine, clock, results } = engineOf(typeOf(async () => good()))
    engine.handle(configure([spec('mon_1', { recover: 3, retry_interval_ms: 5000, confirmed_status: 'down' })]))
    await clock.advance(60_000)
    expect(results.slice(1, 3).map((one, n) => one.at - results[n]!.at)).toEqual([2000, 5000])
  })

  test('results that are not up or were requested are sent at once, the others batched for up to 250 ms', async () => {
    let facts = good()
    const { engine, clock, messages } = engineOf(typeOf(async () => facts))
    engine.handle(configure(Array.from({ length: 300 }, (_, n) => spec(`mon_${n}`))))
    await clock.advance(10_000)
    const sizes = () => messages.filter(one => one.kind === 'results').map(one => one.results.length)
    expect(sizes().length).toBeLessThanOrEqual(40)
    const before = sizes().length
    engine.handle({ kind: 'run_now', monitors: ['mon_1'], nonce: 'requested' })
    await clock.advance(50)
    expect(sizes().length).toBeGreaterThan(before)
    facts = bad()
    engine.handle({ kind: 'run_now', monitors: ['mon_2'], nonce: 'again' })
    await clock.advance(50)
    expect(messages.flatMap(one => (one.kind === 'results' ? one.results : [])).at(-1)).toMatchObject({
      nonce: 'again',
      status: 'down',
    })
  })
})

describe('the content of a result', () => {
  test('shows no part of a secret where a long body is cut', () => {
    const secret = `changeme${'z'.repeat(5000)}`
    const { body } = evidenceOf(good({ body: secret.repeat(14) }), redactorFor({ password: secret }, { secrets: ['/password'] }))
    expect(body).not.toContain('change')
  })

  test('only results that are not up carry evidence, with echoed secrets redacted', async () => {
    const basic = Buffer.from('user:hunter22').toString('base64')
    const facts = (error: Facts['error']) =>
      good({
        error,
        status: 500,
        headers: { 'x-echo': 'hunter22' },
        body: `p=hunter22 ${basic} ${'é'.repeat(3000)}`,
        request: 'GET /',
      })
    let outcome = facts(null)
    const type = typeOf(async () => outcome, { secrets: ['/auth/password', 'headers/*'] })
    const { engine, clock, results } = engineOf(type)
    engine.handle(configure([spec('mon_1', { options: { auth: { password: 'hunter22' }, headers: { a: 'token-value' } } })]))
    await clock.advance(31_000)
    expect(results[0]).toMatchObject({ status: 'up', evidence: null, error: null, code: 500 })
    outcome = facts({ kind: 'status', message: 'Server responded with 500 to token-value.' })
    engine.handle({ kind: 'run_now', monitors: ['mon_1'], nonce: 'n' })
    await clock.advance(100)
    const down = results.at(-1)!
    expect(down).toMatchObject({ status: 'down', error: { message: 'Server responded with 500 to [secret].' } })
    expect(down.evidence).toMatchObject({ status: 500, headers: { 'x-echo': '[secret]' }, body_truncated: true })
    expect(Buffer.byteLength(down.evidence!.body!)).toBeLessThanOrEqual(4096)
    expect(JSON.stringify(down)).not.toContain('hunter22')
    expect(JSON.stringify(down)).not.toContain(basic.slice(-10, -2))
  })

  test('conditions are evaluated and report the observed value', async () => {
    const { engine, clock, results } = engineOf(
      typeOf(async () => good({ status: 503, phases: { ...good().phases, total: 900 } })),
    )
    engine.handle(
      configure([
        spec('a', { down_if: ['[STATUS] >= 500'], confirmed_status: 'new' }),
        spec('b', { degraded_ms: 500, confirmed_status: 'new' }),
      ]),
    )
    await clock.advance(300)
    const of = (id: string) => results.find(one => one.monitor === id)
    expect(of('a')).toMatchObject({ status: 'down', conditions: [{ level: 'down', index: 0 }], evidence: { status: 503 } })
    expect(of('b')).toMatchObject({ status: 'degraded', error: { kind: 'condition' } })
  })

  test('a check type that throws, never ends or is unknown is reported as an error', async () => {
    const cases: [ReturnType<typeof typeOf> | undefined, string][] = [
      [typeOf(() => Promise.reject(new TypeError('x'))), 'internal'],
      [
        typeOf(() => {
          throw new Error('x')
        }),
        'internal',
      ],
      [typeOf(never), 'timeout'],
      [undefined, 'unsupported'],
    ]
    for (const [type, kind] of cases) {
      const { engine, clock, results, pulses } = engineOf(type)
      engine.handle(configure([spec('mon_1', { confirmed_status: 'new', timeout_ms: 3000, confirm: 1 })]))
      await clock.advance(7000)
      expect(results[0]).toMatchObject({ status: 'down', error: { kind } })
      expect(pulses.at(-1)!.in_flight).toBe(0)
    }
  })

  test('a run of a replaced configuration reports nothing', async () => {
    const ends: (() => void)[] = []
    const { engine, clock, results } = engineOf(
      typeOf(async () => {
        await new Promise<void>(resolve => ends.push(resolve))
        return bad()
      }),
    )
    engine.handle(configure([spec('mon_1', { confirmed_status: 'new' })]))
    await clock.advance(200)
    engine.handle(configure([spec('mon_1', { revision: 2 })], false))
    await clock.advance(200)
    for (const end of ends) end()
    await clock.advance(50)
    expect(results.map(one => one.revision)).toEqual([2])
  })
})

describe('concurrency limits', () => {
  const crowd = (count: number, more: object) =>
    Array.from({ length: count }, (_, n) => spec(`mon_${n}`, { confirmed_status: 'new', ...more }))
  /** Keeps each check running until released, and records how long it believes it durations. */
  function blocking() {
    let running = 0
    const seen = { max: 0, durations: [] as number[], ends: [] as (() => void)[] }
    const type = typeOf(async (target, _, context) => {
      const [host, port] = target.split(':')
      const since = context.now()
      await context.vet(host!, Number(port))
      seen.max = Math.max(seen.max, ++running)
      await new Promise<void>(resolve => seen.ends.push(resolve))
      running--
      seen.durations.push(context.now() - since)
      return good()
    })
    return { seen, type }
  }

  test('eight checks run at one address at once; the others wait, and waiting does not count as response time', async () => {
    const { seen, type } = blocking()
    const { engine, clock, results } = engineOf(type)
    engine.handle(configure(crowd(20, {})))
    await clock.advance(2000)
    expect(seen.max).toBe(8)
    while (seen.ends.length > 0) {
      seen.ends.shift()!()
      await clock.advance(25)
    }
    await clock.advance(300)
    expect(seen.max).toBe(8)
    expect(results.length).toBe(20)
    expect(Math.max(...seen.durations.slice(-5))).toBeLessThan(1000)
  })

  test('two if their interval is below ten seconds', async () => {
    const { seen, type } = blocking()
    const { engine, clock } = engineOf(type)
    engine.handle(configure(crowd(6, { interval_ms: 5000, timeout_ms: 5000 })))
    await clock.advance(1500)
    expect(seen.max).toBe(2)
  })

  test('checks of an unresponsive server still report it as down', async () => {
    const { type } = blocking()
    const { engine, clock, results } = engineOf(type)
    engine.handle(configure(crowd(40, { timeout_ms: 10_000 })))
    await clock.advance(30_000)
    expect(new Set(results.filter(one => one.status === 'down').map(one => one.monitor)).size).toBe(40)
  })
})

test('the name server of the hub can only be reached with DNS queries', async () => {
  const type = typeOf(async (target, _, context) => {
    await context.vet('127.0.0.1', 5300, undefined, target === 'query' ? 'dns_query' : 'any')
    return good()
  })
  const { engine, clock, results } = engineOf(type)
  engine.handle({ kind: 'hub_listeners', listeners: [{ address: '::', port: 5300, isNameServer: true }] })
  engine.handle(configure(['query', 'connection'].map(target => spec(target, { target, confirmed_status: 'new' }))))
  await clock.advance(1000)
  expect(results.map(one => [one.monitor, one.error === null])).toEqual(
    expect.arrayContaining([
      ['query', true],
      ['connection', false],
    ]),
  )
})

test('a response that arrived while the event loop was blocked is read before the check times out', async () => {
  const { engine, clock, results } = engineOf(undefined, clock => ({
    typeOf: () => typeOf(() => new Promise(resolve => clock.after(10_100, () => resolve(good())))),
  }))
  engine.handle(configure([spec('mon_1', { confirmed_status: 'new' })]))
  await clock.advance(200)
  clock.block(15_000)
  await clock.advance(500)
  expect(results).toMatchObject([{ status: 'up' }])
})

describe('an impaired engine', () => {
  const looking = typeOf(async (target, _, context) => {
    try {
      await context.vet(target, 443)
      return good()
    } catch (error) {
      return { ...good(), connected: false, error: { kind: 'dns', message: (error as Error).message } }
    }
  })
  const named = (count: number, confirmed: 'new' | 'up' = 'up') =>
    Array.from({ length: count }, (_, n) => spec(`mon_${n}`, { target: `www.d${n}.test`, confirmed_status: confirmed }))

  test('cached names stay usable while the resolvers are down, and no check fails', async () => {
    let dead = false
    const { engine, clock, results, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async () => (dead ? { kind: 'timeout' } : found('192.0.2.1', 5))),
    }))
    engine.handle(configure(named(50)))
    await clock.advance(40_000)
    dead = true
    const before = results.length
    await clock.advance(300_000)
    expect(results.length - before).toBeGreaterThan(450)
    expect(results.filter(one => one.status !== 'up')).toEqual([])
    expect(pulses.at(-1)!.impaired).toBe(null)
  })

  test('resolvers that are down from the start are reported before any result, and results count again once they are back', async () => {
    let dead = true
    const { engine, clock, messages, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async () => (dead ? { kind: 'timeout' } : found('192.0.2.1'))),
    }))
    engine.handle(configure(named(50)))
    await clock.advance(60_000)
    const first = messages.findIndex(one => one.kind === 'results')
    const firstImpaired = messages.findIndex(one => one.kind === 'pulse' && one.pulse.impaired !== null)
    expect(firstImpaired).toBeGreaterThan(-1)
    expect(firstImpaired).toBeLessThan(first)
    // No retries: there is nothing to confirm.
    expect(pulses.at(-1)!.runs).toBeLessThanOrEqual(105)
    expect(pulses.at(-1)!.impaired).toMatch(/resolvers/)
    dead = false
    await clock.advance(2100)
    expect(pulses.at(-1)!.impaired).toBe(null)
    await clock.advance(31_000)
    const last = new Map<string, CheckResult>()
    for (const one of messages) if (one.kind === 'results') for (const result of one.results) last.set(result.monitor, result)
    expect([...last.values()].every(one => one.status === 'up')).toBe(true)
  })

  test('a check whose timeout is shorter than a DNS lookup is not reported as a target failure', async () => {
    const { engine, clock, messages } = engineOf(looking, clock => ({
      names: namesOf(clock, () => new Promise(resolve => clock.after(2000, () => resolve({ kind: 'timeout' })))),
    }))
    engine.handle(configure([spec('mon_1', { target: 'www.a.test', confirmed_status: 'new', timeout_ms: 1000, confirm: 1 })]))
    await clock.advance(5000)
    const first = messages.findIndex(one => one.kind === 'results')
    expect(messages.slice(0, first).findLast(one => one.kind === 'pulse')!.pulse.impaired).toMatch(/resolvers/)
  })

  test('names that do not exist are failures of the target, even if many of one domain disappear', async () => {
    let expired = false
    const { engine, clock, results, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async name =>
        expired && name.endsWith('shop.test') ? { kind: 'not_found', ttl: 60 } : found('192.0.2.1', 5),
      ),
    }))
    engine.handle(configure(Array.from({ length: 20 }, (_, n) => spec(`mon_${n}`, { target: `h${n}.shop.test` }))))
    await clock.advance(40_000)
    expired = true
    await clock.advance(31_000)
    expect(new Set(results.filter(one => one.error?.kind === 'dns').map(one => one.monitor)).size).toBe(20)
    expect(pulses.at(-1)!.impaired).toBe(null)
  })

  test('resolvers that suddenly lose half of all names are not trusted', async () => {
    let lying = false
    const { engine, clock, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async name =>
        lying && !name.startsWith('bw-') ? { kind: 'not_found', ttl: 60 } : found('192.0.2.1', 5),
      ),
    }))
    engine.handle(configure(named(20)))
    await clock.advance(40_000)
    lying = true
    await clock.advance(31_000)
    const { runs } = pulses.at(-1)!
    await clock.advance(60_000)
    expect(pulses.at(-1)!.runs - runs).toBeLessThan(50)
  })

  test('losing the default route is reported, never having had one is not', async () => {
    let route = true
    const { engine, clock, pulses } = engineOf(
      typeOf(async () => bad()),
      () => ({ defaultRoute: () => route }),
    )
    engine.handle(configure([spec('mon_1')]))
    await clock.advance(2000)
    expect(pulses.at(-1)!.impaired).toBe(null)
    route = false
    await clock.advance(1000)
    expect(pulses.at(-1)!.impaired).toMatch(/route/)
    route = true
    await clock.advance(1000)
    expect(pulses.at(-1)!.impaired).toBe(null)
    const island = engineOf(
      typeOf(async () => good()),
      () => ({ defaultRoute: () => false }),
    )
    await island.clock.advance(3000)
    expect(island.pulses.at(-1)!.impaired).toBe(null)
  })
})

test('the pulse reports event loop stalls and late checks', async () => {
  const { engine, clock, pulses } = engineOf(typeOf(async () => good()))
  engine.handle(configure(Array.from({ length: 1000 }, (_, n) => spec(`mon_${n}`, { interval_ms: 10_000 }))))
  await clock.advance(5000)
  expect(pulses.at(-1)).toMatchObject({ monitors: 1000, skipped: 0, impaired: null })
  expect(pulses.at(-1)!.block_ms).toBeLessThan(30)
  expect(pulses.at(-1)!.lag_p99_ms).toBeLessThan(100)
  clock.block(700)
  await clock.advance(1000)
  expect(pulses.at(-1)!.block_ms).toBeGreaterThanOrEqual(650)
  expect(pulses.at(-1)!.lag_p99_ms).toBeGreaterThan(400)
  await clock.advance(61_000)
  expect(pulses.at(-1)!.block_ms).toBeLessThan(30)
})

test('after a stop it starts nothing and reports nothing', async () => {
  const { engine, clock, messages } = engineOf(typeOf(async () => good()))
  engine.handle(configure([spec('mon_1', { confirmed_status: 'new' })]))
  await clock.advance(1000)
  engine.handle({ kind: 'stop' })
  const before = messages.length
  await clock.advance(60_000)
  expect(messages.length).toBe(before)
})
