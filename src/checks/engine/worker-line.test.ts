import { afterEach, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { spec } from '../../../test/support/engine'
import { ManualClock } from '../../../test/support/manual-clock'
import { openLog } from '../../core/log'
import type { Resolver } from '../../core/net/resolvers'
import type { CheckResult, CheckSpec } from '../check'
import type { FromEngine, ToEngine } from '../messages'
import { WorkerLine } from './worker-line'

const entry = resolve('test/support/checks-thread.ts')
const open: WorkerLine[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map(line => line.stop()))
})

/** A line to a thread that obeys; time on the hub's side is moved by hand. */
function lineTo(resolvers: Resolver[] | null = null) {
  const clock = new ManualClock()
  const log: string[] = []
  const line = new WorkerLine({ entry, clock, log: openLog('error', { write: text => log.push(text) }), resolvers })
  const told: FromEngine[] = []
  line.onMessage(message => told.push(message))
  open.push(line)
  const results = (): CheckResult[] => told.flatMap(one => (one.kind === 'results' ? one.results : []))
  return { clock, line, told, results, log }
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 2000) throw new Error('It did not come about within 20 seconds.')
    await Bun.sleep(10)
  }
}

const configure = (upsert: CheckSpec[]): ToEngine => ({ kind: 'configure', full: false, upsert, remove: [] })
const asked = (nonce: string, ...monitors: string[]): ToEngine => ({ kind: 'run_now', monitors, nonce })
const readies = (told: FromEngine[]) => told.filter(one => one.kind === 'ready').length

test('results come by the thread, and what was sent before it was ready waits for it', async () => {
  const { line, told, results } = lineTo()
  line.start()
  line.send(configure([spec('mon_1', { settled: 'new' })]))
  await until(() => results().length > 0)
  expect(told[0]).toMatchObject({ kind: 'ready', capabilities: { most_in_flight: expect.any(Number) } })
  expect(results()[0]).toMatchObject({ monitor: 'mon_1', status: 'up' })
})

test('a thread that dies is started again with all monitors; results resume and none comes twice', async () => {
  const { clock, line, told, results, log } = lineTo()
  line.start()
  line.send(configure([spec('mon_1'), spec('mon_2', { revision: 3 }), spec('left')]))
  line.send({ kind: 'configure', full: false, upsert: [], remove: ['left'] })
  line.send(asked('before', 'mon_1'))
  await until(() => results().some(one => one.nonce === 'before'))
  line.send(configure([spec('deadly', { target: 'die' })]))
  await until(() => log.some(line => line.includes('ended')))
  line.send({ kind: 'configure', full: false, upsert: [], remove: ['deadly'] })
  // The next begins when the hub's clock says so; what is asked until then is lost, not kept to come late.
  line.send(asked('lost', 'mon_1'))
  expect(readies(told)).toBe(1)
  clock.advance(1000)
  await until(() => readies(told) === 2)
  line.send(asked('after', 'mon_1', 'mon_2', 'left'))
  await until(() => results().filter(one => one.nonce === 'after').length === 2)
  await Bun.sleep(300)
  const after = results().filter(one => one.nonce === 'after')
  expect(after.map(one => `${one.monitor} ${one.revision}`).sort()).toEqual(['mon_1 1', 'mon_2 3'])
  expect(results().filter(one => one.nonce === 'lost')).toEqual([])
  const keys = results().map(one => `${one.monitor} ${one.at} ${one.nonce}`)
  expect(new Set(keys).size).toBe(keys.length)
}, 60_000)

test('one that hangs is given up after ten looks without a pulse, and another takes over', async () => {
  const { clock, line, told, results } = lineTo()
  line.start()
  line.send(configure([spec('mon_1')]))
  await until(() => readies(told) === 1)
  line.send(configure([spec('stuck', { target: 'hang' })]))
  // It has a pulse each second as long as it lives.
  for (let before = -1; before !== told.length; await Bun.sleep(2000)) before = told.length
  for (let look = 0; look <= 10; look++) clock.advance(1000)
  line.send({ kind: 'configure', full: false, upsert: [], remove: ['stuck'] })
  clock.advance(1000)
  await until(() => readies(told) === 2)
  line.send(asked('after', 'mon_1'))
  await until(() => results().some(one => one.nonce === 'after'))
}, 60_000)

test('one that dies again and again is started less and less often', async () => {
  const { clock, line, told, log } = lineTo()
  line.start()
  line.send(configure([spec('deadly', { target: 'die', settled: 'new' })]))
  for (const [life, waitMs] of [1000, 2000, 4000].entries()) {
    await until(() => readies(told) === life + 1)
    // It dies with its first check.
    await until(() => log.length === life + 1)
    expect(JSON.parse(log.at(-1)!)).toMatchObject({ wait_ms: waitMs })
    clock.advance(waitMs - 1)
    await Bun.sleep(50)
    expect(readies(told)).toBe(life + 1)
    clock.advance(1)
  }
}, 60_000)

test('after it was stopped nothing comes and nothing is started', async () => {
  const { clock, line, told } = lineTo()
  line.start()
  line.send(configure([spec('mon_1', { settled: 'new' })]))
  await until(() => readies(told) === 1)
  await line.stop()
  const before = told.length
  clock.advance(60_000)
  await Bun.sleep(100)
  expect(told.length).toBe(before)
})

test('resolvers that say nothing make the location tell so before the first result, and until they answer', async () => {
  let answers = false
  const resolver = await Bun.udpSocket({
    hostname: '127.0.0.1',
    binaryType: 'uint8array',
    socket: {
      data(from, octets, port, address) {
        if (!answers) return
        // NXDOMAIN: the question as it came, with the bits of an answer.
        const answer = Uint8Array.from(octets)
        answer.set([0x81, 0x83], 2)
        from.send(answer, port, address)
      },
    },
  })
  try {
    const { line, told } = lineTo([{ address: '127.0.0.1', port: resolver.port }])
    const impaired = () => told.findLast(one => one.kind === 'pulse')?.pulse.impaired
    line.start()
    line.send(configure([spec('mon_1', { target: 'www.test', settled: 'new', confirm: 1 })]))
    await until(() => told.some(one => one.kind === 'results'))
    expect(told.find(one => one.kind === 'results')?.results[0]).toMatchObject({ status: 'down', error: { kind: 'dns' } })
    const result = told.findIndex(one => one.kind === 'results')
    expect(told.slice(0, result).some(one => one.kind === 'pulse' && one.pulse.impaired !== null)).toBe(true)
    answers = true
    await until(() => impaired() === null)
  } finally {
    resolver.close()
  }
}, 60_000)
