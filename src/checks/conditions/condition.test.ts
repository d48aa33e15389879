import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cpuTime } from '../../../test/support/cpu-time'
import { noFacts, type Facts } from '../check'
import { evaluate, parseCondition } from './condition'
import { conditionsOf, conditionText, type ConditionForm } from './form'
import { InvalidCondition } from './invalid-condition'

const now = Date.UTC(2026, 0, 10)
const day = 86_400_000
const certificate = {
  sha256: '00',
  subject: 'CN=a',
  issuer: 'CN=b',
  serial: '1',
  names: ['a'],
  not_before: 0,
  not_after: now + 20 * day,
  chain_not_after: now + 3 * day,
}
const observed = (facts: Partial<Facts> = {}): Facts => ({
  ...noFacts(),
  connected: true,
  status: 500,
  address: '192.168.1.2',
  phases: { dns: 1, connect: 2, tls: 3, first_byte: 40.5, total: 750 },
  headers: { 'content-type': 'text/html', 'last-modified': 'Fri, 09 Jan 2026 23:50:00 GMT' },
  tls: { version: 'TLSv1.2', cipher: 'x', certificate },
  dns: { rcode: 'NOERROR', answers: ['10.0.0.1', '10.0.0.2'] },
  ...facts,
})
const found = (condition: string, facts: Partial<Facts> = {}) => evaluate(parseCondition(condition), observed(facts), { now })
const holds = (condition: string, facts: Partial<Facts> = {}) => found(condition, facts).holds
const json = (value: unknown): Partial<Facts> => ({ body: JSON.stringify(value) })

