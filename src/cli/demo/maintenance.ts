import type { MaintenanceWindowInput } from '../../features/maintenance/shapes'
import type { Scenario } from './scenario'
import { dayMs, hourMs, minuteMs, secondMs } from './time-units'

/** Schedules maintenance windows: a weekly one, one that is active when the demo starts, and an upcoming one. */
export function scheduleMaintenance({ simulation, people: { grace, linus }, checks, now, ago }: Scenario): void {
  const once = (
    at: number,
    hours: number,
  ): Pick<MaintenanceWindowInput, 'kind' | 'timezone' | 'starts_at_local' | 'duration_seconds'> => ({
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: new Date(at).toISOString().slice(0, 19),
    duration_seconds: hours * 3600,
  })
  // A change of windows reevaluates all monitors. Without a recent result, they would become unknown.
  for (const at of [ago(60), ago(1.2), now - 6 * hourMs]) simulation.schedule(at, () => checks.checkAll())
  simulation.schedule(ago(60), async () => {
    // 12 days ago is another weekday: monitors under maintenance would not be listed as affected by the router outage.
    const day = new Date(ago(60))
    const { id } = await grace.call('POST', '/v1/maintenance-windows', {
      name: 'Database upgrades',
      description: 'Replicas first. The standby is promoted when all replicas are done.',
      kind: 'rrule',
      timezone: 'Europe/Berlin',
      starts_at_local: `${day.toISOString().slice(0, 10)}T03:00:00`,
      duration_seconds: 5400,
      rrule: `FREQ=WEEKLY;BYDAY=${weekdays[day.getUTCDay()]}`,
      targets: { monitors: [checks.id('db'), checks.id('cache')] },
    })
    const window = `from=${new Date(simulation.clock.now()).toISOString()}&to=${new Date(now).toISOString()}`
    const { data } = await grace.call('GET', `/v1/maintenance-windows/${id}/occurrences?${window}&limit=100`)
    for (const { starts_at, ends_at } of data as { starts_at: string; ends_at: string }[])
      for (const edge of [starts_at, ends_at]) simulation.schedule(Date.parse(edge) + secondMs, () => checks.checkAll())
  })
  const startsAt = now - 25 * minuteMs
  simulation.schedule(now - 6 * hourMs, () =>
    linus.call('POST', '/v1/maintenance-windows', {
      name: 'Kernel update of the bastion',
      ...once(startsAt, 3),
      targets: { monitors: [checks.id('bastion')] },
    }),
  )
  simulation.schedule(startsAt + secondMs, () => checks.checkAll())
  simulation.schedule(ago(1.2), () =>
    grace.call('POST', '/v1/maintenance-windows', {
      name: 'Move of the mail servers',
      description: 'The second MX queues mail in the meantime.',
      ...once(now + 2 * dayMs, 4),
      targets: { tags: ['mail'] },
    }),
  )
}

// As in RFC 5545, section 3.3.10.
const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
