import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dashboard, type Dashboard } from '../support/dashboard'

const rows = 10_000
const bulkSize = 500

let ui: Dashboard
beforeAll(async () => {
  ui = await dashboard()
  // Groups are rows like any other monitor, but cause no network requests.
  for (let at = 0; at < rows; at += bulkSize) {
    const operations = Array.from({ length: bulkSize }, (_, n) => ({
      op: 'create',
      body: { type: 'group', name: `Site ${String(at + n).padStart(5, '0')}`, options: { members: [] } },
    }))
    await ui.api('POST', '/v1/monitors/bulk', { operations })
  }
}, 240_000)
afterAll(() => ui?.[Symbol.asyncDispose]())

test('a list of ten thousand monitors scrolls smoothly', async () => {
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
  // The next rows are prefetched: scrolling by one screen at a time never waits long.
  for (let reached = 0; reached < 2000;) {
    await page.mouse.wheel(0, 1500)
    await page.waitForFunction(
      before => {
        const shown = [...document.querySelectorAll('tr[aria-rowindex]')].at(-1)?.getAttribute('aria-rowindex')
        return Number(shown) > before
      },
      reached,
      { timeout: 150_000 },
    )
    reached = await page.evaluate(() =>
      Number([...document.querySelectorAll('tr[aria-rowindex]')].at(-1)?.getAttribute('aria-rowindex')),
    )
  }
  const shown = await page.getByRole('row').count()
  // Only visible rows are rendered.
  expect(shown).toBeLessThan(100)
  const frames = await page.evaluate(() => (globalThis as unknown as { frames: number[] }).frames)
  const slow = frames.filter(ms => ms > 200)
  // A busy machine causes some slow frames; a page that blocks scrolling causes only slow ones.
  expect([frames.length, slow.length / frames.length < 0.25 ? [] : slow]).toEqual([frames.length, []])
}, 180_000)
