import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { queryOctets, recordText, servedZone } from '../../../../test/support/served-zone'
import { systemClock } from '../../../core/clock'
import { CLASS, message, OPCODE, type Message, type ResourceRecord } from '../../../dns/message'
import { decodeMessage } from '../../../dns/message-decode'
import { encodeMessage } from '../../../dns/message-encode'
import { rdataOfText } from '../../../dns/rdata'
import { framed, FrameReader } from '../../../dns/tcp-frame'
import { signTsig, transferVerifier, TSIG_ERROR, verifyTsig, type TsigKey } from '../../../dns/tsig'
import { openLog } from '../../../core/log'
import { TransferKeys, type ServedKey } from './transfer-keys'
import { Transfers } from './transfers'
import type { Counts, Delta, HubRequest, ListenOptions, Transferred } from './messages'
import { NameServer } from './name-server'
import { ZoneIndex } from './zone-index'

const options: ListenOptions = {
  host: '127.0.0.1',
  port: 0,
  setting: '--dns-listen',
  responsesPerSecond: 3,
  limitLoopback: true,
  transfers: 2,
  stallMs: 400,
}
const create = (name: string, more: Partial<ServedKey> = {}): ServedKey => ({
  name,
  algorithm: 'hmac-sha256',
  secret: crypto.getRandomValues(new Uint8Array(32)),
  owner: 'us',
  allZones: true,
  ...more,
})
const key = create('Key.test.')
const catalogKey = create('catalog.key.', { allZones: false })
const otherOwnersKey = create('them.test.', { owner: 'them' })
const md5 = create('old.test.', { algorithm: 'hmac-md5', allowMd5: true })
const md5Refused = create('older.test.', { algorithm: 'hmac-md5' })
const rights = {
  keys: [key, catalogKey, otherOwnersKey, md5, md5Refused],
  zones: [
    { name: 'cat.test.', owner: 'us', keys: ['catalog.key.'] },
    { name: 'closed.test.', owner: 'us', keys: ['old.test.'] },
  ],
}
const zone = servedZone(
  'z.test.',
  '@ 60 SOA ns h 7 2 3 4 5\n@ 60 NS ns.far.test.\nwww 60 A 192.0.2.1\nwww 60 A 192.0.2.2\n*.w 60 TXT "a"',
)
const catalog = servedZone(
  'cat.test.',
  '@ 0 SOA invalid. invalid. 3 2 3 4 5\n@ 0 NS invalid.\nversion 0 TXT "2"\na.zones 0 PTR z.test.',
)
const soaOf = (serial: number) => ({ ttl: 60, rdata: rdataOfText('SOA', `ns h ${serial} 2 3 4 5`, 'z.test.') })
const record = (name: string, text: string) => ({ name, type: 'A', ttl: 60, rdata: rdataOfText('A', text, '.') })
const deltas: Delta[] = [
  {
    fromSerial: 5,
    toSerial: 6,
    soaBefore: soaOf(5),
    soaAfter: soaOf(6),
    removed: [],
    added: [record('www.z.test.', '192.0.2.2')],
  },
  {
    fromSerial: 6,
    toSerial: 7,
    soaBefore: soaOf(6),
    soaAfter: soaOf(7),
    removed: [record('old.z.test.', '192.0.2.9')],
    added: [],
  },
]

const lookup: HubRequest[] = []
// The key of a provider of the zone. A key of the hub has the same name.
const theirs: TsigKey = { ...key, secret: Uint8Array.from({ length: 32 }, () => 7) }
/** Pending requests to the hub, while there is a list. */
let held: PromiseWithResolvers<Delta[] | null>[] | null = null
const transferred: Transferred[] = []
let empties = 0
const counts: Counts[] = []
const server = new NameServer(options, {
  entry: resolve('src/bin/name-server.ts'),
  clock: systemClock,
  log: openLog('silent'),
  onCounts: one => counts.push(one),
  onEmpty: () => empties++,
  async onRequest(question) {
    lookup.push(question)
    if (held && question.kind === 'deltas') {
      held.push(Promise.withResolvers())
      return await held.at(-1)!.promise
    }
    if (question.kind === 'deltas') return question.from === 5 ? deltas : null
    if (question.kind === 'notify_keys')
      return question.zone === 'elsewhere.test.' ? [theirs].filter(one => one.name === question.key) : []
    return question.zone === 'elsewhere.test.'
  },
  onTransferred: one => transferred.push(one),
})
let port = 0
beforeAll(async () => {
  await server.start()
  port = server.address!.port
  server.grant(rights)
  await server.put({ ...zone, owner: 'us' })
  await server.put({ ...catalog, owner: 'us', hidden: true })
  await server.put({ ...servedZone('closed.test.', '@ 60 SOA ns h 1 2 3 4 5'), owner: 'us' })
  const lines = Array.from({ length: 50_000 }, (_, n) => `host-number-${n} 60 A 192.0.${n >> 8}.${n & 255}`)
  await server.put({ ...servedZone('long.test.', `@ 60 SOA ns h 1 2 3 4 5\n${lines.join('\n')}`), owner: 'us' })
  server.complete()
  await server.synced()
})
afterAll(() => server.stop())

