import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { keptEvidence, mostEvidence, oneLine } from './evidence'

test('evidence that fits is kept as it is', () => {
  const evidence = { request: 'GET https://shop.example.com/', body: 'x'.repeat(4096), headers: { server: 'nginx' } }
  expect(keptEvidence(evidence)).toEqual(evidence)
  expect(keptEvidence(null)).toBeNull()
})

test('of evidence that is too large the longest texts are cut, and it says so', () => {
  const kept = keptEvidence({ request: 'GET /', body: 'é'.repeat(40_000) })!
  expect(kept).toMatchObject({ request: 'GET /', truncated: true })
  expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(mostEvidence)
  expect((kept.body as string).length).toBeGreaterThan(1000)
})

test('whatever comes, what is kept fits', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything({ maxDepth: 3 })), fc.integer({ min: 1, max: 3000 }), (given, times) => {
      const kept = keptEvidence({ given: JSON.stringify(given, (_, one) => (typeof one === 'bigint' ? 0 : one)).repeat(times) })
      expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(mostEvidence)
    }),
    { numRuns: 50 },
  )
})

test('a text becomes one line', () => {
  expect(oneLine(' HTTP 503\r\n\u0000Service\u2028Unavailable ')).toBe('HTTP 503 Service Unavailable')
  expect(oneLine('x'.repeat(9), 5)).toBe('xxxxx')
})
