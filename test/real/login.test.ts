import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { installation, program, type Installation } from '../support/binary'
import { ada, expectClean, findingsOf, startBrowser, watch, windowOf } from '../support/dashboard'

// A network of its own, with an address that is neither localhost nor loopback: there browsers allow no secure cookie over HTTP.
const namespace = `bailiwick-${process.pid}`
const address = '192.168.77.1'
const port = 8484
const base = `http://${address}:${port}`
const inside = (...command: string[]) => ['ip', 'netns', 'exec', namespace, ...command]

let place: Installation
let hub: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
let browser: Browser
let folder: string
let setupLink = ''

beforeAll(async () => {
  for (const command of [
    ['ip', 'netns', 'add', namespace],
    ['ip', '-n', namespace, 'link', 'set', 'lo', 'up'],
    ['ip', '-n', namespace, 'link', 'add', 'lan0', 'type', 'veth', 'peer', 'name', 'lan1'],
    ['ip', '-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'lan0'],
    ['ip', '-n', namespace, 'link', 'set', 'lan0', 'up'],
    ['ip', '-n', namespace, 'link', 'set', 'lan1', 'up'],
  ]) {
    const done = Bun.spawnSync(command)
    if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr.toString()}`)
  }
  place = await installation()
  // The network of the test has no way to a database server on this machine's loopback: SQLite it is.
  const { BAILIWICK_DATABASE_URL: _, BAILIWICK_MASTER_KEY_FILE: __, ...env } = place.env
  hub = Bun.spawn(inside(program('bailiwick'), 'serve', '--listen', `${address}:${port}`), {
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let said = ''
  for await (const part of hub.stdout) {
    said += new TextDecoder().decode(part)
    setupLink = /(http\S+\/setup#\S+)/.exec(said)?.[1] ?? ''
    if (setupLink) break
  }
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-browser-'))
  const wrapper = join(folder, 'chromium')
  writeFileSync(wrapper, `#!/bin/sh\nexec ip netns exec ${namespace} /usr/bin/chromium "$@"\n`)
  chmodSync(wrapper, 0o755)
  browser = await startBrowser(wrapper)
}, 60_000)

afterAll(async () => {
  await browser?.close()
  hub?.kill('SIGTERM')
  await hub?.exited
  Bun.spawnSync(['ip', 'netns', 'delete', namespace])
  if (folder) rmSync(folder, { recursive: true, force: true })
  await place?.[Symbol.asyncDispose]()
})

/** Opens an address in a browser that knows nothing yet. */
async function open(at: string): Promise<Page> {
  const page = watch(await (await windowOf(browser)).newPage(), base)
  await page.goto(at)
  return page
}

async function signIn(page: Page, password = ada.password): Promise<void> {
  await page.getByLabel('E-mail').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Profile, theme, sign out' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

/** Calls the API as the page does, with its cookie. */
const send = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([to, sent]) => {
      const answer = await fetch(`/v1${to}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'bailiwick-csrf': '1' },
        body: JSON.stringify(sent),
      })
      return (await answer.json()) as Record<string, string>
    },
    [path, body] as const,
  )

test('the setup link makes the first user over plain HTTP at a LAN address, who is signed in and stays so', async () => {
  expect(setupLink).toStartWith(`${base}/setup#`)
  const page = await open(setupLink)
  expect(await page.evaluate(() => isSecureContext)).toBe(false)
  await page.getByLabel('Your name').fill(ada.name)
  await page.getByLabel('E-mail').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Make the user and sign in' }).click()
  await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
  await expectClean(page)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Make the user and sign in' }).click()
  await heading(page, 'Overview')
  await page.reload()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Ada Profile, theme, sign out' }).waitFor()
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({ name: 'bailiwick', httpOnly: true, secure: false, sameSite: 'Lax' })
  await expectClean(page)
}, 60_000)

test('a wrong password is refused with a word, the right one opens the workspace, and signing out closes it', async () => {
  const page = await open(base)
  await heading(page, 'Sign in')
  // Browsers have no passkeys over plain HTTP, and none is offered.
  expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
  await signIn(page, 'wrong')
  expect(await page.getByRole('alert').textContent()).toContain('wrong')
  await expectClean(page)
  await signIn(page)
  await heading(page, 'Overview')

  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('link', { name: 'New token' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('from the browser')
  await page.getByLabel('What it may do').selectOption({ label: 'Everything' })
  await page.getByRole('button', { name: 'Make the token' }).click()
  const shown = page.getByRole('dialog')
  expect(await shown.locator('code').textContent()).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)
  // There is no clipboard for scripts here: it is copied as by hand.
  await shown.getByRole('button', { name: 'Copy the token' }).click()
  await shown.getByText('Copied').waitFor()
  await shown.getByRole('button', { name: 'Close' }).click()

  await signOut(page)
  await page.reload()
  await heading(page, 'Sign in')
  await expectClean(page)
}, 60_000)

test('the theme that a person chose is theirs in another browser, too', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const themeOf = (of: Page) => of.evaluate(() => document.documentElement.dataset.theme)
  expect(await themeOf(page)).toBe('light')
  await page.getByRole('button', { name: 'Profile, theme, sign out' }).click()
  const kept = page.waitForResponse(answer => answer.request().method() === 'PATCH' && answer.ok())
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await kept
  expect(await themeOf(page)).toBe('dark')

  const other = await open(base)
  await signIn(other)
  await heading(other, 'Overview')
  await other.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
  await other.getByRole('button', { name: 'Profile, theme, sign out' }).click()
  await other.getByRole('menuitemradio', { name: 'System' }).click()
  await other.waitForFunction(() => document.documentElement.dataset.theme === 'light')
  // The first one hears of it without being touched.
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light')
  await expectClean(page)
}, 60_000)

test('the link of an incident leads to it by way of the sign-in, and there it is acknowledged', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const { id } = await send(page, '/incidents', { title: 'Payments fail' })
  await signOut(page)

  await page.goto(`${base}/incidents/${id}`)
  await signIn(page)
  await heading(page, 'Payments fail')
  expect(new URL(page.url()).pathname).toBe(`/incidents/${id}`)
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByRole('button', { name: 'Let it go' }).waitFor()
  await signOut(page)
  expect(await findingsOf(page)).toMatchObject({ errors: [], foreign: [] })
}, 60_000)

test('an invitation is accepted by its link, once, and its code is in no address', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const { link } = await send(page, '/invitations', { email: 'grace@example.com', role: 'member' })
  expect(link).toStartWith(`${base}/invite#bw_inv_`)
  // Ada is somebody else: she is told so, and who was invited goes on without her.
  await page.goto(link!)
  await heading(page, 'This is for somebody else')
  await expectClean(page)
  await page.getByRole('button', { name: 'Sign out and go on' }).click()
  await heading(page, 'Join default')
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await page.getByLabel('Your name').fill('Grace')
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Join' }).click()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Grace Profile, theme, sign out' }).waitFor()
  expect(page.url()).toBe(`${base}/`)
  expect(asked.filter(url => url.includes('bw_inv_'))).toEqual([])
  await expectClean(page)

  const again = await open(link!)
  await heading(again, 'This invitation does not open')
  await again.getByText('used').waitFor()
}, 60_000)