const now = () => Math.floor(systemClock.now() / 1000)
/** Waits for the next reported transfer of these. */
async function lastTransfer(type: Transferred['type']): Promise<Transferred | undefined> {
  for (let tries = 0; tries < 1_000 && transferred.at(-1)?.type !== type; tries++) await Bun.sleep(10)
  return transferred.at(-1)
}

const query = (name: string, type: string, from: number | null = null): Message =>
  message({
    id: 1 + Math.floor(Math.random() * 65_000),
    question: [{ name, type, class: CLASS.IN }],
    ...(from !== null && { authority: [{ name, type: 'SOA', class: CLASS.IN, ...soaOf(from) }] }),
  })

interface Answer {
  messages: Message[]
  records: ResourceRecord[]
  /** Whether all messages had valid signatures. */
  verified: boolean
}

/** Sends a query over TCP, and reads until the response is complete: the final SOA, or a refusal. */
async function transfer(
  name: string,
  type: 'AXFR' | 'IXFR',
  by: TsigKey | null = key,
  from: number | null = null,
): Promise<Answer> {
  const plain = encodeMessage(query(name, type, from))
  const signed = by && signTsig(plain, by, { time: now() })
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const reader = new FrameReader()
  const messages: { octets: Uint8Array; read: Message }[] = []
  const records: ResourceRecord[] = []
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, octets) {
        reader.push(octets)
        for (let next = reader.next(); next; next = reader.next()) {
          const own = Uint8Array.from(next)
          const read = decodeMessage(own)
          messages.push({ octets: own, read })
          records.push(...read.answer)
          const soas = records.filter(one => one.type === 'SOA')
          // IXFR contains the new SOA three times, AXFR twice; a single SOA is complete.
          const last = soas.filter(one => recordText(one) === recordText(soas[0]!)).length
          const isIncremental = type === 'IXFR' && records[1]?.type === 'SOA'
          if (read.answer.length === 0 || records.length === 1 || last === (isIncremental ? 3 : 2)) end()
        }
      },
      close: () => end(),
      error: () => end(),
    },
  })
  socket.write(framed(signed?.message ?? plain))
  await Promise.race([promise, Bun.sleep(15_000)])
  socket.terminate()
  const verifier = by && signed && transferVerifier(by, signed.mac)
  const verdicts = messages.map(({ octets, read }) => verifier?.next(octets, read.tsig, now()).ok ?? false)
  return { messages: messages.map(one => one.read), records, verified: verdicts.every(Boolean) && verdicts.length > 0 }
}

/** Repeats queries whose responses are dropped by rate limiting. */
async function insisted(octets: Uint8Array): Promise<Message> {
  for (let tries = 0; ; tries++) {
    const answer = await udp(octets, quietMs)
    const read = answer && decodeMessage(answer)
    if (read && !read.flags.tc) return read
    if (tries === 30) throw new Error('No answer came.')
  }
}

// Long timeouts for busy machines where a response is certain; short ones where none is expected.
const surelyMs = 10_000
const quietMs = 1_000

async function udp(octets: Uint8Array, withinMs = surelyMs): Promise<Uint8Array | null> {
  const { promise, resolve: done } = Promise.withResolvers<Uint8Array | null>()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port },
    socket: { data: (_, answer) => done(Uint8Array.from(answer)), error() {} },
  })
  socket.send(octets)
  const answer = await Promise.race([promise, Bun.sleep(withinMs).then(() => null)])
  socket.close()
  return answer
}

