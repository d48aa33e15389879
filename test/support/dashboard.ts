import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { fullToken, installation, startHub, until, type HubProcess, type Installation } from './binary'

/** Who owns the installation of a test. */
export const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }

/** How a person looks at a page. */
export interface Look {
  /** 390 pixels wide; 1360 when absent. */
  phone?: boolean
  dark?: boolean
  /** Before the login. */
  stranger?: boolean
}

/** A hub of the compiled program with an owner, and a browser that looks at it. */
export interface Dashboard extends AsyncDisposable {
  hub: HubProcess
  place: Installation
  browser: Browser
  /** The link that made the owner, used up. */
  setupLink: string
  /** A token that may do everything. */
  token: string
  /**
   * Calls the API as a script does: `api('POST', '/v1/monitors', {…})`. Null for an answer without body.
   * @throws Error when it is no success
   */
  api<Answer = any>(method: string, path: string, body?: unknown): Promise<Answer>
  /** Opens a page as the owner, in a window of its own, and waits for its heading. */
  open(path: string, look?: Look): Promise<Page>
}

interface Watched {
  errors: string[]
  foreign: string[]
}
const watched = new WeakMap<Page, Watched>()
const sizes = { wide: { width: 1360, height: 850 }, phone: { width: 390, height: 844 } }
const patientMs = 30_000

/**
 * Starts the compiled program on a fresh folder or database, makes Ada its owner, and starts a browser.
 * With BAILIWICK_BASE_URL in its environment the browser goes there.
 */
export async function dashboard(options: { env?: Record<string, string>; args?: string[] } = {}): Promise<Dashboard> {
  const place = await installation()
  let hub: HubProcess | null = null
  let browser: Browser | null = null
  const end = async () => {
    await browser?.close()
    await hub?.stop()
    await place[Symbol.asyncDispose]()
  }
  try {
    const serving = (hub = await startHub(place, options))
    const base = options.env?.BAILIWICK_BASE_URL ?? serving.url
    const setupLink = await until('the link that makes the owner', async () => /http\S+\/setup#\S+/.exec(serving.out())?.[0])
    const session = await cookieOf(serving.url, '/v1/setup', { token: new URL(setupLink).hash.slice(1), ...ada })
    const token = await fullToken(place)
    const running = (browser = await startBrowser())
    return {
      hub,
      place,
      browser,
      setupLink,
      token,
      async api(method, path, body) {
        const answer = await fetch(`${serving.url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await answer.text()
        if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`)
        return text === '' ? null : JSON.parse(text)
      },
      async open(path, look = {}) {
        const context = await windowOf(running, look)
        if (!look.stranger) await context.addCookies([{ ...session, url: base }])
        const page = watch(await context.newPage(), base)
        await page.goto(`${base}${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        return page
      },
      [Symbol.asyncDispose]: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** The browser of this machine, or what starts it, without what it would call by itself. */
export const startBrowser = (executablePath = '/usr/bin/chromium'): Promise<Browser> =>
  chromium.launch({
    executablePath,
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

/** A window as a person with this look has it: nothing in it is shared with another one. */
export async function windowOf(browser: Browser, { phone, dark }: Look = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: phone ? sizes.phone : sizes.wide,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(patientMs)
  return context
}

/** Notes what goes wrong on a page from now on, for `expectClean`. */
export function watch(page: Page, base: string): Page {
  const { errors, foreign }: Watched = { errors: [], foreign: [] }
  watched.set(page, { errors, foreign })
  page.on('console', message => {
    // Browsers print every answer above 399; which of them are errors of a page is seen from the answers below.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
  page.on('pageerror', error => errors.push(error.message))
  page.on('response', answer => {
    const { pathname } = new URL(answer.url())
    const isRefused = answer.status() >= 400 && answer.request().method() === 'GET' && pathname !== '/v1/sessions/current'
    if (answer.status() >= 500 || isRefused) errors.push(`${answer.request().method()} ${answer.url()}: ${answer.status()}`)
  })
  page.on('request', request => {
    if (!request.url().startsWith(`${base}/`) && !/^(data|blob):/.test(request.url())) foreign.push(request.url())
  })
  return page
}

/** What is found on a page as it stands: nothing in it means that all is well. */
export interface Findings {
  /** Of axe, those that are serious or critical: `color-contrast: <span …>`. */
  axe: string[]
  /** Of the console, of scripts, and of requests that were refused. */
  errors: string[]
  /** Requests to elsewhere. */
  foreign: string[]
  /** Pixels by which the page is wider than its window. */
  overflow: number
}

const axeText = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')
// What comes or goes at this moment is half transparent.
const fading = [['[data-starting-style]'], ['[data-ending-style]']]
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Looks at a page as it stands, in its window. */
export async function findingsOf(page: Page): Promise<Findings> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeText)
  const axe = await page.evaluate(
    async ([tags, leaving]) => {
      const tool = (globalThis as unknown as { axe: { run(of: object, how: object): Promise<{ violations: Violation[] }> } }).axe
      const { violations } = await tool.run(
        { include: [['html']], exclude: leaving },
        { runOnly: tags, resultTypes: ['violations'] },
      )
      return violations
        .filter(one => one.impact === 'serious' || one.impact === 'critical')
        .flatMap(one => one.nodes.slice(0, 3).map(node => `${one.id}: ${node.html.slice(0, 200)}`))
    },
    [rules, fading] as const,
  )
  const overflow = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return Math.max(0, scrollWidth - clientWidth)
  })
  return { axe, overflow, ...watched.get(page)! }
}

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/**
 * Holds a page, as it stands, to what every page is held to: nothing serious for axe, no error, no request to elsewhere,
 * nothing wider than the window. In light and dark, wide and on a phone; the window is wide and light again afterwards.
 */
export async function expectClean(page: Page): Promise<void> {
  const before = page.viewportSize()!
  for (const size of ['wide', 'phone'] as const) {
    await page.setViewportSize(sizes[size])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForFunction(theme => document.documentElement.dataset.theme === theme, colorScheme)
      const address = new URL(page.url()).pathname
      expect([address, size, colorScheme, await findingsOf(page)]).toEqual([address, size, colorScheme, clean])
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(before)
}

const clean: Findings = { axe: [], errors: [], foreign: [], overflow: 0 }

/** The cookie of somebody who signs in with a password. */
export const signIn = ({ url }: { url: string }, { email, password }: { email: string; password: string }): Promise<Cookie> =>
  cookieOf(url, '/v1/sessions', { email, password })

interface Cookie {
  name: string
  value: string
}

async function cookieOf(url: string, path: string, body: object): Promise<Cookie> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'bailiwick-csrf': '1' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`Nobody was signed in: ${await answer.text()}`)
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(answer.headers.get('set-cookie')!)!
  return { name: name!, value: value! }
}
