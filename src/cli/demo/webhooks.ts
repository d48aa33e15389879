import { warnOfExpiringTokens } from '../../features/tokens/expiry'
import { deliverJob } from '../../features/webhooks/sending/deliver'
import { dispatchJob } from '../../features/webhooks/sending/dispatch'
import { checkFailingEndpoints } from '../../features/webhooks/endpoints/failing'
import { domain } from './resolver'
import type { Scenario } from './scenario'
import { hourMs, minuteMs } from './time-units'

/**
 * Schedules webhook endpoints: one that works, one that fails and recovers, one that is gone, one that always fails, one inactive.
 */
export function scheduleWebhooks({ simulation, people: { ada, linus }, servers: { ports }, now, ago }: Scenario): void {
  const url = (path: string) => `http://hooks.${domain}:${ports.hooks}/${path}`
  const alerts = ['monitor.alert', 'monitor.recovered']
  simulation.runJobsWhenDue(dispatchJob.kind)
  simulation.runJobsWhenDue(deliverJob.kind)
  simulation.schedule(ago(9.5), () =>
    ada.call('POST', '/v1/webhook-endpoints', {
      url: url('orders'),
      description: 'Order system: pauses checkout while payments are down',
      events: [...alerts, 'monitor.acknowledged', 'dns.records_changed', 'webhook.endpoint_disabled'],
      headers: { Authorization: 'Bearer changeme-5d20b7' },
      ordering: 'per_resource',
    }),
  )
  simulation.schedule(ago(5.5), () =>
    linus.call('POST', '/v1/webhook-endpoints', {
      url: url('billing'),
      description: 'Billing: refunds for outages',
      events: alerts,
      retry_schedule: [5, 30, 60, 120, 600],
      timeout_seconds: 5,
    }),
  )
  simulation.schedule(ago(5), () =>
    linus.call('POST', '/v1/webhook-endpoints', { url: url('legacy'), description: 'Old CRM', events: alerts }),
  )
  simulation.schedule(now - 5 * hourMs, () =>
    linus.call('POST', '/v1/webhook-endpoints', {
      url: url('pager'),
      description: 'Public status page',
      events: [...alerts, 'dns.records_changed'],
      retry_schedule: [5, 60],
      max_per_second: 5,
    }),
  )
  simulation.schedule(now - 100 * minuteMs, () =>
    ada.call('POST', '/v1/webhook-endpoints', { url: url('lake'), description: 'Data lake', events: alerts, active: false }),
  )
  // Runs what the timetable runs every minute.
  for (let at = now - 5 * hourMs; at <= now; at += 20 * minuteMs)
    simulation.schedule(at, () => checkFailingEndpoints(simulation.hub))
  simulation.schedule(now - minuteMs, () => warnOfExpiringTokens(simulation.hub))
}
