import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'

let ui: Dashboard
/** What the receiver got, and the status it responds with. */
const receiver = { status: 503, received: [] as { headers: Headers; body: string }[] }
let server: Bun.Server<undefined>

beforeAll(async () => {
  ui = await dashboard()
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      receiver.received.push({ headers: request.headers, body: await request.text() })
      return new Response(receiver.status === 200 ? 'thank you' : 'busy', { status: receiver.status })
    },
  })
}, 180_000)
afterAll(async () => {
  await ui?.[Symbol.asyncDispose]()
  await server?.stop(true)
})

test('an endpoint is created, and its failed message is inspected and resent', async () => {
  const page = await ui.open('/webhooks')
  await page.keyboard.press('c')
  await page.getByLabel('URL').fill(`http://127.0.0.1:${server.port}/hook`)
  await page.getByLabel('Description').fill('chat room')
  await page.getByRole('checkbox', { name: /^monitor\.alert/ }).check()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  const shown = page.getByRole('dialog')
  const secret = await takeSecret(shown)
  expect(secret).toStartWith('whsec_')
  await page.getByRole('heading', { level: 1, name: 'chat room' }).waitFor()

  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Request failed').first().waitFor()
  expect(() =>
    new Webhook(secret).verify(receiver.received[0]!.body, Object.fromEntries(receiver.received[0]!.headers)),
  ).not.toThrow()
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click()
  await page.getByRole('heading', { level: 1, name: 'monitor.alert' }).waitFor()
  await page.getByRole('main').getByText('The server responded with status 503').waitFor()
  await expectClean(page)

  receiver.status = 200
  await page.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('delivered', { exact: true }).first().waitFor()
  await page.locator('pre', { hasText: 'thank you' }).waitFor()
  await page.goto(`${ui.hub.url}/webhooks/deliveries`)
  await page.getByRole('table', { name: 'Deliveries' }).getByText('delivered').first().waitFor()
  await expectClean(page)
}, 180_000)

test('an endpoint is deactivated, activated with undo, and edited, and shows how to verify signatures', async () => {
  const endpoint = await ui.api('POST', '/v1/webhook-endpoints', {
    url: `http://127.0.0.1:${server.port}/other`,
    description: 'other room',
    events: ['monitor.alert'],
  })
  const page = await ui.open(`/webhooks/${endpoint.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Deactivate' }).click()
  await page.getByText('inactive', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('enabled', { exact: true }).waitFor()
  expect((await ui.api('GET', `/v1/webhook-endpoints/${endpoint.id}`)).active).toBe(true)

  await page.getByRole('link', { name: 'Settings', exact: true }).last().click()
  await page.getByRole('checkbox', { name: /^monitor\.recovered/ }).check()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Endpoint saved').waitFor()
  expect((await ui.api('GET', `/v1/webhook-endpoints/${endpoint.id}`)).events).toEqual(['monitor.alert', 'monitor.recovered'])
  await expectClean(page)

  await page.getByRole('link', { name: 'Verify signatures' }).click()
  for (const language of ['Node.js or Bun', 'Python', 'Go', 'PHP']) {
    await page.getByRole('button', { name: language, exact: true }).click()
    await page.getByRole('figure').filter({ hasText: language }).locator('pre').waitFor()
  }
  await expectClean(page)
}, 180_000)

test('deliveries and events show the names of their endpoints and resources, and are filtered by name', async () => {
  receiver.status = 200
  const endpoint = await ui.api('POST', '/v1/webhook-endpoints', {
    url: `http://127.0.0.1:${server.port}/named`,
    description: 'named room',
    events: ['dns.records_changed'],
  })
  for (const name of ['named.example', 'another.example']) {
    const zone = await ui.api('POST', '/v1/dns/zones', { name })
    await ui.api('POST', `/v1/dns/zones/${zone.id}/records`, { name: 'www', type: 'A', content: '192.0.2.1' })
  }
  const page = await ui.open('/webhooks/deliveries')
  const pick = async (filter: string, text: string) => {
    await page.getByRole('button', { name: `${filter}: All ${filter.toLowerCase()}s` }).click()
    await page.getByRole('combobox', { name: `Search ${filter.toLowerCase()}` }).fill(text)
    await page.getByRole('option', { name: new RegExp(text) }).click()
  }
  const rows = page.getByRole('table').getByRole('row')
  await pick('Endpoint', 'named room')
  await rows.filter({ hasText: 'failing room' }).first().waitFor({ state: 'detached' })
  await rows.getByRole('link', { name: 'another.example' }).first().waitFor()
  await pick('Resource', 'named.example')
  await rows.getByRole('link', { name: 'another.example' }).first().waitFor({ state: 'detached' })
  const row = rows.filter({ hasText: 'dns.records_changed' }).first()
  await row.getByRole('link', { name: 'named.example' }).waitFor()
  expect(await row.getByRole('link', { name: 'named room' }).getAttribute('href')).toBe(`/webhooks/${endpoint.id}`)
  await expectClean(page)
  await row.getByRole('link', { name: 'dns.records_changed' }).click()
  const main = page.getByRole('main')
  // The list is shown until the page of the delivery has loaded.
  await main.getByText('Endpoint ID').waitFor()
  await main.getByRole('link', { name: 'named room' }).waitFor()
  await main.getByRole('link', { name: 'named.example' }).waitFor()
  await main.getByTitle(endpoint.id, { exact: true }).first().waitFor()
  await expectClean(page)

  await page.goto(`${ui.hub.url}/events`)
  await rows.getByRole('link', { name: 'another.example' }).first().waitFor()
  await pick('Resource', 'named.example')
  await rows.getByRole('link', { name: 'another.example' }).first().waitFor({ state: 'detached' })
  await rows.getByRole('link', { name: 'named.example' }).first().waitFor()
  await page.getByRole('button', { name: /^Resource: / }).click()
  await expectClean(page)
}, 180_000)

