import { expect, test } from 'bun:test'
import { loopBlocks } from './loop-blocks'

test('the longest block is measured until the next, longer one', async () => {
  loopBlocks.start()
  loopBlocks.lag.reset()
  for (const ms of [150, 60]) {
    const since = performance.now()
    while (performance.now() - since < ms);
    await Bun.sleep(60)
    expect(loopBlocks.max).toBeGreaterThan(110)
    expect(loopBlocks.lag.max / 1e6).toBeGreaterThan(110)
  }
})