/** Sends a signed query over UDP, and verifies the response. */
async function signedUdp(
  unsent: Message,
  by: TsigKey,
  time = now(),
  withinMs = surelyMs,
): Promise<{ answer: Message; verified: boolean } | null> {
  const signed = signTsig(encodeMessage(unsent), by, { time })
  const octets = await udp(signed.message, withinMs)
  if (!octets) return null
  const answer = decodeMessage(octets)
  return {
    answer,
    verified: answer.tsig !== null && verifyTsig(octets, answer.tsig, [by], { now: time, prior: signed.mac }).ok,
  }
}

describe('AXFR', () => {
  test('sends the whole zone, signed, to holders of a key of its owner', async () => {
    const { records, verified, messages } = await transfer('z.test.', 'AXFR')
    expect(verified).toBe(true)
    expect(messages[0]).toMatchObject({ rcode: 0, flags: { aa: true }, question: [{ name: 'z.test.', type: 'AXFR' }] })
    const lines = records.map(recordText)
    expect(lines).toHaveLength(6)
    expect(lines[0]).toBe('z.test. 60 SOA ns.z.test. h.z.test. 7 2 3 4 5')
    expect(lines.at(-1)).toBe(lines[0]!)
    expect(lines.slice(1, -1).sort()).toEqual([
      '*.w.z.test. 60 TXT "a"',
      'www.z.test. 60 A 192.0.2.1',
      'www.z.test. 60 A 192.0.2.2',
      'z.test. 60 NS ns.far.test.',
    ])
    expect(await lastTransfer('axfr')).toEqual({
      ...{ zone: 'z.test.', hidden: false, key: 'Key.test.', peer: '127.0.0.1', serial: 7, type: 'axfr' },
    })
  })

  test.each([
    ['without a key', 'z.test.', null, 5, 0],
    ['with a key of another owner', 'z.test.', otherOwnersKey, 5, 0],
    ['with a key that the zone does not name', 'closed.test.', key, 5, 0],
    ['of a zone that is not here', 'nothing.test.', key, 9, 0],
    ['with a key that is not known', 'z.test.', create('unknown.'), 9, TSIG_ERROR.BADKEY],
    ['with a wrong secret', 'z.test.', { ...key, secret: new Uint8Array(32) }, 9, TSIG_ERROR.BADSIG],
    ['with MD5 that its owner did not allow', 'z.test.', { ...md5Refused, allowMd5: true }, 9, TSIG_ERROR.BADKEY],
  ])('%s is refused', async (_, name, by, rcode, error) => {
    const { messages, records } = await transfer(name, 'AXFR', by)
    expect(messages).toMatchObject([{ rcode, tsig: by === null ? null : { error } }])
    expect(records).toEqual([])
  })

  test('with a signature of an invalid length is FORMERR', async () => {
    const signed = signTsig(encodeMessage(query('z.test.', 'SOA')), key, { time: now() }).message
    // The MAC is followed by the id and two empty fields. Both its length and the record length have to match.
    const cut = Buffer.concat([signed.subarray(0, -6 - 32), signed.subarray(-6 - 32, -6 - 24), signed.subarray(-6)])
    cut.writeUInt16BE(8, cut.length - 6 - 8 - 2)
    const { at, algorithm } = decodeMessage(signed).tsig!
    const size = at + key.name.length + 1 + 8
    cut.writeUInt16BE(cut.length - size - 2, size)
    expect(decodeMessage(cut).tsig).toMatchObject({ algorithm, mac: { length: 8 } })
    expect(await insisted(cut)).toMatchObject({ rcode: 1, tsig: null })
  })

  test('with the key of the zone is allowed, also with MD5 if its owner allowed that', async () => {
    expect(await transfer('closed.test.', 'AXFR', md5)).toMatchObject({ verified: true, records: { length: 2 } })
  })

  test('with a wrong time is refused with both times, signed', async () => {
    const unsent = query('z.test.', 'SOA')
    const { answer, verified } = (await signedUdp(unsent, key, now() - 4000))!
    expect(answer).toMatchObject({ rcode: 9, tsig: { error: TSIG_ERROR.BADTIME, other: { length: 6 } } })
    expect(Buffer.from(answer.tsig!.other).readUIntBE(0, 6)).toBeWithin(now() - 60, now() + 60)
    expect(verified).toBe(true)
  })

  test('over UDP is refused', async () => {
    expect((await signedUdp(query('z.test.', 'AXFR'), key))!).toMatchObject({ verified: true, answer: { rcode: 5, answer: [] } })
  })

  test('contains addresses instead of an ALIAS, and IXFR of such a zone is full', async () => {
    const lines =
      '@ 60 SOA ns h 7 2 3 4 5\n@ 60 ALIAS www\nwww 60 A 192.0.2.1\n@ 60 A 192.0.2.9\nfar 60 ALIAS x.far.test.\nfar 30 AAAA 2001:db8::1'
    await server.put({ ...servedZone('alias.test.', lines), owner: 'us' })
    await server.synced()
    // The stored addresses that belong to the serial, not freshly resolved ones.
    const expected = ['alias.test. 60 A 192.0.2.9', 'far.alias.test. 30 AAAA 2001:db8::1', 'www.alias.test. 60 A 192.0.2.1']
    const transferred = async (type: 'AXFR' | 'IXFR', from: number | null) =>
      (await transfer('alias.test.', type, key, from)).records.slice(1, -1).map(recordText).sort()
    expect(await transferred('AXFR', null)).toEqual(expected)
    expect(await transferred('IXFR', 5)).toEqual(expected)
  })

  test('of 50,000 records does not block other queries, and the zone may change meanwhile', async () => {
    const waits: number[] = []
    let asking = true
    const others = (async () => {
      while (asking) {
        const from = performance.now()
        const { answer } = (await signedUdp(query('www.z.test.', 'A'), key))!
        expect(answer.answer).toHaveLength(2)
        waits.push(performance.now() - from)
        // Below the rate limit of key holders.
        await Bun.sleep(40)
      }
    })()
    const started = performance.now()
    const coming = transfer('long.test.', 'AXFR')
    await Bun.sleep(20)
    server.change({ name: 'long.test.', rrsets: [{ name: 'host-number-1.long.test.', type: 'A', ttl: 1, rdata: [] }] })
    const { records, verified, messages } = await coming
    const took = performance.now() - started
    asking = false
    await others
    expect(verified).toBe(true)
    // The zone as it was when the transfer began, which may be after the change.
    expect(records.length).toBeOneOf([50_001, 50_002])
    expect(waits.length).toBeGreaterThan(1)
    process.stdout.write(
      `50,000 records in ${messages.length} messages and ${Math.round(took)} ms; others waited ${Math.round(Math.max(...waits))} ms at most\n`,
    )
  }, 180_000)

  test('of a client that stops reading ends, and frees its slot', async () => {
    const stalled: { terminate(): void }[] = []
    let closed = 0
    for (let n = 0; n < 2; n++) {
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: { data() {}, close: () => void closed++, error() {} },
      })
      socket.pause()
      for (let times = 0; times < 6; times++)
        socket.write(framed(signTsig(encodeMessage(query('long.test.', 'AXFR')), key, { time: now() }).message))
      stalled.push(socket)
    }
    const { records, verified } = await transfer('z.test.', 'AXFR')
    expect({ verified, records: records.length }).toEqual({ verified: true, records: 6 })
    for (let tries = 0; tries < 200 && countOf('transfers', 'stalled') === 0; tries++) await Bun.sleep(50)
    expect(countOf('transfers', 'stalled')).toBeGreaterThan(0)
    for (const socket of stalled) socket.terminate()
  }, 180_000)

  test('and other queries on one connection are answered in order', async () => {
    const sent = [query('www.z.test.', 'A'), query('z.test.', 'AXFR'), query('www.z.test.', 'AAAA'), query('z.test.', 'AXFR')]
    const octets = sent.map(one => signTsig(encodeMessage(one), key, { time: now() }).message)
    const answers = await onOneConnection(octets, sent.length)
    expect(answers.map(one => one.id)).toEqual(sent.map(one => one.id))
  })
})

