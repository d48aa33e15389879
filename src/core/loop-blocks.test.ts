import { expect, test } from 'bun:test'
import { loopBlocks } from './loop-blocks'

const block = (ms: number) => {
  const since = performance.now()
  while (performance.now() - since < ms);
}

test('the longest block is measured until the next, longer one', async () => {
  loopBlocks.start()
  loopBlocks.lag.reset()
  for (const ms of [150, 60]) {
    block(ms)
    await Bun.sleep(60)
    expect(loopBlocks.max).toBeGreaterThan(110)
    expect(loopBlocks.lag.max / 1e6).toBeGreaterThan(110)
  }
})

test('while idle it measures less often, but all announced work', async () => {
  loopBlocks.start()
  await Bun.sleep(100)
  loopBlocks.lag.reset()
  await Bun.sleep(500)
  expect(loopBlocks.lag.count).toBeLessThanOrEqual(1)
  const announcements = [
    () => loopBlocks.expectWork(),
    () => loopBlocks.expectMoreWork(),
    () => {
      const end = loopBlocks.expectWorkUntilCalled()
      return end()
    },
  ]
  for (const [n, announce] of announcements.entries()) {
    announce()
    block(200 + 50 * n)
    await Bun.sleep(60)
    expect(loopBlocks.max).toBeGreaterThan(170 + 50 * n)
  }
})

test('it measures often until work in progress has ended', async () => {
  loopBlocks.start()
  const end = loopBlocks.expectWorkUntilCalled()
  await Bun.sleep(2200)
  loopBlocks.lag.reset()
  await Bun.sleep(1000)
  expect(loopBlocks.lag.count).toBeGreaterThan(5)
  end()
  await Bun.sleep(100)
  loopBlocks.lag.reset()
  await Bun.sleep(500)
  expect(loopBlocks.lag.count).toBeLessThanOrEqual(1)
})
