import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 180_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

test('times use the chosen time zone and clock, and compact rows are smaller', async () => {
  const page = await ui.open('/profile')
  await page.getByLabel('Time zone').fill('Asia/Kathmandu')
  await page.getByLabel('Time format').selectOption('12')
  await page.getByLabel('Density').selectOption('compact')
  const preferences = page.locator('form', { has: page.getByLabel('Time zone') })
  await preferences.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Changes saved').first().waitFor()
  // Reload, because the toast covers part of the page.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Your profile' }).waitFor()
  await expectClean(page)

  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  const shown = page.locator('tbody time').first()
  await shown.waitFor()
  const [title, expected] = await shown.evaluate(node => {
    const at = new Date(node.getAttribute('datetime')!)
    const format = { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Kathmandu', hour12: true } as const
    return [node.getAttribute('title'), new Intl.DateTimeFormat(undefined, format).format(at)]
  })
  expect(title).toBe(expected)
  // By default, rows of the audit log are 56 pixels high.
  expect(
    await page
      .locator('tbody td')
      .first()
      .evaluate(cell => cell.getBoundingClientRect().height),
  ).toBeLessThan(50)

  await page.goto(`${ui.hub.url}/tokens/new`)
  await page.getByLabel('Name', { exact: true }).fill('until the year ends')
  await page.getByLabel('Expires').fill('2030-01-01T00:00')
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('dialog').locator('code').waitFor()
  const { data } = await ui.api('GET', '/v1/tokens')
  expect(data.find((one: { name: string }) => one.name === 'until the year ends').expires_at).toBe('2029-12-31T18:15:00.000Z')
}, 180_000)

test('an unknown time zone is reported at its field', async () => {
  const page = await ui.open('/profile')
  // The error replaces the hint.
  const hint = page.getByText('Times are shown and entered in this time zone.')
  await hint.waitFor()
  const zone = page.getByLabel('Time zone')
  await zone.fill('Mars/Olympus')
  await page.locator('form', { has: zone }).getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('must be an IANA time zone name', { exact: false }).first().waitFor()
  expect(await zone.getAttribute('aria-invalid')).toBe('true')
  expect(await hint.count()).toBe(0)
}, 180_000)

test('the sidebar can be collapsed to icons and expanded again', async () => {
  const page = await ui.open('/')
  const side = page.locator('aside')
  const width = () => side.evaluate(node => node.getBoundingClientRect().width)
  const wide = await width()
  await side.getByRole('button', { name: 'Collapse sidebar' }).click()
  await side.getByRole('button', { name: 'Expand sidebar' }).waitFor()
  expect(await width()).toBeLessThan(wide / 3)
  await expectClean(page)
  await side.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
  await page.reload()
  await side.getByRole('button', { name: 'Expand sidebar' }).click()
  await side.getByRole('button', { name: 'Collapse sidebar' }).waitFor()
  expect(await width()).toBe(wide)
}, 180_000)

/** Sets the clock of the browser ahead, for pages opened from now on. */
function setClockAhead(ms: number): void {
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    constructor(...parts: unknown[]) {
      super(...((parts.length === 0 ? [RealDate.now() + ms] : parts) as [number]))
    }
    static override now = () => RealDate.now() + ms
  } as DateConstructor
}

/** The relative times on a page, from now on. */
const recordTimes = () =>
  new MutationObserver(() => {
    const { seen } = globalThis as unknown as { seen: string[] }
    for (const one of document.querySelectorAll('time')) if (!seen.includes(one.textContent)) seen.push(one.textContent)
  }).observe(document.body, { subtree: true, childList: true, characterData: true })

test.each([0, -3_600_000, 3_600_000])(
  'times are right in a browser whose clock is %i ms ahead',
  async ahead => {
    const page = await ui.open('/webhooks/new')
    await page.addInitScript(setClockAhead, ahead)
    await page.reload()
    await page.getByLabel('URL').fill('http://127.0.0.1:9/')
    await page.getByRole('checkbox', { name: /^monitor\.alert/ }).check()
    // No time is shown here, so none is updated for a while.
    await page.waitForTimeout(4000)
    await page.evaluate(() => Object.assign(globalThis, { seen: [] }))
    await page.evaluate(recordTimes)
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await takeSecret(page.getByRole('dialog'))
    await page.getByRole('link', { name: 'Webhooks' }).first().click()
    await page.locator('tbody time').first().waitFor()
    await page.waitForTimeout(1500)
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen)
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.filter(text => !/^(now|\d{1,2} s ago)$/.test(text))).toEqual([])
  },
  180_000,
)