describe('IXFR', () => {
  test('sends the changes, delta by delta', async () => {
    const { records, verified } = await transfer('z.test.', 'IXFR', key, 5)
    expect(verified).toBe(true)
    const soa = (serial: number) => `z.test. 60 SOA ns.z.test. h.z.test. ${serial} 2 3 4 5`
    expect(records.map(recordText)).toEqual([
      soa(7),
      soa(5),
      soa(6),
      'www.z.test. 60 A 192.0.2.2',
      soa(6),
      'old.z.test. 60 A 192.0.2.9',
      soa(7),
      soa(7),
    ])
    expect(lookup.at(-1)).toEqual({ kind: 'deltas', zone: 'z.test.', from: 5, maxRecords: 10_000 })
    expect(await lastTransfer('ixfr')).toMatchObject({ serial: 7, zone: 'z.test.' })
  })

  test('sends the whole zone if the changes are not known', async () => {
    const { records, verified } = await transfer('z.test.', 'IXFR', key, 2)
    expect({ verified, records: records.length }).toEqual({ verified: true, records: 6 })
    expect(await lastTransfer('axfr')).toMatchObject({ type: 'axfr', serial: 7 })
  })

  test.each([7, 8])('sends only the SOA to a client at serial %p', async serial => {
    const { records, verified } = await transfer('z.test.', 'IXFR', key, serial)
    expect({ verified, lines: records.map(recordText) }).toMatchObject({ verified: true, lines: { length: 1 } })
    expect(await lastTransfer('up_to_date')).toMatchObject({ type: 'up_to_date' })
  })

  test('over UDP sends the SOA, so that the client retries over TCP', async () => {
    const { answer, verified } = (await signedUdp(query('z.test.', 'IXFR', 5), key))!
    expect({ verified, type: answer.question[0]!.type, lines: answer.answer.map(recordText) }).toEqual({
      verified: true,
      type: 'IXFR',
      lines: ['z.test. 60 SOA ns.z.test. h.z.test. 7 2 3 4 5'],
    })
  })

  test('without a serial is FORMERR', async () => {
    expect((await transfer('z.test.', 'IXFR', key)).messages).toMatchObject([{ rcode: 1 }])
  })
})

