import { afterEach, describe, expect, test } from 'bun:test'
import {
  primaryScript,
  recordOf,
  scriptedServer,
  type ScriptedRequest,
  type Script,
  type ScriptedServer,
} from '../../../../test/support/scripted-server'
import { pluginContext } from '../../../../test/support/plugin-context'
import { systemClock } from '../../../core/clock'
import { message, OPCODE, RCODE, type ResourceRecord } from '../../../dns/message'
import { encodeMessage } from '../../../dns/message-encode'
import { rdataOfContent, textOf } from '../../../dns/rdata'
import { refuseTsig, signTsig, TSIG_ERROR, type TsigKey } from '../../../dns/tsig'
import { EgressRefused } from '../../../core/net/egress'
import type { Problem } from '../../../core/problem'
import type { Op, ProviderRrset } from './provider'
import { rfc2136 } from './rfc2136'

const secret = Buffer.from('a secret that both of them know!')
const key: TsigKey = { name: 'key.', algorithm: 'hmac-sha256', secret }
const around = pluginContext()
const settings = { host: '127.0.0.1', key_name: 'key', key_secret: secret.toString('base64') }
const zone = { name: 'z.test', ref: null }

const servers: ScriptedServer[] = []
afterEach(() => servers.splice(0).forEach(server => server.stop()))
async function providerOf(script: Script, more: object = {}) {
  const server = await scriptedServer(script)
  servers.push(server)
  return rfc2136.open({ ...settings, port: server.port, ...more }, around)
}

const record = (name: string, type: string, content: string) =>
  recordOf(name === '@' ? 'z.test.' : `${name}.z.test.`, 60, type, rdataOfContent(type, content, 'z.test.'))
const soa = record('@', 'SOA', 'ns1 host 9 1 2 3 4')
const primary = (...records: ResourceRecord[]): Script =>
  primaryScript(() => [soa, record('@', 'NS', 'ns1'), ...records], { key, now: () => systemClock.now() })
/** A script answers updates; the primary answers everything else. */
const updatedBy =
  (script: Script, others: Script = primary()): Script =>
  request =>
    request.message.opcode === OPCODE.UPDATE ? script(request) : others(request)
const bare = ({ message: { id, question, opcode } }: ScriptedRequest, rcode: number) =>
  encodeMessage(message({ id, question, opcode, rcode, flags: { qr: true } }))
const answered = (request: ScriptedRequest, rcode: number, signedWith = key) =>
  signTsig(bare(request, rcode), signedWith, { time: Math.floor(systemClock.now() / 1000), prior: request.message.tsig!.mac })
    .message
const rrset = (name: string, type: string, ...contents: string[]): ProviderRrset => ({
  name,
  type,
  ttl: 60,
  values: contents.map(one => rdataOfContent(type, one, 'z.test.')),
})
const creates = (...names: string[]): Op[] =>
  names.map(name => ({ action: 'create', name, type: 'TXT', before: null, after: rrset(name, 'TXT', name) }))

