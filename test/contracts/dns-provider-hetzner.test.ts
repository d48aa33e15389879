import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { hetzner } from '../../src/features/dns/providers/hetzner'
import type { AdapterContext, DnsProvider, ProviderFailure, ProviderZone } from '../../src/features/dns/providers/provider'
import { hastyClock } from '../support/hasty-clock'
import type { ApiFault } from '../support/api-double'
import { HetznerDouble } from '../support/hetzner'
import { hetznerUnderTest } from '../support/hetzner-under-test'
import type { HetznerZone } from '../support/hetzner-zone'
import { pluginContext } from '../support/plugin-context'
import { failureOf, listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'

const doubles: HetznerDouble[] = []
afterAll(() => doubles.forEach(one => one.stop()))

async function started(): Promise<HetznerDouble> {
  const double = await new HetznerDouble().start()
  doubles.push(double)
  return double
}

const opened = (double: HetznerDouble, more: object = {}, clock = hastyClock()): DnsProvider =>
  hetzner.open({ api_token: double.token, base_url: double.url, ...more }, { ...pluginContext(), clock })

providerContract('hetzner', async () => {
  const double = await started()
  double.zone('first.example')
  return {
    ...hetznerUnderTest(double),
    provider: opened(double),
    unauthorized: opened(double, { api_token: 'w'.repeat(64) }),
    unreachable: opened(double, { base_url: 'http://127.0.0.1:1/v1' }),
  }
})

describe('hetzner, in addition to the provider contract', () => {
  let double: HetznerDouble
  let clock: ReturnType<typeof hastyClock>
  let provider: DnsProvider
  let there: HetznerZone
  let zone: ProviderZone

  beforeEach(async () => {
    double = await started()
    clock = hastyClock()
    provider = opened(double, {}, clock)
    there = double.zone('example.com')
    zone = { name: there.name, ref: String(there.id) }
  })

  const apexNs = ['@ 3600 NS helium.ns.hetzner.de. | hydrogen.ns.hetzner.com. | oxygen.ns.hetzner.com.']
  const a = (name: string, value = '192.0.2.1', more: object = {}) =>
    there.create({ name, type: 'A', ttl: 300, records: [{ value }], ...more })
  const www = (ttl: number, ...values: string[]) => rrset('www', 'A', ttl, values)
  const read = async () => (await provider.read(zone)).rrsets
  const apply = async (...ops: Parameters<DnsProvider['apply']>[1]) => outcomes(await provider.apply(zone, ops))
  const changes = () =>
    double.requests.filter(one => one.method !== 'GET').map(one => `${one.method} ${one.path.replace(/^\/zones\/\d+/, '')}`)
  const shown = () => there.rows.slice(2).map(one => [one.name, one.type, one.ttl, ...one.records.map(record => record.value)])
  const errorOf = async (call: Promise<unknown>): Promise<any> => call.then(null, error => error)
  const onChange = (fault: ApiFault, path = '') => {
    double.fault = request => (request.method !== 'GET' && request.path.endsWith(path) ? fault : null)
  }

  describe('a zone with many pages', () => {
    // With the SOA and the NS of the apex, that makes 21 pages of 100.
    const many = 1999
    beforeEach(() => {
      for (let count = 0; count < many; count++) a(`h${String(count).padStart(4, '0')}`)
    })
    const before = (page: number, change: () => void) => {
      let isDone = false
      double.beforePage = next => {
        if (next !== page || isDone) return
        isDone = true
        change()
      }
    }

    test('is read completely, and again except for the last page', async () => {
      a('last')
      expect(await read()).toHaveLength(many + 2)
      const pages = double.requests.flatMap(one => one.query.get('page') ?? []).map(Number)
      const first = Array.from({ length: 21 }, (_, at) => at + 1)
      expect(pages).toEqual([...first, ...first.slice(0, -1)])
      expect(double.requests.flatMap(one => one.query.get('per_page') ?? [])).toContain('100')
    })

    test('is an error if a record set moves between two pages, although the counts match', async () => {
      before(3, () => {
        there.delete('h0000', 'A')
        a('z')
      })
      expect(await failureOf(read())).toBe('incomplete')
      expect(await read()).toHaveLength(many + 1)
    })

    test('is an error if it grows while it is read, or the pagination is unclear', async () => {
      before(2, () => a('z'))
      expect(await failureOf(read())).toBe('incomplete')
      for (const more of [{ total_entries: null }, { page: 7 }, { last_page: 3 }, { per_page: undefined }]) {
        double.answered = one => (one.rrsets ? { ...one, meta: { pagination: { ...one.meta.pagination, ...more } } } : one)
        expect(await failureOf(read())).toBe('incomplete')
      }
    })
  })

  test('record sets without a TTL have the one of the zone, and the SOA is not part of it', async () => {
    there.ttl = 7200
    a('www', '192.0.2.1', { ttl: null })
    expect(listed(await read())).toEqual([apexNs[0]!.replace('3600', '7200'), 'www 7200 A 192.0.2.1'])
    expect(await apply(op(www(7200, '192.0.2.1'), www(300, '192.0.2.1')))).toEqual(['done'])
    expect(shown()).toEqual([['www', 'A', 300, '192.0.2.1']])
  })

  test('names in values can be relative to the zone', async () => {
    there.create({ name: 'www', type: 'CNAME', ttl: 300, records: [{ value: 'lb' }] })
    there.create({ name: '@', type: 'MX', ttl: 300, records: [{ value: '10 mail' }, { value: '20 mx.example.net.' }] })
    expect(listed(await read())).toEqual([
      '@ 300 MX 10 mail.example.com. | 20 mx.example.net.',
      ...apexNs,
      'www 300 CNAME lb.example.com.',
    ])
  })

  test('values and TTL are changed by separate requests, values first, and comments are kept', async () => {
    a('www', '', {
      records: [
        { value: '192.0.2.1', comment: 'first' },
        { value: '192.0.2.2', comment: 'second' },
      ],
    })
    const old = www(300, '192.0.2.1', '192.0.2.2')
    expect(await apply(op(old, www(600, '192.0.2.3', '192.0.2.1')))).toEqual(['done'])
    expect(changes()).toEqual(['POST /rrsets/www/A/actions/set_records', 'POST /rrsets/www/A/actions/change_ttl'])
    expect(there.get('www', 'A').records).toEqual([
      { value: '192.0.2.3', comment: '' },
      { value: '192.0.2.1', comment: 'first' },
    ])
    double.requests.splice(0)
    expect(await apply(op(www(600, '192.0.2.1', '192.0.2.3'), www(300, '192.0.2.1', '192.0.2.3')))).toEqual(['done'])
    expect(changes()).toEqual(['POST /rrsets/www/A/actions/change_ttl'])
  })

  test('a failure between the values and the TTL is unknown', async () => {
    a('www')
    onChange({ status: 422, code: 'invalid_input' }, 'change_ttl')
    const [result] = await provider.apply(zone, [op(www(300, '192.0.2.1'), www(600, '192.0.2.2'))])
    expect(result).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('but not the TTL') })
    expect(shown()).toEqual([['www', 'A', 300, '192.0.2.2']])
  })

  describe('an action', () => {
    const create = () => provider.apply(zone, [op(null, www(300, '192.0.2.1'))])

    test('is awaited with increasing pauses', async () => {
      double.runningReads = 6
      expect(outcomes(await create())).toEqual(['done'])
      expect(clock.waits).toEqual([300, 600, 1200, 2400, 4800, 5000, 5000])
    })

    test('is awaited without waiting for a rate limit', async () => {
      const urls: string[] = []
      const requestAtOnce: AdapterContext['request'] = (request, limits) => {
        urls.push(new URL(request.url).pathname)
        return pluginContext().request(request, limits)
      }
      const around = { ...pluginContext(), clock, requestAtOnce }
      provider = hetzner.open({ api_token: double.token, base_url: double.url }, around)
      expect(outcomes(await create())).toEqual(['done'])
      expect(urls).toEqual([expect.stringMatching(/\/actions\/\d+$/)])
    })

    test('that takes longer than 30 seconds is unknown', async () => {
      double.runningReads = 100
      expect((await create())[0]).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('30 seconds') })
      expect(clock.waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(30_000)
      expect(shown()).toHaveLength(1)
    })

    test('that fails is refused with its message', async () => {
      double.actionError = { code: 'zone_error', message: 'could not publish' }
      expect((await create())[0]).toMatchObject({
        outcome: 'refused',
        detail: 'Hetzner could not apply the change: could not publish (zone_error)',
      })
      expect(shown()).toEqual([])
    })

    test('that can’t be read is unknown', async () => {
      for (const fault of ['throttled', 'html', 'cut', 'dropped'] as const) {
        there.rows.splice(2)
        double.fault = request => (request.path.startsWith('/actions') ? fault : null)
        expect([fault, ...outcomes(await create())]).toEqual([fault, 'unknown'])
      }
    })
  })

  test('a change with an unclear response may have been applied, and the rest is skipped', async () => {
    const faults: ApiFault[] = [
      'lost',
      'html',
      'cut',
      { status: 503, code: 'maintenance' },
      { status: 500, code: 'server_error' },
    ]
    for (const fault of faults) {
      onChange(fault)
      there.rows.splice(2)
      const results = await apply(op(null, www(300, '192.0.2.1')), op(null, rrset('x', 'A', 300, ['192.0.2.1'])))
      expect([fault, ...results]).toEqual([fault, 'unknown', 'skipped'])
    }
  })

  test('a change that times out may have been applied', async () => {
    const around = pluginContext()
    const impatient = hetzner.open(
      { api_token: double.token, base_url: double.url },
      {
        ...around,
        request: (request, limits) => around.request(request, request.method === 'POST' ? { ...limits, totalMs: 500 } : limits),
      },
    )
    onChange('silent')
    expect(outcomes(await impatient.apply(zone, [op(null, www(300, '192.0.2.1'))]))).toEqual(['unknown'])
    expect(shown()).toHaveLength(1)
  })

  test('a record set that is locked, or created by someone else, is read again', async () => {
    const contested: ApiFault[] = [
      { status: 423, code: 'locked' },
      { status: 409, code: 'conflict' },
    ]
    for (const fault of contested) {
      onChange(fault)
      expect(await apply(op(null, www(300, '192.0.2.1')))).toEqual(['stale'])
    }
    const creating = (value: string) => {
      there.rows.splice(2)
      double.fault = ({ method }) => (method === 'POST' && shown().length === 0 ? void a('www', value) : null)
    }
    // An earlier request whose response was lost made the same change.
    creating('192.0.2.1')
    expect(await apply(op(null, www(300, '192.0.2.1')))).toEqual(['done'])
    creating('192.0.2.9')
    expect(await apply(op(null, www(300, '192.0.2.1')))).toEqual(['stale'])
    expect(shown()).toEqual([['www', 'A', 300, '192.0.2.9']])
    expect(clock.waits.filter(ms => ms === 1000)).toHaveLength(4)
  })

  test('a record set that is deleted right before it is changed is stale', async () => {
    a('www')
    double.fault = ({ method }) => (method === 'DELETE' && shown().length > 0 ? void there.delete('www', 'A') : null)
    expect(await apply(op(www(300, '192.0.2.1'), null), op(null, rrset('x', 'A', 300, ['192.0.2.1'])))).toEqual([
      'stale',
      'skipped',
    ])
  })

  test('each step has its own outcome, and the first that fails ends the rest', async () => {
    a('b', '192.0.2.9')
    const ops = ['a', 'b', 'c'].map(name => op(null, rrset(name, 'A', 300, ['192.0.2.1'])))
    expect(await apply(...ops)).toEqual(['done', 'stale', 'skipped'])
    onChange({ status: 422, code: 'invalid_input', message: 'not this one' })
    const [refused] = await provider.apply(zone, [ops[2]!])
    expect(refused).toMatchObject({
      outcome: 'refused',
      detail: 'Hetzner rejected the request (422): not this one (invalid_input)',
    })
    expect(shown().map(([name]) => name)).toEqual(['b', 'a'])
  })

  test('protected record sets are reported before anything is sent', async () => {
    a('www').protection.change = true
    const old = (await read()).find(one => one.name === 'www')!
    expect(provider.findUnsupported(www(600, '192.0.2.1'))).toMatchObject([{ detail: expect.stringContaining('protected') }])
    expect(provider.findUnsupported(rrset('x', 'A', 300, ['192.0.2.1']))).toEqual([])
    for (const after of [null, www(600, '192.0.2.1')])
      expect((await provider.apply(zone, [op(old, after)]))[0]).toMatchObject({
        outcome: 'refused',
        detail: expect.stringContaining('Hetzner Console'),
      })
    expect(changes()).toEqual([])
    // It is protected right after it was read.
    double.fault = ({ method }) => (method === 'GET' ? null : { status: 423, code: 'protected' })
    there.get('www', 'A').protection.change = false
    expect((await provider.apply(zone, [op(old, null)]))[0]).toMatchObject({ outcome: 'refused' })
    there.get('www', 'A').protection.change = false
    await read()
    expect(provider.findUnsupported(www(600, '192.0.2.1'))).toEqual([])
  })

  test('limits of types, names, TTLs, and records are known before anything is sent', async () => {
    const values = (count: number) => Array.from({ length: count }, (_, at) => `192.0.2.${at}`)
    const wrong = [
      rrset('www', 'SSHFP', 300, [`4 2 ${'ab'.repeat(32)}`]),
      rrset('a/b', 'A', 300, ['192.0.2.1']),
      www(59, '192.0.2.1'),
    ]
    for (const one of wrong) {
      expect(provider.findUnsupported(one)).toHaveLength(1)
      expect(await apply(op(null, one))).toEqual(['refused'])
    }
    expect(changes()).toEqual([])
    expect(await apply(op(null, www(60, ...values(provider.caps.recordsMax!))))).toEqual(['done'])
    expect(await apply(op(null, rrset('x', 'A', 60, values(51))))).toEqual(['refused'])
    expect([...provider.caps.unsupported]).toEqual(expect.arrayContaining(['SOA', 'LOC', 'ALIAS', 'DNAME', 'URI', 'NAPTR']))
  })

  test('secondary zones are neither read nor changed, and the check warns about them', async () => {
    const secondary = double.zone('secondary.example', 'secondary')
    const at = (await provider.findZone('secondary.example'))!
    expect(at).toEqual({ name: secondary.name, ref: String(secondary.id) })
    expect(await errorOf(provider.read(at))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('secondary zone'),
    })
    expect(await failureOf(provider.apply(at, [op(null, www(300, '192.0.2.1'))]))).toBe('refused')
    expect(await provider.check()).toEqual({
      detail: 'Hetzner project with 2 zones: example.com, secondary.example',
      warnings: ['Secondary zones can’t be managed at Hetzner: secondary.example. Change them at their primary server.'],
    })
  })

  test('a check names some of the zones, because the API doesn’t return the name of the project', async () => {
    expect((await provider.check()).detail).toBe('Hetzner project with 1 zone: example.com')
    for (const name of ['a', 'b', 'c']) double.zone(`${name}.example`)
    expect((await provider.check()).detail).toBe('Hetzner project with 4 zones: example.com, a.example, b.example, …')
    double.zones.splice(0)
    expect(await provider.check()).toEqual({ detail: 'Hetzner project with 0 zones', warnings: [] })
  })

  test('a read-only token reads, and its changes are refused', async () => {
    const reader = opened(double, { api_token: double.readOnlyToken })
    expect(listed((await reader.read(zone)).rrsets)).toEqual(apexNs)
    expect((await reader.apply(zone, [op(null, www(300, '192.0.2.1'))]))[0]).toMatchObject({
      outcome: 'refused',
      detail: expect.stringContaining('read-only'),
    })
    expect(await failureOf(reader.createZone!('new.example', []))).toBe('unauthorized')
  })

  test('zones are found among many, and created once they can be read', async () => {
    for (let count = 0; count < 120; count++) double.zone(`z${count}.example`)
    expect(await provider.listZones!()).toHaveLength(121)
    expect(await provider.findZone('z77.example')).toMatchObject({ name: 'z77.example' })
    expect(double.requests.at(-1)!.query.get('name')).toBe('z77.example')
    double.missingReads = 2
    const created = await provider.createZone!('new.example', [])
    expect(await provider.findZone('new.example')).toEqual(created)
    expect(listed((await provider.read(created)).rrsets)).toEqual(apexNs)
    expect(clock.waits).toEqual([300, 1000, 1000])
    expect(await errorOf(provider.createZone!('new.example', []))).toMatchObject({ failure: 'refused', code: 'uniqueness_error' })
    expect(await errorOf(provider.createZone!('sub.new.example', []))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('Subdomains are not supported'),
    })
  })

  test('read errors have a specific code', async () => {
    const failures: [ApiFault, ProviderFailure][] = [
      ['html', 'unreachable'],
      ['cut', 'incomplete'],
      ['dropped', 'unreachable'],
      ['throttled', 'throttled'],
      [{ status: 403, code: 'forbidden' }, 'unauthorized'],
      [{ status: 503, code: 'maintenance' }, 'unreachable'],
      [{ status: 404, code: 'not_found' }, 'zone_not_found'],
      [{ status: 400, code: 'invalid_input' }, 'refused'],
    ]
    for (const [fault, failure] of failures) {
      double.fault = () => fault
      expect([fault, await failureOf(read())]).toEqual([fault, failure])
      // Errors before a change was sent say nothing about it.
      expect([fault, await failureOf(provider.apply(zone, [op(null, www(300, '192.0.2.1'))]))]).toEqual([fault, failure])
    }
    double.fault = () => null
    const elsewhere = opened(double, { base_url: double.url.replace('/v1', '/other') })
    expect(await failureOf(elsewhere.read(zone))).toBe('zone_not_found')
    double.answered = () => ({ rrsets: 'none' })
    expect(await failureOf(read())).toBe('invalid_response')
  })

  test('a rate limit has the time of the next attempt, and ends a plan after what was done', async () => {
    const ops = ['a', 'b', 'c'].map(name => op(null, rrset(name, 'A', 300, ['192.0.2.1'])))
    onChange('throttled')
    expect(await errorOf(provider.apply(zone, ops))).toMatchObject({ failure: 'throttled', retryAfterMs: 60_000 })
    double.fault = () => null
    // Three requests for each record set.
    double.allowance = 3
    const results = await provider.apply(zone, ops)
    expect(outcomes(results)).toEqual(['done', 'skipped', 'skipped'])
    expect(results.map(one => one.retryAfterMs)).toEqual([undefined, 60_000, 60_000])
    expect(await errorOf(read())).toMatchObject({ failure: 'throttled', retryAfterMs: 60_000 })
  })

  test('values that can’t be parsed are foreign, and not changed', async () => {
    there.create({ name: 'x', type: 'A', records: [{ value: '192.0.2.1' }] }).records[0]!.value = 'broken'
    const { rrsets, foreign } = await provider.read(zone)
    expect(foreign).toEqual([{ name: 'x', type: 'A', detail: 'Hetzner record: broken' }])
    expect(rrsets.map(one => one.name)).not.toContain('x')
    const own = rrset('x', 'A', 300, ['192.0.2.1'])
    for (const one of [op(null, own), op(own, null)]) expect(outcomes(await provider.apply(zone, [one]))).toEqual(['stale'])
  })

  test('errors contain their code, and never the token', async () => {
    double.fault = () => ({ status: 422, code: 'invalid_input', message: `no ${double.token}` })
    expect((await errorOf(read())).message).toBe('Hetzner rejected the request (422): no [redacted] (invalid_input)')
    double.fault = () => ({ status: 422, code: double.token, message: 'no' })
    expect((await errorOf(read())).message).toBe('Hetzner rejected the request (422): no ([redacted])')
    const odd = { toString: 1 }
    double.answered = () => ({ error: { code: 'odd', message: 'no', details: { fields: [{ name: odd, messages: [odd] }] } } })
    expect((await errorOf(read())).message).toContain('(422): no')
  })

  test('the base URL is validated', () => {
    const validate = (base_url: string) => () => hetzner.validate!({ api_token: 'x'.repeat(64), base_url })
    expect(validate('https://proxy.example/v1/')).not.toThrow()
    for (const url of ['ftp://proxy.example', 'https://user:pass@proxy.example', 'https://proxy.example/?x=1', 'proxy.example'])
      expect(validate(url)).toThrow()
  })
})