test('events are limited to resources that are found by name', async () => {
  const { id: zone } = await ui.api('POST', '/v1/dns/zones', { name: 'only.example' })
  const { id } = await ui.api('POST', '/v1/webhook-endpoints', {
    url: `http://127.0.0.1:${server.port}/only`,
    events: ['dns.records_changed'],
  })
  const page = await ui.open(`/webhooks/${id}/settings`)
  await page.getByText('Filters', { exact: true }).click()
  await page.getByLabel('Resources').fill('only.exa')
  await page.getByRole('button', { name: /^only\.example/ }).click()
  await page.getByRole('button', { name: 'Remove only.example' }).waitFor()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Endpoint saved').waitFor()
  expect((await ui.api('GET', `/v1/webhook-endpoints/${id}`)).filters).toEqual({ resource_ids: [zone] })
  await expectClean(page)
}, 180_000)

test('the form offers the event kinds that can occur, and those the endpoint is already subscribed to', async () => {
  const page = await ui.open('/webhooks/new')
  const kinds = page.getByRole('group', { name: 'Events' }).getByRole('checkbox')
  await kinds.first().waitFor()
  const offered = async () =>
    await kinds.evaluateAll(all => all.map(one => one.parentElement!.querySelector('code')!.textContent))
  const listed: any[] = (await ui.api('GET', '/v1/event-kinds')).data.filter((one: any) => one.available)
  // The form groups them by area.
  const available = [...Map.groupBy(listed, one => one.area).values()].flat().map(one => one.kind)
  expect(await offered()).toEqual(available)
  expect(available).not.toContain('watched_domain.available')
  await expectClean(page)

  const { id } = await ui.api('POST', '/v1/webhook-endpoints', {
    url: `http://127.0.0.1:${server.port}/later`,
    events: ['watched_domain.available', 'monitor.alert'],
  })
  await page.goto(`${ui.hub.url}/webhooks/${id}/settings`)
  await kinds.first().waitFor()
  expect((await offered()).toSorted()).toEqual([...available, 'watched_domain.available'].toSorted())
  await page.getByText('These events can’t occur in this version yet.').waitFor()
}, 180_000)