describe('a read', () => {
  const listed = async (...records: ResourceRecord[]) => {
    const provider = await providerOf(primary(...records))
    const { rrsets, serial } = await provider.read(zone)
    expect(serial).toBe(9)
    return rrsets.map(one => `${one.name} ${one.type} ${one.values.map(value => textOf(one.type, value)).join(', ')}`)
  }

  test('has all rrsets except the SOA, each value once', async () => {
    const www = record('www', 'A', '192.0.2.1')
    const shouted = { ...record('www', 'A', '192.0.2.2'), name: 'WWW.Z.Test.' }
    expect(await listed(www, record('t', 'TXT', 'x'), shouted, www)).toEqual([
      '@ NS ns1.z.test.',
      'www A 192.0.2.1, 192.0.2.2',
      't TXT "x"',
    ])
  })

  const signing = [
    record('@', 'RRSIG', 'SOA 13 2 60 20300101000000 20260101000000 1 z.test. AAAA'),
    record('@', 'NSEC', 'www.z.test. NS SOA RRSIG NSEC'),
    record('@', 'NSEC3PARAM', '1 0 0 -'),
    record('@', 'TYPE65534', '\\# 5 0d00010001'),
  ]
  const keys = [
    record('@', 'DNSKEY', '257 3 13 AAAA'),
    record('@', 'CDS', '0 0 0 00'),
    record('@', 'CDNSKEY', '0 3 0 AA=='),
    record('below', 'DNSKEY', '257 3 13 AAAA'),
  ]
  test('has no records created by signing', async () => {
    expect(await listed(...signing, ...keys)).toEqual(['@ NS ns1.z.test.', 'below DNSKEY 257 3 13 AAAA'])
  })
  test('has the keys of an unsigned zone', async () => {
    expect(await listed(...keys)).toHaveLength(5)
  })

  test('of a partial zone fails', async () => {
    const half: Script = request => {
      const all = primary(...Array.from({ length: 500 }, (_, n) => record(`n${n}`, 'A', '192.0.2.1')))(request)
      return request.message.question[0]!.type === 'AXFR' ? [...all.slice(0, 2), 'close'] : all
    }
    await expect((await providerOf(half)).read(zone)).rejects.toMatchObject({ failure: 'incomplete' })
  })

  test('distinguishes a missing zone from a refused transfer', async () => {
    const provider = await providerOf(request =>
      request.message.question[0]!.type === 'AXFR' ? [answered(request, RCODE.REFUSED)] : primary()(request),
    )
    await expect(provider.read(zone)).rejects.toMatchObject({ failure: 'refused' })
    await expect(provider.read({ name: 'other.test', ref: null })).rejects.toMatchObject({ failure: 'zone_not_found' })
  })

  test('distinguishes a zone that failed to load from a missing zone', async () => {
    const provider = await providerOf(request => [answered(request, RCODE.SERVFAIL)])
    for (const ask of [() => provider.readSerial!(zone), () => provider.findZone('z.test'), () => provider.read(zone)])
      await expect(ask()).rejects.toMatchObject({ failure: 'refused', message: expect.stringContaining('SERVFAIL') })
  })

  test('uses the transfer key if there is one', async () => {
    const other = Buffer.from('another secret for transfers only')
    const given = {
      transfer_key_name: 'axfr',
      transfer_key_algorithm: 'hmac-sha512',
      transfer_key_secret: other.toString('base64'),
    }
    const transferKey: TsigKey = { name: 'axfr.', algorithm: 'hmac-sha512', secret: other }
    const transfers = primaryScript(() => [soa, record('@', 'NS', 'ns1')], { key: transferKey, now: () => systemClock.now() })
    const script: Script = request => (request.message.question[0]!.type === 'AXFR' ? transfers(request) : primary()(request))
    const provider = await providerOf(script, given)
    expect((await provider.read(zone)).rrsets).toHaveLength(1)
    expect(await provider.readSerial!(zone)).toBe(9)
  })
})

