import { deliverJob } from '../../features/notifications/deliver'
import { domain } from './resolver'
import { hourMs, type Telling } from './telling'

/** Plans the ways by which people are told: two that work, one that fails, and one that is switched off. */
export function planChannels({ past, people: { grace, linus }, servers: { ports }, now, ago }: Telling): void {
  const webhook = (path: string) => ({ kind: 'webhook', settings: { url: `http://hooks.${domain}:${ports.hooks}/${path}` } })
  past.watch(deliverJob.kind)
  past.plan(ago(13), () =>
    grace.call('POST', '/v1/notification-channels', { name: 'Operations room', ...webhook('room'), min_severity: 'warning' }),
  )
  past.plan(ago(12.5), () =>
    grace.call('POST', '/v1/notification-channels', {
      name: 'On-call mailbox',
      kind: 'email',
      settings: { to: [`oncall@${domain}`] },
      min_severity: 'critical',
      remind_every_seconds: 3600,
      most_reminders: 3,
    }),
  )
  past.plan(ago(15), () =>
    linus.call('POST', '/v1/notification-channels', {
      name: 'Team chat (old)',
      ...webhook('chat'),
      active: false,
      topics: ['incidents'],
    }),
  )
  past.plan(now - 7 * hourMs, () =>
    linus.call('POST', '/v1/notification-channels', {
      name: 'Pager',
      ...webhook('pager'),
      min_severity: 'warning',
      topics: ['incidents'],
    }),
  )
}
