import { newUuid4 } from '../../core/ids'
import type { HeartbeatInput } from '../../features/heartbeats/shapes'
import { startHeartbeats } from '../../features/heartbeats/status/late-heartbeats'
import type { Simulation } from './simulation'
import type { Scenario } from './scenario'
import { dayMs, hourMs, minuteMs, secondMs } from './time-units'

/** Paths of heartbeats that the jobs of the running demo keep pinging. */
export interface PingPaths {
  worker: string
  transcode: string
  stock: string
}

/** Schedules heartbeats and their pings. The returned paths are set when the simulation creates the heartbeats. */
export function scheduleHeartbeats({ simulation, people, ago, now, random }: Scenario): PingPaths {
  const paths: PingPaths = { worker: '', transcode: '', stock: '' }
  const create = async (input: HeartbeatInput): Promise<string> => {
    const { ping_url } = await people.linus.call('POST', '/v1/heartbeats', input)
    return new URL(ping_url).pathname
  }
  const every = (period: number, grace: number): HeartbeatInput['schedule'] => ({
    kind: 'period',
    period_seconds: period,
    grace_seconds: grace,
  })

  simulation.schedule(ago(34), async () => {
    const path = await create({
      name: 'Nightly database backup',
      tags: ['production', 'backup'],
      schedule: { kind: 'cron', expression: '15 2 * * *', timezone: 'Europe/Berlin', grace_seconds: 5400 },
    })
    for (const [night, startedAt] of nights(simulation.clock.now(), now).entries()) {
      const failed = night === 9 || night === 24
      const rid = newUuid4()
      const finishedAt = startedAt + (9 + random() * 6) * minuteMs
      simulation.schedule(startedAt, () => ping(simulation, `${path}/start?rid=${rid}`))
      simulation.schedule(finishedAt, () =>
        failed
          ? ping(simulation, `${path}/1?rid=${rid}`, 'pg_dump: error: connection to server was lost\n')
          : ping(
              simulation,
              `${path}?rid=${rid}`,
              `dumped orders: ${(41 + night / 9).toFixed(1)} GB, 214 tables\nuploaded to s3://kestrel-backup\n`,
            ),
      )
      // Started manually the next morning.
      if (failed) simulation.schedule(finishedAt + 4.5 * hourMs, () => ping(simulation, path, 'dumped orders manually\n'))
    }
  })
  simulation.schedule(ago(40), async () => {
    paths.stock = await create({ name: 'Hourly stock import', tags: ['back-office'], schedule: every(3600, 900) })
    for (let at = ago(1.5); at < now - 5 * minuteMs; at += hourMs)
      simulation.schedule(at + random() * 90 * secondMs, () => ping(simulation, paths.stock, 'imported 1,204 articles\n'))
  })
  simulation.schedule(ago(33), async () => {
    paths.worker = await create({ name: 'Queue worker', tags: ['production'], schedule: every(60, 180), methods: 'POST' })
    for (let at = now - 15 * minuteMs; at < now; at += 45 * secondMs)
      simulation.schedule(at, () => ping(simulation, paths.worker))
  })
  simulation.schedule(ago(21), async () => {
    paths.transcode = await create({ name: 'Video transcoding', tags: ['cdn'], schedule: every(1800, 3600), severity: 'warning' })
    for (let run = 16; run > 0; run--) {
      const [startedAt, rid] = [now - run * 20 * minuteMs + 2 * minuteMs, newUuid4()]
      simulation.schedule(startedAt, () => ping(simulation, `${paths.transcode}/start?rid=${rid}`))
      simulation.schedule(startedAt + (4 + random() * 5) * minuteMs, () =>
        ping(simulation, `${paths.transcode}?rid=${rid}`, 'encoded 12 of 12 clips\n'),
      )
    }
    simulation.schedule(now - 80 * secondMs, () => ping(simulation, `${paths.transcode}/start`))
  })
  simulation.schedule(ago(20), async () => {
    // Late, but still within its grace period.
    const path = await create({ name: 'Invoice run', tags: ['back-office'], schedule: every(3600, 7200), severity: 'warning' })
    for (let runs = 12; runs > 0; runs--)
      simulation.schedule(now - (runs * 60 + 15) * minuteMs, () => ping(simulation, path, 'sent 36 invoices\n'))
  })
  simulation.schedule(ago(20) + minuteMs, async () => {
    const path = await create({ name: 'Off-site copy', tags: ['backup'], schedule: every(6 * 3600, 1800) })
    for (let runs = 12; runs > 0; runs--)
      simulation.schedule(now - (runs * 6 + 2.5) * hourMs, () => ping(simulation, path, 'rsync: 0 errors\n'))
    simulation.schedule(now - 2 * hourMs + secondMs, () => markLate(simulation))
  })
  simulation.schedule(ago(19), async () => {
    const path = await create({ name: 'Newsletter', schedule: every(7 * 86_400, 86_400), manual_resume: true })
    simulation.schedule(ago(12), () => ping(simulation, path))
    simulation.schedule(ago(8), async () => {
      const { data } = await people.linus.call('GET', '/v1/heartbeats?q=Newsletter')
      await people.linus.call('POST', `/v1/heartbeats/${data[0].id}/pause`)
    })
  })
  return paths
}

/** Start times of the nightly run between two times (ms UTC). */
function nights(from: number, until: number): number[] {
  const runs: number[] = []
  const firstDay = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO('Europe/Berlin').toPlainDate().add({ days: 1 })
  for (let date = firstDay; ; date = date.add({ days: 1 })) {
    const at = date.toZonedDateTime({ timeZone: 'Europe/Berlin', plainTime: '02:15' }).epochMilliseconds + 3 * secondMs
    // Skip a run that would not have finished yet.
    if (at > until - 30 * minuteMs) return runs
    if (at > from && at > until - 30 * dayMs) runs.push(at)
  }
}

const ping = (simulation: Simulation, path: string, body = '') => simulation.call('POST', path, {}, body)

/** The simulation has no timers, so overdue heartbeats are marked here. */
async function markLate(simulation: Simulation): Promise<void> {
  const watch = await startHeartbeats(simulation.hub)
  await watch.settled()
  watch.stop()
}
