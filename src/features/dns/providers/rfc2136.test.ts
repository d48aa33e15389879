import { afterEach, describe, expect, test } from 'bun:test'
import {
  primaryScript,
  recordOf,
  scriptedServer,
  type Asked,
  type Script,
  type ScriptedServer,
} from '../../../../test/support/scripted-server'
import { surroundings } from '../../../../test/support/surroundings'
import { systemClock } from '../../../core/clock'
import { message, OPCODE, RCODE, type ResourceRecord } from '../../../core/dns/message'
import { encodeMessage } from '../../../core/dns/message-encode'
import { rdataOfContent, textOf } from '../../../core/dns/rdata'
import { refuseTsig, signTsig, TSIG_ERROR, type TsigKey } from '../../../core/dns/tsig'
import { EgressRefused } from '../../../core/net/egress'
import type { Problem } from '../../../core/problem'
import type { Op, ProviderRrset } from './provider'
import { rfc2136 } from './rfc2136'

const secret = Buffer.from('a secret that both of them know!')
const key: TsigKey = { name: 'key.', algorithm: 'hmac-sha256', secret }
const around = surroundings()
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
/** Updates are answered by one script, everything else by the primary. */
const updatedBy =
  (script: Script, others: Script = primary()): Script =>
  asked =>
    asked.message.opcode === OPCODE.UPDATE ? script(asked) : others(asked)
const bare = ({ message: { id, question, opcode } }: Asked, rcode: number) =>
  encodeMessage(message({ id, question, opcode, rcode, flags: { qr: true } }))
const answered = (asked: Asked, rcode: number, signedWith = key) =>
  signTsig(bare(asked, rcode), signedWith, { time: Math.floor(systemClock.now() / 1000), prior: asked.message.tsig!.mac }).message
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

  test('has all but the SOA, by name and type, each value once', async () => {
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
  test('has nothing of what the server signs with', async () => {
    expect(await listed(...signing, ...keys)).toEqual(['@ NS ns1.z.test.', 'below DNSKEY 257 3 13 AAAA'])
  })
  test('has the keys of a zone that nobody signed', async () => {
    expect(await listed(...keys)).toHaveLength(5)
  })

  test('of half a zone is an error', async () => {
    const half: Script = asked => {
      const all = primary(...Array.from({ length: 500 }, (_, n) => record(`n${n}`, 'A', '192.0.2.1')))(asked)
      return asked.message.question[0]!.type === 'AXFR' ? [...all.slice(0, 2), 'close'] : all
    }
    await expect((await providerOf(half)).read(zone)).rejects.toMatchObject({ failure: 'incomplete' })
  })

  test('of a zone that is not there is told apart from one that is not given', async () => {
    const provider = await providerOf(asked =>
      asked.message.question[0]!.type === 'AXFR' ? [answered(asked, RCODE.REFUSED)] : primary()(asked),
    )
    await expect(provider.read(zone)).rejects.toMatchObject({ failure: 'refused' })
    await expect(provider.read({ name: 'other.test', ref: null })).rejects.toMatchObject({ failure: 'zone_not_found' })
  })

  test('of a zone that the server cannot load is not that of a zone that is not there', async () => {
    const provider = await providerOf(asked => [answered(asked, RCODE.SERVFAIL)])
    for (const ask of [() => provider.readSerial!(zone), () => provider.findZone('z.test'), () => provider.read(zone)])
      await expect(ask()).rejects.toMatchObject({ failure: 'refused', message: expect.stringContaining('SERVFAIL') })
  })

  test('has a key of its own where there is one', async () => {
    const other = Buffer.from('another secret for transfers only')
    const given = {
      transfer_key_name: 'axfr',
      transfer_key_algorithm: 'hmac-sha512',
      transfer_key_secret: other.toString('base64'),
    }
    const transferKey: TsigKey = { name: 'axfr.', algorithm: 'hmac-sha512', secret: other }
    const transfers = primaryScript(() => [soa, record('@', 'NS', 'ns1')], { key: transferKey, now: () => systemClock.now() })
    const script: Script = asked => (asked.message.question[0]!.type === 'AXFR' ? transfers(asked) : primary()(asked))
    const provider = await providerOf(script, given)
    expect((await provider.read(zone)).rrsets).toHaveLength(1)
    expect(await provider.readSerial!(zone)).toBe(9)
  })
})

