import { expect, test } from 'bun:test'
import { ManualClock } from '../../../../test/support/manual-clock'
import type { Timer } from '../../../core/clock'
import { openLog } from '../../../core/log'
import { ServerThread } from './server-thread'

/** Counts timers that are neither canceled nor due. */
class CountingClock extends ManualClock {
  readonly pending = new Set<Timer>()

  override after(ms: number, fn: () => void) {
    const timer = super.after(ms, () => {
      this.pending.delete(counted)
      fn()
    })
    const counted = {
      cancel: () => {
        this.pending.delete(counted)
        timer.cancel()
      },
    }
    this.pending.add(counted)
    return counted
  }
}

// Listens the first time, when any port is free, and exits on any other message.
const entry = URL.createObjectURL(
  new Blob([
    `onmessage = ({ data }) => {
       if (data.kind === 'listen' && data.options.port === 0) postMessage({ kind: 'listening', host: '127.0.0.1', port: 5353 })
       else process.exit()
     }`,
  ]),
)

test('a thread that exits while it is restarted is restarted once', async () => {
  const clock = new CountingClock()
  const log = openLog('silent')
  let failed = Promise.withResolvers<void>()
  log.error = (_: object, message?: string) => {
    if (message?.startsWith('could not restart')) failed.resolve()
  }
  const thread = new ServerThread(
    { host: '127.0.0.1', port: 0, setting: '--dns-listen', responsesPerSecond: null, limitLoopback: false },
    { entry, clock, log, onCounts() {}, onRestarted() {} },
  )
  await thread.start()
  thread.post({ kind: 'complete' })
  await thread.synced()
  for (let n = 0; n < 2; n++) {
    clock.advance(1000)
    await failed.promise
    failed = Promise.withResolvers()
    expect(clock.pending.size).toBe(1)
  }
  await thread.stop()
  expect(clock.pending.size).toBe(0)
})
