import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, expectClean, forgetProblems, takeSecret, type Dashboard } from '../support/dashboard'
import { sshKeys } from '../support/ssh-keys'

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
}, 180_000)
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

  // The link to what was created appears once the dialog with its value is closed.
  const toast = page.getByRole('dialog').filter({ hasText: 'deploy created' })
  await toast.getByRole('link', { name: 'View' }).click()
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
}, 180_000)

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
}, 180_000)

test('a token is restricted to resources that are picked by name, edited, and reported as leaked', async () => {
  const { id } = await ui.api('POST', '/v1/heartbeats', {
    name: 'nightly backup',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
  })
  const page = await ui.open('/tokens/new')
  await page.getByLabel('Name', { exact: true }).fill('backup only')
  await page.getByText('Restrictions', { exact: true }).click()
  await page.getByLabel('Resources', { exact: true }).fill('nightly')
  await page.getByRole('button', { name: /nightly backup/ }).click()
  await expectClean(page)
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog')
  const value = await takeSecret(dialog)
  await page.getByRole('link', { name: 'backup only' }).click()
  await page.getByRole('main').getByRole('link', { name: 'nightly backup' }).waitFor()
  const token = async () => (await ui.api('GET', '/v1/tokens?q=backup')).data[0]
  expect(await token()).toMatchObject({ resource_ids: [id], allowed_cidrs: [], expires_at: null })

  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Name', { exact: true }).fill('backup on db1')
  await dialog.getByLabel('Allowed addresses', { exact: true }).fill('127.0.0.1')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'backup on db1' }).waitFor()
  expect(await token()).toMatchObject({ name: 'backup on db1', allowed_cidrs: ['127.0.0.1'], resource_ids: [id] })
  await expectClean(page)

  // Changing the name keeps the exact expiry, which the field shows in minutes.
  const expires_at = new Date(Date.now() + 86_412_345).toISOString()
  await ui.api('PATCH', `/v1/tokens/${(await token()).id}`, { expires_at })
  await page.reload()
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Name', { exact: true }).fill('backup on db2')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'backup on db2' }).waitFor()
  expect(await token()).toMatchObject({ name: 'backup on db2', allowed_cidrs: ['127.0.0.1'], expires_at })

  await page.goto(`${ui.hub.url}/tokens`)
  await page.getByRole('button', { name: 'Report leaked token' }).click()
  await dialog.getByLabel('Token', { exact: true }).fill(value)
  await dialog.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('Report sent.').waitFor()
  expect((await token()).revoked_at).not.toBeNull()
}, 180_000)

test('several tokens are revoked at once', async () => {
  for (const name of ['old 1', 'old 2']) await ui.api('POST', '/v1/tokens', { name, mode: 'read_only' })
  const page = await ui.open('/tokens?q=old')
  await page.getByLabel('Select all').check()
  await expectClean(page)
  await page.getByRole('toolbar').getByRole('button', { name: 'Revoke' }).click()
  await page.getByLabel(/to confirm/).fill('2')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke 2 tokens' }).click()
  await page.getByText('2 tokens revoked').waitFor()
  expect((await ui.api('GET', '/v1/tokens?q=old')).data.map((one: any) => one.revoked_at === null)).toEqual([false, false])
}, 180_000)

test('an SSH key is added, found, made a default, and deleted, and a private key is refused', async () => {
  const { text, fingerprint } = sshKeys.ed25519
  const page = await ui.open('/ssh-keys')
  await page.getByText('No SSH keys yet').waitFor()
  await expectClean(page)
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Alice’s laptop')
  const key = dialog.getByLabel('Public key', { exact: true })
  await key.fill('-----BEGIN OPENSSH PRIVATE KEY-----\nplanted-line')
  await dialog.getByRole('button', { name: 'Add SSH key' }).click()
  await dialog.getByText('Public key is a private key. Send the public key').waitFor()
  await expectClean(page)
  forgetProblems(page)
  await key.fill(text)
  await dialog.getByRole('button', { name: 'View as API call' }).click()
  expect(await page.getByRole('dialog', { name: 'API call' }).locator('pre').textContent()).toContain('/v1/ssh-keys')
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Add SSH key' }).click()
  await page.getByText('SSH key added').waitFor()
  await page.getByText(fingerprint).waitFor()
  await expectClean(page)

  await ui.api('POST', '/v1/ssh-keys', { name: 'Bob', public_key: sshKeys.rsa3072.text })
  await page.getByText('Bob', { exact: true }).waitFor()
  await page.getByLabel('Algorithm', { exact: true }).selectOption('Ed25519')
  await page.getByText('Bob', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Alice’s laptop', exact: true }).click()
  expect(await dialog.locator('pre').textContent()).toBe(text)
  await expectClean(page)
  await page.keyboard.press('Escape')

  const menu = page.getByRole('button', { name: 'Actions for Alice’s laptop' })
  await menu.click()
  await page.getByRole('menuitem', { name: 'Edit SSH key' }).click()
  await dialog.getByLabel('Default', { exact: true }).check()
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('SSH key saved').waitFor()
  expect((await ui.api('GET', '/v1/ssh-keys?default=true')).data).toMatchObject([{ name: 'Alice’s laptop', version: 2 }])
  await menu.click()
  await page.getByRole('menuitem', { name: 'Delete SSH key' }).click()
  await dialog.getByRole('button', { name: 'Delete SSH key' }).click()
  await page.getByText('No matches').waitFor()
  expect((await ui.api('GET', '/v1/ssh-keys')).data.map((one: any) => one.name)).toEqual(['Bob'])
}, 180_000)
