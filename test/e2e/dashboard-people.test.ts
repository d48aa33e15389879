import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { until } from '../support/binary'
import { ada, dashboard, expectClean, inspectPage, takeSecret, type Dashboard } from '../support/dashboard'
import { freePort } from '../support/free-port'
import { codeAt } from '../support/one-time-code'

let ui: Dashboard
let base: string

beforeAll(async () => {
  const port = await freePort()
  // Passkeys need a hostname, and browsers treat localhost as a secure context.
  base = `http://localhost:${port}`
  ui = await dashboard({ env: { BAILIWICK_BASE_URL: base }, args: ['--listen', `127.0.0.1:${port}`] })
}, 180_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const card = (page: Page, name: string) => page.getByRole('heading', { level: 2, name }).locator('xpath=../..')

async function login(page: Page, email: string, password = ada.password): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'User menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
}

/** Creates a user who accepted an invitation, to sign in on the page. */
async function join(name: string, role: string, path = '/v1/invitations'): Promise<string> {
  const email = `${name.toLowerCase()}@example.com`
  const { code } = await ui.api('POST', path, { email, role })
  const response = await fetch(`${base}/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'bailiwick-csrf': '1', origin: base },
    body: JSON.stringify({ code, name, password: ada.password }),
  })
  expect(response.ok).toBe(true)
  return email
}

test('one-time codes can be enabled, used, replaced by a recovery code, and disabled', async () => {
  const page = await ui.open('/profile', { signedOut: true })
  await login(page, ada.email)
  await heading(page, 'Your profile')
  const codes = card(page, 'Two-factor authentication')
  const shown = page.getByRole('dialog')
  await codes.getByRole('button', { name: 'Enable' }).click()
  await shown.getByLabel('Your password').fill('wrong')
  await shown.getByRole('button', { name: 'Continue' }).click()
  await shown.getByRole('alert').or(shown.locator('[aria-invalid=true]')).first().waitFor()
  await shown.getByLabel('Your password').fill(ada.password)
  await shown.getByRole('button', { name: 'Continue' }).click()
  await shown.getByRole('img', { name: 'QR code with the secret' }).waitFor()
  await expectClean(page)
  const secret = (await shown.locator('code').textContent())!
  await shown.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, Date.now()))
  await shown.getByRole('button', { name: 'Enable one-time codes' }).click()
  const recoveryCodes = (await shown.locator('pre').textContent())!.split('\n')
  expect(recoveryCodes).toHaveLength(10)
  await expectClean(page)
  await takeSecret(shown)
  await codes.getByText('10', { exact: true }).waitFor()

  await signOut(page)
  await login(page, ada.email)
  await heading(page, 'Two-factor authentication')
  await expectClean(page)
  await page.getByRole('textbox', { name: 'Code' }).fill('000 000')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').or(page.locator('[aria-invalid=true]')).first().waitFor()
  // The current code was already used to enable them. The next one is accepted early.
  await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, Date.now() + 30_000))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Overview')

  await signOut(page)
  await login(page, ada.email)
  await page.getByRole('textbox', { name: 'Code' }).fill(recoveryCodes[0]!)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Overview')
  await page.goto(`${base}/profile`)
  await codes.getByText('9', { exact: true }).waitFor()
  await codes.getByRole('button', { name: 'Disable' }).click()
  await shown.getByLabel('Your password').fill(ada.password)
  await shown.getByRole('button', { name: 'Disable one-time codes' }).click()
  await codes.getByRole('button', { name: 'Enable' }).waitFor()
  await expectClean(page)
}, 180_000)

test('a passkey can be added, used to sign in, and deleted', async () => {
  const page = await ui.open('/profile', { signedOut: true })
  const device = await page.context().newCDPSession(page)
  await device.send('WebAuthn.enable')
  await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await login(page, ada.email)
  await heading(page, 'Your profile')
  const passkeys = card(page, 'Passkeys')
  const shown = page.getByRole('dialog')
  await passkeys.getByRole('button', { name: 'Add passkey' }).click()
  await shown.getByLabel('Name', { exact: true }).fill('Laptop')
  await shown.getByLabel('Your password').fill(ada.password)
  await shown.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Passkey added').waitFor()
  await passkeys.getByText('Laptop').waitFor()

  // As the second factor of an invited user.
  const post = (path: string, body: object): Promise<any> =>
    page.evaluate(
      async ([url, sent]) => {
        const headers = { 'content-type': 'application/json', 'bailiwick-csrf': '1' }
        const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(sent) })
        return response.status === 204 ? null : await response.json()
      },
      [`/v1/users/me/one-time-codes${path}`, body] as const,
    )
  const { secret } = await post('', { password: ada.password })
  await post('/enable', { code: codeAt(secret, Date.now()) })
  const { id } = await ui.api('POST', '/v1/workspaces', { name: 'guests' })
  const { link } = await ui.api('POST', `/v1/workspaces/${id}/invitations`, { email: ada.email, role: 'member' })
  await signOut(page)
  await page.goto(link)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Join workspace' }).click()
  await page.getByLabel('Code', { exact: true }).waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Switch workspace' }).getByText('guests').waitFor()
  await post('/disable', { password: ada.password })

  await signOut(page)
  await expectClean(page)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await heading(page, 'Overview')
  await page.goto(`${base}/profile`)
  await passkeys.getByRole('button', { name: 'Actions for Laptop' }).click()
  await page.getByRole('menuitem', { name: 'Delete passkey' }).click()
  await shown.getByRole('button', { name: 'Delete passkey' }).click()
  await passkeys.getByText('Laptop').waitFor({ state: 'detached' })
  await expectClean(page)
}, 180_000)

test('a password reset link from the command line sets a new password and ends existing sessions', async () => {
  const email = await join('Hedy', 'member')
  const page = await ui.open('/', { signedOut: true })
  await login(page, email)
  await heading(page, 'Overview')
  const { out, err } = await ui.installation.run(['user', 'reset-link', email], { env: { BAILIWICK_BASE_URL: base } })
  const link = /http\S+\/reset#\S+/.exec(`${out}${err}`)![0]
  const other = await ui.open(link.slice(base.length), { signedOut: true })
  await heading(other, 'Set a new password')
  await expectClean(other)
  await other.getByLabel('New password').fill('a better battery')
  await other.getByRole('button', { name: 'Set password' }).click()
  await heading(other, 'Password changed')
  await expectClean(other)
  // The open tab notices it without a reload.
  await heading(page, 'Sign in')
  await other.getByRole('link', { name: 'Sign in' }).click()
  await login(other, email, 'a better battery')
  await heading(other, 'Overview')
}, 180_000)

test('the password form reports a wrong password, and is empty after a change', async () => {
  const email = await join('Radia', 'member')
  const page = await ui.open('/profile', { signedOut: true })
  await login(page, email)
  await heading(page, 'Your profile')
  const form = card(page, 'Password')
  const current = form.getByLabel('Current password')
  await current.fill('wrong')
  await form.getByLabel('New password').fill('a better battery')
  await form.getByRole('button', { name: 'Change password' }).click()
  await form.locator('[aria-invalid=true]').or(form.getByRole('alert')).first().waitFor()
  await current.fill(ada.password)
  await form.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed').waitFor()
  await until('the form is empty', async () => (await current.inputValue()) === '')
}, 180_000)

test('a member can be invited, get another role, have it undone, and be removed', async () => {
  const page = await ui.open('/members')
  const shown = page.getByRole('dialog')
  await page.keyboard.press('c')
  await shown.getByLabel('Email').fill('grace@example.com')
  await shown.getByLabel('Role').selectOption('viewer')
  await shown.getByRole('button', { name: 'Create invitation' }).click()
  const link = await takeSecret(shown)
  expect(link).toStartWith(`${base}/invite#bw_inv_`)
  const invitations = page.getByRole('table', { name: 'Invitations' })
  await invitations.getByText('grace@example.com').waitFor()
  await expectClean(page)

  const hers = await ui.open(link.slice(base.length), { signedOut: true })
  await hers.getByLabel('Your name').fill('Grace')
  await hers.getByLabel('Password', { exact: true }).fill(ada.password)
  await hers.getByRole('button', { name: 'Join workspace' }).click()
  await heading(hers, 'Overview')
  // Both pages update live: one shows the new member, the other what she may access.
  const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: 'grace@example.com' })
  await row.getByText('viewer').waitFor()
  await invitations.waitFor({ state: 'detached' })
  const tokens = hers.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Tokens' })
  expect(await tokens.count()).toBe(0)

  await row.getByRole('button', { name: 'Actions for Grace' }).click()
  await page.getByRole('menuitem', { name: 'Change role' }).click()
  await shown.getByLabel('Role of Grace').selectOption('admin')
  await shown.getByRole('button', { name: 'Change role' }).click()
  await row.getByText('admin').waitFor()
  await tokens.waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.getByText('viewer').waitFor()
  await tokens.waitFor({ state: 'detached' })

  await row.getByRole('button', { name: 'Actions for Grace' }).click()
  await page.getByRole('menuitem', { name: 'Remove member' }).click()
  await shown.getByRole('button', { name: 'Remove member' }).click()
  await row.waitFor({ state: 'detached' })
  await until(
    'that she is signed out',
    async () => (await hers.getByRole('heading', { level: 1, name: /Sign in|any workspace/ }).count()) === 1,
  )
  await expectClean(page)
}, 180_000)