describe('a condition', () => {
  test.each([
    ['[STATUS] == 500', true],
    ['[STATUS]==500', true],
    ['[status] != 500', false],
    ['500 == [STATUS]', true],
    ['[STATUS] == any(200, 500)', true],
    ['any(200, 204) == [STATUS]', false],
    ['[STATUS] >= 5e2', true],
    ['not [STATUS] == 200', true],
    ['[CONNECTED] == true', true],
    ['[RESPONSE_TIME] > 500', true],
    ['[RESPONSE_TIME] < 1s', true],
    ['[RESPONSE_TIME] >= 750ms', true],
    ['[TTFB] <= 40', false],
    ['[IP] == pat(192.168.*.*)', true],
    ['pat(10.*) == [IP]', false],
    ['[IP] == regex(^192\\.(168|169)\\.)', true],
    ['[CERTIFICATE_EXPIRATION] > 19d', true],
    ['[CERTIFICATE_EXPIRATION] < 480h', false],
    ['[CERTIFICATE_EXPIRATION] <= 480h', true],
    ['[TLS_VERSION] < 1.3', true],
    ['[TLS_VERSION] < TLSv1.2', false],
    ['[TLS_VERSION] == 1.2', true],
    ['[DNS_RCODE] == NOERROR', true],
    ['[DNS_ANSWER] == 10.0.0.2', true],
    ['[DNS_ANSWER] != 10.0.0.2', false],
    ['[DNS_ANSWER] == pat(11.*)', false],
    ['len([DNS_ANSWER]) == 2', true],
    ['[HEADER].Content-Type == pat(text/*)', true],
    ['has([HEADER].x-cache) == false', true],
    ['age([HEADER].Last-Modified) < 11m', true],
    ['age([HEADER].Last-Modified) < 9m', false],
    ['[DOMAIN_EXPIRATION] < 720h', false],
  ])('%s is %p', (condition, expected) => {
    expect(holds(condition)).toBe(expected)
  })

  test.each([
    ['[BODY].status == UP', { status: 'UP' }, true],
    ['[BODY].data.id == 1', { data: { id: 1 } }, true],
    ['[BODY][0].id == 1', [{ id: 1 }, { id: 2 }], true],
    ['[BODY].data[1].id > 1', { data: [{ id: 1 }, { id: 2 }] }, true],
    ['[BODY][-1] == b', ['a', 'b'], true],
    ['[BODY].first-name == "a b"', { 'first-name': 'a b' }, true],
    [`[BODY]['a b'].c == 1`, { 'a b': { c: 1 } }, true],
    ['[BODY].a != [BODY].b', { a: 'john', b: 'doe' }, true],
    ['[BODY].a == 0xF', { a: '15' }, true],
    ['[BODY].version == 1.1', { version: '1.10' }, false],
    ['[BODY].load > 0.5', { load: 0.75 }, true],
    ['[BODY].load == 0.50', { load: 0.5 }, true],
    ['[BODY].note == null', { note: null }, true],
    ['has([BODY].note) == true', { note: null }, false],
    ['has([BODY].errors) == false', {}, true],
    ['len([BODY].users) == 3', { users: [1, 2, 3] }, true],
    ['len([BODY]) == 2', [1, 2], true],
    ['len([BODY].name) > 3', { name: 'abcd' }, true],
    ['[BODY].user.constructor == x', { user: {} }, false],
    ['[BODY]..depth > 100', { a: { depth: 5 }, b: [{ depth: 101 }] }, true],
    ['[BODY].jobs[*].state == failed', { jobs: [{ state: 'ok' }, { state: 'failed' }] }, true],
    ['[BODY].jobs[*].state != failed', { jobs: [{ state: 'ok' }, { state: 'failed' }] }, false],
    [
      'len([BODY].jobs[?@.ms > 500].name) == 1',
      {
        jobs: [
          { ms: 600, name: 'a' },
          { ms: 5, name: 'b' },
        ],
      },
      true,
    ],
    ['has([BODY].jobs[?@.state == "failed"]) == true', { jobs: [{ state: 'ok' }] }, false],
    ['age([BODY].at) < 1h', { at: (now - 60_000) / 1000 }, true],
    ['age([BODY].at) < 1h', { at: '2026-01-09T22:00:00Z' }, false],
    ['len([BODY].text) < 1KiB', { text: 'x'.repeat(1023) }, true],
  ] as [string, unknown, boolean][])('%s of %j is %p', (condition, body, expected) => {
    expect(holds(condition, json(body))).toBe(expected)
  })

  test('shows the observed value after its source, in one short line', () => {
    expect(found('[STATUS] == 200').found).toBe('[STATUS] (500) == 200')
    expect(found('not [BODY].a == [BODY].b', json({ a: 'john', b: { c: 1 } })).found).toBe(
      'not [BODY].a (john) == [BODY].b ({"c":1})',
    )
    expect(found('[TTFB] < 1', { phases: { ...noFacts().phases, first_byte: 1.23456 } }).found).toBe('[TTFB] (1.235) < 1')
    const long = found('[BODY] == pat(*x*)', { body: `a\nb\u2028${'é'.repeat(5000)}` }).found
    expect(long).toStartWith('[BODY] (a b ééé')
    expect(long.length).toBeLessThan(120)
  })

  test.each([
    ['[CERTIFICATE_EXPIRATION] < 30d', 'Certificate expires in 20d, less than 30d'],
    ['[CERTIFICATE_EXPIRATION] < 2592000000', 'Certificate expires in 20d, less than 30d'],
    ['[STATUS] == 500', 'Status code is 500'],
    ['500 <= [STATUS]', 'Status code is 500, at least 500'],
    ['not [STATUS] == any(200, 204)', 'Status code is 500, none of 200, 204'],
    ['[RESPONSE_TIME] > 500', 'Response time is 750 ms, more than 500 ms'],
    ['not [RESPONSE_TIME] < 1ms', 'Response time is 750 ms, at least 1ms'],
    ['[IP] == pat(192.*)', 'IP address is 192.168.1.2, matching pat(192.*)'],
    ['[HEADER].Content-Type != text/plain', 'Header content-type is “text/html”, not “text/plain”'],
    ['age([HEADER].last-modified) >= 5m', 'Age of the header last-modified is 10m, at least 5m'],
    ['has([HEADER].etag) == false', 'Header etag is missing'],
    ['[CONNECTED] == true', 'Connection succeeded'],
    ['[TLS_VERSION] < 1.3', 'TLS version is TLSv1.2, less than 1.3'],
    ['[BODY].jobs[0].ok == false', 'Response field jobs[0].ok is false'],
    ['len([BODY].jobs) > 0', 'Length of the response field jobs is 1, more than 0'],
    ['[BODY].name == pat(*ops*)', 'Response field name is “shop”, containing “ops”'],
    ['not [BODY].name == pat(*all good*)', 'Response field name is “shop”, not containing “all good”'],
    ['not [BODY] == pat(*all good*)', 'Keyword “all good” not found'],
    ['[BODY] == pat(*shop*)', 'Keyword “shop” found'],
    ['not [BODY] == pat(*50% \\[off]*)', 'Keyword “50% [off]” not found'],
    ['[BODY].name == pat(*o?)', 'Response field name is “shop”, matching pat(*o?)'],
    ['[BODY].name != [HEADER].content-type', 'Response field name is “shop”, not header content-type (text/html)'],
    ['[BODY].none != 5', 'Response field none is missing, not 5'],
    ['not [BODY].none > 5', 'Response field none is missing'],
  ])('%s is described in words: %s', (condition, sentence) => {
    expect(found(condition, json({ name: 'shop', jobs: [{ ok: false }] })).sentence).toBe(sentence)
  })

  test('a long value of several lines is cut to one line', () => {
    const { sentence } = found(`[BODY].name != "x\\n${'y'.repeat(400)}"`, json({ name: 'shop' }))
    expect(sentence).toBe(`Response field name is “shop”, not “x ${'y'.repeat(148)}…”`)
  })

  test('an expired certificate is described as such', () => {
    const expired = { ...certificate, not_after: now - 2 * day }
    const facts = { tls: { version: 'TLSv1.2', cipher: 'x', certificate: expired } }
    expect(found('[CERTIFICATE_EXPIRATION] < 14d', facts).sentence).toBe('Certificate expired 2d ago')
  })

  test('does not hold for missing values, except !=, which stays the opposite of ==', () => {
    const nothing = { ...noFacts() }
    for (const source of [
      '[STATUS]',
      '[RESPONSE_TIME]',
      '[BODY]',
      '[BODY].a',
      '[IP]',
      '[DNS_RCODE]',
      '[DNS_ANSWER]',
      '[HEADER].x',
      '[TTFB]',
    ]) {
      for (const operator of ['==', '<', '<=', '>', '>='])
        expect(evaluate(parseCondition(`${source} ${operator} 0`), nothing, { now })).toMatchObject({
          holds: false,
          found: `${source} (INVALID) ${operator} 0`,
        })
      expect(evaluate(parseCondition(`${source} != 0`), nothing, { now }).holds).toBe(true)
      expect(evaluate(parseCondition(`not ${source} > 0`), nothing, { now }).holds).toBe(true)
    }
    expect(holds('[BODY].a == x', { body: '<html>' })).toBe(false)
    expect(holds('[BODY].a > 5', json({ a: 'potato' }))).toBe(false)
    expect(holds('[BODY].a == x', { body: '['.repeat(100_000) })).toBe(false)
  })

  test.each([
    ['', 0, 'comparison'],
    ['[STATUS]', 8, 'must have one of the operators =='],
    ['[STATUS] ==', 11, 'a value to compare with'],
    ['[STATUS] ? 201', 9, 'must have one of the operators =='],
    ['[STATUS] = = 201', 9, 'must use == to compare, not ='],
    ['[STATUS] = 500', 9, 'must use == to compare, not ='],
    ['raw == raw', 0, 'such as [STATUS]'],
    ['[STATUSS] == 200', 0, 'must use one of'],
    ['[STATUS] == 200 [IP]', 12, 'single comparison'],
    ['[STATUS] == [IP] x', 16, 'must have nothing after the second value'],
    ['len([BODY].a == 1', 12, 'close len('],
    ['[HEADER] == a', 8, 'name a header field'],
    ['[BODY].a[0 == 1', 8, 'close each ['],
    ['[BODY].a[x] == 1', 6, 'RFC 9535'],
    ['[BODY].a. == 1', 8, 'name after the dot'],
    ['[BODY]..a..b == 1', 6, '.. at most once'],
    ['[BODY][0,1][0,1] == 1', 6, 'one list of selectors'],
    ['[BODY][?match(@.a, "x")] == 1', 6, 'match()'],
    ['[BODY][?@..a] == 1', 6, 'names and indexes'],
    ['[RESPONSE_TIME] < potato', 18, 'a number'],
    ['[STATUS] < any(1, 2)', 0, '== or !='],
    ['[BODY] == regex((a)', 10, 'missing closing )'],
    ['[BODY] == regex(a(?=b))', 10, '(?='],
    ['has([BODY].a) == 1', 0, 'true or false'],
    ['[BODY] == "a\\x"', 10, 'JSON'],
    ['[BODY] == a\nb', 11, 'control'],
    [`[BODY] == ${'x'.repeat(500)}`, 0, 'at most 500'],
    ['age([STATUS]) > 1', 4, 'age'],
    ['[STATUS] === 200', 11, 'one operator'],
    ['[STATUS] == OK', 12, 'compare [STATUS] with a number'],
    ['[STATUS] == any(200, 20x)', 12, 'compare [STATUS] with a number'],
    ['len([BODY]) != many', 15, 'compare len([BODY]) with a number'],
    ['[TLS_VERSION] == any(1.2, TLS)', 17, 'with a version'],
    ['[CONNECTED] == yes', 0, 'true or false'],
    ['[STATUS] == any(200, 201', 12, 'closed with )'],
    ['[BODY] == Any(a, b)', 10, 'lower case'],
    ['[IP] == any(pat(10.*), pat(192.168.*))', 8, 'not nested'],
    ['[BODY].a == x && [BODY].b == y', 12, 'single comparison'],
    ['[BODY].a == x or [status] == 200', 12, 'single comparison'],
    ['[BODY].a == "x && [BODY].b"', null, null],
    ['[BODY].a == any(b, "c(")', null, null],
  ] as [string, number | null, string | null][])('%j is rejected at %p', (text, position, rule) => {
    let rejection: unknown = null
    try {
      parseCondition(text)
    } catch (error) {
      rejection = error
    }
    if (rule === null) return expect(rejection).toBeNull()
    expect(rejection).toBeInstanceOf(InvalidCondition)
    expect((rejection as InvalidCondition).rule).toContain(rule)
    expect((rejection as InvalidCondition).position).toBe(position!)
  })

  test('is rejected if it uses a source that the check type does not provide', () => {
    expect(() => parseCondition('[BODY] == x', ['CONNECTED', 'RESPONSE_TIME'])).toThrow('must not use [BODY]')
    expect(parseCondition('[CONNECTED] == true', ['CONNECTED']).sources).toEqual(['CONNECTED'])
  })

  test('with a path that would take forever to parse is rejected at once', () => {
    const before = cpuTime()
    for (const part of ['count(', 'length(@.a,', '[?count(', '(', '[?@', "value('x'", '[?@.a=='])
      expect(() => parseCondition(`[BODY][?${part.repeat(25)}] == 1`)).toThrow(InvalidCondition)
    expect(cpuTime() - before).toBeLessThan(5000)
  })

  test('is either parsed and evaluated or rejected, whatever the input', () => {
    const part = fc.constantFrom(
      '[BODY]',
      '[STATUS]',
      '.a',
      '..',
      '[*]',
      '[?',
      'count(',
      '@.a',
      ']',
      'len(',
      ')',
      ' == ',
      ' < ',
      'any(',
      'regex(',
      '"',
      ',',
      'x',
      '5',
      ' ',
      'not ',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 3 })), { maxLength: 14 }), fc.json(), (parts, body) => {
        try {
          expect(found(parts.join(''), { body }).holds).toBeBoolean()
        } catch (error) {
          if (!(error instanceof InvalidCondition)) throw error
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a condition in JSON form', () => {
  test.each([
    [{ source: 'STATUS', op: '!=', value: 200 }, '[STATUS] != 200'],
    [{ source: 'BODY', path: '$.a[0]', op: '==', value: 'x y' }, '[BODY].a[0] == x y'],
    [{ source: 'BODY', path: 'a.b', function: 'len', op: '>', value: 5, not: true }, 'not len([BODY].a.b) > 5'],
    [{ source: 'HEADER', path: 'Server', op: '==', value: ['nginx', 'a, b'] }, '[HEADER].Server == any(nginx, "a, b")'],
    [{ source: 'BODY', op: 'contains', value: '*a?' }, '[BODY] == pat(*\\*a\\?*)'],
    [{ source: 'BODY', op: 'matches', value: '^ok$' }, '[BODY] == regex(^ok$)'],
  ] as [ConditionForm, string][])('%j is stored as %s', (form, text) => {
    expect(conditionText(form)).toBe(text)
  })

  test('compares with exactly its value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ maxLength: 20 }), (value, other) => {
        const text = conditionText({ source: 'HEADER', path: 'x', op: '==', value })
        expect(holds(text, { headers: { x: value } })).toBe(true)
        const contains = conditionText({ source: 'BODY', op: 'contains', value })
        expect(holds(contains, { body: `.${value}.` })).toBe(true)
        if (!`.${other}.`.includes(value)) expect(holds(contains, { body: `.${other}.` })).toBe(false)
      }),
      { examples: [['\u2028', '']] },
    )
  })

  test('is rejected like its text', () => {
    expect(() => conditionText({ source: 'STATUS', path: 'a', op: '==', value: 1 })).toThrow(InvalidCondition)
    expect(() => conditionText({ source: 'STATUS', op: '<', value: [1, 2] })).toThrow(InvalidCondition)
    expect(() => conditionText({ source: 'BODY', op: 'matches', value: '(' })).toThrow(InvalidCondition)
  })
})