describe('outcomes of steps', () => {
  const outcomes = async (script: Script, ops: Op[]) => {
    const provider = await providerOf(script)
    const results = await provider.apply(zone, ops)
    return results.map(one => one.outcome).join(' ')
  }

  const unknown: [string, Script][] = [
    ['the connection ends', () => ['close']],
    ['SERVFAIL comes', request => [answered(request, RCODE.SERVFAIL)]],
    ['garbage comes', () => [Uint8Array.from([1, 2, 3])]],
    ['the answer is not signed', request => [bare(request, RCODE.NOERROR)]],
    ['the answer is signed by another', request => [answered(request, RCODE.NOERROR, { ...key, secret: Buffer.alloc(32) })]],
  ]
  test.each(unknown)('nobody knows when %s', async (_, script) => {
    expect(await outcomes(updatedBy(script), creates('a', 'b'))).toBe('unknown unknown')
  })

  test.each([
    ['REFUSED', RCODE.REFUSED],
    ['NOTAUTH', RCODE.NOTAUTH],
    ['NOTZONE', RCODE.NOTZONE],
    ['NOTIMP', RCODE.NOTIMP],
    ['FORMERR', RCODE.FORMERR],
  ])('nothing was applied after %s', async (name, rcode) => {
    const provider = await providerOf(updatedBy(request => [answered(request, rcode)]))
    const refused = { outcome: 'refused', detail: expect.stringContaining(name) }
    expect(await provider.apply(zone, creates('a', 'b'))).toMatchObject([refused, refused])
  })

  test('nothing was applied if the server rejects the key', async () => {
    const provider = await providerOf(
      updatedBy(request => [refuseTsig(bare(request, RCODE.NOTAUTH), request.message.tsig!, TSIG_ERROR.BADSIG)]),
    )
    expect(await provider.apply(zone, creates('a'))).toMatchObject([
      { outcome: 'refused', detail: expect.stringContaining('BADSIG') },
    ])
  })

  test.each([
    ['NXRRSET', RCODE.NXRRSET],
    ['YXRRSET', RCODE.YXRRSET],
    ['NXDOMAIN', RCODE.NXDOMAIN],
    ['YXDOMAIN', RCODE.YXDOMAIN],
  ])('%s marks changed rrsets as stale, and skips the others', async (_, rcode) => {
    const script = updatedBy(request => [answered(request, rcode)], primary(record('b', 'TXT', 'here by now')))
    expect(await outcomes(script, creates('a', 'b', 'c'))).toBe('skipped stale skipped')
  })

  test('if the cause is unclear, all steps are stale', async () => {
    expect(
      await outcomes(
        updatedBy(request => [answered(request, RCODE.NXRRSET)]),
        creates('a', 'b'),
      ),
    ).toBe('stale stale')
  })

  describe('in several messages', () => {
    const long = Array.from({ length: 300 }, (_, n) => `n${n}`)
    const ops = creates(...long).map(op => ({ ...op, after: rrset(op.name, 'TXT', 'x'.repeat(500)) }))
    const second = (script: Script) => {
      let count = 0
      return updatedBy(request => (count++ === 1 ? script(request) : [answered(request, RCODE.NOERROR)]))
    }
    const counted = async (script: Script) => {
      const all = (await outcomes(script, ops)).split(' ')
      return [...new Set(all)].map(outcome => `${outcome} ${all.filter(one => one === outcome).length}`)
    }

    test('all are done', async () =>
      expect(await counted(updatedBy(request => [answered(request, RCODE.NOERROR)]))).toEqual(['done 300']))
    test.each([
      ['refused', (request: ScriptedRequest) => [answered(request, RCODE.REFUSED)]],
      ['unknown', () => ['close' as const]],
      ['stale', (request: ScriptedRequest) => [answered(request, RCODE.YXRRSET)]],
    ])('the first steps are done, and the last are skipped: %s', async (outcome, script) => {
      const [first, ...others] = await counted(second(script))
      expect([first!.split(' ')[0], ...others.map(one => one.split(' ')[0])]).toEqual(['done', outcome, 'skipped'])
    })
  })

  test('if the address becomes blocked between two messages, the rest is skipped', async () => {
    const server = await scriptedServer(updatedBy(request => [answered(request, RCODE.NOERROR)]))
    servers.push(server)
    let looked = 0
    const vet = (host: string, port: number) =>
      looked++ === 0 ? around.vet(host, port) : Promise.reject(new EgressRefused('blocked_address', 'It may not be called.'))
    const provider = rfc2136.open({ ...settings, port: server.port }, { ...around, vet })
    const ops = Array.from({ length: 300 }, (_, n) => creates(`n${n}`)[0]!)
    const long = ops.map(op => ({ ...op, after: rrset(op.name, 'TXT', 'x'.repeat(500)) }))
    const outcomes = (await provider.apply(zone, long)).map(one => one.outcome)
    expect([...new Set(outcomes)]).toEqual(['done', 'skipped'])
  })

  test('an apex without NS is refused without a request', async () => {
    const script = updatedBy(() => [])
    const ns = rrset('@', 'NS', 'ns1')
    expect(await outcomes(script, [...creates('a'), { action: 'delete', name: '@', type: 'NS', before: ns, after: null }])).toBe(
      'skipped refused',
    )
    expect(servers[0]!.requests).toEqual([])
  })

  test('an unreachable server throws, since nothing was sent', async () => {
    const provider = await providerOf(() => [])
    servers.splice(0).forEach(server => server.stop())
    await expect(provider.apply(zone, creates('a'))).rejects.toMatchObject({ failure: 'unreachable' })
  })

  test('an address that the network policy denies is not called', async () => {
    const refused = () => Promise.reject(new EgressRefused('blocked_address', 'It may not be called.'))
    const provider = rfc2136.open(settings, { ...around, vet: refused })
    await expect(provider.check()).rejects.toMatchObject({ failure: 'unreachable', message: 'It may not be called.' })
  })
})

