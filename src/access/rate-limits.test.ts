import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { failedCredentials, noCredentials, RateLimiter } from './rate-limits'
import type { Bucket } from './rate-limits'

const start = Date.UTC(2027, 0, 31)
const token: Bucket = { name: 'token', key: 'tok_1', quota: 600, windowSeconds: 60 }
const workspace: Bucket = { name: 'workspace', key: 'ws_1', quota: 20_000, windowSeconds: 3_600 }
const small: Bucket = { name: 'token', key: 'tok_2', quota: 7, windowSeconds: 60 }

test('the headers list each policy in order, and the remaining requests, fewest first', () => {
  const limiter = new RateLimiter()
  expect(limiter.take([workspace, token], start)).toEqual({
    allowed: true,
    policyHeader: '"workspace";q=20000;w=3600, "token";q=600;w=60',
    limitHeader: '"token";r=599;t=1, "workspace";r=19999;t=1',
    retryAfterSeconds: 0,
    violated: [],
  })
  const used = takeMany(limiter, [token, workspace], 300, start)
  expect(used.limitHeader).toBe('"token";r=299;t=31, "workspace";r=19699;t=55')
})

test('a whole quota can be used at once, and the next request is refused with the time to wait', () => {
  const limiter = new RateLimiter()
  expect(takeMany(limiter, [small], 7, start)).toMatchObject({ allowed: true, limitHeader: '"token";r=0;t=9' })
  expect(limiter.take([small], start)).toEqual({
    allowed: false,
    policyHeader: '"token";q=7;w=60',
    limitHeader: '"token";r=0;t=9',
    retryAfterSeconds: 9,
    violated: ['token'],
  })
})

test('a request with a higher cost passes if enough requests remain', () => {
  const limiter = new RateLimiter()
  expect(limiter.take([small, workspace], start, 5)).toMatchObject({
    allowed: true,
    limitHeader: '"token";r=2;t=43, "workspace";r=19995;t=1',
  })
  const refused = limiter.take([small, workspace], start, 5)
  expect(refused).toMatchObject({ allowed: false, violated: ['token'] })
  expect(limiter.take([small, workspace], start + (refused.retryAfterSeconds - 1) * 1_000, 5).allowed).toBe(false)
  expect(limiter.take([small, workspace], start + refused.retryAfterSeconds * 1_000, 5).allowed).toBe(true)
})

test('a cost above the quota uses the whole quota, and nothing passes a quota of 0', () => {
  const limiter = new RateLimiter()
  expect(limiter.take([small], start, 10)).toMatchObject({ allowed: true, limitHeader: '"token";r=0;t=9' })
  expect(limiter.take([small], start, 10)).toMatchObject({ allowed: false, retryAfterSeconds: 60 })
  expect(limiter.take([{ ...small, key: 'tok_3', quota: 0 }], start, 10).allowed).toBe(false)
})

test('refused requests do not delay the next one', () => {
  const limiter = new RateLimiter()
  takeMany(limiter, [small], 7, start)
  const refused = takeMany(limiter, [small], 1_000, start)
  expect(limiter.take([small], start + refused.retryAfterSeconds * 1_000).allowed).toBe(true)
})

test('waiting for Retry-After always suffices, and a millisecond less than needed never does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 7_200 }), (quota, windowSeconds) => {
      const bucket = { name: 'token', key: 'tok_1', quota, windowSeconds }
      const limiter = new RateLimiter()
      takeMany(limiter, [bucket], quota, start)
      const { allowed, retryAfterSeconds } = limiter.take([bucket], start)
      expect(allowed).toBe(false)
      const needed = (windowSeconds * 1_000) / quota
      expect(limiter.peek([bucket], start + Math.max(0, Math.ceil(needed) - 1)).allowed).toBe(false)
      expect(limiter.peek([bucket], start + Math.ceil(needed)).allowed).toBe(true)
      expect(retryAfterSeconds).toBe(Math.ceil(windowSeconds / quota))
      expect(limiter.take([bucket], start + retryAfterSeconds * 1_000).allowed).toBe(true)
    }),
    { numRuns: 40 },
  )
})

test('results equal the virtual scheduling form of the algorithm on random arrivals', () => {
  const arrivals = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 200 })
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 4, 5, 8, 10, 60), arrivals, (quota, gaps) => {
      const limiter = new RateLimiter()
      const bucket = { name: 'token', key: 'tok_1', quota, windowSeconds: 60 }
      const interval = 60_000 / quota
      let [now, theoretical] = [start, start]
      for (const gap of gaps) {
        now += gap
        const conforms = Math.max(theoretical, now) + interval - now <= 60_000
        if (conforms) theoretical = Math.max(theoretical, now) + interval
        expect(limiter.take([bucket], now).allowed).toBe(conforms)
      }
    }),
  )
})

test('a request refused by one bucket does not count against the others', () => {
  const limiter = new RateLimiter()
  takeMany(limiter, [small, workspace], 7, start)
  const refused = takeMany(limiter, [workspace, small], 50, start)
  expect(refused).toMatchObject({ allowed: false, violated: ['token'] })
  expect(refused.limitHeader).toBe('"token";r=0;t=9, "workspace";r=19993;t=2')
})

