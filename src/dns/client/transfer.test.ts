import { afterEach, describe, expect, test } from 'bun:test'
import { primaryScript, recordOf, scriptedServer, type Script, type ScriptedServer } from '../../../test/support/scripted-server'
import { message, RCODE, type ResourceRecord } from '../message'
import { decodeMessage } from '../message-decode'
import { encodeMessage } from '../message-encode'
import { rdataOfText } from '../rdata'
import { signTsig, type TsigKey } from '../tsig'
import { transferZone, type TransferLimits } from './transfer'

const key: TsigKey = { name: 'key.example.', algorithm: 'hmac-sha256', secret: Buffer.from('a secret that both of them know!') }
const time = 1_795_268_969_000
const now = () => time
const soaOf = (serial: number) =>
  recordOf('example.', 60, 'SOA', rdataOfText('SOA', `a.example. b.example. ${serial} 1 2 3 4`, null))
const address = (n: number, name = `n${n}.example.`) => recordOf(name, 60, 'A', Uint8Array.from([192, 0, n >> 8, n]))
const zone = [soaOf(7), ...Array.from({ length: 1000 }, (_, n) => address(n))]

const servers: ScriptedServer[] = []
afterEach(() => servers.splice(0).forEach(server => server.stop()))

async function transferred(script: Script, input: TsigKey | null = key, more: Partial<TransferLimits> = {}, name = 'example.') {
  const server = await scriptedServer(script)
  servers.push(server)
  const source = { at: { address: '127.0.0.1', port: server.port }, key: input, now }
  const limits = { records: 2000, octets: 1_000_000, timeoutMs: 5000, ...more }
  const records: ResourceRecord[] = []
  for await (const some of transferZone(source, name, limits)) records.push(...some)
  return records
}
const failureOf = (script: Script, input: TsigKey | null = key, more: Partial<TransferLimits> = {}) =>
  transferred(script, input, more).then(
    () => 'whole',
    error => error.failure,
  )
const primary = primaryScript(() => zone, { key, now })
const open = primaryScript(() => zone, { key: null, now })
const inManyMessages = primaryScript(() => zone, { key: null, now, limit: 120 })
/** Modifies the messages of a response before they are sent. */
const changed =
  (script: Script, change: (messages: Uint8Array[]) => (Uint8Array | 'close' | null)[]): Script =>
  request =>
    change(script(request) as Uint8Array[])

describe('a whole zone', () => {
  test('is transferred in order, with the SOA once', async () => {
    const server: number[] = []
    const counted = changed(primary, messages => {
      server.push(messages.length)
      return messages
    })
    expect(await transferred(counted)).toEqual(zone)
    expect(server[0]).toBeGreaterThan(5)
  })
  test('in one message', async () => {
    expect(await transferred(primaryScript(() => zone.slice(0, 2), { key, now }))).toEqual(zone.slice(0, 2))
  })
  test('without a key', async () => expect(await transferred(open, null)).toEqual(zone))
  test('with one record per message', async () => {
    const single: Script = ({ message: { id, question } }) =>
      [...zone, zone[0]!].map((one, at) =>
        encodeMessage({
          ...message({ id, question: at === 0 ? question : [], answer: [one] }),
          flags: { qr: true, aa: true, tc: false, rd: false, ra: false, ad: false, cd: false },
        }),
      )
    expect(await transferred(single, null)).toEqual(zone)
  })
  test('with unsigned messages in the middle', async () => {
    expect(await transferred(signedEvery(100))).toEqual(zone)
  })
})

/** Signs every nth message and the last. */
function signedEvery(n: number, { last = true, first = true } = {}): Script {
  return request => {
    const bare = inManyMessages(request) as Uint8Array[]
    let prior = request.message.tsig!.mac
    let unsigned: Uint8Array[] = []
    return bare.map((one, at) => {
      const due = at === 0 ? first : at % n === 0 || (last && at === bare.length - 1)
      if (!due) {
        unsigned.push(one)
        return one
      }
      const signed = signTsig(one, key, { time: time / 1000, prior, timersOnly: at > 0, unsigned })
      prior = signed.mac
      unsigned = []
      return signed.message
    })
  }
}

