import type { Clock, Timer } from '../core/clock'
import type { AgentLiveMetrics } from '../wire/agent'
import { liveIntervalMs, liveMs } from '../wire/agent-limits'
import type { LiveSampler } from './machine'
import { isRecord } from './transport/answers'
import type { HubClock } from './transport/hub-clock'
import { HubRequestFailed, type HubClient } from './transport/hub-client'

/** What sends live metrics. */
interface LivePieces {
  client: Pick<HubClient, 'send'>
  clock: Pick<HubClock, 'now' | 'steady'>
  timers: Pick<Clock, 'after'>
  /** The run of the agent, as in its reports. */
  runId: () => string
  /** Measures apart from the minutes, so that these stay what they would have been. */
  sampler: () => LiveSampler
  log: (text: string) => void
}

const livePath = '/v1/ingest/agents/live'

/** A later row is worth more than one that had to wait for this long. */
const waitMs = 5000

/** Sends what the server does every two seconds, for as long as the hub says that someone looks. */
export class LiveView {
  /** Until when someone looks, by the steady clock. */
  private until = 0
  private isRunning = false
  private pause: { timer: Timer; end: () => void } | null = null

  constructor(private readonly pieces: LivePieces) {}

  /** Starts to send, or continues for longer. */
  watch(seconds: number): void {
    this.extend(seconds)
    if (!this.isRunning) void this.run()
  }

  stop(): void {
    this.until = 0
    this.pause?.timer.cancel()
    this.pause?.end()
  }

  /** Ends with the first failure: the hub asks again if someone still looks. */
  private async run(): Promise<void> {
    const { client, clock, timers, runId, sampler, log } = this.pieces
    this.isRunning = true
    try {
      const measured = sampler()
      while (clock.steady() < this.until) {
        const began = clock.steady()
        const { metrics, processes } = await measured.sample(clock.now())
        const body: AgentLiveMetrics = {
          ...{ v: 1, run_id: runId() },
          ...{ columns: [...metrics.keys()], values: [...metrics.values()].map(value => Number(value.toPrecision(6))) },
          ...(processes && { processes }),
        }
        const answer = await client.send({ method: 'POST', path: livePath, body, waitMs })
        if (this.until > 0) this.extend(isRecord(answer.body) ? answer.body.live_seconds : 0)
        await new Promise<void>(end => {
          this.pause = { end, timer: timers.after(Math.max(0, began + liveIntervalMs - clock.steady()), end) }
        })
      }
    } catch (error) {
      if (!(error instanceof HubRequestFailed)) log(`Live metrics failed: ${(error as Error).message}`)
    } finally {
      this.isRunning = false
    }
  }

  private extend(seconds: unknown): void {
    const ms = typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, liveMs) : 0
    this.until = ms === 0 ? 0 : this.pieces.clock.steady() + ms
  }
}
