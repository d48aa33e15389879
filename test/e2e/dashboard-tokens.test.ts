import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, expectClean, type Dashboard } from '../support/dashboard'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 60_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

test('a token can be created, used, rotated and revoked', async () => {
  const statusWith = async (token: string) =>
    (await fetch(`${ui.hub.url}/v1/tokens`, { headers: { authorization: `Bearer ${token}` } })).status
  const page = await ui.open('/tokens')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('deploy')
  await page.getByRole('button', { name: 'Create token' }).click()
  const shown = page.getByRole('dialog')
  const first = (await shown.locator('code').textContent())!
  expect(first).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)
  expect(await statusWith(first)).toBe(200)
  await shown.getByRole('button', { name: 'Close' }).click()

  await page.getByRole('link', { name: 'deploy' }).click()
  await page.getByRole('heading', { level: 1, name: 'deploy' }).waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Rotate token' }).click()
  await shown.getByRole('button', { name: 'Rotate token' }).click()
  const second = (await shown.locator('code').textContent())!
  expect(second).not.toBe(first)
  expect(await statusWith(second)).toBe(200)
  await shown.getByRole('button', { name: 'Close' }).click()

  await page.getByRole('button', { name: 'Revoke token' }).click()
  await shown.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('Token revoked').waitFor()
  expect(await statusWith(first)).toBe(401)
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  await expectClean(page)
}, 60_000)
