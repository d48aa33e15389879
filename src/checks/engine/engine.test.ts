import { describe, expect, test } from 'bun:test'
import { bad, engineOf, found, good, namesOf, spec, typeOf } from '../../../test/support/engine'
import type { CheckResult, CheckSpec, Facts } from '../check'
import type { ToEngine } from '../messages'

const configure = (upsert: CheckSpec[], full = true): ToEngine => ({ kind: 'configure', full, upsert, remove: [] })
const never = () => new Promise<Facts>(() => {})

describe('turns', () => {
  test('a new monitor and an edited one run at once, the others when their turn is', async () => {
    const { engine, clock, results } = engineOf(typeOf(async () => good()))
    const all = Array.from({ length: 100 }, (_, n) => spec(`mon_${n}`))
    engine.take(configure([...all, spec('new', { settled: 'new' })]))
    await clock.pass(400)
    expect(results.map(one => one.monitor)).toContain('new')
    expect(results.length).toBeLessThan(8)
    await clock.pass(30_000)
    expect(new Set(results.map(one => one.monitor)).size).toBe(101)
    const before = results.length
    engine.take(configure([spec('mon_1', { revision: 2 })], false))
    await clock.pass(400)
    expect(results.slice(before)).toContainEqual(expect.objectContaining({ monitor: 'mon_1', revision: 2 }))
    expect(results.length - before).toBeLessThan(8)
  })

  test('the same configuration once more changes nothing of when it runs, and what is left out of a full one runs no more', async () => {
    const { engine, clock, results, pulses } = engineOf(typeOf(async () => good()))
    engine.take(configure([spec('mon_1'), spec('mon_2')]))
    for (let n = 0; n < 10; n++) {
      await clock.pass(7000)
      engine.take(configure([spec('mon_1')]))
    }
    await clock.pass(250)
    const due = results.filter(one => one.monitor === 'mon_1').map(one => one.due_at)
    expect(due.length).toBeGreaterThanOrEqual(2)
    expect(due.every((at, n) => n === 0 || at - due[n - 1]! === 30_000)).toBe(true)
    expect(results.filter(one => one.monitor === 'mon_2').length).toBeLessThanOrEqual(1)
    expect(pulses.at(-1)!.monitors).toBe(1)
  })

  test('a turn is left out while the run before has not ended, and counted', async () => {
    const { engine, clock, results, pulses } = engineOf(typeOf(never))
    engine.take(configure([spec('mon_1', { interval_ms: 10_000, timeout_ms: 60_000, settled: 'down' })]))
    await clock.pass(41_000)
    // A type that does not end when it is told to has two seconds of grace, so that every other turn falls into its run.
    expect(results.length).toBeGreaterThanOrEqual(2)
    expect(results.every(({ error }) => error!.kind === 'timeout')).toBe(true)
    expect(pulses.at(-1)!.skipped).toBeGreaterThanOrEqual(1)
    expect(pulses.at(-1)!.in_flight).toBeLessThanOrEqual(1)
  })

  test('no more are in flight than files may be open; who asks waits, and turns are left out', async () => {
    let running = 0
    let most = 0
    const ends: (() => void)[] = []
    const type = typeOf(async () => {
      most = Math.max(most, ++running)
      await new Promise<void>(resolve => ends.push(resolve))
      running--
      return good()
    })
    const { engine, clock, results, pulses } = engineOf(type, () => ({ mostInFlight: 5 }))
    engine.take(configure(Array.from({ length: 20 }, (_, n) => spec(`mon_${n}`, { settled: 'new' }))))
    await clock.pass(1000)
    engine.take({ kind: 'run_now', monitors: ['mon_19'], nonce: 'now' })
    await clock.pass(1000)
    expect(most).toBe(5)
    expect(pulses.at(-1)!.in_flight).toBe(5)
    expect(pulses.at(-1)!.skipped).toBeGreaterThanOrEqual(15)
    ends.shift()!()
    await clock.pass(100)
    ends.pop()!()
    await clock.pass(300)
    expect(results.map(one => one.nonce)).toContain('now')
    expect(most).toBe(5)
  })
})

