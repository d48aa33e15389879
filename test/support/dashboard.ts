import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { fullToken, installation, startHub, until, type HubProcess, type Installation } from './binary'
import { closeLater } from './world'

/** The owner of the test installation. */
export const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }

/** How a page is viewed. */
export interface View {
  /** 390 pixels wide instead of 1360. */
  phone?: boolean
  dark?: boolean
  signedOut?: boolean
}

/** A hub of the compiled program with an owner, and a browser. */
export interface Dashboard extends AsyncDisposable {
  hub: HubProcess
  installation: Installation
  browser: Browser
  /** The setup link, already used to create the owner. */
  setupLink: string
  /** A token with full access. */
  token: string
  /**
   * Calls the API: `api('POST', '/v1/monitors', {…})`. Null for a response without body.
   * @throws Error for an error response
   */
  api<Response = any>(method: string, path: string, body?: unknown): Promise<Response>
  /** Opens a page as the owner in a separate browser context, and waits for its heading. It is closed after the test. */
  open(path: string, view?: View): Promise<Page>
}

interface RecordedProblems {
  errors: string[]
  external: string[]
}
const recorded = new WeakMap<Page, RecordedProblems>()
const sizes = { wide: { width: 1360, height: 850 }, phone: { width: 390, height: 844 } }
const timeoutMs = 150_000

/**
 * Starts the compiled program with a new folder or database, creates Ada as its owner, and starts a browser.
 * If BAILIWICK_BASE_URL is set in its environment, the browser uses that URL.
 */
