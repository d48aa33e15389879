import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { route53 } from '../../src/features/dns/providers/route53'
import type { DnsProvider, Op, ProviderFailure, ProviderZone } from '../../src/features/dns/providers/provider'
import { failureOf, op, outcomes, providerContract, rrset } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'
import { Route53Double, type Route53Fault } from '../support/route53'
import { route53UnderTest } from '../support/route53-under-test'
import type { Route53Zone } from '../support/route53-zone'

const doubles: Route53Double[] = []
afterAll(() => doubles.forEach(one => one.stop()))

async function started(): Promise<Route53Double> {
  const double = await new Route53Double().start()
  doubles.push(double)
  return double
}

const settingsOf = (double: Route53Double) => ({
  access_key_id: double.accessKeyId,
  secret_access_key: double.secretAccessKey,
  base_url: double.url,
})
const opened = (double: Route53Double, more: object = {}): DnsProvider =>
  route53.open({ ...settingsOf(double), ...more }, pluginContext())

providerContract('route53', async () => {
  const double = await started()
  double.zone('first.example')
  return {
    ...route53UnderTest(double),
    provider: opened(double),
    unauthorized: opened(double, { secret_access_key: 'w'.repeat(40) }),
    unreachable: opened(double, { base_url: 'http://127.0.0.1:1' }),
  }
})

