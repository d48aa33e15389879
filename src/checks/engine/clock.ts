import { systemClock, type Clock } from '../../core/clock'

/**
 * Clocks of an engine. `now` is wall clock time, which people and NTP change; `monotonic` only moves forward, in fractional milliseconds
 * from an arbitrary start, and stops while the machine sleeps.
 */
export interface EngineClock extends Clock {
  monotonic(): number
}

/** The clocks of this machine. */
export const systemEngineClock: EngineClock = { ...systemClock, monotonic: () => performance.now() }
