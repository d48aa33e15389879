import { warnOfExpiringTokens } from '../../access/token-expiry'
import { deliverJob } from '../../features/webhooks/deliver'
import { dispatchJob } from '../../features/webhooks/dispatch'
import { watchEndpoints } from '../../features/webhooks/failing'
import { domain } from './resolver'
import { hourMs, minuteMs, type Telling } from './telling'

/**
 * Plans endpoints of webhooks: one that takes everything, one that fails and recovers, one that is gone, one that always fails, and
 * one that is paused.
 */
export function planWebhooks({ past, people: { ada, linus }, servers: { ports }, now, ago }: Telling): void {
  const url = (path: string) => `http://hooks.${domain}:${ports.hooks}/${path}`
  const alerts = ['monitor.alert', 'monitor.recovered']
  past.watch(dispatchJob.kind)
  past.watch(deliverJob.kind)
  past.plan(ago(9.5), () =>
    ada.call('POST', '/v1/webhook-endpoints', {
      url: url('orders'),
      description: 'Order system: stops the sale of what cannot be paid for',
      events: [...alerts, 'monitor.acknowledged', 'dns.records_changed', 'webhook.endpoint_disabled'],
      headers: { Authorization: 'Bearer changeme-5d20b7' },
      ordering: 'per_resource',
    }),
  )
  past.plan(ago(5.5), () =>
    linus.call('POST', '/v1/webhook-endpoints', {
      url: url('billing'),
      description: 'Billing: refunds for outages',
      events: alerts,
      retry_schedule: [5, 30, 60, 120, 600],
      timeout_seconds: 5,
    }),
  )
  past.plan(ago(5), () =>
    linus.call('POST', '/v1/webhook-endpoints', { url: url('legacy'), description: 'Old CRM', events: alerts }),
  )
  past.plan(now - 5 * hourMs, () =>
    linus.call('POST', '/v1/webhook-endpoints', {
      url: url('pager'),
      description: 'Public status page',
      events: [...alerts, 'dns.records_changed'],
      retry_schedule: [5, 60],
      max_per_second: 5,
    }),
  )
  past.plan(now - 100 * minuteMs, () =>
    ada.call('POST', '/v1/webhook-endpoints', { url: url('lake'), description: 'Data lake', events: alerts, active: false }),
  )
  // What the timetable looks at every minute.
  for (let at = now - 5 * hourMs; at <= now; at += 20 * minuteMs) past.plan(at, () => watchEndpoints(past.hub))
  past.plan(now - minuteMs, () => warnOfExpiringTokens(past.hub))
}