describe('a check', () => {
  test('reports missing permissions of the key for a zone', async () => {
    const script = updatedBy(request => [answered(request, RCODE.REFUSED)])
    const provider = await providerOf(script, { zones: ['z.test', 'other.test'] })
    const { warnings } = await provider.check()
    expect(warnings).toEqual([
      expect.stringMatching(/^z\.test: updates are not possible\. The server responded with REFUSED/),
      'other.test: the server is not authoritative for this zone.',
    ])
    expect(await provider.listZones!()).toEqual([zone])
  })

  test('succeeds for a zone that can be read and changed', async () => {
    const provider = await providerOf(
      updatedBy(request => [answered(request, RCODE.NOERROR)]),
      { zones: ['z.test'] },
    )
    expect((await provider.check()).warnings).toEqual([])
    const [update] = servers[0]!.requests.filter(one => one.message.opcode === OPCODE.UPDATE)
    expect(update!.message).toMatchObject({ answer: [], authority: [] })
  })

  test('of a wrong secret fails', async () => {
    const provider = await providerOf(primary(), { key_secret: Buffer.alloc(32).toString('base64') })
    await expect(provider.check()).rejects.toMatchObject({ failure: 'unauthorized' })
    expect(provider.listZones).toBeUndefined()
  })
})

test('unsupported steps are found before they are sent', async () => {
  const provider = await providerOf(() => [])
  expect(provider.findUnsupported(rrset('www', 'A', '192.0.2.1'))).toEqual([])
  expect(provider.findUnsupported(rrset('@', 'ALIAS', 'www'))).toHaveLength(1)
  const long = rrset('long', 'TXT', ...Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(240, 'x')))
  expect(provider.findUnsupported(long)).toHaveLength(1)
})

test.each([
  [{ host: 'a b' }, '#/settings/host'],
  [{ key_secret: 'no base64!' }, '#/settings/key_secret'],
  [{ key_name: 'a..b' }, '#/settings/key_name'],
  [{ transfer_key_name: 'x' }, '#/settings/transfer_key_secret'],
  [{ transfer_key_secret: 'AAAA' }, '#/settings/transfer_key_name'],
  [{ transfer_key_name: 'x', transfer_key_secret: 'A' }, '#/settings/transfer_key_secret'],
  [{ zones: ['ok.test', '-'] }, '#/settings/zones/1'],
])('invalid settings are refused: %j', (more, pointer) => {
  let problem: Problem | undefined
  try {
    rfc2136.validate!({ ...settings, ...more })
  } catch (error) {
    problem = error as Problem
  }
  expect(problem!.extras.errors!.map(one => one.pointer)).toEqual([pointer])
})
