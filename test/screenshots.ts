import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { findingsOf, signIn, startBrowser, watch, windowOf, type Look } from './support/dashboard'
import { startDemo } from './support/demo'
import { doors, everyAddress, settled, tabsOn } from './support/every-page'

// Pictures of every page of the dashboard, in light and dark, wide and on a phone, from a demo of the program in dist/:
// `bun test/screenshots.ts FOLDER [/monitors …]`. A line for each tells what axe, the console and the network had to say of it.
// `--readme` takes the four of the README instead, 1280 wide. With `--url`, `--email` and `--password` a demo that runs is used.
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
  process.stderr.write('Usage: bun test/screenshots.ts FOLDER [/address …] [--readme]\n')
  process.exit(2)
}
mkdirSync(folder, { recursive: true })

const looks: readonly Look[] = [{}, { dark: true }, { phone: true }, { phone: true, dark: true }]
const ofReadme: readonly [name: string, path: string][] = [
  ['overview', '/'],
  ['monitor', '/monitors/:id'],
  ['drift', '/dns/zones/:id/drift'],
  ['monitors', '/monitors'],
]
const readmeSize = { width: 1280, height: 800 }
// Each stays below 80 kB.
const readmeQuality = 72

const demo = values.url ? null : startDemo()
const owner = demo ? await demo.ready() : { url: values.url!, email: values.email ?? '', password: values.password ?? '' }
const browser = await startBrowser()
try {
  const session = { ...(await signIn(owner, owner)), url: owner.url }
  const found = await everyAddress(async path => {
    const answer = await fetch(owner.url + path, { headers: { cookie: `${session.name}=${session.value}` } })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return await answer.json()
  })
  if (values.readme) await shootReadme(browser, found, session)
  else for (const look of looks) await shootAll(browser, look, found, session)
} finally {
  await browser.close()
  await demo?.stop('SIGTERM')
  demo?.remove()
}

type Session = { name: string; value: string; url: string }
type Found = { path: string; address: string }[]

async function shootAll(of: Browser, look: Look, found: Found, session: Session): Promise<void> {
  const context = await windowOf(of, look)
  const outside = await windowOf(of, look)
  await context.addCookies([session])
  const queue = found.filter(one => only.length === 0 || only.includes(one.path))
  for (const { path, address } of queue) {
    const page = watch(await (doors.has(path) ? outside : context).newPage(), session.url)
    try {
      await page.goto(session.url + address)
      await settled(page)
      for (const tab of await tabsOn(page)) if (!queue.some(one => one.address === tab)) queue.push({ path, address: tab })
      await shoot(page, `${nameOf(address)}${look.phone ? '-phone' : ''}${look.dark ? '-dark' : ''}.png`)
    } catch (error) {
      process.stdout.write(`${address}  ${String(error).split('\n')[0]}\n`)
    } finally {
      await page.close()
    }
  }
  await context.close()
  await outside.close()
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(folder!, name) })
  const { axe, errors, foreign, overflow } = await findingsOf(page)
  const said = [...axe, ...errors, ...foreign, ...(overflow > 0 ? [`wider than the window by ${overflow}`] : [])]
  process.stdout.write(`${name}${said.map(one => `\n  ${one}`).join('')}\n`)
}

async function shootReadme(of: Browser, found: Found, session: Session): Promise<void> {
  const context = await windowOf(of)
  await context.addCookies([session])
  for (const [name, path] of ofReadme) {
    const page = await context.newPage()
    await page.setViewportSize(readmeSize)
    const [, base = '', tab = ''] = /^(.*?:id|[^:]*)(.*)$/.exec(path)!
    await page.goto(`${session.url}${found.find(one => one.path === base)!.address}${tab}`)
    await settled(page)
    const devtools = await context.newCDPSession(page)
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: readmeQuality })
    writeFileSync(join(folder!, `${name}.webp`), Buffer.from(data, 'base64'))
    await page.close()
  }
  await context.close()
}

// The same at each run, whatever the ids: /monitors/mon_01…/edit is monitors-id-edit, and a tab has its own name behind.
function nameOf(address: string): string {
  const words = address.replace(/\/[a-z]+_[0-9a-z]{20,}/g, '/id')
  return (words === '/' ? 'overview' : words.slice(1)).replaceAll('/', '-')
}
