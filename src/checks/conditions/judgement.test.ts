import { describe, expect, test } from 'bun:test'
import { noFacts, type Facts } from '../check'
import { resultOf } from './judgement'
import { readable } from './numbers'

const seen = (facts: Partial<Facts>): Facts => ({ ...noFacts(), connected: true, status: 200, ...facts })
const spec = { down_if: ['[STATUS] >= 500', '[BODY].ok == false'], degraded_if: ['[STATUS] == 203'], degraded_ms: 500 }
const judged = (facts: Partial<Facts>) => resultOf(spec, seen(facts), { now: 0 })
const took = (total: number) => ({ ...noFacts().phases, total })

describe('the judgement of one run', () => {
  test('is up when nothing speaks against it', () => {
    expect(judged({ phases: took(500) })).toEqual({ status: 'up', error: null, conditions: [] })
  })

  test('is down by what the type of check found wrong, whatever the conditions say', () => {
    const error = { kind: 'timeout', message: 'No answer within 10 s.' } as const
    expect(judged({ error, status: 503 })).toEqual({ status: 'down', error, conditions: [] })
  })

  test('is down when one of down_if holds, and tells all that held', () => {
    expect(judged({ status: 503, body: '{"ok":false}' })).toEqual({
      status: 'down',
      error: { kind: 'condition', message: '[STATUS] (503) >= 500, and 1 more' },
      conditions: [
        { level: 'down', index: 0, condition: '[STATUS] >= 500', found: '[STATUS] (503) >= 500' },
        { level: 'down', index: 1, condition: '[BODY].ok == false', found: '[BODY].ok (false) == false' },
      ],
    })
  })

  test('shows durations as people read them', () => {
    const day = 86_400_000
    const certificate = { not_after: 10 * day - 63_713, chain_not_after: 0 } as never
    const found = resultOf(
      { down_if: ['[CERTIFICATE_EXPIRATION] < 14d', 'age([HEADER].last-modified) >= 1m'], degraded_if: [], degraded_ms: null },
      seen({ tls: { version: 'TLSv1.3', certificate } as never, headers: { 'last-modified': '1969-12-31T23:58:29.5Z' } }),
      { now: 0 },
    )
    expect(found.conditions.map(one => one.found)).toEqual([
      '[CERTIFICATE_EXPIRATION] (9d 23h) < 14d',
      'age([HEADER].last-modified) (1m 30s) >= 1m',
    ])
    expect([readable(-90_000), readable(0.4), readable(3_600_000), readable(90_061_000)]).toEqual([
      '-1m 30s',
      '0ms',
      '1h',
      '1d 1h',
    ])
  })

  test('shows no part of a secret, however long it is', () => {
    const secret = 'changeme-'.repeat(20)
    const found = resultOf(
      { ...spec, down_if: ['[HEADER].x-echo != nothing', '[BODY] == pat(*changeme*)'] },
      seen({ headers: { 'x-echo': `Bearer ${secret}` }, body: secret }),
      {
        now: 0,
        hide: text => text.replaceAll(secret, '[secret]'),
      },
    ).conditions.map(one => one.found)
    expect(found).toEqual(['[HEADER].x-echo (Bearer [secret]) != nothing', '[BODY] ([secret]) == pat(*changeme*)'])
  })

  test('is degraded by a condition for that, or when it took too long', () => {
    expect(judged({ status: 203, phases: took(501) })).toMatchObject({
      status: 'degraded',
      error: { message: '[STATUS] (203) == 203' },
    })
    expect(judged({ phases: took(501) })).toEqual({
      status: 'degraded',
      error: { kind: 'condition', message: 'It took 501 ms, more than 500 ms.' },
      conditions: [],
    })
  })
})