test('a suspended workspace says so, and its name turns and widens nothing around it', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const { id } = await send(page, '/workspaces', { name: `\u202e<b>acme</b> ${'W'.repeat(60)}` })
  const { link } = await send(page, `/workspaces/${id}/invitations`, { email: ada.email })
  await page.goto(link!)
  await page.getByRole('heading', { level: 1, name: /^Join .*<b>acme<\/b> W{60}$/ }).waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Join' }).click()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Other workspaces' }).getByText('acme').waitFor()
  await expectClean(page)

  await send(page, `/workspaces/${id}/suspend`, { reason: 'The invoice is open.' })
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'is suspended' }).waitFor()
  await page.getByText('The invoice is open.').waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Go to default' }).click()
  await heading(page, 'Overview')
}, 60_000)

test('the reference and the handbook open without any request to elsewhere', async () => {
  for (const [path, sign] of [
    ['/swagger', '.swagger-ui .opblock'],
    ['/docs', 'main h1'],
    ['/docs/webhooks', 'main h1'],
  ] as const) {
    const page = await open(`${base}${path}`)
    await page.waitForSelector(sign, { timeout: 90_000 })
    expect([path, await findingsOf(page)]).toMatchObject([path, { errors: [], foreign: [] }])
    await page.context().close()
  }
}, 120_000)