describe('what became of steps', () => {
  const outcomes = async (script: Script, ops: Op[]) => {
    const provider = await providerOf(script)
    const results = await provider.apply(zone, ops)
    return results.map(one => one.outcome).join(' ')
  }

  const unknown: [string, Script][] = [
    ['the connection ends', () => ['close']],
    ['SERVFAIL comes', asked => [answered(asked, RCODE.SERVFAIL)]],
    ['garbage comes', () => [Uint8Array.from([1, 2, 3])]],
    ['the answer is not signed', asked => [bare(asked, RCODE.NOERROR)]],
    ['the answer is signed by another', asked => [answered(asked, RCODE.NOERROR, { ...key, secret: Buffer.alloc(32) })]],
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
  ])('nothing happened when %s comes', async (name, rcode) => {
    const provider = await providerOf(updatedBy(asked => [answered(asked, rcode)]))
    const refused = { outcome: 'refused', detail: expect.stringContaining(name) }
    expect(await provider.apply(zone, creates('a', 'b'))).toMatchObject([refused, refused])
  })

  test('nothing happened when the server does not accept the key', async () => {
    const provider = await providerOf(
      updatedBy(asked => [refuseTsig(bare(asked, RCODE.NOTAUTH), asked.message.tsig!, TSIG_ERROR.BADSIG)]),
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
  ])('%s is about what is not as it was read, and the others are left', async (_, rcode) => {
    const script = updatedBy(asked => [answered(asked, rcode)], primary(record('b', 'TXT', 'here by now')))
    expect(await outcomes(script, creates('a', 'b', 'c'))).toBe('left stale left')
  })

  test('what cannot be told apart is all of it', async () => {
    expect(
      await outcomes(
        updatedBy(asked => [answered(asked, RCODE.NXRRSET)]),
        creates('a', 'b'),
      ),
    ).toBe('stale stale')
  })

  describe('in several messages', () => {
    const long = Array.from({ length: 300 }, (_, n) => `n${n}`)
    const ops = creates(...long).map(op => ({ ...op, after: rrset(op.name, 'TXT', 'x'.repeat(500)) }))
    const second = (script: Script) => {
      let count = 0
      return updatedBy(asked => (count++ === 1 ? script(asked) : [answered(asked, RCODE.NOERROR)]))
    }
    const counted = async (script: Script) => {
      const all = (await outcomes(script, ops)).split(' ')
      return [...new Set(all)].map(outcome => `${outcome} ${all.filter(one => one === outcome).length}`)
    }

    test('all are done', async () =>
      expect(await counted(updatedBy(asked => [answered(asked, RCODE.NOERROR)]))).toEqual(['done 300']))
    test.each([
      ['refused', (asked: Asked) => [answered(asked, RCODE.REFUSED)]],
      ['unknown', () => ['close' as const]],
      ['stale', (asked: Asked) => [answered(asked, RCODE.YXRRSET)]],
    ])('the first stay done, and the last are left: %s', async (outcome, script) => {
      const [first, ...others] = await counted(second(script))
      expect([first!.split(' ')[0], ...others.map(one => one.split(' ')[0])]).toEqual(['done', outcome, 'left'])
    })
  })

  test('an address that is closed between two messages leaves the rest', async () => {
    const server = await scriptedServer(updatedBy(asked => [answered(asked, RCODE.NOERROR)]))
    servers.push(server)
    let looked = 0
    const vet = (host: string, port: number) =>
      looked++ === 0 ? around.vet(host, port) : Promise.reject(new EgressRefused('blocked_address', 'It may not be called.'))
    const provider = rfc2136.open({ ...settings, port: server.port }, { ...around, vet })
    const ops = Array.from({ length: 300 }, (_, n) => creates(`n${n}`)[0]!)
    const long = ops.map(op => ({ ...op, after: rrset(op.name, 'TXT', 'x'.repeat(500)) }))
    const outcomes = (await provider.apply(zone, long)).map(one => one.outcome)
    expect([...new Set(outcomes)]).toEqual(['done', 'left'])
  })

  test('an apex without NS is not even asked for', async () => {
    const script = updatedBy(() => [])
    const ns = rrset('@', 'NS', 'ns1')
    expect(await outcomes(script, [...creates('a'), { action: 'delete', name: '@', type: 'NS', before: ns, after: null }])).toBe(
      'left refused',
    )
    expect(servers[0]!.asked).toEqual([])
  })

  test('a server that is not there throws, since nothing was sent', async () => {
    const provider = await providerOf(() => [])
    servers.splice(0).forEach(server => server.stop())
    await expect(provider.apply(zone, creates('a'))).rejects.toMatchObject({ failure: 'unreachable' })
  })

  test('an address that the workspace may not call is not called', async () => {
    const refused = () => Promise.reject(new EgressRefused('blocked_address', 'It may not be called.'))
    const provider = rfc2136.open(settings, { ...around, vet: refused })
    await expect(provider.check()).rejects.toMatchObject({ failure: 'unreachable', message: 'It may not be called.' })
  })
})

