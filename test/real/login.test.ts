import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { installation, program, type Installation } from '../support/binary'
import {
  ada,
  expectClean,
  headlessChromium,
  inspectPage,
  startBrowser,
  recordProblems,
  newContext,
  takeSecret,
} from '../support/dashboard'

// Uses a network namespace with an address that is not loopback, where browsers reject secure cookies over HTTP.
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
    // An IPv6 address becomes usable a second later. The browser then aborts requests in flight (ERR_NETWORK_CHANGED).
    ['ip', '-n', namespace, 'link', 'set', 'lan0', 'addrgenmode', 'none'],
    ['ip', '-n', namespace, 'link', 'set', 'lan1', 'addrgenmode', 'none'],
    ['ip', '-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'lan0'],
    ['ip', '-n', namespace, 'link', 'set', 'lan0', 'up'],
    ['ip', '-n', namespace, 'link', 'set', 'lan1', 'up'],
  ]) {
    const done = Bun.spawnSync(command)
    if (done.exitCode !== 0) throw new Error(`${command.join(' ')}: ${done.stderr.toString()}`)
  }
  place = await installation()
  // The namespace cannot reach a database server on this machine's loopback address, so it uses SQLite.
  const { BAILIWICK_DATABASE_URL: _, BAILIWICK_MASTER_KEY_FILE: __, ...env } = place.env
  hub = Bun.spawn(inside(program('bailiwick'), 'serve', '--listen', `${address}:${port}`), {
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let output = ''
  for await (const part of hub.stdout) {
    output += new TextDecoder().decode(part)
    setupLink = /(http\S+\/setup#\S+)/.exec(output)?.[1] ?? ''
    if (setupLink) break
  }
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-browser-'))
  const wrapper = join(folder, 'chromium')
  writeFileSync(wrapper, `#!/bin/sh\nexec ip netns exec ${namespace} ${headlessChromium} "$@"\n`)
  chmodSync(wrapper, 0o755)
  browser = await startBrowser(wrapper)
}, 180_000)

afterAll(async () => {
  await browser?.close()
  hub?.kill('SIGTERM')
  await hub?.exited
  Bun.spawnSync(['ip', 'netns', 'delete', namespace])
  if (folder) rmSync(folder, { recursive: true, force: true })
  await place?.[Symbol.asyncDispose]()
})

/** Opens a URL in a new browser context. */
async function open(at: string): Promise<Page> {
  const page = recordProblems(await (await newContext(browser)).newPage(), base)
  await page.goto(at)
  return page
}

async function signIn(page: Page, password = ada.password): Promise<void> {
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'User menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await heading(page, 'Sign in')
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

/** Calls the API like the page, with its cookie. */
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

test('the setup link creates and signs in the first user over plain HTTP at a LAN address', async () => {
  expect(setupLink).toStartWith(`${base}/setup#`)
  const page = await open(setupLink)
  expect(await page.evaluate(() => isSecureContext)).toBe(false)
  await page.getByLabel('Your name').fill(ada.name)
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Create user and sign in' }).click()
  await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
  await expectClean(page)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Create user and sign in' }).click()
  await heading(page, 'Overview')
  await page.reload()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Ada User menu' }).waitFor()
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({ name: 'bailiwick', httpOnly: true, secure: false, sameSite: 'Lax' })
  await expectClean(page)
}, 180_000)

test('a wrong password shows an error, the right one signs in, and signing out ends the session', async () => {
  const page = await open(base)
  await heading(page, 'Sign in')
  // Browsers do not support passkeys over plain HTTP, so they are not offered.
  expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
  await signIn(page, 'wrong')
  expect(await page.getByRole('alert').textContent()).toContain('Incorrect')
  await expectClean(page)
  await signIn(page)
  await heading(page, 'Overview')

  await page.getByRole('link', { name: 'Tokens' }).click()
  await page.getByRole('link', { name: 'Create token' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('from the browser')
  await page.getByLabel('Access', { exact: true }).selectOption({ label: 'Full access' })
  await page.getByRole('button', { name: 'Create token' }).click()
  const shown = page.getByRole('dialog')
  // The clipboard API is not available here, so the page falls back to copying a selection.
  expect(await takeSecret(shown)).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)

  await signOut(page)
  await page.reload()
  await heading(page, 'Sign in')
  await expectClean(page)
}, 180_000)

test('the chosen theme applies in other browsers too', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const themeOf = (of: Page) => of.evaluate(() => document.documentElement.dataset.theme)
  expect(await themeOf(page)).toBe('light')
  await page.getByRole('button', { name: 'User menu' }).click()
  const saved = page.waitForResponse(answer => answer.request().method() === 'PATCH' && answer.ok())
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await saved
  expect(await themeOf(page)).toBe('dark')

  const other = await open(base)
  await signIn(other)
  await heading(other, 'Overview')
  await other.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
  await other.getByRole('button', { name: 'User menu' }).click()
  await other.getByRole('menuitemradio', { name: 'System' }).click()
  await other.waitForFunction(() => document.documentElement.dataset.theme === 'light')
  // The first browser updates live.
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'light')
  await expectClean(page)
}, 180_000)

test('the link to an incident leads to it after sign-in, where it can be acknowledged', async () => {
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
  await page.getByRole('button', { name: 'Unacknowledge' }).waitFor()
  await signOut(page)
  expect(await inspectPage(page)).toMatchObject({ errors: [], external: [] })
}, 180_000)

test('an invitation is accepted by its link, once, and its code is in no URL', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const { link } = await send(page, '/invitations', { email: 'grace@example.com', role: 'member' })
  expect(link).toStartWith(`${base}/invite#bw_inv_`)
  // Ada is signed in as another user; after she signs out, the invited person can continue.
  await page.goto(link!)
  await heading(page, 'Wrong account')
  await expectClean(page)
  await page.getByRole('button', { name: 'Sign out and continue' }).click()
  await heading(page, 'Join default')
  const requested: string[] = []
  page.on('request', request => requested.push(request.url()))
  await page.getByLabel('Your name').fill('Grace')
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.getByRole('button', { name: 'Join workspace' }).click()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Grace User menu' }).waitFor()
  expect(page.url()).toBe(`${base}/`)
  expect(requested.filter(url => url.includes('bw_inv_'))).toEqual([])
  await expectClean(page)

  const again = await open(link!)
  await heading(again, 'Invalid invitation')
  await again.getByText('used').waitFor()
}, 180_000)

