import { readFileSync } from 'node:fs'

/** Offsets up to this are not corrected (ms): a request is not more exact over a slow line. */
const toleratedMs = 2000
/** The offset is the median of at most this many measurements, so that one slow request doesn’t change it. */
const measurements = 9
/** If the steady clock deviates by more (ms), it stood still: the virtual machine was paused, or restored from a snapshot. */
const stoodStillMs = 10_000

/**
 * The time of the hub, by which minutes are filed and requests are signed. It is measured against a clock that nobody sets, so it stays
 * right when the clock of the server is set.
 */
export class HubClock {
  /** Time of the hub minus time of the steady clock (ms), the newest last. */
  private measured: number[] = []

  /**
   * @param wall the clock of the server (ms UTC)
   * @param steady a clock that is never set (ms)
   */
  constructor(
    readonly wall: () => number,
    readonly steady: () => number,
  ) {}

  /** The current time (ms UTC): the clock of the server, unless it differs from the hub’s by more than two seconds. */
  now(): number {
    const wall = this.wall()
    const offset = this.offsetAt(wall)
    return offset !== null && Math.abs(offset) > toleratedMs ? wall + offset : wall
  }

  /** Time of the hub minus time of the server (ms). Null until it was measured. */
  get offsetMs(): number | null {
    return this.offsetAt(this.wall())
  }

  /** Records the time of the hub in a response. @param sentAt when the request was sent, by the steady clock */
  heard(hubTime: number, sentAt: number): void {
    const received = this.steady()
    const measured = hubTime - (sentAt + received) / 2
    // A measurement is at most half of the round trip off.
    const stoodStill = Math.abs(measured - (this.median() ?? measured)) > (received - sentAt) / 2 + stoodStillMs
    this.measured = [...(stoodStill ? [] : this.measured), measured].slice(-measurements)
  }

  /** Uses a time without milliseconds instead of everything measured before. */
  set(hubTime: number): void {
    this.measured = [hubTime - this.steady()]
  }

  private offsetAt(wall: number): number | null {
    const median = this.median()
    return median === null ? null : Math.round(median + this.steady() - wall)
  }

  private median(): number | null {
    const sorted = this.measured.toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? null
  }
}

/** Time since the server started (ms), including the time it was suspended. Setting the clock doesn’t change it. */
export function uptimeMs(root = '/'): number {
  try {
    const uptime = parseFloat(readFileSync(`${root === '/' ? '' : root}/proc/uptime`, 'latin1'))
    if (Number.isFinite(uptime)) return uptime * 1000
  } catch {}
  return performance.now()
}