describe('results that speak against how it stands', () => {
  test('a failure is looked at again soon, then at the pace of retries, and confirmed it goes on in turn', async () => {
    const { engine, clock, results } = engineOf(typeOf(async () => bad()))
    engine.take(configure([spec('mon_1', { confirm: 4, retry_interval_ms: 5000 })]))
    await clock.pass(120_000)
    const gaps = results.map((one, n) => (n === 0 ? 0 : one.at - results[n - 1]!.at))
    expect(gaps.slice(1, 4)).toEqual([2000, 5000, 5000])
    expect(gaps[4]).toBeGreaterThanOrEqual(15_000)
    expect(gaps[4]).toBeLessThanOrEqual(45_000)
    expect(gaps.slice(5)).toEqual(gaps.slice(5).map(() => 30_000))
  })

  test('so is a recovery', async () => {
    const { engine, clock, results } = engineOf(typeOf(async () => good()))
    engine.take(configure([spec('mon_1', { recover: 3, retry_interval_ms: 5000, settled: 'down' })]))
    await clock.pass(60_000)
    expect(results.slice(1, 3).map((one, n) => one.at - results[n]!.at)).toEqual([2000, 5000])
  })

  test('one that is not up, or was asked for, goes at once; the others together for up to a quarter of a second', async () => {
    let answer = good()
    const { engine, clock, told } = engineOf(typeOf(async () => answer))
    engine.take(configure(Array.from({ length: 300 }, (_, n) => spec(`mon_${n}`))))
    await clock.pass(10_000)
    const sizes = () => told.filter(one => one.kind === 'results').map(one => one.results.length)
    expect(sizes().length).toBeLessThanOrEqual(40)
    const before = sizes().length
    engine.take({ kind: 'run_now', monitors: ['mon_1'], nonce: 'asked' })
    await clock.pass(50)
    expect(sizes().length).toBeGreaterThan(before)
    answer = bad()
    engine.take({ kind: 'run_now', monitors: ['mon_2'], nonce: 'again' })
    await clock.pass(50)
    expect(told.flatMap(one => (one.kind === 'results' ? one.results : [])).at(-1)).toMatchObject({
      nonce: 'again',
      status: 'down',
    })
  })
})

describe('what a result tells', () => {
  test('evidence is of those that are not up, without the secrets that came back', async () => {
    const basic = Buffer.from('user:hunter22').toString('base64')
    const facts = (error: Facts['error']) =>
      good({
        error,
        status: 500,
        headers: { 'x-echo': 'hunter22' },
        body: `p=hunter22 ${basic} ${'é'.repeat(3000)}`,
        request: 'GET /',
      })
    let answer = facts(null)
    const type = typeOf(async () => answer, { secrets: ['/auth/password', 'headers/*'] })
    const { engine, clock, results } = engineOf(type)
    engine.take(configure([spec('mon_1', { options: { auth: { password: 'hunter22' }, headers: { a: 'token-value' } } })]))
    await clock.pass(31_000)
    expect(results[0]).toMatchObject({ status: 'up', evidence: null, error: null, code: 500 })
    answer = facts({ kind: 'status', message: 'It answered 500 to token-value.' })
    engine.take({ kind: 'run_now', monitors: ['mon_1'], nonce: 'n' })
    await clock.pass(100)
    const down = results.at(-1)!
    expect(down).toMatchObject({ status: 'down', error: { message: 'It answered 500 to [secret].' } })
    expect(down.evidence).toMatchObject({ status: 500, headers: { 'x-echo': '[secret]' }, body_truncated: true })
    expect(Buffer.byteLength(down.evidence!.body!)).toBeLessThanOrEqual(4096)
    expect(JSON.stringify(down)).not.toContain('hunter22')
    expect(JSON.stringify(down)).not.toContain(basic.slice(-10, -2))
  })

  test('conditions are judged, and one of them names what it found', async () => {
    const { engine, clock, results } = engineOf(
      typeOf(async () => good({ status: 503, phases: { ...good().phases, total: 900 } })),
    )
    engine.take(
      configure([spec('a', { down_if: ['[STATUS] >= 500'], settled: 'new' }), spec('b', { degraded_ms: 500, settled: 'new' })]),
    )
    await clock.pass(300)
    const of = (id: string) => results.find(one => one.monitor === id)
    expect(of('a')).toMatchObject({ status: 'down', conditions: [{ level: 'down', index: 0 }], evidence: { status: 503 } })
    expect(of('b')).toMatchObject({ status: 'degraded', error: { kind: 'condition' } })
  })

  test('a type that throws, one that never ends and one that nobody knows are findings too', async () => {
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
      engine.take(configure([spec('mon_1', { settled: 'new', timeout_ms: 3000, confirm: 1 })]))
      await clock.pass(7000)
      expect(results[0]).toMatchObject({ status: 'down', error: { kind } })
      expect(pulses.at(-1)!.in_flight).toBe(0)
    }
  })

  test('a run of a configuration that has been replaced tells nobody anything', async () => {
    const ends: (() => void)[] = []
    const { engine, clock, results } = engineOf(
      typeOf(async () => {
        await new Promise<void>(resolve => ends.push(resolve))
        return bad()
      }),
    )
    engine.take(configure([spec('mon_1', { settled: 'new' })]))
    await clock.pass(200)
    engine.take(configure([spec('mon_1', { revision: 2 })], false))
    await clock.pass(200)
    for (const end of ends) end()
    await clock.pass(50)
    expect(results.map(one => one.revision)).toEqual([2])
  })
})

