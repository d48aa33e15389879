import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { installation, program, type Installation } from '../support/binary'

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
  browser = await chromium.launch({
    executablePath: wrapper,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}, 60_000)

afterAll(async () => {
  await browser?.close()
  hub?.kill('SIGTERM')
  await hub?.exited
  Bun.spawnSync(['ip', 'netns', 'delete', namespace])
  if (folder) rmSync(folder, { recursive: true, force: true })
  await place?.[Symbol.asyncDispose]()
})

async function open(at: string): Promise<{ page: Page; errors: string[]; foreign: string[] }> {
  const page = await (await browser.newContext()).newPage()
  const errors: string[] = []
  const foreign: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' && !/401/.test(message.text())) errors.push(message.text())
  })
  page.on('pageerror', error => errors.push(error.message))
  page.on('request', request => {
    if (!request.url().startsWith(base) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  await page.goto(at)
  return { page, errors, foreign }
}

test('the setup link makes the first user over plain HTTP at a LAN address, who is signed in and stays so', async () => {
  expect(setupLink).toStartWith(`${base}/setup#`)
  const { page, errors, foreign } = await open(setupLink)
  expect(await page.evaluate(() => (globalThis as unknown as { isSecureContext: boolean }).isSecureContext)).toBe(false)
  await page.fill('#setup-name', 'Ada')
  await page.fill('#setup-email', 'ada@example.com')
  await page.fill('#setup-password', 'correct horse battery')
  await page.click('#setup button[type=submit]')
  await page.waitForSelector('#home:not([hidden])')
  await page.reload()
  await page.waitForSelector('#home:not([hidden])')
  expect(await page.textContent('#who-name')).toContain('Ada')
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({ name: 'bailiwick', httpOnly: true, secure: false, sameSite: 'Lax' })
  expect(errors).toEqual([])
  expect(foreign).toEqual([])
}, 60_000)

test('a wrong password is refused with a word, the right one opens the workspace, and signing out closes it', async () => {
  const { page, errors } = await open(base)
  await page.waitForSelector('#login:not([hidden])')
  await page.fill('#login-email', 'ada@example.com')
  await page.fill('#login-password', 'wrong')
  await page.click('#login button[type=submit]')
  await page.waitForSelector('#login .wrong:not([hidden])')
  expect(await page.textContent('#login .wrong')).toContain('wrong')
  await page.fill('#login-password', 'correct horse battery')
  await page.click('#login button[type=submit]')
  await page.waitForSelector('#home:not([hidden])')

  await page.fill('#token-name', 'from the browser')
  await page.selectOption('#token-mode', 'full')
  await page.click('form[data-form=token] button[type=submit]')
  await page.waitForSelector('#new-token:not([hidden])')
  expect(await page.inputValue('#new-token-value')).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)

  await page.click('#sign-out')
  await page.waitForSelector('#login:not([hidden])')
  await page.reload()
  await page.waitForSelector('#login:not([hidden])')
  expect(errors).toEqual([])
}, 60_000)

test('the link of an incident leads to it by way of the sign-in, and there it is acknowledged', async () => {
  const { page, errors } = await open(base)
  await page.fill('#login-email', 'ada@example.com')
  await page.fill('#login-password', 'correct horse battery')
  await page.click('#login button[type=submit]')
  await page.waitForSelector('#home:not([hidden])')
  const id = await page.evaluate(async () => {
    const answer = await fetch('/v1/incidents', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'bailiwick-csrf': '1' },
      body: JSON.stringify({ title: 'Payments fail' }),
    })
    return ((await answer.json()) as { id: string }).id
  })
  await page.click('#sign-out')
  await page.waitForSelector('#login:not([hidden])')

  await page.goto(`${base}/incidents/${id}`)
  await page.fill('#login-email', 'ada@example.com')
  await page.fill('#login-password', 'correct horse battery')
  await page.click('#login button[type=submit]')
  await page.waitForSelector('#incident-timeline tr')
  expect([new URL(page.url()).pathname, await page.textContent('#incident-title')]).toEqual([`/incidents/${id}`, 'Payments fail'])
  await page.click('#incident-acknowledge')
  await page.waitForFunction(() => document.querySelector('#incident-facts')?.textContent?.includes('acknowledged'))
  await page.goto(base)
  await page.waitForSelector('#incidents a')
  expect(await page.textContent('#incidents a')).toBe('Payments fail')
  await page.click('#sign-out')
  await page.waitForSelector('#login:not([hidden])')
  expect(errors).toEqual([])
}, 60_000)

