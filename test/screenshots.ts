import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { inspectPage, signIn, startBrowser, recordProblems, newContext, type View } from './support/dashboard'
import { startDemo } from './support/demo'
import { pageAddresses, waitUntilLoaded, tabPaths } from './support/every-page'

// Takes screenshots of every dashboard page, in light and dark, on desktop and phone, from a demo of the program in dist/:
// `bun test/screenshots.ts FOLDER [/monitors …]`. Prints a line for each, with problems from axe, the console, and the network.
// `--readme` takes the four screenshots of the README instead, 1280 wide. `--url`, `--email` and `--password` use a running demo.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    readme: { type: 'boolean', default: false },
    url: { type: 'string' },
    email: { type: 'string' },
    password: { type: 'string' },
  },
})
const [folder, ...only] = positionals
if (folder === undefined) {
  process.stderr.write('Usage: bun test/screenshots.ts FOLDER [/path …] [--readme]\n')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })

const views: readonly View[] = [{}, { dark: true }, { phone: true }, { phone: true, dark: true }]
const readmePages: readonly [name: string, path: string][] = [
  ['overview', '/'],
  ['monitor', '/monitors/$id'],
  ['drift', '/dns/zones/$id/drift'],
  ['monitors', '/monitors'],
]
const readmeSize = { width: 1280, height: 800 }
// Keeps each file below 80 kB.
const readmeQuality = 72

const demo = values.url ? null : startDemo()
const owner = demo ? await demo.ready() : { url: values.url!, email: values.email ?? '', password: values.password ?? '' }
const browser = await startBrowser()
try {
  const session = { ...(await signIn(owner, owner)), url: owner.url }
  const found = await pageAddresses(async path => {
    const response = await fetch(owner.url + path, { headers: { cookie: `${session.name}=${session.value}` } })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return await response.json()
  })
  if (values.readme) await shootReadme(browser, found, session)
  else for (const view of views) await shootAll(browser, view, found, session)
} finally {
  await browser.close()
  await demo?.stop('SIGTERM')
  demo?.remove()
}

type Session = { name: string; value: string; url: string }
type Found = Awaited<ReturnType<typeof pageAddresses>>

async function shootAll(of: Browser, view: View, found: Found, session: Session): Promise<void> {
  const context = await newContext(of, view)
  const signedOut = await newContext(of, view)
  await context.addCookies([session])
  const queue = found.filter(one => only.length === 0 || only.includes(one.path))
  for (const { path, isPublic, address } of queue) {
    const page = recordProblems(await (isPublic ? signedOut : context).newPage(), session.url)
    try {
      await page.goto(session.url + address)
      await waitUntilLoaded(page)
      for (const tab of await tabPaths(page))
        if (!queue.some(one => one.address === tab)) queue.push({ path, isPublic, address: tab })
      await shoot(page, `${nameOf(address)}${view.phone ? '-phone' : ''}${view.dark ? '-dark' : ''}.png`)
    } catch (error) {
      process.stdout.write(`${address}  ${String(error).split('\n')[0]}\n`)
    } finally {
      await page.close()
    }
  }
  await context.close()
  await signedOut.close()
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(folder!, name) })
  const { axe, errors, external, overflow } = await inspectPage(page)
  const problems = [...axe, ...errors, ...external, ...(overflow > 0 ? [`wider than the window by ${overflow}`] : [])]
  process.stdout.write(`${name}${problems.map(one => `\n  ${one}`).join('')}\n`)
}

async function shootReadme(of: Browser, found: Found, session: Session): Promise<void> {
  const context = await newContext(of)
  await context.addCookies([session])
  for (const [name, path] of readmePages) {
    const page = await context.newPage()
    await page.setViewportSize(readmeSize)
    const [, base = '', tab = ''] = /^(.*?\$id|[^$]*)(.*)$/.exec(path)!
    await page.goto(`${session.url}${found.find(one => one.path === base)!.address}${tab}`)
    await waitUntilLoaded(page)
    const devtools = await context.newCDPSession(page)
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: readmeQuality })
    writeFileSync(join(folder!, `${name}.webp`), Buffer.from(data, 'base64'))
    await page.close()
  }
  await context.close()
}

// Returns a file name that doesn't depend on ids: /monitors/mon_01…/edit becomes monitors-id-edit.
function nameOf(address: string): string {
  const words = address.replace(/\/[a-z]+_[0-9a-z]{20,}/g, '/id')
  return (words === '/' ? 'overview' : words.slice(1)).replaceAll('/', '-')
}