test('a suspended workspace is announced, and unusual names do not break the layout', async () => {
  const page = await open(base)
  await signIn(page)
  await heading(page, 'Overview')
  const { id } = await send(page, '/workspaces', { name: `\u202e<b>acme</b> ${'W'.repeat(60)}` })
  const { link } = await send(page, `/workspaces/${id}/invitations`, { email: ada.email })
  await page.goto(link!)
  await page.getByRole('heading', { level: 1, name: /^Join .*<b>acme<\/b> W{60}$/ }).waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Join workspace' }).click()
  await heading(page, 'Overview')
  await page.getByRole('button', { name: 'Switch workspace' }).getByText('acme').waitFor()
  await expectClean(page)

  await send(page, `/workspaces/${id}/suspend`, { reason: 'The invoice is open.' })
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'is suspended' }).waitFor()
  await page.getByText('The invoice is open.').waitFor()
  await expectClean(page)
  await page.getByRole('button', { name: 'Switch to default' }).click()
  await heading(page, 'Overview')
}, 180_000)

test('the API reference and the handbook make no requests to other hosts', async () => {
  for (const [path, sign] of [
    ['/swagger', '.swagger-ui .opblock'],
    ['/docs', 'main h1'],
    ['/docs/webhooks', 'main h1'],
  ] as const) {
    const page = await open(`${base}${path}`)
    await page.waitForSelector(sign, { timeout: 150_000 })
    expect([path, await inspectPage(page)]).toMatchObject([path, { errors: [], external: [] }])
    await page.context().close()
  }
}, 180_000)
