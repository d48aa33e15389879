import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../support/binary'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'
import { queryHub } from '../support/query-hub'
import { powerDnsDouble, type PowerDnsDouble } from '../support/power-dns-double'

const limitMs = 120_000
let here: Dashboard
let there: PowerDnsDouble
beforeAll(async () => {
  there = powerDnsDouble()
  here = await dashboard()
  const { data } = await here.api('GET', '/v1/workspaces')
  await here.api('PATCH', `/v1/workspaces/${data[0].id}`, { network_policy: { allow_private: true, allow_ranges: [] } })
}, limitMs)
afterAll(async () => {
  await here?.[Symbol.asyncDispose]()
  there?.stop()
})

test(
  'the reason why a record is out of sync is two clicks from the overview',
  async () => {
    const provider = await here.api('POST', '/v1/dns/providers', {
      kind: 'powerdns',
      name: 'Double',
      settings: { url: there.url, api_key: 'key-of-the-double' },
    })
    const zone = await here.api('POST', '/v1/dns/zones', { name: 'third.example', provider_id: provider.id })
    const at = `/v1/dns/zones/${zone.id}`
    await here.api('POST', `${at}/records`, { type: 'A', name: 'www', content: '192.0.2.1' })
    await until('the zone is synced', async () => (await here.api('GET', at)).synced)
    await fetch(`${there.url}/api/v1/servers/localhost/zones/third.example.`, {
      method: 'PATCH',
      headers: { 'x-api-key': 'key-of-the-double', 'content-type': 'application/json' },
      body: JSON.stringify({
        rrsets: [
          {
            name: 'www.third.example.',
            type: 'A',
            ttl: 3600,
            changetype: 'REPLACE',
            records: [{ content: '198.51.100.7', disabled: false }],
          },
        ],
      }),
    })
    await here.api('POST', `${at}/refresh`, {})
    await until('the drift', async () => (await here.api('GET', at)).sync.state === 'drifted')

    const page = await here.open('/')
    await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'DNS' }).click()
    await page
      .getByRole('row', { name: /third\.example/ })
      .getByRole('link', { name: /drifted/ })
      .click()
    await page.getByText('Changed at the provider: 198.51.100.7').waitFor()
    await expectClean(page)
    await page.getByRole('button', { name: /drifted/ }).click()
    await page.getByRole('dialog', { name: 'A record for www.third.example' }).getByText('Double').waitFor()
    await expectClean(page)
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Zone actions' }).click()
    await page.getByRole('menuitem', { name: 'Import from another server' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Source').selectOption('DNS provider')
    await dialog.getByLabel('Provider').selectOption('Double')
    await dialog.getByRole('button', { name: 'Preview changes' }).click()
    await dialog.getByRole('insertion').filter({ hasText: '198.51.100.7' }).waitFor()
    await expectClean(page)
    // The choices are still there when the preview is left.
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await dialog.getByLabel('Provider').locator('option:checked').textContent()).toBe('Double')
    await dialog.getByRole('button', { name: 'Preview changes' }).click()
    await dialog.getByLabel('Note', { exact: true }).fill('Moved')
    await dialog.getByRole('button', { name: 'Import records' }).click()
    await page.getByText('Zone imported').waitFor()
    await until(
      'the record is imported',
      async () => (await here.api('GET', `${at}/records?name=www`)).data[0].content === '198.51.100.7',
    )
  },
  limitMs,
)

test(
  'zone settings are updated, secondary configuration is shown, and a zone is deleted by typing its name',
  async () => {
    const zone = await here.api('POST', '/v1/dns/zones', { name: 'fourth.example' })
    const page = await here.open(`/dns/zones/${zone.id}/settings`)
    await page.getByText('Timers', { exact: true }).click()
    await page.getByLabel('Negative caching TTL').fill('60')
    await page.getByRole('button', { name: 'Save changes' }).first().click()
    await page.getByText('SOA saved').waitFor()
    expect((await here.api('GET', `/v1/dns/zones/${zone.id}`)).soa.minimum).toBe(60)
    await expectClean(page)
    const tabs = page.getByRole('navigation', { name: 'Zone' })
    await tabs.getByRole('link', { name: 'Secondaries' }).click()
    await page.getByLabel('Software').selectOption('nsd')
    await page.locator('pre').filter({ hasText: 'name: "fourth.example"' }).waitFor()
    await expectClean(page)
    await tabs.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Delete zone' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('fourth.example')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete zone' }).click()
    await page.getByText('Zone fourth.example deleted').waitFor()
    await until(
      'the zone is no longer served',
      async () => (await queryHub(here.hub, 'fourth.example.', 'SOA'))?.rcode === 'REFUSED',
    )
  },
  limitMs,
)