describe('a hidden zone', () => {
  test('is visible and can be transferred with its key', async () => {
    const { answer, verified } = (await signedUdp(query('cat.test.', 'SOA'), catalogKey))!
    expect({ verified, serial: answer.answer.map(recordText) }).toEqual({
      verified: true,
      serial: ['cat.test. 0 SOA invalid. invalid. 3 2 3 4 5'],
    })
    expect((await transfer('cat.test.', 'AXFR', catalogKey)).records).toHaveLength(5)
    expect((await transfer('cat.test.', 'IXFR', catalogKey, 2)).records).toHaveLength(5)
  })

  test('does not exist for anyone else', async () => {
    expect(await insisted(queryOctets('cat.test.', 'SOA'))).toMatchObject({ rcode: 5, answer: [] })
    expect((await signedUdp(query('cat.test.', 'SOA'), key))!.answer).toMatchObject({ rcode: 5, answer: [] })
    expect((await transfer('cat.test.', 'AXFR', key)).messages).toMatchObject([{ rcode: 9, answer: [] }])
  })

  test('has a key that gives access to nothing else', async () => {
    expect((await transfer('z.test.', 'AXFR', catalogKey)).messages).toMatchObject([{ rcode: 5 }])
  })

  test('can be removed while a zone with the same name stays', async () => {
    await server.put({ ...servedZone('twin.test.', '@ 60 SOA ns h 1 2 3 4 5'), owner: 'them' })
    await server.put({ ...servedZone('twin.test.', '@ 0 SOA ns h 2 2 3 4 5'), owner: 'us', hidden: true })
    await server.synced()
    expect((await transfer('twin.test.', 'AXFR', otherOwnersKey)).records.map(recordText)[0]).toContain(' 1 2 3 4 5')
    expect((await transfer('twin.test.', 'AXFR', key)).records.map(recordText)[0]).toContain(' 2 2 3 4 5')
    server.remove('twin.test.', true)
    await server.synced()
    expect((await transfer('twin.test.', 'AXFR', key)).messages).toMatchObject([{ rcode: 5 }])
    expect((await transfer('twin.test.', 'AXFR', otherOwnersKey)).records).toHaveLength(2)
  })
})

describe('signed queries', () => {
  test('have a ten times higher rate limit', async () => {
    const answers = []
    for (let n = 0; n < 12; n++) answers.push(await signedUdp(query('www.z.test.', 'A'), key))
    expect(answers.map(one => one?.verified && one.answer.answer.length)).toEqual(Array.from({ length: 12 }, () => 2))
    const startedAt = performance.now()
    const many = await Promise.all(Array.from({ length: 120 }, () => signedUdp(query('www.z.test.', 'A'), key, now(), quietMs)))
    // 30 at once, and 30 a second.
    const seconds = (performance.now() - startedAt) / 1000
    expect(many.filter(one => one?.verified).length).toBeLessThan(Math.max(100, 31 + 30 * seconds))
  })

  test('see changed keys', async () => {
    server.grant({ ...rights, keys: [otherOwnersKey] })
    await server.synced()
    const { answer } = (await signedUdp(query('z.test.', 'SOA'), key))!
    expect(answer).toMatchObject({ rcode: 9, tsig: { error: TSIG_ERROR.BADKEY } })
    server.grant(rights)
    await server.synced()
    expect((await signedUdp(query('z.test.', 'SOA'), key))!.verified).toBe(true)
  })
})