describe('expectations in the style of Uptime Kuma', () => {
  const fails = (expected: Parameters<typeof conditionsOf>[0], body: string) =>
    conditionsOf(expected).some(condition => holds(condition, { body }))

  test('fail if the keyword is missing, or present with invert_keyword', () => {
    expect(conditionsOf({ keyword: 'Welcome' })).toEqual(['not [BODY] == pat(*Welcome*)'])
    expect([fails({ keyword: 'Welcome' }, 'a\nWelcome b'), fails({ keyword: 'Welcome' }, 'Sorry')]).toEqual([false, true])
    expect([
      fails({ keyword: 'Error', invert_keyword: true }, 'Error'),
      fails({ keyword: 'Error', invert_keyword: true }, 'ok'),
    ]).toEqual([true, false])
  })

  test('fail if the queried value differs or is missing', () => {
    const query = (op: '==' | '>' | '!=' | 'contains', expected: string | number) => ({
      json_query: { path: '$.n', op, expected },
    })
    expect(fails(query('==', 'up'), '{"n":"up"}')).toBe(false)
    expect(fails(query('==', 'up'), '{}')).toBe(true)
    expect(fails(query('>', 5), '{"n":6}')).toBe(false)
    expect(fails(query('>', 5), '{"n":5}')).toBe(true)
    expect(fails(query('>', 5), 'x')).toBe(true)
    expect(fails(query('!=', 'bad'), '{"n":"good"}')).toBe(false)
    expect(fails(query('contains', 'oo'), '{"n":"good"}')).toBe(false)
  })
})
