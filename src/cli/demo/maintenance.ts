import type { MaintenanceWindowInput } from '../../features/maintenance/shapes'
import { dayMs, hourMs, minuteMs, secondMs, type Telling } from './telling'

/** Plans maintenance: one that comes every week, one that is in force at the end, and one that is still to come. */
export function planMaintenance({ past, people: { grace, linus }, checks, now, ago }: Telling): void {
  const once = (
    at: number,
    hours: number,
  ): Pick<MaintenanceWindowInput, 'kind' | 'timezone' | 'starts_at_local' | 'duration_seconds'> => ({
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: new Date(at).toISOString().slice(0, 19),
    duration_seconds: hours * 3600,
  })
  // Windows make all be judged anew: those that nobody looked at for long would be unknown then.
  for (const at of [ago(60), ago(1.2), now - 6 * hourMs]) past.plan(at, () => checks.look())
  past.plan(ago(60), async () => {
    const { id } = await grace.call('POST', '/v1/maintenance-windows', {
      name: 'Database upgrades',
      description: 'Replicas first. The standby is promoted when all of them are done.',
      kind: 'rrule',
      timezone: 'Europe/Berlin',
      starts_at_local: `${new Date(ago(60)).toISOString().slice(0, 10)}T03:00:00`,
      duration_seconds: 5400,
      rrule: 'FREQ=WEEKLY;BYDAY=SU',
      targets: { monitors: [checks.id('db'), checks.id('cache')] },
    })
    const window = `from=${new Date(past.clock.now()).toISOString()}&to=${new Date(now).toISOString()}`
    const { data } = await grace.call('GET', `/v1/maintenance-windows/${id}/occurrences?${window}&limit=100`)
    for (const { starts_at, ends_at } of data as { starts_at: string; ends_at: string }[])
      for (const edge of [starts_at, ends_at]) past.plan(Date.parse(edge) + secondMs, () => checks.look())
  })
  const begins = now - 25 * minuteMs
  past.plan(now - 6 * hourMs, () =>
    linus.call('POST', '/v1/maintenance-windows', {
      name: 'Kernel update of the bastion',
      ...once(begins, 3),
      targets: { monitors: [checks.id('bastion')] },
    }),
  )
  past.plan(begins + secondMs, () => checks.look())
  past.plan(ago(1.2), () =>
    grace.call('POST', '/v1/maintenance-windows', {
      name: 'Move of the mail servers',
      description: 'Mail is queued by the second MX meanwhile.',
      ...once(now + 2 * dayMs, 4),
      targets: { tags: ['mail'] },
    }),
  )
}