describe('places', () => {
  const crowd = (count: number, more: object) =>
    Array.from({ length: count }, (_, n) => spec(`mon_${n}`, { settled: 'new', ...more }))
  /** Holds each place until told, and notes how long the check thinks that it took. */
  function holding() {
    let running = 0
    const seen = { most: 0, took: [] as number[], ends: [] as (() => void)[] }
    const type = typeOf(async (target, _, around) => {
      const [host, port] = target.split(':')
      const since = around.now()
      await around.vet(host!, Number(port))
      seen.most = Math.max(seen.most, ++running)
      await new Promise<void>(resolve => seen.ends.push(resolve))
      running--
      seen.took.push(around.now() - since)
      return good()
    })
    return { seen, type }
  }

  test('eight checks are at one address at once; the others wait, and waiting is no slowness', async () => {
    const { seen, type } = holding()
    const { engine, clock, results } = engineOf(type)
    engine.take(configure(crowd(20, {})))
    await clock.pass(2000)
    expect(seen.most).toBe(8)
    while (seen.ends.length > 0) {
      seen.ends.shift()!()
      await clock.pass(25)
    }
    await clock.pass(300)
    expect(seen.most).toBe(8)
    expect(results.length).toBe(20)
    expect(Math.max(...seen.took.slice(-5))).toBeLessThan(1000)
  })

  test('two where they come round in less than ten seconds', async () => {
    const { seen, type } = holding()
    const { engine, clock } = engineOf(type)
    engine.take(configure(crowd(6, { interval_ms: 5000, timeout_ms: 5000 })))
    await clock.pass(1500)
    expect(seen.most).toBe(2)
  })

  test('a server that is silent does not keep the checks of it from finding that out', async () => {
    const { type } = holding()
    const { engine, clock, results } = engineOf(type)
    engine.take(configure(crowd(40, { timeout_ms: 10_000 })))
    await clock.pass(30_000)
    expect(new Set(results.filter(one => one.status === 'down').map(one => one.monitor)).size).toBe(40)
  })
})

test('an answer that came while the loop stood still is read before the check is called late', async () => {
  const { engine, clock, results } = engineOf(undefined, clock => ({
    typeOf: () => typeOf(() => new Promise(resolve => clock.after(10_100, () => resolve(good())))),
  }))
  engine.take(configure([spec('mon_1', { settled: 'new' })]))
  await clock.pass(200)
  clock.block(15_000)
  await clock.pass(500)
  expect(results).toMatchObject([{ status: 'up' }])
})

