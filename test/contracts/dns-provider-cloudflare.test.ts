import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { cloudflare } from '../../src/features/dns/providers/cloudflare'
import type { DnsProvider, ProviderFailure, ProviderZone } from '../../src/features/dns/providers/provider'
import { CloudflareDouble, type CloudflareFault } from '../support/cloudflare'
import { cloudflareUnderTest } from '../support/cloudflare-under-test'
import type { CloudflarePlan, CloudflareZone } from '../support/cloudflare-zone'
import { failureOf, listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'

const doubles: CloudflareDouble[] = []
afterAll(() => doubles.forEach(one => one.stop()))

async function started(): Promise<CloudflareDouble> {
  const double = await new CloudflareDouble().start()
  doubles.push(double)
  return double
}

const opened = (double: CloudflareDouble, more: object = {}): DnsProvider =>
  cloudflare.open({ api_token: double.token, account_id: double.accountId, base_url: double.url, ...more }, pluginContext())

providerContract('cloudflare', async () => {
  const double = await started()
  double.zone('first.example')
  return {
    ...cloudflareUnderTest(double),
    provider: opened(double),
    unauthorized: opened(double, { api_token: 'w'.repeat(40) }),
    unreachable: opened(double, { base_url: 'http://127.0.0.1:1/client/v4' }),
  }
})

describe('cloudflare, in addition to the provider contract', () => {
  let double: CloudflareDouble
  let provider: DnsProvider
  let there: CloudflareZone
  let zone: ProviderZone

  beforeEach(async () => {
    double = await started()
    provider = opened(double)
    there = double.zone('example.com')
    zone = { name: there.name, ref: there.id }
  })

  const plan = (kind: CloudflarePlan) => {
    there = double.zone(`${kind}.example`, kind)
    zone = { name: there.name, ref: there.id }
    provider = opened(double, { plan: kind })
  }
  const a = (name: string, content = '192.0.2.1', more: object = {}) =>
    there.post({ type: 'A', name, content, ttl: 300, ...more })
  const read = async () => (await provider.read(zone)).rrsets
  const seen = async (name: string, type: string) => (await read()).find(one => one.name === name && one.type === type) ?? null
  const apply = async (...ops: Parameters<DnsProvider['apply']>[1]) => outcomes(await provider.apply(zone, ops))
  const posted = () => double.requests.filter(one => one.method === 'POST')
  const shown = () => there.rows.map(one => [one.name, one.type, one.content, one.ttl])
  const errorOf = async (call: Promise<unknown>): Promise<any> => call.then(null, error => error)

  describe('a paginated list', () => {
    const many = 35
    beforeEach(() => {
      double.maxPerPage = 10
      for (let count = 0; count < many; count++) a(`h${String(count).padStart(2, '0')}`)
    })

    test('has a time limit', async () => {
      let minutes = 0
      const around = { ...pluginContext(), clock: { ...systemClock, now: () => 60_000 * minutes++ } }
      const slow = cloudflare.open({ api_token: double.token, base_url: double.url }, around)
      expect(await failureOf(slow.read(zone))).toBe('timeout')
      expect(double.requests.length).toBeLessThan(7)
    })

    test('is read completely, and again except for the last page', async () => {
      expect(await read()).toHaveLength(many)
      const pages = double.requests.map(one => one.query.get('page'))
      expect(pages).toEqual(['1', '2', '3', '4', '1', '2', '3'])
      expect(new Set(double.requests.map(one => `${one.query.get('order')} ${one.query.get('per_page')}`))).toEqual(
        new Set(['name 5000']),
      )
    })

    const before = (page: number, change: () => void) => {
      let isDone = false
      double.beforePage = next => {
        if (next !== page || isDone) return
        isDone = true
        change()
      }
    }

    test('that lost one row and gained another is rejected, although the counts match', async () => {
      before(3, () => {
        there.delete(there.rows.find(one => one.name === 'h00.example.com')!.id)
        a('z')
      })
      expect(await failureOf(read())).toBe('incomplete')
      expect(await read()).toHaveLength(many)
    })

    test('that grows while it is read is rejected', async () => {
      before(2, () => a('a'))
      expect(await failureOf(read())).toBe('incomplete')
    })

    test('with duplicate rows is rejected', async () => {
      before(2, () => {
        a('a')
        there.delete(there.rows.find(one => one.name === 'h34.example.com')!.id)
      })
      expect(await failureOf(read())).toBe('incomplete')
    })

    const altered: [string, (info: any) => object | undefined][] = [
      ['does not tell how many rows there are', () => undefined],
      ['tells of fewer rows in all', info => ({ ...info, total_count: info.total_count - 10 })],
      ['tells of more rows in all', info => ({ ...info, total_count: info.total_count + 10 })],
      ['tells of other pages', info => ({ ...info, total_pages: info.total_pages + 1 })],
      ['is another page than the one that was asked for', info => ({ ...info, page: 1 + (info.page % 4) })],
      ['tells of other rows on the page', info => ({ ...info, count: info.count - 1 })],
    ]
    test.each(altered)('is an error where it %s', async (_, alter) => {
      double.answered = one => (one.result_info ? { ...one, result_info: alter(one.result_info) } : one)
      expect(await failureOf(read())).toBe('incomplete')
    })
  })

  test('an empty zone is valid if it reports no rows', async () => {
    expect(await read()).toEqual([])
  })

  test('unchanged records are updated in place, and keep their comments and tags', async () => {
    const [stays, edited, goes] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(content =>
      a('www', content, { comment: content, tags: [`is:${content}`] }),
    )
    const old = (await seen('www', 'A'))!
    expect(await apply(op(old, rrset('www', 'A', 300, ['192.0.2.1', '192.0.2.9'])))).toEqual(['done'])
    expect(posted().map(one => one.body)).toEqual([
      {
        deletes: [{ id: goes!.id }],
        patches: [{ id: edited!.id, content: '192.0.2.9', proxied: false, ttl: 300 }],
      },
    ])
    expect(there.rows).toMatchObject([
      { id: stays!.id, content: '192.0.2.1', comment: '192.0.2.1', tags: ['is:192.0.2.1'] },
      { id: edited!.id, content: '192.0.2.9', comment: '192.0.2.2', tags: ['is:192.0.2.2'] },
    ] as object[])
    const now = (await seen('www', 'A'))!
    expect(await apply(op(now, { ...now, ttl: 600 }))).toEqual(['done'])
    expect(there.rows.map(one => [one.id, one.ttl, (one as { comment?: unknown }).comment])).toEqual([
      [stays!.id, 600, '192.0.2.1'],
      [edited!.id, 600, '192.0.2.2'],
    ])
  })

  test('unchanged records are not sent', async () => {
    a('www')
    const old = (await seen('www', 'A'))!
    expect(await apply(op(old, { ...old, options: {} }))).toEqual(['done'])
    expect(posted()).toEqual([])
  })

  test('few names are queried one by one, many all at once', async () => {
    const created = ['@', 'a', 'b'].map(name => op(null, rrset(name, 'A', 300, ['192.0.2.1'])))
    await apply(...created)
    expect(double.requests.map(one => one.query.get('name.exact'))).toEqual([
      'example.com',
      'a.example.com',
      'b.example.com',
      null,
    ])
    double.requests.splice(0)
    await apply(...['c', 'd', 'e', 'f', 'g', 'h'].map(name => op(null, rrset(name, 'A', 300, ['192.0.2.1']))))
    expect(double.requests.map(one => one.query.get('name.exact'))).toEqual([null, null])
  })

  test('a CNAME at the apex is an ALIAS, and can be proxied', async () => {
    const alias = { ...rrset('@', 'ALIAS', 300, ['lb.example.net.']), options: { proxied: true } }
    a('@')
    const old = (await seen('@', 'A'))!
    expect(await apply(op(old, null), op(null, alias))).toEqual(['done', 'done'])
    expect(there.rows).toMatchObject([{ type: 'CNAME', name: 'example.com', content: 'lb.example.net', proxied: true, ttl: 1 }])
    expect(await read()).toEqual([{ ...alias, ttl: 1 }])
    expect(provider.findUnsupported(rrset('www', 'ALIAS', 300, ['lb.example.net.']))).toHaveLength(1)
  })

  test('proxying is unchanged if not specified', async () => {
    a('www', '192.0.2.1', { proxied: true })
    const old = (await seen('www', 'A'))!
    expect(old).toMatchObject({ ttl: 1, options: { proxied: true } })
    expect(await apply(op(old, rrset('www', 'A', 600, ['192.0.2.2', '192.0.2.3'])))).toEqual(['done'])
    expect(there.rows).toMatchObject([
      { content: '192.0.2.2', proxied: true, ttl: 1 },
      { content: '192.0.2.3', proxied: true, ttl: 1 },
    ] as object[])
    const now = (await seen('www', 'A'))!
    expect(await apply(op(now, { ...now, ttl: 600, options: { proxied: false } }))).toEqual(['done'])
    expect(there.rows.map(one => [one.proxied, one.ttl])).toEqual([
      [false, 600],
      [false, 600],
    ])
  })

  test('external changes of proxying make a step stale', async () => {
    const { id } = a('www')
    const old = (await seen('www', 'A'))!
    there.patch(id, { proxied: true, ttl: 1 })
    there.patch(id, { ttl: 300 })
    expect(await apply(op(old, null))).toEqual(['stale'])
  })

  test('apex name servers are hidden and not supported', async () => {
    there.post({ type: 'NS', name: '@', content: 'ns1.example.net', ttl: 300 })
    expect(await read()).toEqual([])
    expect(provider.findUnsupported(rrset('@', 'NS', 300, ['ns1.example.net.']))).toHaveLength(1)
  })

  test('one stale step skips its batch', async () => {
    a('www')
    const old = (await seen('www', 'A'))!
    const before = shown()
    const results = await apply(op({ ...old, ttl: 60 }, null), op(null, rrset('new', 'A', 300, ['192.0.2.1'])))
    expect(results).toEqual(['stale', 'skipped'])
    expect([shown(), posted()]).toEqual([before, []])
  })

  test('records deleted between the last read and the batch make it stale', async () => {
    const { id } = a('www')
    const old = (await seen('www', 'A'))!
    double.fault = ({ method }) => (method === 'POST' && there.rows.some(one => one.id === id) ? void there.delete(id) : null)
    expect(await apply(op(old, null), op(null, rrset('new', 'A', 300, ['192.0.2.1'])))).toEqual(['stale', 'stale'])
    expect(shown()).toEqual([])
  })

  test('a rejected batch has the messages of Cloudflare, and nothing was applied', async () => {
    a('www')
    const results = await provider.apply(zone, [
      op(null, rrset('new', 'A', 300, ['192.0.2.1'])),
      op(null, rrset('www', 'CNAME', 300, ['example.net.'])),
    ])
    expect(outcomes(results)).toEqual(['refused', 'refused'])
    expect(results[0]!.detail).toMatch(/record with that host already exists.*\(81053\)/)
    expect(shown()).toHaveLength(1)
    const chained = await provider.apply(zone, [op(null, rrset('t', 'TXT', 300, ['""']))])
    expect(chained[0]).toMatchObject({ outcome: 'refused', detail: expect.stringContaining('must not be empty. (9208)') })
    expect(await apply(op(null, rrset('low', 'A', 30, ['192.0.2.1'])))).toEqual(['refused'])
  })

  test('batches are limited by the plan, and stop at the first failure', async () => {
    plan('pro')
    provider = opened(double, { plan: 'free' })
    const created = Array.from({ length: 450 }, (_, at) => op(null, rrset(`h${at}`, 'A', 300, ['192.0.2.1'])))
    let batches = 0
    double.fault = ({ method }) => (method === 'POST' && ++batches === 2 ? 'refused200' : null)
    const results = await apply(...created)
    expect([results.slice(0, 200), results.slice(200, 400), results.slice(400)].map(some => [...new Set(some)])).toEqual([
      ['done'],
      ['refused'],
      ['skipped'],
    ])
    expect(posted()).toHaveLength(2)
    expect(there.rows).toHaveLength(200)
    expect(opened(double, { plan: 'business' }).caps.batchOps).toBe(3500)
  })

  test('the records of a step count towards the batch limit', async () => {
    const values = (count: number) => Array.from({ length: count }, (_, at) => `10.0.${at >> 8}.${at & 255}`)
    const wide = (name: string, count: number) => op(null, rrset(name, 'A', 300, values(count)))
    plan('pro')
    provider = opened(double)
    expect(await apply(wide('a', 150), wide('b', 100))).toEqual(['done', 'done'])
    expect(posted().map(one => one.body.posts.length)).toEqual([150, 100])
    expect(await apply(wide('c', 201))).toEqual(['refused'])
    expect(posted()).toHaveLength(2)
  })

  test('a batch with an unclear response may have been applied', async () => {
    for (const fault of ['lost', 'html', 'odd', 'cut'] as const) {
      double.fault = ({ method }) => (method === 'POST' ? fault : null)
      expect([fault, ...(await apply(op(null, rrset(fault, 'A', 300, ['192.0.2.1']))))]).toEqual([fault, 'unknown'])
    }
    expect(there.rows.map(one => one.name)).toContain('lost.example.com')
  })

  test('a batch that timed out may have been applied', async () => {
    const around = pluginContext()
    const impatient = cloudflare.open(
      { api_token: double.token, base_url: double.url },
      {
        ...around,
        request: (request, limits) => around.request(request, request.method === 'POST' ? { ...limits, totalMs: 1500 } : limits),
      },
    )
    double.fault = ({ method }) => (method === 'POST' ? 'silent' : null)
    const results = await impatient.apply(zone, [op(null, rrset('www', 'A', 300, ['192.0.2.1']))])
    expect(outcomes(results)).toEqual(['unknown'])
    expect(there.rows).toHaveLength(1)
  })

  test('an error before the first batch is thrown, later ones skip the rest', async () => {
    plan('pro')
    provider = opened(double, { plan: 'free' })
    const created = Array.from({ length: 201 }, (_, at) => op(null, rrset(`h${at}`, 'A', 300, ['192.0.2.1'])))
    for (const [fault, failure] of [
      ['throttled', 'throttled'],
      ['unauthorized', 'unauthorized'],
    ] as const) {
      double.fault = ({ method }) => (method === 'POST' ? fault : null)
      expect(await failureOf(provider.apply(zone, created))).toBe(failure)
    }
    let batches = 0
    double.fault = ({ method }) => (method === 'POST' && ++batches === 2 ? 'throttled' : null)
    expect((await apply(...created)).slice(199)).toEqual(['done', 'skipped'])
    expect(there.rows).toHaveLength(200)
  })

  test('read errors have a specific code', async () => {
    const failures: [CloudflareFault, ProviderFailure][] = [
      ['html', 'unreachable'],
      ['odd', 'invalid_response'],
      ['cut', 'incomplete'],
      ['lost', 'unreachable'],
      ['refused200', 'refused'],
      ['throttled', 'throttled'],
      ['unauthorized', 'unauthorized'],
    ]
    for (const [fault, failure] of failures) {
      double.fault = () => fault
      expect([fault, await failureOf(read())]).toEqual([fault, failure])
      // Errors before a batch was sent say nothing about it.
      expect([fault, await failureOf(provider.apply(zone, [op(null, rrset('x', 'A', 300, ['192.0.2.1']))]))]).toEqual([
        fault,
        failure,
      ])
    }
  })

  test('a rate limit includes the delay', async () => {
    let time = 0
    double.now = () => time
    double.allowance = 1
    await read()
    time = 60_000
    expect(await errorOf(read())).toMatchObject({ failure: 'throttled', retryAfterMs: 240_000 })
  })

  test('errors contain their codes, and never the token', async () => {
    const token = 'w'.repeat(40)
    const error = await errorOf(opened(double, { api_token: token }).check())
    expect(error.message).toBe('Cloudflare rejected the request (403): Invalid access token (9109)')
    double.answered = one => ({ ...one, success: false, errors: [{ code: 1, message: `no ${double.token}` }] })
    expect((await errorOf(provider.check())).message).toBe('Cloudflare rejected the request (200): no [redacted] (1)')
    double.answered = one => one
    const malformed = await errorOf(opened(double, { api_token: 'with.dots.and.twenty.characters' }).check())
    expect(malformed.failure).toBe('unauthorized')
  })

  describe('zones', () => {
    test('are found among many, and created in the account', async () => {
      for (let count = 0; count < 120; count++) double.zone(`z${count}.example`)
      expect(await provider.listZones!()).toHaveLength(121)
      expect(await provider.findZone('example.com')).toEqual(zone)
      expect(await provider.findZone('www.example.com')).toBeNull()
      const created = await provider.createZone!('new.example', [])
      expect(await provider.findZone('new.example')).toEqual(created)
      expect(await errorOf(provider.createZone!('new.example', []))).toMatchObject({
        failure: 'refused',
        message: expect.stringContaining('already exists. (1061)'),
      })
    })

    test('are not created without an account, and not guessed if two accounts have the same name', async () => {
      const unbound = opened(double, { account_id: undefined })
      expect(await failureOf(unbound.createZone!('new.example', []))).toBe('refused')
      double.zone('example.com')
      expect(await failureOf(unbound.findZone('example.com'))).toBe('refused')
    })

    test('that are gone, or have an invalid id, are not treated as empty', async () => {
      expect(await failureOf(provider.read({ name: 'example.com', ref: 'f'.repeat(32) }))).toBe('zone_not_found')
      expect(await failureOf(provider.read({ name: 'example.com', ref: '../x' }))).toBe('zone_not_found')
    })
  })

  test('a check reports the account, and missing permissions of the token', async () => {
    expect(await provider.check()).toEqual({ detail: 'Cloudflare account Acme: 1 zone', warnings: [] })
    double.answered = one => ({ ...one, result: one.result.map((row: object) => ({ ...row, permissions: ['#zone:read'] })) })
    expect((await opened(double, { account_id: undefined }).check()).warnings).toEqual([
      expect.stringContaining('DNS:Edit'),
      expect.stringContaining('account_id'),
    ])
    double.answered = one => one
    double.zones.splice(0)
    expect((await provider.check()).warnings).toEqual([expect.stringContaining('access to no zones')])
  })

  test('the base URL is validated', () => {
    const refuse = (base_url: string) => cloudflare.validate!({ api_token: 'x'.repeat(40), base_url })
    expect(() => refuse('https://proxy.example/client/v4/')).not.toThrow()
    for (const url of ['ftp://proxy.example', 'https://user:pass@proxy.example', 'https://proxy.example/?x=1', 'proxy.example'])
      expect(() => refuse(url)).toThrow()
  })

  test('zones on the enterprise plan can have shorter TTLs', async () => {
    plan('enterprise')
    expect(provider.caps.ttl).toEqual({ min: 30, max: 86_400, auto: 1 })
    expect(await apply(op(null, rrset('low', 'A', 30, ['192.0.2.1'])))).toEqual(['done'])
    expect(listed(await read())).toEqual(['low 30 A 192.0.2.1'])
  })
})