describe('a check', () => {
  test('tells what the key may not do with a zone', async () => {
    const script = updatedBy(asked => [answered(asked, RCODE.REFUSED)])
    const provider = await providerOf(script, { zones: ['z.test', 'other.test'] })
    const { warnings } = await provider.check()
    expect(warnings).toEqual([
      expect.stringMatching(/^z\.test: it cannot be changed\. The server answered REFUSED/),
      'other.test: the server does not answer for this zone.',
    ])
    expect(await provider.listZones!()).toEqual([zone])
  })

  test('is content with a zone that can be read and changed', async () => {
    const provider = await providerOf(
      updatedBy(asked => [answered(asked, RCODE.NOERROR)]),
      { zones: ['z.test'] },
    )
    expect((await provider.check()).warnings).toEqual([])
    const [update] = servers[0]!.asked.filter(one => one.message.opcode === OPCODE.UPDATE)
    expect(update!.message).toMatchObject({ answer: [], authority: [] })
  })

  test('of a wrong secret fails', async () => {
    const provider = await providerOf(primary(), { key_secret: Buffer.alloc(32).toString('base64') })
    await expect(provider.check()).rejects.toMatchObject({ failure: 'unauthorized' })
    expect(provider.listZones).toBeUndefined()
  })
})

test('steps that no name server takes are found before they are sent', async () => {
  const provider = await providerOf(() => [])
  expect(provider.unfit(rrset('www', 'A', '192.0.2.1'))).toEqual([])
  expect(provider.unfit(rrset('@', 'ALIAS', 'www'))).toHaveLength(1)
  const long = rrset('long', 'TXT', ...Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(240, 'x')))
  expect(provider.unfit(long)).toHaveLength(1)
})

test.each([
  [{ host: 'a b' }, '#/settings/host'],
  [{ key_secret: 'no base64!' }, '#/settings/key_secret'],
  [{ key_name: 'a..b' }, '#/settings/key_name'],
  [{ transfer_key_name: 'x' }, '#/settings/transfer_key_secret'],
  [{ transfer_key_secret: 'AAAA' }, '#/settings/transfer_key_name'],
  [{ transfer_key_name: 'x', transfer_key_secret: 'A' }, '#/settings/transfer_key_secret'],
  [{ zones: ['ok.test', '-'] }, '#/settings/zones/1'],
])('settings that cannot be are refused: %j', (more, pointer) => {
  let problem: Problem | undefined
  try {
    rfc2136.refuse!({ ...settings, ...more })
  } catch (error) {
    problem = error as Problem
  }
  expect(problem!.extras.errors!.map(one => one.pointer)).toEqual([pointer])
})
