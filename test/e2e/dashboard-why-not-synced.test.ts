import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { startBrowser, recordProblems, newContext } from '../support/dashboard'
import { startDemo, type Demo } from '../support/demo'

// The demo always uses SQLite, so run it only once.
describe.skipIf(process.env.BAILIWICK_DATABASE_URL !== undefined)('a demo in which a provider rejects a record', () => {
  let demo: Demo
  let browser: Browser
  beforeAll(async () => {
    demo = startDemo()
    await demo.ready()
    browser = await startBrowser()
  }, 660_000)
  afterAll(async () => {
    await browser?.close()
    await demo?.stop('SIGKILL')
    demo?.remove()
  })

  test('shows the reason on the overview, one click away from the record', async () => {
    const { url, email, password } = await demo.ready()
    const page = recordProblems(await (await newContext(browser)).newPage(), url)
    await page.goto(`${url}/login`)
    await page.getByLabel('Email').fill(email)
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const reason = /blocked by the zone policy/
    const name = 'preview.kestrel-cdn.example A'
    await page.getByRole('listitem').filter({ hasText: name }).getByText(reason).waitFor()
    // Listed once, and conditions are described in words.
    expect(await page.getByText(reason).count()).toBe(1)
    await page.getByText(/^Certificate expires in .+, less than 14d/).waitFor()

    let actions = 0
    await page.getByRole('link', { name }).click()
    actions++
    await page.getByRole('heading', { level: 1, name: 'kestrel-cdn.example' }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'preview' })
    await row.waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'kestrel' }).count()).toBeLessThanOrEqual(1)
    await row.getByText(reason).waitFor()
    await page.getByRole('list', { name: 'Providers' }).getByText(reason).waitFor()
    expect(actions).toBeLessThanOrEqual(2)
  }, 180_000)
})
