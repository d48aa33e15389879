import { systemClock, type Clock } from '../../src/core/clock'

/** A clock on which time passes only while someone waits, and then at once. */
export function hastyClock(): Clock & { waits: number[] } {
  let time = systemClock.now()
  const waits: number[] = []
  return {
    waits,
    now: () => time,
    after(ms, fn) {
      const timer = setTimeout(() => {
        time += ms
        waits.push(ms)
        fn()
      }, 0)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