test('a form shows errors next to the field, and the page shows its API calls', async () => {
  const page = await ui.open('/webhooks/new')
  await page.getByLabel('URL').fill('ftp://example.com')
  await page.getByRole('checkbox', { name: /^monitor\.alert/ }).check()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByLabel('URL').and(page.locator('[aria-invalid=true]')).waitFor()
  await page.getByRole('banner').getByRole('button', { name: 'API calls' }).click()
  const shown = page.getByRole('dialog')
  await shown.getByRole('button', { name: /POST \/v1\/webhook-endpoints/ }).click()
  expect(await shown.locator('pre').textContent()).toContain(`curl -X POST '${ui.hub.url}/v1/webhook-endpoints'`)
  expect(await shown.locator('pre').textContent()).toContain('Authorization: Bearer $TOKEN')
}, 180_000)

test('several endpoints are deactivated with undo, and deleted', async () => {
  for (const description of ['bulk 1', 'bulk 2'])
    await ui.api('POST', '/v1/webhook-endpoints', {
      url: `http://127.0.0.1:${server.port}/bulk`,
      description,
      events: ['monitor.alert'],
    })
  const active = async () => (await ui.api('GET', '/v1/webhook-endpoints?q=bulk')).data.map((one: any) => one.active)
  const page = await ui.open('/webhooks?q=bulk')
  await page.getByLabel('Select all').check()
  await page.getByRole('toolbar').getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('2 endpoints deactivated').waitFor()
  expect(await active()).toEqual([false, false])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone').waitFor()
  expect(await active()).toEqual([true, true])

  // Activating doesn’t enable endpoints that were disabled automatically, so it leaves them out.
  const isList = (url: URL) => url.pathname === '/v1/webhook-endpoints'
  await page.route(isList, async route => {
    const response = await route.fetch()
    const { data, ...rest } = await response.json()
    const [first, ...others] = data
    await route.fulfill({ json: { ...rest, data: [{ ...first, status: 'disabled', disabled_reason: 'gone' }, ...others] } })
  })
  await page.reload()
  await page.getByRole('table').getByText('disabled automatically').waitFor()
  await page.getByLabel('Select all').check()
  await page.getByRole('toolbar').getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByText('1 endpoint activated').waitFor()
  // The list may be refetched at this moment.
  await page.unrouteAll({ behavior: 'wait' })
  await page.reload()
  await page.getByLabel('Select all').check()
  await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
  await page.getByLabel(/to confirm/).fill('2')
  await page.getByRole('button', { name: 'Delete 2 endpoints' }).click()
  await page.getByText('2 endpoints deleted').waitFor()
  expect(await active()).toEqual([])
}, 180_000)

test('each event kind has an example and a JSON Schema', async () => {
  const page = await ui.open('/webhooks/new')
  const [kinds] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'Examples and JSON Schemas of all events' }).click(),
  ])
  await kinds.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  await page.goto(`${ui.hub.url}/events`)
  await page.getByRole('link', { name: 'Event kinds' }).click()
  await page.getByRole('button', { name: 'monitor.alert' }).click()
  const { example, schema } = await ui.api('GET', '/v1/event-kinds/monitor.alert')
  const texts = page.getByRole('dialog').locator('pre')
  await texts.nth(1).waitFor()
  const shown = (await texts.allTextContents()).map(text => JSON.parse(text))
  expect(shown).toEqual([example, schema])
  await expectClean(page)

  const json = { code: 'forbidden', detail: 'Not now.' }
  await page.route('**/v1/event-kinds', route => route.fulfill({ status: 403, json }))
  await page.reload()
  await page.getByText('Not now.').waitFor()
  await page.unroute('**/v1/event-kinds')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'monitor.alert' }).waitFor()
}, 180_000)

test('undelivered messages of a time range are recovered', async () => {
  const { id } = await ui.api('POST', '/v1/webhook-endpoints', {
    url: `http://127.0.0.1:${server.port}/recovered`,
    events: ['monitor.alert'],
  })
  const page = await ui.open(`/webhooks/${id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Recover failed deliveries' }).click()
  await page.getByLabel('Start time').fill('2026-01-02T00:00')
  await page.getByLabel('End time').fill('2026-01-03T00:00')
  await expectClean(page)
  const sent = page.waitForRequest('**/recover')
  await page.getByRole('button', { name: 'Recover deliveries' }).click()
  const { since, until } = (await sent).postDataJSON()
  expect(Date.parse(until) - Date.parse(since)).toBe(86_400_000)
  await page.getByRole('heading', { level: 1, name: /Recover/ }).waitFor()
}, 180_000)