describe('an engine that cannot see', () => {
  const looking = typeOf(async (target, _, around) => {
    try {
      await around.vet(target, 443)
      return good()
    } catch (error) {
      return { ...good(), connected: false, error: { kind: 'dns', message: (error as Error).message } }
    }
  })
  const named = (count: number, settled: 'new' | 'up' = 'up') =>
    Array.from({ length: count }, (_, n) => spec(`mon_${n}`, { target: `www.d${n}.test`, settled }))

  test('names that were found stay known while the resolvers are dead: nothing fails', async () => {
    let dead = false
    const { engine, clock, results, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async () => (dead ? { kind: 'silent' } : found('192.0.2.1', 5))),
    }))
    engine.take(configure(named(50)))
    await clock.pass(40_000)
    dead = true
    const before = results.length
    await clock.pass(300_000)
    expect(results.length - before).toBeGreaterThan(450)
    expect(results.filter(one => one.status !== 'up')).toEqual([])
    expect(pulses.at(-1)!.impaired).toBe(null)
  })

  test('resolvers that are dead from the start make it say so before any result, and it votes again when they are back', async () => {
    let dead = true
    const { engine, clock, told, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async () => (dead ? { kind: 'silent' } : found('192.0.2.1'))),
    }))
    engine.take(configure(named(50)))
    await clock.pass(60_000)
    const first = told.findIndex(one => one.kind === 'results')
    const firstImpaired = told.findIndex(one => one.kind === 'pulse' && one.pulse.impaired !== null)
    expect(firstImpaired).toBeGreaterThan(-1)
    expect(firstImpaired).toBeLessThan(first)
    // No retries: there is nothing to confirm.
    expect(pulses.at(-1)!.runs).toBeLessThanOrEqual(105)
    expect(pulses.at(-1)!.impaired).toMatch(/resolvers/)
    dead = false
    await clock.pass(2100)
    expect(pulses.at(-1)!.impaired).toBe(null)
    await clock.pass(31_000)
    const last = new Map<string, CheckResult>()
    for (const one of told) if (one.kind === 'results') for (const result of one.results) last.set(result.monitor, result)
    expect([...last.values()].every(one => one.status === 'up')).toBe(true)
  })

  test('a check with less time than a lookup may take is no alarm either', async () => {
    const { engine, clock, told } = engineOf(looking, clock => ({
      names: namesOf(clock, () => new Promise(resolve => clock.after(2000, () => resolve({ kind: 'silent' })))),
    }))
    engine.take(configure([spec('mon_1', { target: 'www.a.test', settled: 'new', timeout_ms: 1000, confirm: 1 })]))
    await clock.pass(5000)
    const first = told.findIndex(one => one.kind === 'results')
    expect(told.slice(0, first).findLast(one => one.kind === 'pulse')!.pulse.impaired).toMatch(/resolvers/)
  })

  test('a name that does not exist is a finding, however many of one domain there are', async () => {
    let expired = false
    const { engine, clock, results, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async name =>
        expired && name.endsWith('shop.test') ? { kind: 'no_such_name', ttl: 60 } : found('192.0.2.1', 5),
      ),
    }))
    engine.take(configure(Array.from({ length: 20 }, (_, n) => spec(`mon_${n}`, { target: `h${n}.shop.test` }))))
    await clock.pass(40_000)
    expired = true
    await clock.pass(31_000)
    expect(new Set(results.filter(one => one.error?.kind === 'dns').map(one => one.monitor)).size).toBe(20)
    expect(pulses.at(-1)!.impaired).toBe(null)
  })

  test('resolvers that suddenly know half of all names no longer are not believed', async () => {
    let lying = false
    const { engine, clock, pulses } = engineOf(looking, clock => ({
      names: namesOf(clock, async name =>
        lying && !name.startsWith('bw-') ? { kind: 'no_such_name', ttl: 60 } : found('192.0.2.1', 5),
      ),
    }))
    engine.take(configure(named(20)))
    await clock.pass(40_000)
    lying = true
    await clock.pass(31_000)
    const { runs } = pulses.at(-1)!
    await clock.pass(60_000)
    expect(pulses.at(-1)!.runs - runs).toBeLessThan(50)
  })

  test('a machine that has lost its route says so, and one that never had one does not', async () => {
    let route = true
    const { engine, clock, pulses } = engineOf(
      typeOf(async () => bad()),
      () => ({ defaultRoute: () => route }),
    )
    engine.take(configure([spec('mon_1')]))
    await clock.pass(2000)
    expect(pulses.at(-1)!.impaired).toBe(null)
    route = false
    await clock.pass(1000)
    expect(pulses.at(-1)!.impaired).toMatch(/route/)
    route = true
    await clock.pass(1000)
    expect(pulses.at(-1)!.impaired).toBe(null)
    const island = engineOf(
      typeOf(async () => good()),
      () => ({ defaultRoute: () => false }),
    )
    await island.clock.pass(3000)
    expect(island.pulses.at(-1)!.impaired).toBe(null)
  })
})

test('the pulse tells of a loop that stood still and of checks that began late', async () => {
  const { engine, clock, pulses } = engineOf(typeOf(async () => good()))
  engine.take(configure(Array.from({ length: 1000 }, (_, n) => spec(`mon_${n}`, { interval_ms: 10_000 }))))
  await clock.pass(5000)
  expect(pulses.at(-1)).toMatchObject({ monitors: 1000, skipped: 0, impaired: null })
  expect(pulses.at(-1)!.block_ms).toBeLessThan(30)
  expect(pulses.at(-1)!.lag_p99_ms).toBeLessThan(100)
  clock.block(700)
  await clock.pass(1000)
  expect(pulses.at(-1)!.block_ms).toBeGreaterThanOrEqual(650)
  expect(pulses.at(-1)!.lag_p99_ms).toBeGreaterThan(400)
  await clock.pass(61_000)
  expect(pulses.at(-1)!.block_ms).toBeLessThan(30)
})

test('after it has been stopped it begins nothing and tells nothing', async () => {
  const { engine, clock, told } = engineOf(typeOf(async () => good()))
  engine.take(configure([spec('mon_1', { settled: 'new' })]))
  await clock.pass(1000)
  engine.take({ kind: 'stop' })
  const before = told.length
  await clock.pass(60_000)
  expect(told.length).toBe(before)
})
