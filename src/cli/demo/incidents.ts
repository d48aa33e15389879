import type { Scenario } from './scenario'
import { dayMs, hourMs, minuteMs } from './time-units'

/** Schedules what people did about the incidents. */
export function scheduleIncidents({ simulation, people: { ada, grace, linus }, checks, now, ago }: Scenario): void {
  const last = async (key: string): Promise<string> => {
    const { data } = await grace.call('GET', `/v1/incidents?monitor=${checks.id(key)}&limit=1`)
    return data[0].id
  }
  const on = async (key: string, step: string, body: object, by = grace) =>
    by.call('POST', `/v1/incidents/${await last(key)}/${step}`, body)

  const failover = ago(9) - 52 * minuteMs
  simulation.schedule(failover + 3 * minuteMs, () => on('shop', 'acknowledge', { note: 'On it. All of production answers 503.' }))
  simulation.schedule(failover + 4 * minuteMs, () => on('api', 'acknowledge', { note: 'Same cause as the shop.' }, linus))
  simulation.schedule(failover + 11 * minuteMs, () =>
    on('shop', 'updates', {
      text: 'The standby was promoted, but the connection pools still use the old primary.',
      notify: true,
    }),
  )
  simulation.schedule(failover + 34 * minuteMs, () =>
    on('shop', 'updates', { text: 'Restarting the connection pools one by one.' }, linus),
  )
  simulation.schedule(ago(8.4), async () =>
    grace.call('PUT', `/v1/incidents/${await last('shop')}/postmortem`, { body: postmortem }),
  )

  const router = ago(12) - 38 * minuteMs
  simulation.schedule(router + 6 * minuteMs, () => on('edge', 'acknowledge', { note: 'Called the data center.' }, linus))
  simulation.schedule(router + 21 * minuteMs, () =>
    on('edge', 'updates', { text: 'The data center is replacing the power supply.' }, linus),
  )

  simulation.schedule(now - 25.9 * hourMs, () => on('images', 'updates', { text: 'The provider reports that it is fixed.' }))
  simulation.schedule(now - 2.6 * hourMs, () =>
    on(
      'warehouse',
      'acknowledge',
      { note: 'The warehouse is switching its internet provider today.', expires_in_seconds: 86_400 },
      linus,
    ),
  )
  simulation.schedule(now - 4.1 * hourMs, () =>
    on('legacy', 'acknowledge', { note: 'A new certificate has been ordered.', expires_in_seconds: null }),
  )

  let giftCards = ''
  simulation.schedule(ago(4), async () => {
    const { id } = await ada.call('POST', '/v1/incidents', {
      title: "Some customers can't use gift cards",
      severity: 'warning',
      affected: [checks.id('payments')],
      started_at: new Date(simulation.clock.now() - 40 * minuteMs).toISOString(),
      notes: 'Only affects cards issued before 2025.',
    })
    giftCards = id
  })
  simulation.schedule(ago(4) + 20 * minuteMs, () =>
    grace.call('POST', `/v1/incidents/${giftCards}/acknowledge`, { note: 'Caused by the latest release.' }),
  )
  simulation.schedule(ago(4) + 3 * hourMs, () =>
    grace.call('POST', `/v1/incidents/${giftCards}/resolve`, { note: 'Rolled back.' }),
  )

  // Changes that incidents list as possible causes.
  simulation.schedule(ago(37), async () => {
    checks.updated(
      'search',
      await linus.call('PATCH', `/v1/monitors/${checks.id('search')}`, { description: 'Two nodes in Frankfurt.' }),
    )
  })
  simulation.schedule(now - 1.5 * dayMs, () => grace.call('POST', `/v1/monitors/${checks.id('staging')}/pause`))
}

const postmortem = `## What happened

The primary of the orders database lost its disk at peak time. The standby took over within 40 seconds. Shop, API, and search kept
connecting to the old primary for 50 minutes, because their connection pools never resolve a hostname twice.

## What helped

The alert was sent 20 seconds after the first failed check and listed all three sites.

## Action items

- Connection pools resolve the database hostname again after every failed connection.
- We test the failover in the maintenance window on the first Sunday of each month.
`