describe('an incomplete zone', () => {
  const ends: [string, Script, string][] = [
    ['half of it', changed(primary, messages => [...messages.slice(0, 3), 'close']), 'incomplete'],
    ['nothing', () => ['close'], 'incomplete'],
    ['the SOA alone', primaryWith([zone[0]!]), 'incomplete'],
    ['another serial at the end', primaryWith([zone[0]!, address(1), soaOf(8)]), 'incomplete'],
    ['no SOA before it', primaryWith([address(1), zone[0]!]), 'invalid_response'],
    ['records after its end', primaryWith([zone[0]!, address(1), zone[0]!, address(2)]), 'invalid_response'],
    ['a name outside', primaryWith([zone[0]!, address(1, 'n.example.net.'), zone[0]!]), 'invalid_response'],
    ['another class', primaryWith([zone[0]!, { ...address(1), class: 3 }, zone[0]!]), 'invalid_response'],
    ['garbage', changed(primary, ([first]) => [first!, Uint8Array.from([0, 1, 2])]), 'invalid_response'],
    ['the answer to another question', changed(primary, messages => messages.map(renumbered)), 'invalid_response'],
    ['a refusal', primaryScript(() => [soaOf(1), address(1)].map(one => ({ ...one, name: 'other.' })), { key, now }), 'refused'],
  ]
  test.each(ends)('%s', async (_, script, failure) => expect(await failureOf(script)).toBe(failure))

  test('a refusal includes its RCODE', async () => {
    await expect(transferred(primary, null)).rejects.toMatchObject({ failure: 'refused', rcode: RCODE.REFUSED })
  })
  test('a server that stops responding', async () => {
    expect(
      await failureOf(
        changed(primary, messages => [messages[0]!, null]),
        key,
        { timeoutMs: 150 },
      ),
    ).toBe('timeout')
  })

  const wrong: [string, Script, string][] = [
    ['no signature at all', open, 'unsigned'],
    ['a last message without signature', signedEvery(4, { last: false }), 'unsigned'],
    ['a first message without signature', signedEvery(4, { first: false }), 'unsigned'],
    ['no signature in a hundred messages', signedEvery(1000), 'unsigned'],
    ['a message that was changed', changed(primary, messages => messages.map(flipped)), 'unsigned'],
    ['messages in another order', changed(primary, ([a, b, c, ...rest]) => [a!, c!, b!, ...rest]), 'unsigned'],
    ['a key of another secret', primaryScript(() => zone, { key: { ...key, secret: Buffer.alloc(32) }, now }), 'bad_key'],
    ['a key of another name', primaryScript(() => zone, { key: { ...key, name: 'x.' }, now }), 'bad_key'],
    ['another clock', primaryScript(() => zone, { key, now: () => time + 400_000 }), 'bad_key'],
  ]
  test.each(wrong)('%s', async (_, script, failure) => expect(await failureOf(script)).toBe(failure))
})

describe('limits', () => {
  test('of records', async () => {
    expect(await failureOf(primary, key, { records: 1000 })).toBe('whole')
    expect(await failureOf(primary, key, { records: 999 })).toBe('too_large')
  })
  test('of octets', async () => expect(await failureOf(primary, key, { octets: 9000 })).toBe('too_large'))
  test('an endless stream is stopped', async () => {
    const endless: Script = request => {
      const [first] = primary(request) as Uint8Array[]
      return Array.from({ length: 400 }, () => first!)
    }
    expect(['too_large', 'unsigned', 'invalid_response']).toContain(await failureOf(endless, key, { octets: 100_000 }))
  })
})

/** A primary that sends exactly these answers, in one message. */
function primaryWith(answer: readonly ResourceRecord[]): Script {
  return request => {
    const { id, question, flags } = request.message
    const octets = encodeMessage({ ...message({ id, question, answer }), flags: { ...flags, qr: true, aa: true } })
    return [signTsig(octets, key, { time: time / 1000, prior: request.message.tsig!.mac }).message, 'close']
  }
}

function renumbered(octets: Uint8Array): Uint8Array {
  const other = Uint8Array.from(octets)
  other[1]! ^= 1
  return other
}

/** Changes the last octet of the first address. */
function flipped(octets: Uint8Array, at: number): Uint8Array {
  if (at !== 2) return octets
  const other = Uint8Array.from(octets)
  const end = decodeMessage(octets).tsig!.at - 1
  other[end]! ^= 1
  return other
}
