import { dayMs, hourMs, minuteMs, type Telling } from './telling'

/** Plans what people did about what went wrong. */
export function planIncidents({ past, people: { ada, grace, linus }, checks, now, ago }: Telling): void {
  const last = async (key: string): Promise<string> => {
    const { data } = await grace.call('GET', `/v1/incidents?monitor=${checks.id(key)}&limit=1`)
    return data[0].id
  }
  const on = async (key: string, step: string, body: object, by = grace) =>
    by.call('POST', `/v1/incidents/${await last(key)}/${step}`, body)

  const failover = ago(9) - 52 * minuteMs
  past.plan(failover + 3 * minuteMs, () => on('shop', 'acknowledge', { note: 'On it. All of production answers 503.' }))
  past.plan(failover + 4 * minuteMs, () => on('api', 'acknowledge', { note: 'Same cause as the shop.' }, linus))
  past.plan(failover + 11 * minuteMs, () =>
    on('shop', 'updates', {
      text: 'The standby was promoted, but the pools still hold connections to the old primary.',
      notify: true,
    }),
  )
  past.plan(failover + 34 * minuteMs, () => on('shop', 'updates', { text: 'Restarting the pools, one after the other.' }, linus))
  past.plan(ago(8.4), async () => grace.call('PUT', `/v1/incidents/${await last('shop')}/postmortem`, { body: postmortem }))

  const router = ago(12) - 38 * minuteMs
  past.plan(router + 6 * minuteMs, () => on('edge', 'acknowledge', { note: 'Called the data centre.' }, linus))
  past.plan(router + 21 * minuteMs, () => on('edge', 'updates', { text: 'They replace the power supply.' }, linus))

  past.plan(now - 25.9 * hourMs, () => on('images', 'updates', { text: 'The provider says that it is over.' }))
  past.plan(now - 2.6 * hourMs, () =>
    on('warehouse', 'acknowledge', { note: 'The warehouse moves its line today.', expires_in_seconds: 86_400 }, linus),
  )
  past.plan(now - 4.1 * hourMs, () =>
    on('legacy', 'acknowledge', { note: 'A new certificate is ordered.', expires_in_seconds: null }),
  )

  let giftCards = ''
  past.plan(ago(4), async () => {
    const { id } = await ada.call('POST', '/v1/incidents', {
      title: 'Some customers cannot use gift cards',
      severity: 'warning',
      affected: [checks.id('payments')],
      started_at: new Date(past.clock.now() - 40 * minuteMs).toISOString(),
      notes: 'Only cards from before 2025.',
    })
    giftCards = id
  })
  past.plan(ago(4) + 20 * minuteMs, () =>
    grace.call('POST', `/v1/incidents/${giftCards}/acknowledge`, { note: 'Found it in the last release.' }),
  )
  past.plan(ago(4) + 3 * hourMs, () => grace.call('POST', `/v1/incidents/${giftCards}/resolve`, { note: 'Rolled back.' }))

  // Changes that one finds again when one asks what was different.
  past.plan(ago(37), async () => {
    checks.edited(
      'search',
      await linus.call('PATCH', `/v1/monitors/${checks.id('search')}`, { description: 'Two nodes in Frankfurt.' }),
    )
  })
  past.plan(now - 1.5 * dayMs, () => grace.call('POST', `/v1/monitors/${checks.id('staging')}/pause`))
}

const postmortem = `## What happened

The primary of the orders database lost its disk at the worst time of the week. The standby took over within 40 seconds. Shop, API and
search went on asking the old primary for 50 minutes, since their connection pools never look a name up again.

## What helped

The alert came 20 seconds after the first failed check, and named all three sites.

## What we change

- Pools look the name of the database up again after every failed connection.
- The failover is exercised in the maintenance window of the first Sunday of each month.
`
