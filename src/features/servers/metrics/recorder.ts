import { Mean } from '../../../core/db/series/metric-row'
import type { MetricMinute } from '../../../core/db/series/metric-minute'
import type { Hub } from '../../../core/hub'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import type { CloudServer, Reading, VolumeUsage } from '../clouds/cloud'
import type { SensorReading } from '../controllers/controller'
import { columnOf, packetsSubject, staleMs, subjectOf } from './names'
import { measuredUsage, type UsageAt } from './rates'

const minuteMs = 60_000
const maxSensors = 200

/** Counters of a firewall on a host, which begin again with each rule set. */
interface PacketsAt {
  at: number
  digest: string
  packets: ReadonlyMap<string, number>
}

/** Collects the samples of the current minute, and stores them after each reading. */
class MetricRecorder {
  private readonly minutes = new Map<string, { at: number; values: Map<string, Mean> }>()
  private readonly reports = new Map<string, UsageAt>()
  private readonly counters = new Map<string, PacketsAt>()

  constructor(private readonly hub: Hub) {}

  /** What was measured since the previous report of a server. */
  measured(serverId: string, report: UsageAt): ReadonlyMap<string, number> {
    const measured = measuredUsage(report, this.reports.get(serverId))
    this.reports.set(serverId, report)
    return measured
  }

  /** Packets per second since the previous report of a host, by column. Nothing if its counters began again. */
  rates(subject: string, { at, digest, packets }: PacketsAt): ReadonlyMap<string, number> {
    const before = this.counters.get(subject)
    this.counters.set(subject, { at, digest, packets })
    if (before?.digest !== digest || before.at >= at) return new Map()
    const seconds = (at - before.at) / 1000
    return new Map(
      [...packets].flatMap(([column, count]) => {
        const grown = count - (before.packets.get(column) ?? Number.NaN)
        return grown >= 0 ? [[column, grown / seconds] as const] : []
      }),
    )
  }

  /** Adds samples to the minute of a subject, and returns what is known of it. */
  add(subject: string, samples: ReadonlyMap<string, number>, now: number): MetricMinute {
    const at = Math.floor(now / minuteMs) * minuteMs
    const known = this.minutes.get(subject)
    const minute = known?.at === at ? known : { at, values: new Map<string, Mean>() }
    this.minutes.set(subject, minute)
    for (const [column, value] of samples) {
      const mean = minute.values.get(column) ?? new Mean()
      minute.values.set(column, mean)
      mean.add(value, value, 1)
    }
    return { subject, ...minute }
  }

  /** Never throws: metrics that can't be stored are lost, and what else was read is not. */
  async store(minutes: readonly MetricMinute[]): Promise<void> {
    try {
      await this.hub.series.metrics.append(minutes, this.hub.clock.now())
    } catch (error) {
      this.hub.log.warn({ err: error }, 'could not store metrics of servers')
    }
  }

  /** Forgets what is no longer needed, such as of servers that were deleted. */
  forget(): void {
    const oldest = this.hub.clock.now() - staleMs
    for (const [key, one] of this.minutes) if (one.at < oldest) this.minutes.delete(key)
    for (const [key, one] of this.reports) if (one.at < oldest) this.reports.delete(key)
    for (const [key, one] of this.counters) if (one.at < oldest) this.counters.delete(key)
  }
}

const recorders = new WeakMap<Hub, MetricRecorder>()
function recorderOf(hub: Hub): MetricRecorder {
  let recorder = recorders.get(hub)
  if (!recorder) recorders.set(hub, (recorder = new MetricRecorder(hub)))
  return recorder
}

/** Stores what a reading reports that servers use. @param at when it was read (ms UTC) */
export async function recordUsage(
  hub: Hub,
  servers: ReadonlyMap<{ id: string }, CloudServer>,
  { usage }: Reading,
  at: number,
): Promise<void> {
  if (!usage) return
  const recorder = recorderOf(hub)
  const minutes: MetricMinute[] = []
  for (const [{ id }, { ref }] of servers) {
    const used = usage.get(ref)
    if (used) minutes.push(recorder.add(subjectOf(id, 'cloud'), recorder.measured(id, { at, usage: used }), at))
    if (isTurnOver()) await yieldToEventLoop()
  }
  await recorder.store(minutes)
}

/** Stores how much space volumes use. @param at when it was read (ms UTC) */
export async function recordVolumeUsage(hub: Hub, used: ReadonlyMap<string, VolumeUsage>, at: number): Promise<void> {
  const recorder = recorderOf(hub)
  const minutes: MetricMinute[] = []
  for (const [id, { usedBytes, sizeBytes }] of used) {
    const samples = new Map([[columnOf('volume.used_bytes', null), usedBytes]])
    if (sizeBytes !== null) samples.set(columnOf('volume.size_bytes', null), sizeBytes)
    minutes.push(recorder.add(subjectOf(id, 'cloud'), samples, at))
    if (isTurnOver()) await yieldToEventLoop()
  }
  await recorder.store(minutes)
}

/** Stores what the sensors of a server measure. */
export async function recordSensors(hub: Hub, serverId: string, readings: readonly SensorReading[]): Promise<void> {
  const recorder = recorderOf(hub)
  const samples = new Map(
    readings
      .filter(one => Number.isFinite(one.value))
      .slice(0, maxSensors)
      .map(({ metric, name, value }) => [columnOf(metric, name), value]),
  )
  await recorder.store([recorder.add(subjectOf(serverId, 'bmc'), samples, hub.clock.now())])
}

/** Stores how many packets a firewall accepted and dropped on a server. @param digest of the rule set that counted them */
export async function recordPackets(
  hub: Hub,
  { firewallId, serverId, digest }: { firewallId: string; serverId: string; digest: string },
  accepted: ReadonlyMap<string, number>,
  dropped: number,
): Promise<void> {
  const recorder = recorderOf(hub)
  const now = hub.clock.now()
  const subject = packetsSubject(firewallId, serverId)
  const packets = new Map([
    [columnOf('firewall.dropped_packets_per_second', serverId), dropped],
    ...[...accepted].map(
      ([rule, count]) => [columnOf('firewall.accepted_packets_per_second', `${rule} ${serverId}`), count] as const,
    ),
  ])
  const rates = recorder.rates(subject, { at: now, digest, packets })
  if (rates.size > 0) await recorder.store([recorder.add(subject, rates, now)])
}

/** Computes the coarser rows of metrics that were stored recently. */
export async function rollUpMetrics(hub: Hub): Promise<void> {
  recorderOf(hub).forget()
  await hub.series.metrics.rollUp(hub.clock.now())
}
