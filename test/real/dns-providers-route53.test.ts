import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { route53 } from '../../src/features/dns/providers/route53'
import { listed, op, outcomes, rrset, samples } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'
import { dnsClient, runDnsClient } from '../support/python-packages'
import { Route53Double } from '../support/route53'
import { startServer, type ServerProcess } from '../support/server-process'

// The double of Route 53 is driven by clients of others, and the adapter is run against another double, moto.

describe('the double of Route 53', () => {
  const double = new Route53Double()
  let credentials: Record<string, string>
  beforeAll(async () => {
    await double.start()
    credentials = { AWS_ACCESS_KEY_ID: double.accessKeyId, AWS_SECRET_ACCESS_KEY: double.secretAccessKey }
    for (let n = 0; n < 3; n++) double.zone(`z${n}.example`)
  })
  afterAll(() => double.stop())

  test('works with boto3', async () => {
    const output = await runDnsClient(['python', 'route53_boto3.py'], { ...credentials, ENDPOINT: double.url })
    const { counts, failures, names } = JSON.parse(output)
    expect(counts).toEqual([40, 0, 20, 0])
    expect(names).toEqual(['\\052.boto.example.'])
    const invalid = (message: string) => ['InvalidChangeBatch', 400, expect.stringContaining(message)]
    expect(failures).toEqual([
      ['HostedZoneAlreadyExists', 409, expect.any(String)],
      ['NoSuchHostedZone', 404, expect.any(String)],
      invalid('but it already exists'),
      invalid('but the values provided do not match the current values'),
      invalid('but it was not found'),
      invalid('conflicts with other records'),
      invalid('not a valid IPv4 address'),
      invalid('enclosed in quotation marks'),
    ])
    double.fault = () => 'throttled'
    const throttled = runDnsClient(['python', 'route53_boto3.py'], { ...credentials, ENDPOINT: double.url })
    await expect(throttled).rejects.toThrow(/\(Throttling\).*Rate exceeded/)
    double.fault = () => null
  }, 180_000)

  test('works with octoDNS', async () => {
    const zone = 'octo.example.'
    const provider = {
      class: 'octodns_route53.Route53Provider',
      access_key_id: double.accessKeyId,
      secret_access_key: double.secretAccessKey,
      zone,
    }
    const types = 'A,AAAA,CAA,CNAME,NS,DS,MX,NAPTR,PTR,SPF,SRV,TXT'
    const sync = async (step: string) =>
      Number(
        await runDnsClient(['python', 'octodns_sync.py', JSON.stringify(provider), types, step], {
          AWS_ENDPOINT_URL_ROUTE_53: double.url,
          AWS_DEFAULT_REGION: 'us-east-1',
        }),
      )
    expect([await sync('first'), await sync('first'), await sync('changed'), await sync('changed')]).toEqual([40, 0, 20, 0])
    expect(double.zones.find(one => one.name === 'octo.example')!.sets).toHaveLength(32)
  }, 180_000)
})

describe('the adapter of Route 53 with moto', () => {
  let server: ServerProcess
  beforeAll(async () => {
    server = await startServer(1, (_, [port]) => ({
      command: [dnsClient('moto_server'), '-H', '127.0.0.1', '-p', String(port)],
      files: {},
    }))
  }, 180_000)
  afterAll(() => server?.stop())

  const open = () =>
    route53.open(
      {
        access_key_id: 'AKIAQNZGKIQY56JQ7WML',
        secret_access_key: 'secret-of-the-tests',
        base_url: `http://127.0.0.1:${server.ports[0]}`,
      },
      pluginContext(),
    )

  test('writes and reads all types, and a thousand record sets', async () => {
    const provider = open()
    const zone = await provider.createZone!('moto.example', [])
    expect(await provider.findZone('moto.example')).toEqual(zone)
    expect(await provider.listZones!()).toEqual([zone])
    expect((await provider.check()).detail).toContain('1 public hosted zone')
    const { rrsets: before } = await provider.read(zone)
    expect(before.map(one => one.type)).toEqual(['NS'])
    const types = samples.filter(([type]) => type !== 'ALIAS' && !provider.caps.unsupported.has(type) && !type.startsWith('TYPE'))
    const first = types.map(([type, name, values]) => rrset(name, type, 300, values))
    const second = types.map(([type, name, , values]) => rrset(name, type, 600, values))
    const apply = async (ops: Parameters<typeof provider.apply>[1]) => [...new Set(outcomes(await provider.apply(zone, ops)))]
    expect(await apply(first.map(one => op(null, one)))).toEqual(['done'])
    expect(listed((await provider.read(zone)).rrsets)).toEqual(listed([...before, ...first]))
    expect(await apply(first.map((one, place) => op(one, second[place]!)))).toEqual(['done'])
    expect(listed((await provider.read(zone)).rrsets)).toEqual(listed([...before, ...second]))
    expect(await apply(second.map(one => op(one, null)))).toEqual(['done'])
    const many = Array.from({ length: 1000 }, (_, n) => rrset(`h${n}`, 'A', 300, [`10.0.${n >> 8}.${n & 255}`]))
    expect(await apply(many.map(one => op(null, one)))).toEqual(['done'])
    const wild = rrset('*', 'TXT', 300, ['"a;b \\"c\\" \\\\ \\255"'])
    expect(await apply([op(null, wild)])).toEqual(['done'])
    expect(listed((await provider.read(zone)).rrsets)).toEqual(listed([...before, ...many, wild]))
    expect(await apply([op(null, rrset('new', 'A', 300, ['192.0.2.1'])), op(null, wild)])).toEqual(['skipped', 'stale'])
    expect((await provider.apply(zone, [op({ ...wild, ttl: 60 }, null)]))[0]!.outcome).toBe('refused')
    expect((await provider.read(zone)).rrsets).toHaveLength(1002)
  }, 180_000)
})
