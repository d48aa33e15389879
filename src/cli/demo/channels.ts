import { deliverJob } from '../../features/notifications/delivery/deliver'
import { domain } from './resolver'
import type { Scenario } from './scenario'
import { hourMs } from './time-units'

/** Schedules notification channels: two that work, one that fails, and one that is disabled. */
export function scheduleChannels({ simulation, people: { grace, linus }, servers: { ports }, now, ago }: Scenario): void {
  const webhook = (path: string) => ({ kind: 'webhook', settings: { url: `http://hooks.${domain}:${ports.hooks}/${path}` } })
  simulation.runJobsWhenDue(deliverJob.kind)
  simulation.schedule(ago(13), () =>
    grace.call('POST', '/v1/notification-channels', { name: 'Operations room', ...webhook('room'), min_severity: 'warning' }),
  )
  simulation.schedule(ago(12.5), () =>
    grace.call('POST', '/v1/notification-channels', {
      name: 'On-call mailbox',
      kind: 'email',
      settings: { to: [`oncall@${domain}`] },
      min_severity: 'critical',
      remind_every_seconds: 3600,
      max_reminders: 3,
    }),
  )
  simulation.schedule(ago(15), () =>
    linus.call('POST', '/v1/notification-channels', {
      name: 'Team chat (old)',
      ...webhook('chat'),
      active: false,
      topics: ['incidents'],
    }),
  )
  simulation.schedule(now - 7 * hourMs, () =>
    linus.call('POST', '/v1/notification-channels', {
      name: 'Pager',
      ...webhook('pager'),
      min_severity: 'warning',
      topics: ['incidents'],
    }),
  )
}
