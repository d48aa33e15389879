import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { digitalOcean } from '../../src/features/dns/providers/digitalocean'
import type { DnsProvider, ProviderFailure, ProviderZone } from '../../src/features/dns/providers/provider'
import type { ApiFault } from '../support/api-double'
import { DigitalOceanDouble } from '../support/digitalocean'
import type { DigitalOceanDomain } from '../support/digitalocean-domain'
import { digitalOceanUnderTest } from '../support/digitalocean-under-test'
import { pluginContext } from '../support/plugin-context'
import { failureOf, listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'

const doubles: DigitalOceanDouble[] = []
afterAll(() => doubles.forEach(one => one.stop()))

async function started(): Promise<DigitalOceanDouble> {
  const double = await new DigitalOceanDouble().start()
  doubles.push(double)
  return double
}

const opened = (double: DigitalOceanDouble, more: object = {}): DnsProvider =>
  digitalOcean.open({ api_token: double.token, base_url: double.url, ...more }, pluginContext())

providerContract('digitalocean', async () => {
  const double = await started()
  return {
    ...digitalOceanUnderTest(double),
    provider: opened(double),
    unauthorized: opened(double, { api_token: 'w'.repeat(64) }),
    unreachable: opened(double, { base_url: 'http://127.0.0.1:1/v2' }),
  }
})

describe('digitalocean, in addition to the provider contract', () => {
  let double: DigitalOceanDouble
  let provider: DnsProvider
  let there: DigitalOceanDomain
  const zone: ProviderZone = { name: 'example.com', ref: null }

  beforeEach(async () => {
    double = await started()
    provider = opened(double)
    there = double.domain(zone.name)
  })

  const apexNs = '@ 1800 NS ns1.digitalocean.com. | ns2.digitalocean.com. | ns3.digitalocean.com.'
  const a = (name: string, data = '192.0.2.1', ttl = 300) => there.create({ type: 'A', name, data, ttl })
  const www = (ttl: number, ...values: string[]) => rrset('www', 'A', ttl, values)
  const read = async () => (await provider.read(zone)).rrsets
  const apply = async (...ops: Parameters<DnsProvider['apply']>[1]) => outcomes(await provider.apply(zone, ops))
  const changes = () =>
    double.requests
      .filter(one => one.method !== 'GET')
      .map(({ method, path }) => `${method} ${path.replace(/^\/domains\/[^/]+/, '')}`)
  const shown = () => there.rows.slice(4).map(one => [one.id, one.name, one.type, one.ttl, one.data])
  const errorOf = async (call: Promise<unknown>): Promise<any> => call.then(null, error => error)
  const onChange = (fault: ApiFault, method = '') => {
    double.fault = request => (request.method !== 'GET' && request.method.startsWith(method) ? fault : null)
  }

  describe('a domain with many pages', () => {
    const many = 2000
    beforeEach(() => {
      for (let count = 0; count < many; count++) a(`h${count}`)
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
      // With the SOA and the name servers, that makes 11 pages of 200.
      expect(await read()).toHaveLength(many + 1)
      const pages = double.requests.map(one => one.query.get('page')).map(Number)
      const first = Array.from({ length: 11 }, (_, at) => at + 1)
      expect(pages).toEqual([...first, ...first.slice(0, -1)])
    })

    test('is an error if a record moves between two pages, although the counts match', async () => {
      before(3, () => {
        there.delete(there.rows[10]!.id)
        a('z')
      })
      expect(await failureOf(read())).toBe('incomplete')
      expect(await read()).toHaveLength(many + 1)
    })

    test('is an error if it grows while it is read, or totals and links are unclear', async () => {
      before(2, () => a('z'))
      expect(await failureOf(read())).toBe('incomplete')
      for (const more of [{ meta: {} }, { meta: { total: 10 } }, { links: {} }]) {
        double.answered = one => ({ ...one, ...more })
        expect(await failureOf(read())).toBe('incomplete')
      }
    })
  })

  test('names are sent with a dot at the end and returned without, and the domain itself is @', async () => {
    const wanted = [
      rrset('www', 'CNAME', 300, ['example.com.']),
      rrset('@', 'MX', 300, ['10 mail.example.com.', '20 mx.example.net.']),
      rrset('_sip._tcp', 'SRV', 300, ['1 2 5060 example.com.', '2 0 5060 .']),
      rrset('sub', 'NS', 300, ['ns1.example.net.']),
      rrset('@', 'CAA', 300, ['0 issue "ca.example.net"', '0 issuewild ";"', '0 iodef "mailto:security@example.com"']),
    ]
    expect(await apply(...wanted.map(one => op(null, one)))).toEqual(wanted.map(() => 'done'))
    expect(there.rows.slice(4).map(({ type, data }) => `${type} ${data}`)).toEqual([
      'CNAME @',
      'MX mail.example.com',
      'MX mx.example.net',
      'SRV @',
      'SRV .',
      'NS ns1.example.net',
      'CAA ca.example.net',
      'CAA ;',
      'CAA mailto:security@example.com',
    ])
    expect(listed(await read())).toEqual([...listed(wanted), apexNs].sort())
  })

  test('records with unchanged values keep their id, others are updated, and deletions come last', async () => {
    const first = a('www', '192.0.2.1').id
    const second = a('www', '192.0.2.2').id
    const third = a('www', '192.0.2.3').id
    const old = www(300, '192.0.2.1', '192.0.2.2', '192.0.2.3')
    expect(await apply(op(old, www(300, '192.0.2.1', '192.0.2.9')))).toEqual(['done'])
    expect(changes()).toEqual([`PUT /records/${second}`, `DELETE /records/${third}`])
    expect(shown()).toEqual([
      [first, 'www', 'A', 300, '192.0.2.1'],
      [second, 'www', 'A', 300, '192.0.2.9'],
    ])
    double.requests.splice(0)
    expect(await apply(op(www(300, '192.0.2.1', '192.0.2.9'), www(600, '192.0.2.1', '192.0.2.9', '192.0.2.10')))).toEqual([
      'done',
    ])
    expect(changes()).toEqual([`PUT /records/${first}`, `PUT /records/${second}`, 'POST /records'])
    expect(shown().map(one => one[3])).toEqual([600, 600, 600])
  })

  test('records with different TTLs have the lowest, and get the same with the next change', async () => {
    a('www', '192.0.2.1', 300)
    a('www', '192.0.2.2', 600)
    expect(listed(await read())).toContain('www 300 A 192.0.2.1 | 192.0.2.2')
    const old = www(300, '192.0.2.1', '192.0.2.2')
    expect(await apply(op(old, www(300, '192.0.2.1', '192.0.2.3')))).toEqual(['done'])
    expect(shown().map(one => one.slice(3))).toEqual([
      [300, '192.0.2.1'],
      [300, '192.0.2.3'],
    ])
  })

  test('a failure between the records of a step is unknown', async () => {
    a('www')
    onChange({ status: 422, code: 'unprocessable_entity', message: 'no' }, 'POST')
    const [result, next] = await provider.apply(zone, [
      op(www(300, '192.0.2.1'), www(300, '192.0.2.8', '192.0.2.9')),
      op(null, rrset('x', 'A', 300, ['192.0.2.1'])),
    ])
    expect(result).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('Only some of the records') })
    expect(next!.outcome).toBe('skipped')
    expect(shown().map(one => one[4])).toEqual(['192.0.2.8'])
  })

  test('a record that is deleted right before it is changed is stale', async () => {
    const { id } = a('www')
    double.fault = ({ method }) => (method !== 'GET' && shown().length > 0 ? void there.delete(id) : null)
    expect(await apply(op(www(300, '192.0.2.1'), www(300, '192.0.2.2')))).toEqual(['stale'])
    const again = a('www').id
    double.fault = ({ method }) => (method !== 'GET' && shown().length > 0 ? void there.delete(again) : null)
    expect(await apply(op(www(300, '192.0.2.1'), null))).toEqual(['stale'])
  })

  test('each step has its own outcome, and the first that fails ends the rest', async () => {
    a('b', '192.0.2.9')
    const ops = ['a', 'b', 'c'].map(name => op(null, rrset(name, 'A', 300, ['192.0.2.1'])))
    expect(await apply(...ops)).toEqual(['done', 'stale', 'skipped'])
    onChange({ status: 422, code: 'unprocessable_entity', message: 'not this one' })
    expect((await provider.apply(zone, [ops[2]!]))[0]).toMatchObject({
      outcome: 'refused',
      detail: 'DigitalOcean rejected the request (422): not this one (unprocessable_entity)',
    })
  })

  test('a change with an unclear response may have been applied', async () => {
    for (const fault of ['lost', 'html', 'cut', { status: 504, code: 'gateway_timeout' }] satisfies ApiFault[]) {
      onChange(fault)
      there.rows.splice(4)
      const results = await apply(op(null, www(300, '192.0.2.1')), op(null, rrset('x', 'A', 300, ['192.0.2.1'])))
      expect([fault, ...results]).toEqual([fault, 'unknown', 'skipped'])
    }
  })

  test('limits of types, names, TTLs, and values are known before anything is sent', async () => {
    const text = (value: string) => rrset('t', 'TXT', 300, [value])
    const wrong = [
      rrset('www', 'PTR', 300, ['example.net.']),
      rrset('a/b', 'A', 300, ['192.0.2.1']),
      www(29, '192.0.2.1'),
      rrset('@', 'MX', 300, ['0 .']),
      rrset('x', 'NS', 300, ['.']),
      rrset('x', 'CNAME', 300, ['a\\.b.example.net.']),
      rrset('@', 'CAA', 300, ['0 contactemail "security@example.com"']),
      rrset('@', 'CAA', 300, ['0 issue "ca.example.net; account=1"']),
      text('""'),
      text('"a\\\\b"'),
      text('"\\"quoted\\""'),
      text('"\\255"'),
      text(`"${'x'.repeat(255)}" "${'x'.repeat(250)}"`),
    ]
    for (const one of wrong) {
      expect([listed([one]), provider.findUnsupported(one)]).toMatchObject([expect.anything(), [{ detail: expect.any(String) }]])
      expect(await apply(op(null, one))).toEqual(['refused'])
    }
    expect(changes()).toEqual([])
    const fits = [text(`"${'x'.repeat(255)}" "${'x'.repeat(249)}"`), text('"say \\"hi\\" now"')]
    for (const one of fits) {
      there.rows.splice(4)
      expect(await apply(op(null, one))).toEqual(['done'])
    }
    expect([...provider.caps.unsupported]).toEqual(expect.arrayContaining(['SOA', 'DS', 'TLSA', 'ALIAS', 'HTTPS', 'PTR']))
  })

  test('a check reports the team and the email address, if the token can read them', async () => {
    expect(await provider.check()).toEqual({ detail: 'DigitalOcean team Acme (admin@example.com): 1 domain', warnings: [] })
    double.domain('example.org')
    double.readsAccount = false
    expect(await provider.check()).toEqual({ detail: 'DigitalOcean: 2 domains', warnings: [] })
  })

  test('domains are found among many, and created', async () => {
    for (let count = 0; count < 250; count++) double.domain(`z${count}.example`)
    expect(await provider.listZones!()).toHaveLength(251)
    expect(await provider.findZone('z77.example')).toEqual({ name: 'z77.example', ref: null })
    expect(await provider.findZone('absent.example')).toBeNull()
    const created = await provider.createZone!('new.example', [])
    expect(created).toEqual({ name: 'new.example', ref: null })
    expect(listed((await provider.read(created)).rrsets)).toEqual([apexNs])
    expect(await errorOf(provider.createZone!('new.example', []))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('already exists'),
    })
  })

  test('read errors have a specific code', async () => {
    const failures: [ApiFault, ProviderFailure][] = [
      ['html', 'unreachable'],
      ['cut', 'incomplete'],
      ['dropped', 'unreachable'],
      ['throttled', 'throttled'],
      [{ status: 403, code: 'Forbidden' }, 'unauthorized'],
      [{ status: 500, code: 'server_error' }, 'unreachable'],
      [{ status: 404, code: 'not_found' }, 'zone_not_found'],
      [{ status: 404, code: 'elsewhere' }, 'invalid_response'],
      [{ status: 422, code: 'unprocessable_entity' }, 'refused'],
    ]
    for (const [fault, failure] of failures) {
      double.fault = () => fault
      expect([fault, await failureOf(read())]).toEqual([fault, failure])
      // Errors before a change was sent say nothing about it.
      expect([fault, await failureOf(provider.apply(zone, [op(null, www(300, '192.0.2.1'))]))]).toEqual([fault, failure])
    }
    double.fault = () => null
  })

  test('values that can’t be parsed are foreign with their record set, and not changed', async () => {
    const own = rrset('x', 'CNAME', 300, ['example.net.'])
    expect(outcomes(await provider.apply(zone, [op(null, own)]))).toEqual(['done'])
    there.rows.at(-1)!.data = 'not a name..'
    const { rrsets, foreign } = await provider.read(zone)
    expect(foreign).toEqual([{ name: 'x', type: 'CNAME', detail: 'DigitalOcean record: not a name..' }])
    expect(rrsets.map(one => one.name)).not.toContain('x')
    for (const one of [op(null, own), op(own, null)]) expect(outcomes(await provider.apply(zone, [one]))).toEqual(['stale'])
  })

  test('a rate limit has the time of the next attempt, and ends a plan after what was done', async () => {
    const ops = ['a', 'b', 'c'].map(name => op(null, rrset(name, 'A', 300, ['192.0.2.1'])))
    onChange('throttled')
    expect(await errorOf(provider.apply(zone, ops))).toMatchObject({ failure: 'throttled', retryAfterMs: 29_000 })
    // The limit per hour.
    double.retryAfter = null
    const { retryAfterMs } = await errorOf(provider.apply(zone, ops))
    expect([retryAfterMs > 590_000, retryAfterMs <= 600_000]).toEqual([true, true])
    double.fault = () => null
    double.allowance = 3
    const results = await provider.apply(zone, ops)
    expect(outcomes(results)).toEqual(['done', 'skipped', 'skipped'])
    expect(results[1]!.retryAfterMs).toBeGreaterThan(590_000)
  })

  test('errors never contain the token', async () => {
    double.fault = () => ({ status: 422, code: 'unprocessable_entity', message: `no ${double.token}` })
    expect((await errorOf(read())).message).toBe('DigitalOcean rejected the request (422): no [redacted] (unprocessable_entity)')
    double.fault = () => ({ status: 422, code: double.token, message: 'no' })
    expect((await errorOf(read())).message).toBe('DigitalOcean rejected the request (422): no ([redacted])')
  })
})