test('an invitation is accepted by its link, once, and its code is in no address', async () => {
  const { page, errors } = await open(base)
  await page.fill('#login-email', 'ada@example.com')
  await page.fill('#login-password', 'correct horse battery')
  await page.click('#login button[type=submit]')
  await page.waitForSelector('#home:not([hidden])')
  const link = await page.evaluate(async () => {
    const answer = await fetch('/v1/invitations', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'bailiwick-csrf': '1' },
      body: JSON.stringify({ email: 'grace@example.com', role: 'member' }),
    })
    return ((await answer.json()) as { link: string }).link
  })
  expect(link).toStartWith(`${base}/invite#bw_inv_`)
  // Ada is somebody else: she is told so, and who was invited goes on without her.
  await page.goto(link)
  await page.waitForSelector('#invite-other:not([hidden])')
  await page.click('#invite-sign-out')
  await page.waitForSelector('#invite-open:not([hidden])')
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  await page.fill('#invite-name', 'Grace')
  await page.fill('#invite-password', 'correct horse battery')
  await page.click('#invite button[type=submit]')
  await page.waitForSelector('#home:not([hidden])')
  expect([await page.textContent('#who-name'), page.url()]).toEqual(['Grace (grace@example.com)', `${base}/`])
  expect(asked.filter(url => url.includes('bw_inv_'))).toEqual([])
  expect(errors).toEqual([])

  const again = await open(link)
  await again.page.waitForSelector('#invite-gone:not([hidden])')
  expect(await again.page.textContent('#invite-gone')).toContain('used')
}, 60_000)

test('a suspended workspace says so, and its name turns and widens nothing around it', async () => {
  const { page } = await open(base)
  await page.fill('#login-email', 'ada@example.com')
  await page.fill('#login-password', 'correct horse battery')
  await page.click('#login button[type=submit]')
  await page.waitForSelector('#home:not([hidden])')
  const post = (path: string, body: object) =>
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
  const { id } = await post('/workspaces', { name: `\u202e<b>acme</b> ${'W'.repeat(60)}` })
  const { link } = await post(`/workspaces/${id}/invitations`, { email: 'ada@example.com' })
  await page.goto(link!)
  await page.waitForSelector('#invite-open:not([hidden])')
  expect(await page.textContent('#invite-title')).toBe(`Join <b>acme</b> ${'W'.repeat(60)}`)
  await page.click('#invite button[type=submit]')
  await page.waitForSelector('#heartbeats-empty:not([hidden])')
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  expect(await page.inputValue('#workspace')).toBe(id!)

  await post(`/workspaces/${id}/suspend`, { reason: 'The invoice is open.' })
  await page.reload()
  await page.waitForSelector('#suspended:not([hidden])')
  expect(await page.textContent('#suspended')).toContain('The invoice is open.')
  expect(await page.isVisible('#home-cards')).toBe(false)
  const [own] = await page.$$eval('#workspace option', all => all.map(one => (one as HTMLOptionElement).value))
  await page.selectOption('#workspace', own!)
  await page.waitForSelector('#home-cards:not([hidden])')
  expect(await page.isVisible('#suspended')).toBe(false)
}, 60_000)

test('the reference and the handbook open without any request to elsewhere', async () => {
  for (const [path, sign] of [
    ['/swagger', '.swagger-ui .opblock'],
    ['/docs', 'main h1'],
    ['/docs/webhooks', 'main h1'],
  ] as const) {
    const { page, errors, foreign } = await open(`${base}${path}`)
    await page.waitForSelector(sign)
    expect([path, errors, foreign]).toEqual([path, [], []])
    await page.context().close()
  }
}, 60_000)
