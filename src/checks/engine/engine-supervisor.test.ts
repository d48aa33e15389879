import { afterEach, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { spec } from '../../../test/support/engine'
import { ManualClock } from '../../../test/support/manual-clock'
import { openLog } from '../../core/log'
import type { Resolver } from '../../core/net/resolvers'
import type { CheckResult, CheckSpec } from '../check'
import { partsToSend, type FromEngine, type ToEngine } from '../messages'
import { EngineSupervisor } from './engine-supervisor'

const entry = resolve('test/support/checks-thread.ts')
const open: EngineSupervisor[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(supervisor => supervisor.stop()))
})

/** A supervisor of a scripted thread; time on the hub's side is controlled by the test. */
function supervise(resolvers: Resolver[] | null = null) {
  const clock = new ManualClock()
  const log: string[] = []
  const supervisor = new EngineSupervisor({ entry, clock, log: openLog('error', { write: text => log.push(text) }), resolvers })
  const messages: FromEngine[] = []
  supervisor.onMessage(message => messages.push(message))
  open.push(supervisor)
  const results = (): CheckResult[] => messages.flatMap(one => (one.kind === 'results' ? one.results : []))
  return { clock, supervisor, messages, results, log }
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 2000) throw new Error('Timed out after 20 seconds.')
    await Bun.sleep(10)
  }
}

const configure = (upsert: CheckSpec[]): ToEngine => ({ kind: 'configure', full: false, upsert, remove: [] })
const runNow = (nonce: string, ...monitors: string[]): ToEngine => ({ kind: 'run_now', monitors, nonce })
const readies = (messages: FromEngine[]) => messages.filter(one => one.kind === 'ready').length

test('results arrive from the thread, and messages sent before it is ready are delivered', async () => {
  const { supervisor, messages, results } = supervise()
  supervisor.start()
  supervisor.send(configure([spec('mon_1', { confirmed_status: 'new' })]))
  await until(() => results().length > 0)
  expect(messages[0]).toMatchObject({ kind: 'ready', capabilities: { max_in_flight: expect.any(Number) } })
  expect(results()[0]).toMatchObject({ monitor: 'mon_1', status: 'up' })
})

test('a thread that dies is restarted with all monitors; results resume and none is repeated', async () => {
  const { clock, supervisor, messages, results, log } = supervise()
  supervisor.start()
  supervisor.send(configure([spec('mon_1'), spec('mon_2', { revision: 3 }), spec('left')]))
  supervisor.send({ kind: 'configure', full: false, upsert: [], remove: ['left'] })
  supervisor.send(runNow('before', 'mon_1'))
  await until(() => results().some(one => one.nonce === 'before'))
  supervisor.send(configure([spec('deadly', { target: 'die' })]))
  await until(() => log.some(entry => entry.includes('ended')))
  supervisor.send({ kind: 'configure', full: false, upsert: [], remove: ['deadly'] })
  // The restart follows the hub's clock; runs requested until then are lost, not deferred.
  supervisor.send(runNow('lost', 'mon_1'))
  expect(readies(messages)).toBe(1)
  clock.advance(1000)
  await until(() => readies(messages) === 2)
  supervisor.send(runNow('after', 'mon_1', 'mon_2', 'left'))
  await until(() => results().filter(one => one.nonce === 'after').length === 2)
  await Bun.sleep(300)
  const after = results().filter(one => one.nonce === 'after')
  expect(after.map(one => `${one.monitor} ${one.revision}`).sort()).toEqual(['mon_1 1', 'mon_2 3'])
  expect(results().filter(one => one.nonce === 'lost')).toEqual([])
  const keys = results().map(one => `${one.monitor} ${one.at} ${one.nonce}`)
  expect(new Set(keys).size).toBe(keys.length)
}, 180_000)

const blocks = (log: string[]) => log.filter(entry => entry.includes('a check blocked the check thread')).length

/** Lets the supervisor look until a check that hangs the thread has been found. */
async function untilBlocked(clock: ManualClock, log: string[]): Promise<void> {
  const before = blocks(log)
  // In small steps, so that the thread reaches the check first.
  for (let tries = 0; blocks(log) === before; tries++) {
    if (tries > 500) throw new Error('No check was found to block the thread.')
    await Bun.sleep(20)
    clock.advance(250)
  }
  clock.advance(1)
}

test('a check that hangs the thread twice is quarantined until it is changed, while all others continue', async () => {
  const { clock, supervisor, messages, results, log } = supervise()
  const quarantined = () => messages.filter(one => one.kind === 'quarantined')
  supervisor.start()
  supervisor.send(configure([spec('mon_1'), spec('stuck', { target: 'hang' })]))
  for (const [n, nonce] of ['first', 'second'].entries()) {
    await until(() => readies(messages) === n + 1)
    expect(quarantined()).toEqual([])
    supervisor.send(runNow(nonce, 'stuck'))
    await untilBlocked(clock, log)
  }
  expect(quarantined()).toEqual([{ kind: 'quarantined', monitor: 'stuck', revision: 1 }])
  await until(() => readies(messages) === 3)
  supervisor.send(runNow('after', 'stuck', 'mon_1'))
  await until(() => results().some(one => one.nonce === 'after'))
  // The same revision, because the network policy changed.
  supervisor.send(configure([spec('stuck', { target: 'hang' })]))
  supervisor.send(runNow('unchanged', 'stuck', 'mon_1'))
  await until(() => results().some(one => one.nonce === 'unchanged'))
  supervisor.send(configure([spec('stuck', { revision: 2 })]))
  supervisor.send(runNow('changed', 'stuck'))
  await until(() => results().some(one => one.nonce === 'changed' && one.monitor === 'stuck'))
  expect(readies(messages)).toBe(3)
}, 180_000)

