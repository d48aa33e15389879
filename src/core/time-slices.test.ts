import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { runInSlices, streamInSlices, sortInSteps, yieldToEventLoop } from './time-slices'

test('long work yields to other work and returns its result', async () => {
  let others = 0
  const timer = setInterval(() => others++, 1)
  function* work() {
    for (let n = 0; n < 100; n++) {
      for (const until = performance.now() + 1; performance.now() < until;);
      yield
    }
    return 'done'
  }
  expect(await runInSlices(work())).toBe('done')
  clearInterval(timer)
  expect(others).toBeGreaterThan(1)
})

test('many that yield do not block the event loop together', async () => {
  const turns: number[] = []
  let isOver = false
  const count = () => {
    turns.push(0)
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      await yieldToEventLoop()
      turns[turns.length - 1]!++
      for (const until = performance.now() + (n < 10 ? 6 : 0); performance.now() < until;);
    }),
  )
  isOver = true
  // Each of the long ones had a turn to itself, and the short ones shared some. On a busy machine, a few turns are counted as one.
  expect(turns.filter(resumed => resumed > 0).length).toBeGreaterThanOrEqual(6)
  expect(turns.reduce((sum, resumed) => sum + resumed, 0)).toBe(20)
})

test('a transaction continues before others that yielded earlier', async () => {
  const order: string[] = []
  const work = async (name: string, isFirst: boolean) => {
    await yieldToEventLoop(isFirst)
    order.push(name)
    // The turn is over for the others.
    for (const until = performance.now() + 6; performance.now() < until;);
  }
  await Promise.all([work('a', false), work('b', false), work('transaction', true), work('c', false)])
  expect(order).toEqual(['transaction', 'a', 'b', 'c'])
})

test('a text is streamed completely in chunks', async () => {
  const steps = Array.from({ length: 5000 }, (_, n) => (n % 3 === 0 ? undefined : `${n}`.repeat(10)))
  const pieces = await Array.fromAsync(streamInSlices(steps))
  expect(pieces.join('')).toBe(steps.join(''))
  expect(pieces.length).toBeGreaterThan(1)
  expect(await Array.fromAsync(streamInSlices([]))).toEqual([])
})

test('a list is sorted in steps with the same stable result', () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.nat()), { maxLength: 5000, size: 'max' })
  fc.assert(
    fc.property(pairs, list => {
      const compare = (a: [number, number], b: [number, number]) => a[0] - b[0]
      const steps = sortInSteps(list, compare)
      let step = steps.next()
      while (!step.done) step = steps.next()
      expect(step.value).toEqual(list.toSorted(compare))
    }),
    { numRuns: 20 },
  )
})
