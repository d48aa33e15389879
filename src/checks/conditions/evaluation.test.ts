import { describe, expect, test } from 'bun:test'
import { noFacts, type Facts } from '../check'
import { secretRedactor } from '../redaction'
import { evaluateRun } from './evaluation'
import { formatDuration } from './numbers'

const observed = (facts: Partial<Facts>): Facts => ({ ...noFacts(), connected: true, status: 200, ...facts })
const spec = { down_if: ['[STATUS] >= 500', '[BODY].ok == false'], degraded_if: ['[STATUS] == 203'], degraded_ms: 500 }
const evaluated = (facts: Partial<Facts>) => evaluateRun(spec, observed(facts), { now: 0 })
const took = (total: number) => ({ ...noFacts().phases, total })

describe('the evaluation of a run', () => {
  test('is up if nothing is wrong', () => {
    expect(evaluated({ phases: took(500) })).toEqual({ status: 'up', error: null, conditions: [] })
  })

  test('is down if the check type found a failure, whatever the conditions say', () => {
    const error = { kind: 'timeout', message: 'No answer within 10 s.' } as const
    expect(evaluated({ error, status: 503 })).toEqual({ status: 'down', error, conditions: [] })
  })

  test('is down if a down_if condition holds, and reports all that held', () => {
    expect(evaluated({ status: 503, body: '{"ok":false}' })).toEqual({
      status: 'down',
      error: { kind: 'condition', message: 'Status code is 503, at least 500, and 1 more condition' },
      conditions: [
        { level: 'down', index: 0, condition: '[STATUS] >= 500', found: '[STATUS] (503) >= 500' },
        { level: 'down', index: 1, condition: '[BODY].ok == false', found: '[BODY].ok (false) == false' },
      ],
    })
  })

  test('shows readable durations', () => {
    const day = 86_400_000
    const certificate = { not_after: 10 * day - 63_713, chain_not_after: 0 } as never
    const found = evaluateRun(
      { down_if: ['[CERTIFICATE_EXPIRATION] < 14d', 'age([HEADER].last-modified) >= 1m'], degraded_if: [], degraded_ms: null },
      observed({ tls: { version: 'TLSv1.3', certificate } as never, headers: { 'last-modified': '1969-12-31T23:58:29.5Z' } }),
      { now: 0 },
    )
    expect(found.conditions.map(one => one.found)).toEqual([
      '[CERTIFICATE_EXPIRATION] (9d 23h) < 14d',
      'age([HEADER].last-modified) (1m 30s) >= 1m',
    ])
    expect([formatDuration(-90_000), formatDuration(0.4), formatDuration(3_600_000), formatDuration(90_061_000)]).toEqual([
      '-1m 30s',
      '0ms',
      '1h',
      '1d 1h',
    ])
  })

  test('shows no part of a secret, however long', () => {
    const secret = 'changeme-'.repeat(20)
    const found = evaluateRun(
      { ...spec, down_if: ['[HEADER].x-echo != nothing', '[BODY] == pat(*changeme*)'] },
      observed({ headers: { 'x-echo': `Bearer ${secret}` }, body: secret }),
      {
        now: 0,
        redact: text => text.replaceAll(secret, '[secret]'),
      },
    ).conditions.map(one => one.found)
    expect(found).toEqual(['[HEADER].x-echo (Bearer [secret]) != nothing', '[BODY] ([secret]) == pat(*changeme*)'])
  })

  test('shows no part of a secret where a long value is cut', () => {
    const secret = `changeme${'z'.repeat(30_000)}`
    const [failed] = evaluateRun({ ...spec, degraded_if: ['[BODY] != nothing'] }, observed({ body: secret.repeat(3) }), {
      now: 0,
      redact: secretRedactor([secret]),
    }).conditions
    expect(failed!.found).not.toContain('change')
  })

  test('is degraded by a degraded_if condition or a slow response', () => {
    expect(evaluated({ status: 203, phases: took(501) })).toMatchObject({
      status: 'degraded',
      error: { message: 'Status code is 203' },
    })
    expect(evaluated({ phases: took(501) })).toEqual({
      status: 'degraded',
      error: { kind: 'condition', message: 'Response took 501 ms, more than 500 ms' },
      conditions: [],
    })
  })
})

test('a domain that expires soon makes a condition true, and one whose end is not known none', () => {
  const day = 86_400_000
  const at = (domainExpiresAt: number | null) =>
    evaluateRun(
      { down_if: ['[DOMAIN_EXPIRATION] < 0s'], degraded_if: ['[DOMAIN_EXPIRATION] < 30d'], degraded_ms: null },
      observed({}),
      {
        now: 100 * day,
        domainExpiresAt,
      },
    )
  expect(at(131 * day).status).toBe('up')
  expect(at(120 * day).error?.message).toBe('Domain expires in 20d, less than 30d')
  expect(at(98 * day)).toMatchObject({ status: 'down', error: { message: 'Domain expired 2d ago' } })
  expect(at(null).status).toBe('up')
})

describe('conditions that cost too much', () => {
  const list = (unit: string, n: number) => `[${`${unit},`.repeat(n)}0]`
  test.each([
    ['search more than 50,000 values', list('0', 60_000), '[BODY]..* == 5', 'has a path with several results in a body'],
    ['are nested too deeply', '['.repeat(50_000) + ']'.repeat(50_000), '[BODY][0] == 5', 'nested more than 500 levels deep'],
    ['compare lists with each other', list('{"a":0,"b":1}', 10_000), '[BODY]..a == [BODY]..b', 'takes longer than 100 ms'],
  ])('make the result degraded if they %s', (_, body, condition, reason) => {
    const { status, error } = evaluateRun(
      { down_if: ['[STATUS] == 500', condition, '[STATUS] == 200'], degraded_if: [], degraded_ms: null },
      observed({ body }),
      { now: 0 },
    )
    expect([status, error?.message]).toEqual(['degraded', expect.stringContaining(reason)])
  })

  test('keep what was found before', () => {
    const { status, conditions } = evaluateRun(
      { down_if: ['[STATUS] == 200', '[BODY]..* == 5'], degraded_if: [], degraded_ms: null },
      observed({ body: list('0', 60_000) }),
      { now: 0 },
    )
    expect([status, conditions.map(one => one.condition)]).toEqual(['down', ['[STATUS] == 200']])
  })
})
