import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { desec } from '../../src/features/dns/providers/desec'
import type { DnsProvider, ProviderFailure, ProviderZone } from '../../src/features/dns/providers/provider'
import type { ApiFault } from '../support/api-double'
import { DesecDouble } from '../support/desec'
import { stamps, type DesecDomain } from '../support/desec-domain'
import { desecUnderTest } from '../support/desec-under-test'
import { pluginContext } from '../support/plugin-context'
import { failureOf, listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'

const doubles: DesecDouble[] = []
afterAll(() => doubles.forEach(one => one.stop()))

async function started(): Promise<DesecDouble> {
  const double = await new DesecDouble().start()
  doubles.push(double)
  return double
}

const opened = (double: DesecDouble, more: object = {}, around = pluginContext()): DnsProvider =>
  desec.open({ api_token: double.token, base_url: double.url, ...more }, around)

providerContract('desec', async () => {
  const double = await started()
  return {
    ...desecUnderTest(double),
    provider: opened(double),
    unauthorized: opened(double, { api_token: 'w'.repeat(28) }),
    unreachable: opened(double, { base_url: 'http://127.0.0.1:1/api/v1' }),
  }
})

const failed = { status: 500, code: 'error', message: 'Internal Server Error. We’re on it!' }
const conflict = { status: 409, code: 'conflict', message: 'Conflict: duplicate key value violates unique constraint' }
const forbidden = { status: 403, code: 'permission_denied', message: 'You do not have permission to perform this action.' }

describe('desec, in addition to the provider contract', () => {
  let double: DesecDouble
  let provider: DnsProvider
  let there: DesecDomain
  let zone: ProviderZone

  beforeEach(async () => {
    double = await started()
    provider = opened(double)
    there = double.domain('example.com')
    zone = { name: 'example.com', ref: null }
  })

  const many = (count: number, from = 0) =>
    Array.from({ length: count }, (_, n) => ({ subname: `h${from + n}`, type: 'A', ttl: 3600, records: ['192.0.2.1'] }))
  const a = (name: string, value = '192.0.2.1') => rrset(name, 'A', 3600, [value])
  const apply = async (...ops: Parameters<DnsProvider['apply']>[1]) => outcomes(await provider.apply(zone, ops))
  const sent = (method: string) => double.requests.filter(one => one.method === method)
  const read = async () => (await provider.read(zone)).rrsets
  const errorOf = async (call: Promise<unknown>): Promise<any> => call.then(null, error => error)
  const shown = () => there.rrsets.map(one => `${one.subname} ${one.type}`)

  describe('a list', () => {
    test.each([1000, 2001])('of %i record sets is read completely, by cursor', async count => {
      there.patch(many(count - 1))
      const found = await read()
      expect(new Set(found.map(one => one.name)).size).toBe(count)
      const cursors = sent('GET').flatMap(one => one.query.get('cursor') ?? [])
      expect(cursors).toHaveLength(Math.ceil(count / 500))
      expect(new Set(cursors).size).toBe(cursors.length)
      // The zone before and after shows that nothing changed.
      expect(sent('GET')).toHaveLength(Math.ceil(count / 500) + 2)
    })

    test('that fits on one page is read with the zone, and nothing else', async () => {
      there.patch(many(499))
      expect(await read()).toHaveLength(500)
      expect(sent('GET').map(one => one.path)).toEqual(['/domains/example.com/', '/domains/example.com/rrsets/'])
    })

    test('in which a record set moves from a later page to an earlier one is an error', async () => {
      there.patch(many(1000))
      let pages = 0
      double.beforePage = () => {
        if (++pages !== 2) return
        const [oldest] = many(1)
        there.patch([{ ...oldest, records: [] }])
        there.patch([oldest])
      }
      expect(await failureOf(read())).toBe('incomplete')
      expect(await read()).toHaveLength(1001)
    })

    test('with a link to a page that was already read, or to none, is an error', async () => {
      there.patch(many(600))
      const around = pluginContext()
      const altered = (link: string) =>
        opened(
          double,
          {},
          {
            ...around,
            async request(request, limits) {
              const response = await around.request(request, limits)
              if (response.headers.has('link')) response.headers.set('link', link)
              return response
            },
          },
        )
      const wrong = ['<https://desec.io/api/v1/domains/example.com/rrsets/?cursor=>; rel="next"', '<nowhere>; rel="next"']
      for (const link of wrong) expect([link, await failureOf(altered(link).read(zone))]).toEqual([link, 'incomplete'])
      // A link to another server is not followed: only its cursor is used, so the token stays.
      const cursor = Buffer.from(`p=${stamps()}`).toString('base64')
      const elsewhere = `<https://elsewhere.example/?cursor=${encodeURIComponent(cursor)}>; rel="next"`
      expect(await failureOf(altered(elsewhere).read(zone))).toBe('incomplete')
      expect(double.requests.at(-1)!.query.get('cursor')).toBe(cursor)
    })

    test('with a record set twice is an error', async () => {
      double.answered = body => (Array.isArray(body) ? [...body, ...body] : body)
      expect(await failureOf(read())).toBe('incomplete')
    })

    test('has a time limit', async () => {
      there.patch(many(2000))
      let minutes = 0
      const around = pluginContext()
      const slow = opened(double, {}, { ...around, clock: { ...around.clock, now: () => 60_000 * 2 * minutes++ } })
      expect(await failureOf(slow.read(zone))).toBe('timeout')
    })
  })

  test('each zone has its own minimum TTL', async () => {
    expect((await provider.read(zone)).minTtl).toBe(3600)
    double.domain('short.example', 300)
    expect((await provider.read({ name: 'short.example', ref: null })).minTtl).toBe(300)
    expect(await apply(op(null, rrset('low', 'A', 300, ['192.0.2.1'])))).toEqual(['refused'])
  })

  test('the serial changes with each write, and one list has those of all zones', async () => {
    double.domain('example.org')
    const other = { name: 'example.org', ref: null }
    const { serial } = await provider.read(zone)
    double.requests.splice(0)
    expect([await provider.readSerial!(zone), await provider.readSerial!(other)]).toEqual([
      serial!,
      (await provider.read(other)).serial!,
    ])
    expect(double.requests.filter(one => one.path === '/domains/')).toHaveLength(1)
    // Writes of this hub, even without an effect, make the list outdated.
    expect(await apply(op(null, a('www')))).toEqual(['done'])
    const written = await provider.readSerial!(zone)
    expect(written).toBeGreaterThan(serial!)
    expect(written).toBe((await provider.read(zone)).serial!)
    // Changes of others are seen after five minutes.
    there.patch(many(1))
    const later = (minutes: number) => {
      const around = pluginContext()
      return opened(double, {}, { ...around, clock: { ...around.clock, now: () => around.clock.now() + minutes * 60_000 } })
    }
    expect(await later(4).readSerial!(zone)).toBe(written)
    expect(await later(6).readSerial!(zone)).toBeGreaterThan(written)
    expect(await failureOf(provider.readSerial!({ name: 'absent.example', ref: null }))).toBe('zone_not_found')
  })

  test('a failed list of serials is read again', async () => {
    double.fault = () => failed
    expect(await failureOf(provider.readSerial!(zone))).toBe('refused')
    double.fault = () => null
    expect(await provider.readSerial!(zone)).toBeGreaterThan(0)
  })

  test('a check tells the account if the token may read it', async () => {
    expect(await provider.check()).toEqual({ detail: 'deSEC account dns@example.com: 1 zone', warnings: [] })
    double.may.manageTokens = false
    double.domain('example.org')
    expect(await provider.check()).toEqual({ detail: 'deSEC: 2 zones', warnings: [] })
  })

  test('zones are created with the name servers of deSEC, if the account allows', async () => {
    expect(await provider.createZone!('new.example', [])).toEqual({ name: 'new.example', ref: null })
    expect(listed((await provider.read({ name: 'new.example', ref: null })).rrsets)).toEqual([
      '@ 3600 NS ns1.desec.io. | ns2.desec.org.',
    ])
    expect(await errorOf(provider.createZone!('new.example', []))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('name: This domain name conflicts with an existing domain'),
    })
    double.limitDomains = 2
    expect(await errorOf(provider.createZone!('more.example', []))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('Domain limit exceeded.'),
    })
    double.may.createDomain = false
    expect(await failureOf(provider.createZone!('more.example', []))).toBe('unauthorized')
  })

  test('what has no form here is foreign, and the other record sets are read', async () => {
    there.patch([{ subname: 'lan', type: 'APL', ttl: 3600, records: ['1:192.0.2.0/24'] }])
    const { rrsets, foreign } = await provider.read(zone)
    expect(foreign).toEqual([{ name: 'lan', type: 'APL', detail: '1:192.0.2.0/24' }])
    expect(rrsets.map(one => one.type)).toEqual(['NS'])
    there.patch([{ subname: 'lan', type: 'APL', ttl: 3600, records: Array.from({ length: 90 }, (_, n) => `1:10.0.${n}.0/24`) }])
    expect((await provider.read(zone)).foreign![0]!.detail).toHaveLength(201)
  })

  test('few names are queried one by one, many all at once', async () => {
    await apply(op(null, a('@')), op(null, a('b')))
    expect(sent('GET').map(one => one.query.get('subname'))).toEqual(['', 'b'])
    double.requests.splice(0)
    await apply(op(null, a('c')), op(null, a('d')), op(null, a('e')))
    expect(sent('GET').map(one => one.query.get('subname'))).toEqual([null])
  })

  test('a change of 100 record sets is one request', async () => {
    there.patch(many(100))
    const before = await read()
    double.requests.splice(0)
    const changed = before.filter(one => one.type === 'A').map(one => op(one, { ...one, ttl: 7200 }))
    expect(new Set(await apply(...changed))).toEqual(new Set(['done']))
    expect(double.requests.map(one => one.method)).toEqual(['GET', 'PATCH'])
  })

  test('a refused batch has a message for each step with an error, and nothing was applied', async () => {
    there.patch([{ subname: 'www', type: 'A', ttl: 3600, records: ['192.0.2.1'] }])
    const before = shown()
    const results = await provider.apply(zone, [
      op(null, a('fine')),
      op(null, rrset('www', 'CNAME', 3600, ['example.net.'])),
      op(null, rrset('low', 'A', 60, ['192.0.2.1'])),
    ])
    expect(results).toMatchObject([
      { name: 'fine', outcome: 'skipped', detail: 'Skipped because another change in the same request was refused.' },
      { name: 'www', outcome: 'refused', detail: expect.stringMatching(/^RRset with conflicting type present.*database \(A\)/) },
      { name: 'low', outcome: 'refused', detail: 'ttl: Ensure this value is greater than or equal to 3600.' },
    ])
    expect(shown()).toEqual(before)
    // Errors that are not those of steps.
    const all = await provider.apply(zone, [op(null, a('fine')), op(null, rrset('@', 'DS', 3600, [`1 13 2 ${'ab'.repeat(32)}`]))])
    expect(all.map(one => [one.outcome, one.detail])).toEqual([
      ['refused', expect.stringContaining('DS RRset cannot have empty subname.')],
      ['refused', expect.stringContaining('DS RRset cannot have empty subname.')],
    ])
    expect(shown()).toEqual(before)
  })

  test('an rrset with a TTL below the minimum can be deleted', async () => {
    const short = double.domain('short.example', 60)
    zone = { name: short.name, ref: null }
    short.patch([{ subname: 'www', type: 'A', ttl: 60, records: ['192.0.2.1'] }])
    short.minimumTtl = 3600
    expect(await apply(op(rrset('www', 'A', 60, ['192.0.2.1']), null))).toEqual(['done'])
    expect(short.rrsets.map(one => one.type)).toEqual(['NS'])
  })

  test('batches have up to 500 steps, and stop at the first failure', async () => {
    const created = many(1100).map(one => op(null, a(one.subname)))
    let batches = 0
    double.fault = ({ method }) => (method === 'PATCH' && ++batches === 2 ? 'throttled' : null)
    const results = await apply(...created)
    expect([results.slice(0, 500), results.slice(500)].map(some => [...new Set(some)])).toEqual([['done'], ['skipped']])
    expect(sent('PATCH')).toHaveLength(2)
    expect(there.rrsets).toHaveLength(501)
  })

  test('steps at one name stay in one batch', async () => {
    there.patch([{ subname: 'swap', type: 'A', ttl: 3600, records: ['192.0.2.1'] }])
    const alias = rrset('swap', 'CNAME', 3600, ['example.net.'])
    const ops = [...many(499).map(one => op(null, a(one.subname))), op(a('swap'), null), op(null, alias)]
    expect(new Set(await apply(...ops))).toEqual(new Set(['done']))
    expect(sent('PATCH').map(one => one.body.length)).toEqual([499, 2])
  })

  test('a change with an unclear response may have been applied', async () => {
    for (const [name, fault] of Object.entries({ lost: 'lost', html: 'html', failed, cut: 'cut', dropped: 'dropped' } as const)) {
      double.fault = ({ method }) => (method === 'PATCH' ? fault : null)
      expect([name, ...(await apply(op(null, a(name))))]).toEqual([name, 'unknown'])
    }
    expect(shown()).toEqual([' NS', 'lost A', 'html A', 'cut A'])
  })

  test('a change that timed out may have been applied', async () => {
    const around = pluginContext()
    provider = opened(
      double,
      {},
      {
        ...around,
        request: (request, limits) => around.request(request, request.method === 'PATCH' ? { ...limits, totalMs: 500 } : limits),
      },
    )
    double.fault = ({ method }) => (method === 'PATCH' ? 'silent' : null)
    expect(await apply(op(null, a('www')))).toEqual(['unknown'])
    expect(shown()).toContain('www A')
  })

  test('a change that collides with another one is stale', async () => {
    double.fault = ({ method }) => (method === 'PATCH' ? conflict : null)
    expect(await apply(op(null, a('www')))).toEqual(['stale'])
  })

  test('one stale step skips its batch', async () => {
    there.patch(many(1))
    expect(await apply(op(a('h0', '192.0.2.9'), null), op(null, a('new')))).toEqual(['stale', 'skipped'])
    expect(sent('PATCH')).toEqual([])
  })

  test('read errors have a specific code', async () => {
    const failures: [ApiFault, ProviderFailure][] = [
      ['html', 'refused'],
      [failed, 'refused'],
      ['cut', 'incomplete'],
      ['lost', 'unreachable'],
      ['throttled', 'throttled'],
      [forbidden, 'unauthorized'],
    ]
    for (const [fault, failure] of failures) {
      double.fault = () => fault
      expect([fault, await failureOf(read())]).toEqual([fault, failure])
      // Errors before a change was sent say nothing about it.
      expect([fault, await failureOf(provider.apply(zone, [op(null, a('x'))]))]).toEqual([fault, failure])
    }
    double.fault = () => null
    // Pages of other servers are not a missing zone.
    const elsewhere = opened(double, { base_url: `${double.url}/elsewhere` })
    expect(await failureOf(elsewhere.findZone('example.com'))).toBe('invalid_response')
    expect(await failureOf(elsewhere.check())).toBe('invalid_response')
  })

  test('the token is in no error, even if the server echoes it', async () => {
    double.fault = () => failed
    double.answered = body => ({ ...body, detail: `bad token ${double.token}` })
    expect(await errorOf(read())).toMatchObject({ message: expect.stringContaining('bad token [redacted]') })
    double.fault = () => null
    double.answered = body => (Array.isArray(body) ? body.map(() => ({ records: [`bad token ${double.token}`] })) : body)
    const [refused] = await provider.apply(zone, [op(null, rrset('x', 'NS', 3600, ['.']))])
    expect(refused).toMatchObject({ outcome: 'refused', detail: 'records: bad token [redacted]' })
    double.fault = () => failed
    double.answered = () => JSON.parse(`${'['.repeat(30_000)}"x"${']'.repeat(30_000)}`)
    expect(await failureOf(read())).toBe('refused')
  })

  test('rate limits tell when the next change is possible', async () => {
    let now = 0
    double.isThrottled = true
    double.now = () => now
    // Two changes a second to a zone; reads before each.
    const one = (n: number) => provider.apply(zone, [op(null, a(`n${n}`))])
    expect([outcomes(await one(1)), outcomes(await one(2))]).toEqual([['done'], ['done']])
    expect(await errorOf(one(3))).toMatchObject({ failure: 'throttled', retryAfterMs: 1000 })
    // Other zones have their own limit.
    double.domain('example.org')
    expect(outcomes(await provider.apply({ name: 'example.org', ref: null }, [op(null, a('www'))]))).toEqual(['done'])
    // 300 changes a day.
    for (let n = 4; n <= 301; n++) {
      now += 60_000
      expect(outcomes(await one(n))).toEqual(['done'])
    }
    now += 60_000
    const error = await errorOf(one(302))
    expect(error).toMatchObject({ failure: 'throttled', retryAfterMs: 86_400_000 - now })
    expect(error.message).toContain('Request was throttled. Expected available in')
    now = 86_400_000
    expect(outcomes(await one(302))).toEqual(['done'])
  })

  test.each([
    ['a.b', 'A', ['192.0.2.1'], 0],
    ['*.dev', 'A', ['192.0.2.1'], 0],
    ['a*', 'A', ['192.0.2.1'], 1],
    ['a\\032b', 'A', ['192.0.2.1'], 1],
    [`${'a.'.repeat(89)}b`, 'A', ['192.0.2.1'], 1],
    ['x', 'TYPE65280', ['\\# 1 ab'], 1],
    ['x', 'ALIAS', ['example.net.'], 1],
    ['x', 'TYPE42', ['\\# 0'], 1],
    ['@', 'CNAME', ['example.net.'], 1],
    ['@', 'DS', [`1 13 2 ${'ab'.repeat(32)}`], 1],
    ['x', 'DS', [`1 13 2 ${'ab'.repeat(32)}`], 0],
    ['x', 'CNAME', ['_dmarc.example.net.'], 0],
    ['x', 'CNAME', ['a\\032b.example.net.'], 1],
    ['x', 'NS', ['ns_1.example.net.'], 1],
    ['x', 'NS', ['.'], 1],
    ['x', 'MX', ['10 mail_1.example.net.'], 1],
    ['x', 'MX', ['0 .'], 0],
    ['_sip._tcp', 'SRV', ['0 5 5060 _sip.example.net.'], 1],
    ['_sip._tcp', 'SRV', ['0 0 0 .'], 0],
  ] as [string, string, string[], number][])('%s %s %j is found before it is sent', async (name, type, values, problems) => {
    const one = rrset(name, type, 3600, values)
    expect(provider.findUnsupported(one)).toHaveLength(problems)
    // deSEC agrees.
    expect(await apply(op(null, one))).toEqual([problems === 0 ? 'done' : 'refused'])
  })

  test.each([
    [250, 0],
    [260, 1],
  ])('%i values of 246 characters have %i problems', async (count, problems) => {
    const one = rrset(
      'x',
      'TXT',
      3600,
      Array.from({ length: count }, (_, n) => `"${String(n).padEnd(246)}"`),
    )
    expect(provider.findUnsupported(one)).toHaveLength(problems)
    expect(await apply(op(null, one))).toEqual([problems === 0 ? 'done' : 'refused'])
  })
})
