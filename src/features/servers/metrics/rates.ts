import type { ServerUsage } from '../clouds/cloud'
import { staleMs, type MetricName } from './names'

/** What was reported of a server at a time (ms UTC). */
export interface UsageAt {
  at: number
  usage: ServerUsage
}

const rates = [
  ['received', 'network.received_bytes_per_second'],
  ['sent', 'network.sent_bytes_per_second'],
  ['read', 'disk.read_bytes_per_second'],
  ['written', 'disk.write_bytes_per_second'],
] as const satisfies [keyof ServerUsage, MetricName][]

/**
 * Converts counters to rates since the previous report. A counter that went back, because the server was restarted, gives no value.
 * @param before the previous report; undefined if there is none
 */
export function measuredUsage({ at, usage }: UsageAt, before: UsageAt | undefined): Map<MetricName, number> {
  const found = new Map<MetricName, number>()
  const { cpu, memoryBytes } = usage
  const seconds = before && at - before.at < staleMs ? (at - before.at) / 1000 : 0
  const rate = (now: number | null, then: number | null | undefined): number | null =>
    now === null || then == null || now < then || seconds <= 0 ? null : (now - then) / seconds
  const put = (name: MetricName, value: number | null) => {
    if (value !== null && Number.isFinite(value)) found.set(name, value)
  }
  if (cpu && 'percent' in cpu) put('cpu.used_percent', percent(cpu.percent))
  else if (cpu && cpu.cores > 0) {
    const then = before?.usage.cpu
    const used = rate(cpu.seconds, then && 'seconds' in then ? then.seconds : null)
    put('cpu.used_percent', used === null ? null : percent((used / cpu.cores) * 100))
  }
  put('memory.used_bytes', memoryBytes)
  for (const [counter, name] of rates) put(name, rate(usage[counter], before?.usage[counter]))
  return found
}

/** Clocks of guests and hosts differ, so a busy one can seem to use more than all. */
const percent = (value: number): number => Math.min(Math.max(value, 0), 100)
