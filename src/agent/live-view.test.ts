import { expect, test } from 'bun:test'
import { ManualClock } from '../../test/support/manual-clock'
import { LiveView } from './live-view'
import { HubRequestFailed, type HubRequest } from './transport/hub-client'

/** An agent whose hub responds with these seconds, and then fails. */
function scene(...answers: number[]) {
  const clock = new ManualClock()
  const sent: unknown[] = []
  const logged: string[] = []
  let samplers = 0
  let samples = 0
  const live = new LiveView({
    client: {
      async send({ body }: HubRequest) {
        sent.push(body)
        const seconds = answers.shift()
        if (seconds === undefined) throw new HubRequestFailed('The hub is away.', 'unavailable', null)
        return { status: 200, body: { live_seconds: seconds }, sentAt: 0 }
      },
    },
    clock: { now: clock.now, steady: clock.now },
    timers: clock,
    runId: () => 'run-1',
    sampler: () => {
      samplers++
      return { sample: async () => ({ metrics: new Map([['cpu.used_percent', ++samples + 1 / 3]]) }) }
    },
    log: text => logged.push(text),
  })
  /** Lets time pass, with what happens in it. */
  const pass = async (seconds: number) => {
    for (let at = 0; at < seconds * 10; at++) {
      await Bun.sleep(0)
      clock.advance(100)
    }
  }
  return { live, sent, logged, pass, samplers: () => samplers }
}

test('sends a sample every two seconds for as long as the hub says', async () => {
  const { live, sent, pass, samplers } = scene(60, 60, 3, 0)
  live.watch(60)
  await pass(1)
  expect(sent).toEqual([{ v: 1, run_id: 'run-1', columns: ['cpu.used_percent'], values: [1.33333] }])
  // Being asked again while it sends changes nothing.
  live.watch(60)
  await pass(30)
  expect([sent.length, samplers()]).toEqual([4, 1])
})

test('stops after the time if the hub doesn’t extend it, and starts again when asked', async () => {
  const { live, sent, pass, samplers } = scene(...Array.from({ length: 100 }, (_, at) => Math.max(0, 10 - 2 * at)))
  live.watch(10)
  await pass(60)
  expect(sent).toHaveLength(5)
  live.watch(10)
  await pass(3)
  expect([sent.length, samplers()]).toEqual([6, 2])
})

test('stops when a request fails, when the agent stops, and never sends for more than a minute by itself', async () => {
  const failing = scene(60)
  failing.live.watch(60)
  await failing.pass(20)
  expect([failing.sent.length, failing.logged]).toEqual([2, []])

  const stopped = scene(...Array(100).fill(60))
  stopped.live.watch(60)
  await stopped.pass(3)
  stopped.live.stop()
  await stopped.pass(20)
  expect(stopped.sent).toHaveLength(2)

  const lying = scene(1e9)
  lying.live.watch(1e9)
  await lying.pass(1)
  lying.live.stop()
  expect(lying.sent).toHaveLength(1)
})