describe('NOTIFY', () => {
  const notify = (name: string, more: object = {}) =>
    message({ id: 7, opcode: OPCODE.NOTIFY, flags: { aa: true }, question: [{ name, type: 'SOA', class: CLASS.IN }], ...more })

  test('for a zone with sync targets is accepted, with or without a serial and a signature', async () => {
    const answer = [{ name: 'elsewhere.test.', type: 'SOA', class: CLASS.IN, ...soaOf(5) }]
    for (const one of [notify('elsewhere.test.'), notify('elsewhere.test.', { answer })]) {
      expect(decodeMessage((await udp(encodeMessage(one)))!)).toMatchObject({
        ...{ id: 7, opcode: OPCODE.NOTIFY, rcode: 0, flags: { qr: true, aa: true }, answer: [] },
      })
      expect((await signedUdp(one, key))!).toMatchObject({ verified: true, answer: { opcode: OPCODE.NOTIFY, rcode: 0 } })
      expect(lookup.at(-1)).toEqual({ kind: 'notified', zone: 'elsewhere.test.' })
    }
  })

  test('for any other zone is NOTAUTH', async () => {
    expect(decodeMessage((await udp(encodeMessage(notify('z.test.'))))!)).toMatchObject({ rcode: 9, flags: { aa: false } })
  })

  test('with an invalid signature has no effect', async () => {
    const { answer } = (await signedUdp(notify('forged.test.'), { ...key, secret: new Uint8Array(32) }))!
    expect(answer).toMatchObject({ opcode: OPCODE.NOTIFY, rcode: 9, tsig: { error: TSIG_ERROR.BADSIG } })
    expect(lookup.filter(one => one.zone === 'forged.test.')).toEqual([
      { kind: 'notify_keys', zone: 'forged.test.', key: key.name },
    ])
  })

  test('is signed with the shared key of a provider, which gives no access', async () => {
    const response = (await signedUdp(notify('elsewhere.test.'), theirs))!
    expect(response).toMatchObject({ verified: true, answer: { opcode: OPCODE.NOTIFY, rcode: 0 } })
    expect(lookup).toContainEqual({ kind: 'notified', zone: 'elsewhere.test.' })
    const asks = (await signedUdp(query('z.test.', 'SOA'), theirs))!
    expect(asks.answer).toMatchObject({ rcode: 9, tsig: { error: TSIG_ERROR.BADSIG } })
  })

  test('of another type is FORMERR', async () => {
    const wrong = notify('elsewhere.test.', { question: [{ name: 'elsewhere.test.', type: 'A', class: CLASS.IN }] })
    expect(await insisted(encodeMessage(wrong))).toMatchObject({ rcode: 1 })
  })

  test('over TCP is answered, as are queries after it', async () => {
    const both = [encodeMessage(notify('elsewhere.test.')), encodeMessage(query('www.z.test.', 'A'))]
    const read = await onOneConnection(both, 2)
    expect(read).toMatchObject([
      { opcode: OPCODE.NOTIFY, rcode: 0 },
      { opcode: OPCODE.QUERY, answer: { length: 2 } },
    ])
  })

  test('is rate-limited, and repeated messages cause only two requests to the hub', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => udp(encodeMessage(notify('Much.test.')), quietMs)))
    expect(answers.filter(one => one === null).length).toBeGreaterThan(10)
    const requests = () => lookup.filter(one => one.zone === 'much.test.').length
    for (let tries = 0; tries < 100 && requests() < 2; tries++) await Bun.sleep(50)
    expect(requests()).toBe(2)
  })
})

