import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, type Dashboard } from '../support/dashboard'

const rows = 10_000
const aBulk = 500

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
  // Groups: they are rows like any others, and nothing is asked of the network for them.
  for (let at = 0; at < rows; at += aBulk) {
    const operations = Array.from({ length: aBulk }, (_, n) => ({
      op: 'create',
      body: { type: 'group', name: `Site ${String(at + n).padStart(5, '0')}`, options: { members: [] } },
    }))
    await ui.api('POST', '/v1/monitors/bulk', { operations })
  }
}, 240_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

test('a list of ten thousand scrolls on and on, without holding up what is drawn', async () => {
  const page = await ui.open('/monitors?sort=name')
  await page.getByRole('link', { name: /Site 00000/ }).waitFor()
  await page.evaluate(() => {
    const times: number[] = []
    let last = performance.now()
    const frame = (now: number) => {
      times.push(now - last)
      last = now
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
    Object.assign(globalThis, { frames: times })
  })
  // The next rows are read before they are reached: a person who scrolls a screen at a time never waits for long.
  for (let reached = 0; reached < 2000;) {
    await page.mouse.wheel(0, 1500)
    await page.waitForFunction(
      before => {
        const shown = [...document.querySelectorAll('tr[aria-rowindex]')].at(-1)?.getAttribute('aria-rowindex')
        return Number(shown) > before
      },
      reached,
      { timeout: 30_000 },
    )
    reached = await page.evaluate(() =>
      Number([...document.querySelectorAll('tr[aria-rowindex]')].at(-1)?.getAttribute('aria-rowindex')),
    )
  }
  const shown = await page.getByRole('row').count()
  // Only those on the screen exist.
  expect(shown).toBeLessThan(100)
  const frames = await page.evaluate(() => (globalThis as unknown as { frames: number[] }).frames)
  const slow = frames.filter(ms => ms > 200)
  // A machine that does other things as well is late at times; a page that holds up each scroll is late at all of them.
  expect([frames.length, slow.length / frames.length < 0.25 ? [] : slow]).toEqual([frames.length, []])
}, 180_000)
