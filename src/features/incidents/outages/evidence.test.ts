import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { limitEvidence, maxEvidenceBytes, oneLine } from './evidence'

test('evidence within the limit is unchanged', () => {
  const evidence = { request: 'GET https://shop.example.com/', body: 'x'.repeat(4096), headers: { server: 'nginx' } }
  expect(limitEvidence(evidence)).toEqual(evidence)
  expect(limitEvidence(null)).toBeNull()
})

test('evidence over the limit has its longest strings truncated and is marked as truncated', () => {
  const limited = limitEvidence({ request: 'GET /', body: 'é'.repeat(40_000) })!
  expect(limited).toMatchObject({ request: 'GET /', truncated: true })
  expect(Buffer.byteLength(JSON.stringify(limited))).toBeLessThanOrEqual(maxEvidenceBytes)
  expect((limited.body as string).length).toBeGreaterThan(1000)
})

test('the result never exceeds the limit', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything({ maxDepth: 3 })), fc.integer({ min: 1, max: 3000 }), (input, times) => {
      const limited = limitEvidence({
        input: JSON.stringify(input, (_, one) => (typeof one === 'bigint' ? 0 : one)).repeat(times),
      })
      expect(Buffer.byteLength(JSON.stringify(limited))).toBeLessThanOrEqual(maxEvidenceBytes)
    }),
    { numRuns: 50 },
  )
})

test('oneLine removes line breaks and control characters', () => {
  expect(oneLine(' HTTP 503\r\n\u0000Service\u2028Unavailable ')).toBe('HTTP 503 Service Unavailable')
  expect(oneLine('x'.repeat(9), 5)).toBe('xxxxx')
})
