import { systemClock, type Clock } from '../../core/clock'

/**
 * Time as an engine needs it. `now` is the time of day, which people and NTP set; `monotonic` only goes forward, in milliseconds with
 * a fraction from an arbitrary start, and stands still while the machine sleeps.
 */
export interface EngineClock extends Clock {
  monotonic(): number
}

/** The machine's. */
export const systemEngineClock: EngineClock = { ...systemClock, monotonic: () => performance.now() }