test('a viewer can read everything and is offered no changes', async () => {
  const email = await join('Vera', 'viewer')
  const page = await ui.open('/', { signedOut: true })
  await login(page, email)
  await heading(page, 'Overview')
  for (const [path, title] of [
    ['/monitors', 'Monitors'],
    ['/incidents', 'Incidents'],
    ['/webhooks', 'Webhooks'],
    ['/dns', 'DNS'],
    ['/actions', 'Actions'],
    ['/events', 'Events'],
    ['/profile', 'Your profile'],
    ['/', 'Overview'],
  ] as const) {
    await page.goto(`${base}${path}`)
    await heading(page, title)
    await page.waitForLoadState('networkidle')
    expect([path, await page.locator('[data-new]').count()]).toEqual([path, 0])
    expect([path, await page.getByRole('button', { name: /^(New|Create|Make|Delete|Invite)/ }).count()]).toEqual([path, 0])
    expect([path, (await inspectPage(page)).errors]).toEqual([path, []])
  }
}, 180_000)

test('the palette finds records, members, settings, and handbook pages, runs actions, and tolerates typos', async () => {
  const monitor = await ui.api('POST', '/v1/monitors', {
    name: 'Shop frontend',
    target: 'http://127.0.0.1:9/',
    interval_seconds: 3600,
  })
  for (const [name, address] of [
    ['example.com', '192.0.2.10'],
    ['example.net', '198.51.100.7'],
  ] as const) {
    const { id } = await ui.api('POST', '/v1/dns/zones', { name })
    await ui.api('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name: 'www', content: address })
  }
  for (const started_at of ['2026-01-05T10:00:00.000Z', '2026-02-06T10:00:00.000Z'])
    await ui.api('POST', '/v1/incidents', { title: 'Checkout slow', started_at })
  await join('Grace', 'viewer')

  const page = await ui.open('/', { signedOut: true })
  await login(page, ada.email)
  await heading(page, 'Overview')
  const options = page.getByRole('listbox', { name: 'Results' }).getByRole('option')
  const search = async (text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or jump to…' }).fill(text)
  }
  // The search of the handbook is offered once everything else has been found.
  const found = (text: string) => options.filter({ hasText: `Search the handbook for “${text}”` }).waitFor()
  const first = async (name: RegExp) => await options.first().and(page.getByRole('option', { name })).waitFor()
  const go = async (text: string, name: RegExp) => {
    await search(text)
    await found(text)
    await first(name)
    await page.keyboard.press('Enter')
  }

  // What is typed while the code loads is kept.
  let load = () => {}
  const isLoading = new Promise<void>(resolve => (load = resolve))
  await page.route(/palette[^/]*\.js/, async route => {
    await isLoading
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('monit')
  const field = page.getByRole('combobox', { name: 'Search or jump to…' })
  expect(await field.inputValue()).toBe('monit')
  load()
  await first(/^Monitors Page$/)
  await page.keyboard.type('ors')
  expect(await field.inputValue()).toBe('monitors')
  await page.keyboard.press('Escape')

  // Enter waits for what is still loading.
  await search('example.com')
  await page.keyboard.press('Enter')
  await heading(page, 'example.com')

  // What was chosen stays so when more is found.
  for (const name of ['quince.example', 'quince.test']) await ui.api('POST', '/v1/dns/zones', { name })
  await ui.api('POST', '/v1/heartbeats', {
    name: 'Quince',
    schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
  })
  let release = () => {}
  const isReleased = new Promise<void>(resolve => (release = resolve))
  await page.route(/\/v1\/heartbeats\?.*q=quince/, async route => {
    await isReleased
    await route.continue()
  })
  await search('quince')
  await options
    .filter({ hasText: /^quince\..*Zone$/ })
    .nth(1)
    .waitFor()
  await page.keyboard.press('ArrowDown')
  const chosen = (await options.and(page.getByRole('option', { selected: true })).textContent())!
  release()
  await first(/^Quince Heartbeat$/)
  expect(await options.and(page.getByRole('option', { selected: true })).textContent()).toBe(chosen)
  await page.keyboard.press('Enter')
  await heading(page, /quince\.\w+/.exec(chosen)![0])

  await go('montiors', /^Monitors Page$/)
  await heading(page, 'Monitors')
  await go('shpo frontned', /^Shop frontend http:.*Monitor$/)
  await heading(page, 'Shop frontend')
  await go('www.example.net', /^www\.example\.net A 198\.51\.100\.7 in example\.net DNS record$/)
  await heading(page, 'example.net')
  expect(new URL(page.url()).search).toBe('?q=www')
  await page.getByTitle('198.51.100.7').waitFor()
  await search('www example')
  await options.filter({ hasText: 'in example.com' }).waitFor()
  await options.filter({ hasText: 'in example.net' }).waitFor()
  await page.keyboard.press('Escape')
  await go('grace', /^Grace grace@example\.com Member$/)
  await heading(page, 'Members')
  await page.getByRole('row').filter({ hasText: 'grace@example.com' }).waitFor()
  await go('passkeys', /^Passkeys Your profile Settings$/)
  await heading(page, 'Your profile')
  expect(new URL(page.url()).hash).toBe('#passkeys')

  // Incidents of the same title show when they started.
  await search('checkout slow')
  await options.filter({ hasText: 'Started Jan 5, 2026' }).waitFor()
  await options.filter({ hasText: 'Started Feb 6, 2026' }).waitFor()
  await expectClean(page)
  await page.keyboard.press('Escape')

  // Others of the same name show when they were created.
  const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
  for (let n = 0; n < 2; n++) await ui.api('POST', '/v1/heartbeats', { name: 'Nightly job', schedule })
  await search('nightly job')
  await options
    .filter({ hasText: /^Nightly job Created .+Heartbeat$/ })
    .nth(1)
    .waitFor()
  await page.getByRole('combobox', { name: 'Search or jump to…' }).fill('pause nightly')
  await options
    .filter({ hasText: /^Pause Nightly job Created .+Action$/ })
    .nth(1)
    .waitFor()
  await page.keyboard.press('Escape')

  // What was opened in this browser comes first, without the page that is open.
  await search('')
  await first(/^example\.net Zone$/)
  await options
    .nth(1)
    .and(page.getByRole('option', { name: /^Shop frontend Monitor$/ }))
    .waitFor()
  await expectClean(page)
  await page.keyboard.press('Escape')

  await go('pause shop', /^Pause Shop frontend/)
  await page.getByText('Shop frontend paused').waitFor()
  expect((await ui.api('GET', `/v1/monitors/${monitor.id}`)).status).toBe('paused')
  await go('resume', /^Resume Shop frontend/)
  await page.getByText('Shop frontend resumed').waitFor()
  await go('run check now shop', /^Run check now: Shop frontend/)
  await page.getByRole('dialog', { name: 'Check Shop frontend' }).waitFor()
  await page.keyboard.press('Escape')
  await search('acknowledge checkout')
  await options.filter({ hasText: 'Feb 6' }).click()
  await page.getByRole('button', { name: 'Acknowledge incident' }).click()
  await page.getByText('Incident updated').waitFor()
  expect((await ui.api('GET', '/v1/incidents?status=acknowledged')).data).toMatchObject([
    { started_at: '2026-02-06T10:00:00.000Z' },
  ])
  await search('add record')
  await options.filter({ hasText: 'Add record to example.com' }).click()
  await heading(page, 'example.com')
  await page.getByRole('button', { name: 'Add record' }).last().waitFor()
  await page.getByLabel('Value').first().waitFor()
  // The verbs of the open page are offered before anything is typed.
  await search('')
  await options.filter({ hasText: 'Add record to example.com' }).waitFor()
  await page.keyboard.press('Escape')
  await go('create token', /^Create token Action$/)
  await heading(page, 'Create token')
  await go('verify signatures', /^Verify signatures Webhooks Handbook$/)
  await page.waitForURL('**/docs/webhooks#*')
}, 180_000)

test('an operator overrides a limit of a workspace', async () => {
  const page = await ui.open('/operator/workspaces', { signedOut: true })
  await login(page, ada.email)
  await page.getByRole('button', { name: 'Actions for default' }).click()
  await page.getByRole('menuitem', { name: 'Edit workspace' }).click()
  await page.getByText('Limits', { exact: true }).click()
  const limit = page.getByLabel('Heartbeats', { exact: true })
  await limit.fill('many')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await limit.and(page.locator('[aria-invalid=true]')).waitFor()
  await limit.fill('2000')
  await expectClean(page)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Workspace saved').waitFor()
  const overrides = async () =>
    (await ui.api('GET', '/v1/workspaces')).data.find((one: any) => one.name === 'default').limit_overrides
  expect(await overrides()).toEqual({ heartbeats: 2000 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone').waitFor()
  expect(await overrides()).toEqual({})
}, 180_000)

test('the installation page shows problems first, and the state of hubs, backups, mail, and metrics', async () => {
  const page = await ui.open('/operator', { signedOut: true })
  await login(page, ada.email)
  await heading(page, 'Installation')
  const problems = card(page, 'Problems')
  await problems.getByText('Set BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM.').waitFor()
  expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('Problems')
  await page.getByRole('row').filter({ hasText: 'this hub' }).getByText('running').waitFor()
  await card(page, 'Backups').getByText('Never').waitFor()
  expect((await ui.installation.run(['backup'])).code).toBe(0)
  await page.reload()
  await card(page, 'Backups').getByText('Physical').waitFor()
  await card(page, 'Database').getByText('SQLite 3').waitFor()
  await card(page, 'Disk').getByText(ui.installation.folder).waitFor()
  await page
    .getByText(`- targets: ['localhost:${new URL(base).port}']`)
    .first()
    .waitFor()
  await expectClean(page)
  await page.getByRole('link', { name: 'Workspaces' }).click()
  await page.getByRole('row').filter({ hasText: 'default' }).first().waitFor()
}, 180_000)

test('a setup link pasted into a tab that is open at the setup page is used, and keeps what was typed', async () => {
  const page = await ui.open('/setup', { signedOut: true })
  await page.getByRole('heading', { name: 'Setup is complete' }).waitFor()
  await expectClean(page)
  await page.route('**/v1/setup', route =>
    route.request().method() === 'GET' ? route.fulfill({ json: { open: true } }) : route.continue(),
  )
  await page.reload()
  const token = page.getByLabel('Setup token')
  await token.fill('mistyped')
  await page.getByLabel('Your name').fill('Grace')
  // Only the fragment changes, so the page is not loaded again.
  await page.goto(ui.setupLink)
  await token.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Your name').inputValue()).toBe('Grace')
  const sent = page.waitForRequest('**/v1/setup')
  await page.getByRole('button', { name: 'Create user and sign in' }).click()
  expect((await sent).postDataJSON()).toMatchObject({ token: new URL(ui.setupLink).hash.slice(1), name: 'Grace' })
}, 180_000)

// The next tests select another workspace for Ada, and revoke the session of other tests.

test('switching workspaces applies to new tabs, and the palette finds resources of the workspace', async () => {
  const page = await ui.open('/', { signedOut: true })
  await login(page, ada.email)
  await heading(page, 'Overview')
  const { id } = await ui.api('POST', '/v1/workspaces', { name: 'acme' })
  const { link } = await ui.api('POST', `/v1/workspaces/${id}/invitations`, { email: ada.email, role: 'owner' })
  await page.goto(link)
  await page.getByRole('button', { name: 'Join workspace' }).click()
  await heading(page, 'Overview')
  const workspaces = page.getByRole('button', { name: 'Switch workspace' })
  await workspaces.getByText('acme').waitFor()
  await workspaces.click()
  await page.getByRole('menuitemradio', { name: 'default' }).click()
  await workspaces.getByText('default').waitFor()
  await workspaces.click()
  await page.getByRole('menuitemradio', { name: 'acme' }).click()
  await workspaces.getByText('acme').waitFor()
  const tab = await page.context().newPage()
  await tab.goto(base)
  await tab.getByRole('button', { name: 'Switch workspace' }).getByText('acme').waitFor()
  await tab.close()

  await workspaces.click()
  await page.getByRole('menuitemradio', { name: 'default' }).click()
  await workspaces.getByText('default').waitFor()
  const { id: incident } = await ui.api('POST', '/v1/incidents', { title: 'Payments fail' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to…' }).fill('switch acme')
  await page.getByRole('option', { name: /^Switch to acme Action$/ }).waitFor()
  await page.getByRole('combobox', { name: 'Search or jump to…' }).fill('payments')
  await page.getByRole('option', { name: /^Payments fail .*Incident$/ }).waitFor()
  await page.keyboard.press('Enter')
  await heading(page, 'Payments fail')
  expect(new URL(page.url()).pathname).toBe(`/incidents/${incident}`)
  await page.waitForFunction(() => document.activeElement?.id === 'main')
  await expectClean(page)
}, 180_000)

test('a session revoked elsewhere redirects its tab to sign-in, and back afterwards', async () => {
  const far = await ui.open('/audit', { signedOut: true })
  await heading(far, 'Sign in')
  await login(far, ada.email)
  await heading(far, 'Audit log')
  const page = await ui.open('/profile', { signedOut: true })
  await login(page, ada.email)
  await heading(page, 'Your profile')
  await card(page, 'Sessions').getByRole('button', { name: 'Revoke all other sessions' }).click()
  await page.getByText('Other sessions revoked').waitFor()
  await heading(far, 'Sign in')
  await login(far, ada.email)
  await heading(far, 'Audit log')
  expect(new URL(far.url()).pathname).toBe('/audit')
}, 180_000)