test('all refusing buckets are named, and the longest wait is returned', () => {
  const limiter = new RateLimiter()
  const slow = { ...workspace, quota: 7 }
  takeMany(limiter, [small, slow], 7, start)
  expect(limiter.take([small, slow], start)).toMatchObject({
    violated: ['token', 'workspace'],
    retryAfterSeconds: 515,
    limitHeader: '"workspace";r=0;t=515, "token";r=0;t=9',
  })
})

test('a refunded request costs nothing, and refunds never exceed the quota', () => {
  const limiter = new RateLimiter()
  limiter.take([token, workspace], start)
  expect(limiter.refund([token, workspace], start).limitHeader).toBe('"token";r=600;t=0, "workspace";r=20000;t=0')
  expect(limiter.refund([token], start).limitHeader).toBe('"token";r=600;t=0')
  for (let n = 0; n < 2_000; n++) {
    expect(limiter.take([small], start).allowed).toBe(true)
    limiter.refund([small], start)
  }
})

test('peek does not count', () => {
  const limiter = new RateLimiter()
  for (let n = 0; n < 20; n++) limiter.peek([small], start)
  expect(limiter.peek([small], start)).toMatchObject({ allowed: true, limitHeader: '"token";r=7;t=0' })
})

test('a bucket without a limit has no header, and a quota of 0 refuses everything', () => {
  const limiter = new RateLimiter()
  const unlimited = { ...workspace, quota: null }
  expect(limiter.take([unlimited], start)).toEqual({
    allowed: true,
    policyHeader: '',
    limitHeader: '',
    retryAfterSeconds: 0,
    violated: [],
  })
  expect(limiter.take([unlimited, token], start).policyHeader).toBe('"token";q=600;w=60')
  const shut = { ...token, quota: 0 }
  expect(limiter.take([shut], start + 90_000)).toMatchObject({ allowed: false, retryAfterSeconds: 60, violated: ['token'] })
})

test('a plan change keeps the used amount', () => {
  const limiter = new RateLimiter()
  takeMany(limiter, [small], 7, start)
  expect(limiter.take([{ ...small, quota: 60 }], start)).toMatchObject({ allowed: true, limitHeader: '"token";r=52;t=8' })
  expect(limiter.take([small], start)).toMatchObject({ allowed: false })
})

test('a clock that is set back costs nothing and blocks nothing', () => {
  const limiter = new RateLimiter()
  takeMany(limiter, [small], 7, start)
  expect(limiter.take([small], start - 3_600_000).retryAfterSeconds).toBe(9)
  expect(limiter.take([small], start - 3_600_000 + 9_000).allowed).toBe(true)
})

test('keys are counted separately', () => {
  const limiter = new RateLimiter()
  takeMany(limiter, [small], 8, start)
  expect(limiter.take([{ ...small, key: 'tok_3' }], start).allowed).toBe(true)
  expect(limiter.take([{ ...small, name: 'workspace' }], start).allowed).toBe(true)
})

test('fully restored keys are dropped as new ones are added, and by a sweep', () => {
  const limiter = new RateLimiter()
  for (let n = 0; n < 1_000; n++) limiter.take([{ ...small, key: `old-${n}` }], start)
  for (let n = 0; n < 500; n++) limiter.take([{ ...small, key: `new-${n}` }], start + 60_000)
  expect(limiter.size).toBe(500)
  limiter.sweep(start + 60_000)
  expect(limiter.size).toBe(500)
  limiter.sweep(start + 120_000)
  expect(limiter.size).toBe(0)
})

test('a burst of unknown keys stays within the bound, and evicts neither exhausted keys nor other buckets', () => {
  const limiter = new RateLimiter(1_000)
  takeMany(limiter, [token], 600, start)
  const guessers = Array.from({ length: 20 }, (_, n) => failedCredentials(`203.0.113.${n}`))
  for (const guesser of guessers) takeMany(limiter, [guesser], 30, start)
  for (let n = 0; n < 50_000; n++) limiter.take([failedCredentials(`10.0.${n >> 8}.${n & 255}`)], start + (n >> 6))
  expect(limiter.size).toBe(1_001)
  for (const guesser of guessers) expect(limiter.take([guesser], start + 781).allowed).toBe(false)
  expect(limiter.take([token], start + 1).allowed).toBe(false)
})

test('30 failed credentials a minute per address, and 300 requests without credentials', () => {
  const limiter = new RateLimiter()
  expect(takeMany(limiter, [failedCredentials('198.51.100.7')], 30, start).allowed).toBe(true)
  expect(limiter.take([failedCredentials('::ffff:198.51.100.7')], start)).toMatchObject({
    allowed: false,
    violated: ['failed-credentials'],
    retryAfterSeconds: 2,
  })
  expect(limiter.take([noCredentials('198.51.100.7')], start).policyHeader).toBe('"no-credentials";q=300;w=60')
})

test('an invalid name, quota or window is rejected', () => {
  const limiter = new RateLimiter()
  expect(() => limiter.take([{ ...token, name: 'a"b' }], start)).toThrow(TypeError)
  expect(() => limiter.take([{ ...token, quota: 1.5 }], start)).toThrow(RangeError)
  expect(() => limiter.take([{ ...token, quota: -1 }], start)).toThrow(RangeError)
  expect(() => limiter.take([{ ...token, windowSeconds: 0 }], start)).toThrow(RangeError)
})

function takeMany(limiter: RateLimiter, buckets: Bucket[], times: number, nowMs: number) {
  let verdict = limiter.take(buckets, nowMs)
  for (let n = 1; n < times; n++) verdict = limiter.take(buckets, nowMs)
  return verdict
}