export async function dashboard(options: { env?: Record<string, string>; args?: string[] } = {}): Promise<Dashboard> {
  const here = await installation()
  let hub: HubProcess | null = null
  let browser: Browser | null = null
  const dispose = async () => {
    await browser?.close()
    await hub?.stop()
    await here[Symbol.asyncDispose]()
  }
  try {
    const started = (hub = await startHub(here, options))
    const base = options.env?.BAILIWICK_BASE_URL ?? started.url
    const setupLink = await until('the setup link', async () => /http\S+\/setup#\S+/.exec(started.out())?.[0])
    const session = await sessionCookie(started.url, '/v1/setup', { token: new URL(setupLink).hash.slice(1), ...ada })
    const token = await fullToken(here)
    const running = (browser = await startBrowser())
    return {
      hub,
      installation: here,
      browser,
      setupLink,
      token,
      async api(method, path, body) {
        const response = await fetch(`${started.url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
        return text === '' ? null : JSON.parse(text)
      },
      async open(path, view = {}) {
        const context = await newContext(running, view)
        // An open page follows every change, which slows the next tests down.
        closeLater(() => context.close())
        if (!view.signedOut) await context.addCookies([{ ...session, url: base }])
        const page = recordProblems(await context.newPage(), base)
        await page.goto(`${base}${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        return page
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Chromium without windows and back/forward cache. It opens a page with about half of the CPU time. */
export const headlessChromium = '/usr/bin/chromium-headless-shell'

/**
 * Starts the browser of this machine without background requests.
 * @param executablePath the browser, or a wrapper that starts it
 * @param hasPageCache whether it has a back/forward cache, as outside of tests
 */
export const startBrowser = (executablePath = headlessChromium, hasPageCache = false): Promise<Browser> =>
  chromium.launch({
    executablePath,
    ...(hasPageCache && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
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

/** A new browser context for a view, which shares nothing with others. */
export async function newContext(browser: Browser, { phone, dark }: View = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: phone ? sizes.phone : sizes.wide,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(timeoutMs)
  return context
}

/** Records problems of a page from now on, for `expectClean`. */
export function recordProblems(page: Page, base: string): Page {
  const { errors, external }: RecordedProblems = { errors: [], external: [] }
  recorded.set(page, { errors, external })
  page.on('console', message => {
    // Browsers log every error response. The handler of responses below decides which of them are problems.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
  page.on('pageerror', error => errors.push(error.message))
  page.on('response', response => {
    const { pathname } = new URL(response.url())
    const isRejected = response.status() >= 400 && response.request().method() === 'GET' && pathname !== '/v1/sessions/current'
    if (response.status() >= 500 || isRejected)
      errors.push(`${response.request().method()} ${response.url()}: ${response.status()}`)
  })
  page.on('request', request => {
    if (!request.url().startsWith(`${base}/`) && !/^(data|blob):/.test(request.url())) external.push(request.url())
  })
  return page
}

/** Copies the value of a dialog that shows it only once, and closes the dialog. */
export async function takeSecret(dialog: Locator): Promise<string> {
  const value = (await dialog.locator('pre').first().textContent())!
  // It disappears after a moment.
  const copied = dialog.getByText('Copied', { exact: true }).waitFor()
  await Promise.all([copied, dialog.getByRole('button', { name: 'Copy', exact: true }).click()])
  await dialog.getByRole('button', { name: 'Done' }).click()
  return value
}

/** Forgets the problems of a page, before the same tab opens another address. */
export function forgetProblems(page: Page): void {
  for (const list of Object.values(recorded.get(page)!)) list.length = 0
}

/** Problems found on a page. */
export interface Findings {
  /** Serious and critical axe violations: `color-contrast: <span …>`. */
  axe: string[]
  /** Console messages, script errors, and rejected requests. */
  errors: string[]
  /** Requests to other hosts. */
  external: string[]
  /** Number of pixels that the page is wider than its window. */
  overflow: number
}

const axeSource = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')
// Elements are partly transparent while they appear and disappear.
const transitions = [['[data-starting-style]'], ['[data-ending-style]']]
// Tags, or rules. A theme changes nothing but colors.
const themeRules = ['color-contrast', 'link-in-text-block']
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Inspects the current state of a page. @param colorsOnly whether axe checks only what depends on the theme */
export async function inspectPage(page: Page, { colorsOnly = false } = {}): Promise<Findings> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const axe = await page.evaluate(
    async ([runOnly, excluded]) => {
      const { axe } = globalThis as unknown as {
        axe: { run(context: object, options: object): Promise<{ violations: Violation[] }> }
      }
      const { violations } = await axe.run(
        { include: [['html']], exclude: excluded },
        { runOnly: [...runOnly], resultTypes: ['violations'] },
      )
      return violations
        .filter(one => one.impact === 'serious' || one.impact === 'critical')
        .flatMap(one => one.nodes.slice(0, 3).map(node => `${one.id}: ${node.html.slice(0, 200)}`))
    },
    [colorsOnly ? themeRules : rules, transitions] as const,
  )
  const overflow = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return Math.max(0, scrollWidth - clientWidth)
  })
  return { axe, overflow, ...recorded.get(page)! }
}

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

/**
 * Expects no problems on a page in its current state: no serious axe violation, no error, no external request, and no overflow.
 * Checks it light and dark, wide and on a phone, and then restores the light theme and the size of the window.
 */
export async function expectClean(page: Page): Promise<void> {
  const before = page.viewportSize()!
  for (const size of ['wide', 'phone'] as const) {
    await page.setViewportSize(sizes[size])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForFunction(theme => document.documentElement.dataset.theme === theme, colorScheme)
      const address = new URL(page.url()).pathname
      expect([address, size, colorScheme, await inspectPage(page, { colorsOnly: colorScheme === 'dark' })]).toEqual([
        address,
        size,
        colorScheme,
        clean,
      ])
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(before)
}

const clean: Findings = { axe: [], errors: [], external: [], overflow: 0 }

/** Signs in with a password and returns the session cookie. */
export const signIn = ({ url }: { url: string }, { email, password }: { email: string; password: string }): Promise<Cookie> =>
  sessionCookie(url, '/v1/sessions', { email, password })

interface Cookie {
  name: string
  value: string
}

async function sessionCookie(url: string, path: string, body: object): Promise<Cookie> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'bailiwick-csrf': '1' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`Sign-in failed: ${await response.text()}`)
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(response.headers.get('set-cookie')!)!
  return { name: name!, value: value! }
}