test('a check that finishes in between starts the count again', async () => {
  const { clock, supervisor, messages, results, log } = supervise()
  supervisor.start()
  supervisor.send(configure([spec('slow', { target: 'hang' })]))
  await until(() => readies(messages) === 1)
  supervisor.send(runNow('first', 'slow'))
  await untilBlocked(clock, log)
  // The target of a revision can behave differently each time.
  supervisor.send(configure([spec('slow')]))
  await until(() => readies(messages) === 2)
  supervisor.send(runNow('finished', 'slow'))
  await until(() => results().some(one => one.nonce === 'finished'))
  supervisor.send(configure([spec('slow', { target: 'hang' })]))
  supervisor.send(runNow('again', 'slow'))
  await untilBlocked(clock, log)
  expect(messages.filter(one => one.kind === 'quarantined')).toEqual([])
}, 180_000)

test('a thread that keeps dying is restarted with increasing delays', async () => {
  const { clock, supervisor, messages, log } = supervise()
  supervisor.start()
  supervisor.send(configure([spec('deadly', { target: 'die', confirmed_status: 'new' })]))
  for (const [life, waitMs] of [1000, 2000, 4000].entries()) {
    await until(() => readies(messages) === life + 1)
    // It dies with its first check.
    await until(() => log.length === life + 1)
    expect(JSON.parse(log.at(-1)!)).toMatchObject({ wait_ms: waitMs })
    clock.advance(waitMs - 1)
    await Bun.sleep(50)
    expect(readies(messages)).toBe(life + 1)
    clock.advance(1)
  }
}, 180_000)

test('after a stop nothing is reported or restarted', async () => {
  const { clock, supervisor, messages } = supervise()
  supervisor.start()
  supervisor.send(configure([spec('mon_1', { confirmed_status: 'new' })]))
  await until(() => readies(messages) === 1)
  await supervisor.stop()
  const before = messages.length
  clock.advance(60_000)
  await Bun.sleep(100)
  expect(messages.length).toBe(before)
})

test('unresponsive resolvers are reported before the first result, and until they respond', async () => {
  let answers = false
  const resolver = await Bun.udpSocket({
    hostname: '127.0.0.1',
    binaryType: 'uint8array',
    socket: {
      data(from, octets, port, address) {
        if (!answers) return
        // NXDOMAIN: the query with the flags of a response.
        const answer = Uint8Array.from(octets)
        answer.set([0x81, 0x83], 2)
        from.send(answer, port, address)
      },
    },
  })
  try {
    const { supervisor, messages } = supervise([{ address: '127.0.0.1', port: resolver.port }])
    const impaired = () => messages.findLast(one => one.kind === 'pulse')?.pulse.impaired
    supervisor.start()
    supervisor.send(configure([spec('mon_1', { target: 'www.test', confirmed_status: 'new', confirm: 1 })]))
    await until(() => messages.some(one => one.kind === 'results'))
    expect(messages.find(one => one.kind === 'results')?.results[0]).toMatchObject({ status: 'down', error: { kind: 'dns' } })
    const result = messages.findIndex(one => one.kind === 'results')
    expect(messages.slice(0, result).some(one => one.kind === 'pulse' && one.pulse.impaired !== null)).toBe(true)
    answers = true
    await until(() => impaired() === null)
  } finally {
    resolver.close()
  }
}, 180_000)

test('thousands of monitors are sent in parts of equal size', () => {
  const sizes = (count: number) => [...partsToSend(Array.from({ length: count }))].map(part => part.length)
  expect(sizes(0)).toEqual([])
  expect(sizes(500)).toEqual([500])
  expect(sizes(501)).toEqual([251, 250])
  expect(sizes(10_000)).toEqual(Array.from({ length: 20 }, () => 500))
})

test('scans run in the thread, under the network policy, and end when they are aborted or it dies', async () => {
  const { clock, supervisor, log } = supervise()
  supervisor.start()
  const request = { host: '127.0.0.1', port: closedPort(), protocol: 'tls', servername: null, group: 'wks_a' } as const
  const open = { allowPrivate: true, allowRanges: [], requireHttps: false }
  const scanned = await supervisor.scanTls(request, open)
  expect(scanned).toMatchObject({
    error: null,
    addresses: [{ address: '127.0.0.1', errors: [{ kind: 'refused' }, { kind: 'refused' }] }],
  })
  const refused = await supervisor.scanTls(request, { ...open, allowPrivate: false })
  expect(refused).toMatchObject({ addresses: [], error: { kind: 'blocked_address' } })

  let connections = 0
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data() {}, error() {}, open: () => void connections++, close: () => void connections-- },
  })
  const limit = new AbortController()
  const scan = supervisor.scanTls({ ...request, port: silent.port }, open, limit.signal)
  await until(() => connections > 0)
  limit.abort(new Error('too late'))
  await expect(scan).rejects.toThrow('too late')
  await until(() => connections === 0)

  const interrupted = supervisor.scanTls({ ...request, port: silent.port }, open)
  supervisor.send(configure([spec('deadly', { target: 'die', confirmed_status: 'new' })]))
  await expect(interrupted).rejects.toThrow('The scan was interrupted')
  await until(() => log.some(entry => entry.includes('ended')))
  await expect(supervisor.scanTls(request, open)).rejects.toThrow('The scan was interrupted')
  clock.advance(1000)
  expect(await supervisor.scanTls(request, open)).toMatchObject({ error: null })
  silent.stop(true)
})

function closedPort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {}, error() {} } })
  server.stop(true)
  return server.port
}