describe('route53, in addition to the provider contract', () => {
  let double: Route53Double
  let provider: DnsProvider
  let there: Route53Zone
  let zone: ProviderZone

  beforeEach(async () => {
    double = await started()
    provider = opened(double)
    there = double.zone('example.com')
    zone = { name: there.name, ref: there.id }
  })

  const a = (name: string, ...values: string[]) => rrset(name, 'A', 300, values.length > 0 ? values : ['192.0.2.1'])
  const put = (name: string, Type = 'A', values = ['192.0.2.1'], more: Record<string, string> = {}) =>
    there.put({ Name: `${name}.example.com.`, Type, TTL: 300, values, more })
  const read = async () => (await provider.read(zone)).rrsets
  const seen = async (name: string, type: string) => (await read()).find(one => one.name === name && one.type === type)!
  const apply = async (...ops: Op[]) => outcomes(await provider.apply(zone, ops))
  const posted = () => double.requests.filter(one => one.method === 'POST')
  const shown = () => there.sets.filter(one => one.Type !== 'SOA' && one.Type !== 'NS').map(one => one.Name)
  const errorOf = async (call: Promise<unknown>): Promise<any> => call.then(null, error => error)
  const many = (count: number) => {
    for (let n = 0; n < count; n++) put(`h${String(n).padStart(4, '0')}`)
  }

  describe('a zone of several pages', () => {
    const before = (page: number, change: () => void) => {
      let count = 0
      double.beforePage = () => {
        if (++count === page) change()
      }
    }

    test('is read completely', async () => {
      // The apex has NS and SOA.
      many(2001)
      expect(await read()).toHaveLength(2002)
      const lists = double.requests.filter(one => one.path.endsWith('/rrset'))
      expect([lists.length, double.requests.length]).toEqual([7, 8])
      expect(new Set(lists.map(one => one.query.get('maxitems')))).toEqual(new Set(['300']))
    })

    test('can have several sets with one name and type at the end of a page', async () => {
      many(295)
      for (let n = 0; n < 10; n++)
        there.put({
          Name: 'z.example.com.',
          Type: 'A',
          TTL: 60,
          values: ['192.0.2.1'],
          more: { SetIdentifier: `s${n}`, Weight: '1' },
        })
      put('zz')
      const snapshot = await provider.read(zone)
      expect([snapshot.rrsets.length, snapshot.foreign!.length]).toEqual([297, 10])
    })

    test('is an error if a record set moves to an earlier page while it is read', async () => {
      many(400)
      before(2, () => {
        there.remove('h0399.example.com.', 'A')
        put('a')
      })
      expect(await errorOf(read())).toMatchObject({
        failure: 'incomplete',
        message: expect.stringContaining('changed while it was read'),
      })
      expect(await read()).toHaveLength(401)
    })

    test('is accepted if only the number of record sets is out of date', async () => {
      many(400)
      double.answered = xml => xml.replace('<ResourceRecordSetCount>402<', '<ResourceRecordSetCount>401<')
      expect(await read()).toHaveLength(401)
    })

    const altered: [string, (xml: string) => string][] = [
      ['does not say where the next page starts', xml => xml.replace(/<NextRecordName>[^<]*<\/NextRecordName>/, '')],
      ['does not say whether there is another page', xml => xml.replace(/<IsTruncated>\w+<\/IsTruncated>/, '')],
      [
        'has no SOA',
        xml => xml.replace(/<Type>SOA</, '<Type>TXT<').replace(/ns-1\.awsdns-01\.com\. awsdns[^<]*/, '&quot;x&quot;'),
      ],
    ]
    test.each(altered)('is an error if a page %s', async (_, alter) => {
      many(400)
      double.answered = alter
      expect(await failureOf(read())).toBe('incomplete')
    })

    test('is an error if its pages have no end', async () => {
      many(400)
      let first = ''
      double.answered = xml => (first ||= xml)
      expect(await errorOf(read())).toMatchObject({ failure: 'incomplete', message: expect.stringContaining('refers back') })
    })

    test('is an error if a page is repeated', async () => {
      many(400)
      double.listed = (sets, { query }) =>
        query.has('name')
          ? [
              ...sets.slice(0, 1).map(one => ({ ...one, Name: 'zz.example.com.' })),
              ...sets,
              { ...sets.at(-1)!, Name: 'h0399.example.com.' },
            ]
          : sets
      expect(await failureOf(read())).toBe('incomplete')
    })
  })

  test('an update deletes exactly what was read, and creates the new record set', async () => {
    put('mail', 'MX', ['10 mail.example.net'])
    put('text', 'TXT', ['"a\\073b"'])
    expect(await read()).toEqual([
      expect.objectContaining({ name: '@', type: 'NS' }),
      rrset('mail', 'MX', 300, ['10 mail.example.net.']),
      rrset('text', 'TXT', 300, ['"a;b"']),
    ])
    const [mail, text] = [rrset('mail', 'MX', 300, ['10 mail.example.net.']), rrset('text', 'TXT', 300, ['"a;b"'])]
    expect(await apply(op(mail, { ...mail, ttl: 600 }), op(text, null), op(null, a('*')))).toEqual(['done', 'done', 'done'])
    expect(posted()).toHaveLength(1)
    const changes = [...posted()[0]!.body.matchAll(/<Action>(\w+)<.*?<Name>(.*?)<.*?<Value>(.*?)</g)].map(one => one.slice(1))
    expect(changes).toEqual([
      ['DELETE', 'mail.example.com.', '10 mail.example.net'],
      ['CREATE', 'mail.example.com.', '10 mail.example.net.'],
      ['DELETE', 'text.example.com.', '&#34;a\\073b&#34;'],
      ['CREATE', '\\052.example.com.', '192.0.2.1'],
    ])
  })

  describe('a rejected batch', () => {
    test.each(['ErrorResponse', 'InvalidChangeBatch'] as const)('names what has changed since (%s)', async form => {
      double.batchErrors = form
      put('www')
      put('made')
      const results = await provider.apply(zone, [
        op(null, a('new')),
        op(a('www', '192.0.2.9'), null),
        op(null, a('made')),
        op(a('gone'), a('gone', '192.0.2.2')),
      ])
      expect(outcomes(results)).toEqual(['skipped', 'stale', 'stale', 'stale'])
      expect(shown()).toEqual(['www.example.com.', 'made.example.com.'])
    })

    test('has the message of Route 53 for the steps it is about', async () => {
      put('www')
      const results = await provider.apply(zone, [op(null, a('new')), op(null, rrset('www', 'CNAME', 300, ['example.net.']))])
      expect(outcomes(results)).toEqual(['skipped', 'refused'])
      expect(results[1]!.detail).toContain('is not permitted as it conflicts with other records')
      expect(shown()).toEqual(['www.example.com.'])
    })

    test('has no secrets in its messages', async () => {
      put('www')
      double.answered = xml => xml.replace('is not permitted', `${double.secretAccessKey} is not permitted`)
      const [refused] = await provider.apply(zone, [op(null, rrset('www', 'CNAME', 300, ['example.net.']))])
      expect(refused!.detail).toContain('[redacted] is not permitted')
    })

    test('is divided if the message names nothing, until the step is found', async () => {
      const wrong = a('h13', ...Array.from({ length: 401 }, (_, n) => `10.0.${n >> 8}.${n & 255}`))
      const created = Array.from({ length: 16 }, (_, n) => (n === 13 ? op(null, wrong) : op(null, a(`h${n}`))))
      const results = await provider.apply(zone, created)
      expect(outcomes(results)).toEqual(created.map((_, n) => (n < 13 ? 'done' : n === 13 ? 'refused' : 'skipped')))
      expect(results[13]!.detail).toContain('exceeds the limit of 400')
      expect(posted().length).toBeLessThanOrEqual(2 * Math.log2(16) + 1)
      expect(shown()).toHaveLength(13)
    })

    test('keeps the NS records of the apex', async () => {
      const old = await seen('@', 'NS')
      expect(await apply(op(null, a('www')), op(old, null))).toEqual(['done', 'refused'])
    })
  })

  test('batches have up to 1,000 records and 32,000 characters', async () => {
    many(600)
    await read()
    const ops = Array.from({ length: 600 }, (_, n) => a(`h${String(n).padStart(4, '0')}`)).map(one =>
      op(one, { ...one, ttl: 60 }),
    )
    expect(new Set(await apply(...ops))).toEqual(new Set(['done']))
    expect(posted().map(one => one.body.match(/<Value>/g)!.length)).toEqual([1000, 200])
    const long = (name: string) =>
      op(
        null,
        rrset(
          name,
          'TXT',
          300,
          Array.from({ length: 30 }, (_, n) => `"${n}${'x'.repeat(240)}" "${'y'.repeat(250)}"`),
        ),
      )
    expect(await apply(long('t1'), long('t2'), long('t3'))).toEqual(['done', 'done', 'done'])
    expect(posted()).toHaveLength(4)
    const wide = op(
      null,
      rrset(
        'wide',
        'TXT',
        300,
        Array.from({ length: 100 }, (_, n) => `"${n}${'x'.repeat(240)}" "${'y'.repeat(250)}"`),
      ),
    )
    expect(await apply(wide, op(null, a('after')))).toEqual(['refused', 'skipped'])
    expect(posted()).toHaveLength(4)
    expect(provider.caps.recordsMax).toBe(400)
  })

  test('a batch with an unclear response may have been applied', async () => {
    for (const fault of ['lost', 'html', 'odd', 'cut', 'unavailable'] as const) {
      double.fault = ({ method }) => (method === 'POST' ? fault : null)
      expect([fault, ...(await apply(op(null, a(fault))))]).toEqual([fault, 'unknown'])
    }
    expect(shown()).toContain('lost.example.com.')
    const around = pluginContext()
    const impatient = route53.open(settingsOf(double), {
      ...around,
      request: (request, limits) => around.request(request, { ...limits, totalMs: 1500 }),
    })
    double.fault = ({ method }) => (method === 'POST' ? 'silent' : null)
    expect(outcomes(await impatient.apply(zone, [op(null, a('silent'))]))).toEqual(['unknown'])
  })

  test('an error before the first batch is thrown, later ones skip the rest', async () => {
    const created = Array.from({ length: 1001 }, (_, n) => op(null, a(`h${n}`)))
    for (const [fault, failure] of [
      ['throttled', 'throttled'],
      ['busy', 'throttled'],
      ['denied', 'unauthorized'],
      ['dropped', null],
    ] as const) {
      double.fault = ({ method }) => (method === 'POST' ? fault : null)
      if (failure) expect(await failureOf(provider.apply(zone, created))).toBe(failure)
      else expect((await apply(...created)).slice(999)).toEqual(['unknown', 'skipped'])
    }
    let batches = 0
    double.fault = ({ method }) => (method === 'POST' && ++batches === 2 ? 'busy' : null)
    const results = await provider.apply(zone, created)
    expect(results.slice(999)).toMatchObject([{ outcome: 'done' }, { outcome: 'skipped', retryAfterMs: 1000 }])
  })

  test('rate limits are reported with status 400', async () => {
    let time = Date.now()
    double.now = () => time
    double.bucket = 50
    await read()
    for (let n = 0; n < 49; n++) await provider.findZone('example.com')
    expect(await errorOf(read())).toMatchObject({
      failure: 'throttled',
      retryAfterMs: null,
      message: expect.stringContaining('Rate exceeded'),
    })
    time += 1000
    await read()
  })

  test('read errors have a specific code', async () => {
    const failures: [Route53Fault, ProviderFailure][] = [
      ['html', 'unreachable'],
      ['unavailable', 'unreachable'],
      ['odd', 'invalid_response'],
      ['cut', 'incomplete'],
      ['lost', 'unreachable'],
      ['throttled', 'throttled'],
      ['busy', 'throttled'],
      ['denied', 'unauthorized'],
    ]
    for (const [fault, failure] of failures) {
      double.fault = () => fault
      expect([fault, await failureOf(read())]).toEqual([fault, failure])
    }
    double.fault = () => null
    double.answered = () => '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "z">]><x>&y;</x>'
    expect(await failureOf(read())).toBe('invalid_response')
    double.answered = xml => xml
    double.now = () => Date.now() + 3_600_000
    expect(await errorOf(read())).toMatchObject({ failure: 'unauthorized', message: expect.stringContaining('clock') })
  })

  test('temporary credentials are sent with their token, and errors never contain secrets', async () => {
    double.sessionToken = 'FwoGZXIvYXdzEXAMPLETOKEN//////////wEaDG=='
    expect(await failureOf(provider.check())).toBe('unauthorized')
    const temporary = opened(double, { session_token: double.sessionToken })
    expect((await temporary.check()).warnings).toEqual([expect.stringContaining('expire')])
    const echoed = `${double.secretAccessKey} and ${double.sessionToken}`
    double.answered = () => `<ErrorResponse><Error><Code>InvalidInput</Code><Message>${echoed}</Message></Error></ErrorResponse>`
    double.fault = () => null
    expect((await errorOf(temporary.createZone!('new.example', []))).message).not.toMatch(/FwoG/)
  })

  describe('zones', () => {
    test('are found among many, and created', async () => {
      for (let n = 0; n < 250; n++) double.zone(`z${n}.example`)
      double.zone('example.com', true)
      double.zone('0/25.2.0.192.in-addr.arpa')
      expect(await provider.listZones!()).toHaveLength(252)
      expect(await provider.findZone('example.com')).toEqual(zone)
      expect((await provider.findZone('0/25.2.0.192.in-addr.arpa'))?.name).toBe('0/25.2.0.192.in-addr.arpa')
      expect(await provider.findZone('www.example.com')).toBeNull()
      const created = await opened(double, { delegation_set_id: 'N1PA6795SAMPLE' }).createZone!('new.example', [])
      expect(await provider.findZone('new.example')).toEqual(created)
      expect(await errorOf(opened(double, { delegation_set_id: 'N2' }).createZone!('other.example', []))).toMatchObject({
        failure: 'refused',
        message: 'Route 53 rejected the request (400): NoSuchDelegationSet: The specified delegation set does not exist.',
      })
    })

    test('are not guessed if two have the same name', async () => {
      double.zone('example.com')
      expect(await errorOf(provider.findZone('example.com'))).toMatchObject({
        failure: 'refused',
        message: expect.stringContaining(there.id),
      })
    })

    test('that are gone, or have an invalid ID, are not treated as empty', async () => {
      expect(await failureOf(provider.read({ name: 'example.com', ref: 'Z404' }))).toBe('zone_not_found')
      expect(await failureOf(provider.read({ name: 'example.com', ref: '../x' }))).toBe('zone_not_found')
    })
  })

  test('a check reports the account', async () => {
    expect(await provider.check()).toEqual({
      detail: 'Amazon Route 53 account 029608264753, access key AKIAQNZGKIQY56JQ7WML: 1 public hosted zone',
      warnings: [],
    })
    for (let n = 0; n < 100; n++) double.zone(`z${n}.example`)
    expect((await provider.check()).detail).toContain('more than 100 public hosted zones')
  })

  test('the base URL is validated', () => {
    const refuse = (base_url: string) => route53.validate!({ ...settingsOf(double), base_url })
    expect(() => refuse('https://proxy.example/aws/')).not.toThrow()
    for (const url of ['ftp://proxy.example', 'https://user:pass@proxy.example', 'https://proxy.example/?x=1', 'proxy.example'])
      expect(() => refuse(url)).toThrow()
  })
})
