import { newUuid4 } from '../../core/ids'
import type { HeartbeatInput } from '../../features/heartbeats/shapes'
import { startHeartbeats } from '../../features/heartbeats/watch'
import type { Past } from './past'
import { dayMs, hourMs, minuteMs, secondMs, type Telling } from './telling'

/** Addresses at which jobs of the demo go on pinging, below that of the hub. */
export interface PingPaths {
  worker: string
  transcode: string
  stock: string
}

/** Plans the heartbeats with their pings. What it returns is filled in once they are made. */
export function planHeartbeats({ past, people, ago, now, random }: Telling): PingPaths {
  const paths: PingPaths = { worker: '', transcode: '', stock: '' }
  const made = async (input: HeartbeatInput): Promise<string> => {
    const { ping_url } = await people.linus.call('POST', '/v1/heartbeats', input)
    return new URL(ping_url).pathname
  }
  const every = (period: number, grace: number): HeartbeatInput['schedule'] => ({
    kind: 'period',
    period_seconds: period,
    grace_seconds: grace,
  })

  past.plan(ago(34), async () => {
    const path = await made({
      name: 'Nightly database backup',
      tags: ['production', 'backup'],
      schedule: { kind: 'cron', expression: '15 2 * * *', timezone: 'Europe/Berlin', grace_seconds: 5400 },
    })
    for (const [night, begins] of nights(past.clock.now(), now).entries()) {
      const failed = night === 9 || night === 24
      const rid = newUuid4()
      const ends = begins + (9 + random() * 6) * minuteMs
      past.plan(begins, () => ping(past, `${path}/start?rid=${rid}`))
      past.plan(ends, () =>
        failed
          ? ping(past, `${path}/1?rid=${rid}`, 'pg_dump: error: connection to server was lost\n')
          : ping(
              past,
              `${path}?rid=${rid}`,
              `dumped orders: ${(41 + night / 9).toFixed(1)} GB, 214 tables\nuploaded to s3://kestrel-backup\n`,
            ),
      )
      // Somebody starts it again in the morning.
      if (failed) past.plan(ends + 4.5 * hourMs, () => ping(past, path, 'dumped orders by hand\n'))
    }
  })
  past.plan(ago(40), async () => {
    paths.stock = await made({ name: 'Hourly stock import', tags: ['back-office'], schedule: every(3600, 900) })
    for (let at = ago(1.5); at < now - 5 * minuteMs; at += hourMs)
      past.plan(at + random() * 90 * secondMs, () => ping(past, paths.stock, 'imported 1,204 articles\n'))
  })
  past.plan(ago(33), async () => {
    paths.worker = await made({ name: 'Queue worker', tags: ['production'], schedule: every(60, 180), methods: 'POST' })
    for (let at = now - 15 * minuteMs; at < now; at += 45 * secondMs) past.plan(at, () => ping(past, paths.worker))
  })
  past.plan(ago(21), async () => {
    paths.transcode = await made({ name: 'Video transcoding', tags: ['cdn'], schedule: every(1800, 3600), severity: 'warning' })
    for (let run = 16; run > 0; run--) {
      const [begins, rid] = [now - run * 20 * minuteMs + 2 * minuteMs, newUuid4()]
      past.plan(begins, () => ping(past, `${paths.transcode}/start?rid=${rid}`))
      past.plan(begins + (4 + random() * 5) * minuteMs, () =>
        ping(past, `${paths.transcode}?rid=${rid}`, 'encoded 12 of 12 clips\n'),
      )
    }
    past.plan(now - 80 * secondMs, () => ping(past, `${paths.transcode}/start`))
  })
  past.plan(ago(20), async () => {
    // Late, and not yet too late.
    const path = await made({ name: 'Invoice run', tags: ['back-office'], schedule: every(3600, 7200), severity: 'warning' })
    for (let runs = 12; runs > 0; runs--)
      past.plan(now - (runs * 60 + 15) * minuteMs, () => ping(past, path, 'sent 36 invoices\n'))
  })
  past.plan(ago(20) + minuteMs, async () => {
    const path = await made({ name: 'Off-site copy', tags: ['backup'], schedule: every(6 * 3600, 1800) })
    for (let runs = 12; runs > 0; runs--) past.plan(now - (runs * 6 + 2.5) * hourMs, () => ping(past, path, 'rsync: 0 errors\n'))
    past.plan(now - 2 * hourMs + secondMs, () => markLate(past))
  })
  past.plan(ago(19), async () => {
    const path = await made({ name: 'Newsletter', schedule: every(7 * 86_400, 86_400), manual_resume: true })
    past.plan(ago(12), () => ping(past, path))
    past.plan(ago(8), async () => {
      const { data } = await people.linus.call('GET', '/v1/heartbeats?q=Newsletter')
      await people.linus.call('POST', `/v1/heartbeats/${data[0].id}/pause`)
    })
  })
  return paths
}

/** The nights of which each run begins between two times (ms UTC). */
function nights(from: number, until: number): number[] {
  const runs: number[] = []
  const firstDay = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO('Europe/Berlin').toPlainDate().add({ days: 1 })
  for (let date = firstDay; ; date = date.add({ days: 1 })) {
    const at = date.toZonedDateTime({ timeZone: 'Europe/Berlin', plainTime: '02:15' }).epochMilliseconds + 3 * secondMs
    // One that would still be under way is left to the next night.
    if (at > until - 30 * minuteMs) return runs
    if (at > from && at > until - 30 * dayMs) runs.push(at)
  }
}

const ping = (past: Past, path: string, body = '') => past.call('POST', path, {}, body)

/** Nobody rings an alarm in the past: what is overdue is marked now. */
async function markLate(past: Past): Promise<void> {
  const watch = await startHeartbeats(past.hub)
  await watch.settled()
  watch.stop()
}
