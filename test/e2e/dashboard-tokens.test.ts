import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, expectClean, takeSecret, type Dashboard } from '../support/dashboard'

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
  const first = await takeSecret(shown)
  expect(first).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)
  expect(await statusWith(first)).toBe(200)

  await page.getByRole('link', { name: 'deploy' }).click()
  await page.getByRole('heading', { level: 1, name: 'deploy' }).waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Rotate token' }).click()
  await shown.getByRole('button', { name: 'Rotate token' }).click()
  await shown.getByRole('heading', { name: 'Copy the new token' }).waitFor()
  const second = await takeSecret(shown)
  expect(second).not.toBe(first)
  expect(await statusWith(second)).toBe(200)

  await page.getByRole('button', { name: 'Revoke token' }).click()
  await shown.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('Token revoked').waitFor()
  expect(await statusWith(first)).toBe(401)
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  await expectClean(page)
}, 60_000)

test('a token that is shown once can’t be lost by accident, and can be downloaded', async () => {
  const page = await ui.open('/tokens')
  await page.keyboard.press('c')
  await page.getByLabel('Name', { exact: true }).fill('CI / deploy')
  await page.getByRole('button', { name: 'Create token' }).click()
  const shown = page.getByRole('dialog', { name: 'Copy your token' })
  const token = (await shown.locator('pre').textContent())!
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await page.keyboard.press('Control+k')
  await page.evaluate(() => history.back())
  const question = shown.getByRole('alert').getByText('Close without copying? It can’t be shown again.')
  await question.waitFor()
  expect(await shown.locator('pre').textContent()).toBe(token)
  expect(await shown.getByRole('button', { name: 'Close without copying' }).count()).toBe(1)
  await expectClean(page)

  const download = page.waitForEvent('download')
  await shown.getByRole('button', { name: 'Download' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('bailiwick-token-ci-deploy.txt')
  expect(await Bun.file(await file.path()).text()).toBe(`${token}\n`)
  expect(await question.count()).toBe(0)
  await shown.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
  await page.getByRole('link', { name: 'CI / deploy' }).waitFor()
}, 60_000)