/** Sends messages at once on one TCP connection, and returns the first `count` responses, or those within 15 s. */
async function onOneConnection(sent: Uint8Array[], count: number): Promise<Message[]> {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const reader = new FrameReader()
  const read: Message[] = []
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, octets) {
        reader.push(octets)
        for (let next = reader.next(); next; next = reader.next()) read.push(decodeMessage(Uint8Array.from(next)))
        if (read.length === count) end()
      },
      error() {},
    },
  })
  socket.write(Buffer.concat(sent.map(framed)))
  await Promise.race([promise, Bun.sleep(15_000)])
  socket.terminate()
  return read
}

const countOf = (kind: keyof Counts, name: string) => counts.reduce((sum, one) => sum + (one[kind][name] ?? 0), 0)

test('transfers and NOTIFY messages are counted by outcome', async () => {
  for (let tries = 0; tries < 300 && countOf('notifies', 'dropped') === 0; tries++) await Bun.sleep(50)
  for (const kind of ['axfr', 'ixfr', 'up_to_date', 'refused']) expect([kind, countOf('transfers', kind)]).not.toEqual([kind, 0])
  for (const kind of ['accepted', 'refused', 'dropped']) expect([kind, countOf('notifies', kind)]).not.toEqual([kind, 0])
})

test('requests of a crashed thread are not answered to the next one', async () => {
  held = []
  const asking = (from: number) => transfer('z.test.', 'IXFR', key, from)
  const first = asking(5)
  for (let tries = 0; tries < 1_000 && held.length < 1; tries++) await Bun.sleep(10)
  const before = empties
  // Not absolute, which is unexpected in the thread.
  server.remove('relative')
  await first
  for (let tries = 0; tries < 200 && empties === before; tries++) await Bun.sleep(50)
  server.grant(rights)
  await server.put({ ...zone, owner: 'us' })
  server.complete()
  await server.synced()
  const second = asking(6)
  for (let tries = 0; tries < 1_000 && held.length < 2; tries++) await Bun.sleep(10)
  held[0]!.resolve(deltas)
  await server.synced()
  held[1]!.resolve(null)
  const { records } = await second
  held = null
  expect(records).toHaveLength(6)
}, 180_000)

test('transfers wait for a slot, up to a time limit', async () => {
  const figures: { transfers: Record<string, number> } = { transfers: {} }
  const index = ZoneIndex.of({ ...zone, owner: 'us' })
  const transfers = new Transfers({
    hub: { request: async () => undefined },
    counters: figures,
    now,
    done() {},
    limits: { maxActive: 2, maxPerAddress: 1, maxPerOwner: 1, waiting: 1, waitMs: 250 },
  })
  const begin = (peer: string, owner: string) =>
    transfers.messages({
      zone: () => index,
      hidden: false,
      id: 1,
      question: { name: 'z.test.', type: 'AXFR', class: CLASS.IN },
      key,
      mac: new Uint8Array(32),
      from: null,
      peer,
      owner,
      emptyAnswer: () => new Uint8Array(3),
    })
  const [one, two] = [begin('a', 'us'), begin('b', 'them')]
  expect((await one.next()).value!.length).toBeGreaterThan(100)
  expect((await two.next()).value!.length).toBeGreaterThan(100)
  expect(await begin('c', 'others').next()).toMatchObject({ value: { length: 3 } })
  await two.return()
  for (const [peer, owner] of [
    ['a', 'others'],
    ['c', 'us'],
  ])
    expect(await begin(peer!, owner!).next()).toMatchObject({ value: { length: 3 } })
  const waiting = begin('a', 'us').next()
  // One waiting transfer is enough.
  expect(await begin('a', 'us').next()).toMatchObject({ value: { length: 3 } })
  await one.return()
  expect((await waiting).value!.length).toBeGreaterThan(100)
  expect(figures.transfers).toEqual({ refused: 4, aborted: 2 })
})

test('keys are found case-insensitively, and give access only to zones of their owner', () => {
  const keys = new TransferKeys()
  keys.replace(rights)
  const of = (owner: string, name = 'z.test.') => new ZoneIndex(name, owner)
  expect([keys.mayTransfer(key, of('us')), keys.mayTransfer(key, of('them')), keys.mayTransfer(key, of(''))]).toEqual([
    true,
    false,
    false,
  ])
  expect(keys.mayTransfer(catalogKey, of('us', 'Cat.test.'))).toBe(true)
  const signed = signTsig(encodeMessage(query('z.test.', 'SOA')), { ...key, name: 'kEY.tEST.' }, { time: now() })
  expect(keys.verify(signed.message, decodeMessage(signed.message).tsig!, now()).ok).toBe(true)
})
