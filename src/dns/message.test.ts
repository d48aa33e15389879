import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cpuTime } from '../../test/support/cpu-time'
import { anyFields, anyName } from '../../test/support/dns-values'
import { generator, tries, type Random } from '../../test/support/random'
import { DnsFormatError } from './format-error'
import { CLASS, message, OPCODE, RCODE, type Message, type ResourceRecord } from './message'
import { decodeHeader, decodeMessage } from './message-decode'
import { encodeMessage, encodeTransfer } from './message-encode'
import { rdataOfFields, rdataOfText } from './rdata'
import { readUpdate, updateMessage, type Prerequisite, type UpdateStep } from './update'

const FUZZED = tries(20_000)

const u16 = fc.integer({ min: 0, max: 0xffff })
const u32 = fc.integer({ min: 0, max: 0xffffffff })

const anyRecord: fc.Arbitrary<ResourceRecord> = fc
  .constantFrom(...Object.entries(anyFields))
  .chain(([type, fields]) =>
    fc.record({ name: anyName, type: fc.constant(type), class: fc.constant(CLASS.IN), ttl: u32, fields }),
  )
  .map(({ fields, ...record }) => ({ ...record, rdata: rdataOfFields(record.type, fields, null) }))

const anyMessage: fc.Arbitrary<Message> = fc
  .record({
    id: u16,
    opcode: fc.constantFrom(...Object.values(OPCODE)),
    flags: fc.record({
      qr: fc.boolean(),
      aa: fc.boolean(),
      rd: fc.boolean(),
      ra: fc.boolean(),
      ad: fc.boolean(),
      cd: fc.boolean(),
    }),
    question: fc.array(fc.record({ name: anyName, type: fc.constantFrom('A', 'ANY', 'AXFR', 'TYPE7'), class: u16 }), {
      maxLength: 2,
    }),
    answer: fc.array(anyRecord, { maxLength: 6 }),
    authority: fc.array(anyRecord, { maxLength: 3 }),
    additional: fc.array(anyRecord, { maxLength: 3 }),
    rcode: fc.integer({ min: 0, max: 15 }),
    edns: fc.option(
      fc.record({
        udpSize: u16,
        version: fc.integer({ min: 0, max: 255 }),
        dnssec: fc.boolean(),
        options: fc.array(fc.record({ code: u16, value: fc.uint8Array({ maxLength: 20 }) }), { maxLength: 2 }),
      }),
    ),
  })
  .map(parts => message(parts))

const a = (name: string, address = '192.0.2.1', type = 'A'): ResourceRecord => ({
  name,
  type,
  class: CLASS.IN,
  ttl: 300,
  rdata: rdataOfText(type, address, null),
})
const hexOf = (octets: Uint8Array) => Buffer.from(octets).toString('hex')

describe('messages', () => {
  test('any message survives a round trip', () => {
    fc.assert(
      fc.property(anyMessage, one => {
        const octets = encodeMessage(one)
        expect(decodeMessage(octets)).toEqual(one)
        expect(hexOf(encodeMessage(decodeMessage(octets)))).toBe(hexOf(octets))
        expect(decodeHeader(octets)).toEqual({ id: one.id, opcode: one.opcode, flags: one.flags })
      }),
      { numRuns: 300 },
    )
  })

  test('a response is encoded in the expected format', () => {
    const answer = message({
      id: 0x1234,
      flags: { qr: true, aa: true, rd: true },
      question: [{ name: 'www.example.', type: 'CNAME', class: CLASS.IN }],
      answer: [a('www.example.', 'Web.example.', 'CNAME')],
      additional: [a('Web.example.')],
    })
    expect(hexOf(encodeMessage(answer))).toBe(
      '12348500000100010000000103777777076578616d706c650000050001' +
        'c00c000500010000012c000603576562c010' +
        'c029000100010000012c0004c0000201',
    )
  })

  test('RCODEs above 15 need EDNS and survive a round trip', () => {
    const edns = { udpSize: 1232, version: 0, dnssec: true, options: [] }
    const octets = encodeMessage(message({ id: 1, rcode: RCODE.BADVERS, edns }))
    expect(hexOf(octets)).toBe('000100000000000000000001' + '00002904d0010080000000')
    expect(decodeMessage(octets)).toMatchObject({ rcode: RCODE.BADVERS, edns })
  })

  test('a message without a header has none', () => {
    expect(decodeHeader(new Uint8Array(11))).toBeNull()
  })
})

describe('size limits', () => {
  const many = (count: number, owner: string) => Array.from({ length: count }, (_, at) => a(owner, `192.0.2.${at}`))

  test('a response is truncated by whole RRsets, with TC', () => {
    const question = [{ name: 'x.example.', type: 'A', class: CLASS.IN }]
    const full = message({
      id: 1,
      flags: { qr: true, aa: true },
      question,
      answer: [...many(2, 'x.example.'), ...many(40, 'y.example.')],
    })
    const cut = decodeMessage(encodeMessage(full, { limit: 512 }))
    expect(cut.flags.tc).toBe(true)
    expect(cut.answer).toEqual(full.answer.slice(0, 2))
    expect(decodeMessage(encodeMessage(full)).flags.tc).toBe(false)
  })

  test('additional records are omitted silently, but not the glue of a referral', () => {
    const ns = [a('example.', 'ns.example.', 'NS')]
    const additional = many(40, 'ns.example.')
    const answered = message({ id: 1, flags: { aa: true }, answer: [a('a.')], additional })
    expect(decodeMessage(encodeMessage(answered, { limit: 512 }))).toMatchObject({ flags: { tc: false }, additional: [] })
    const referral = message({ id: 1, authority: ns, additional })
    expect(decodeMessage(encodeMessage(referral, { limit: 512 }))).toMatchObject({
      flags: { tc: true },
      authority: ns,
      additional: [],
    })
  })

  test('no message exceeds its limit, and OPT and the space for a signature are kept', () => {
    fc.assert(
      fc.property(anyMessage, fc.integer({ min: 600, max: 2000 }), fc.integer({ min: 0, max: 90 }), (one, limit, reserve) => {
        const whole = encodeMessage({ ...one, answer: [], authority: [], additional: [] }, { limit: 0xffff })
        if (whole.length > limit - reserve) return
        const octets = encodeMessage(one, { limit, reserve })
        expect(octets.length).toBeLessThanOrEqual(limit - reserve)
        expect(decodeMessage(octets).edns).toEqual(one.edns)
      }),
      { numRuns: 200 },
    )
  })

  test('a question that does not fit is rejected', () => {
    expect(() => encodeMessage(message({ id: 1, question: [{ name: 'example.', type: 'A', class: 1 }] }), { limit: 20 })).toThrow(
      DnsFormatError,
    )
  })

  test('a transfer fills one message after another', () => {
    const first = message({
      id: 7,
      flags: { qr: true, aa: true },
      question: [{ name: 'example.', type: 'AXFR', class: CLASS.IN }],
    })
    const answers = Array.from({ length: 500 }, (_, at) => a(`host-${at}.example.`))
    const octets = [...encodeTransfer(first, answers, { limit: 2000, reserve: 100 })]
    const messages = octets.map(decodeMessage)
    expect(messages.flatMap(one => one.answer)).toEqual(answers)
    expect(messages.map(one => one.question.length)).toEqual(messages.map((_, at) => (at === 0 ? 1 : 0)))
    expect(Math.max(...octets.map(one => one.length))).toBeLessThanOrEqual(1900)
    expect(octets.length).toBeLessThan(12)
    expect([...encodeTransfer(first, [])]).toHaveLength(1)
    const large = { ...a('a.'), type: 'TXT', rdata: new Uint8Array(65_500) }
    expect(() => [...encodeTransfer(first, [large])]).toThrow('A record does not fit into a message')
  })
})

describe('invalid messages', () => {
  test.each([
    ['nothing', '', 'The message ends too early, at octet 0'],
    ['a header that promises a question', '0001000000010000000000 00', 'The message ends within a name, at octet 12'],
    ['octets at the end', '00010000000000000000000000', 'The message has octets after its last record, at octet 12'],
    ['a record cut in its rdata', '000100000000000100000000' + '00000100010000012c0004c0', 'The message ends too early'],
    ['rdata shorter than its names', '000100000000000100000000' + '00000f00010000012c000100', 'rdata ends too early'],
    ['a name past its rdata', '000100000000000100000000' + '00000200010000012c0001016100', 'rdata ends within a name'],
    ['two OPT records', '000100000000000000000002' + '00002904d0000000000000'.repeat(2), 'must have at most one OPT record'],
    ['OPT in the answer', '000100000000000100000000' + '00002904d0000000000000', 'must have at most one OPT record'],
    ['OPT of another name', '000100000000000000000001' + '016100002904d0000000000000', 'must have at most one OPT record'],
    ['an option that is cut', '000100000000000000000001' + '00002904d0000000000003000a00', 'ends too early'],
    [
      'TSIG that is not last',
      '000100000000000000000002' + '0000fa00ff000000000000' + '00000100010000012c0000',
      'not the last record',
    ],
  ])('%s', (_, hex, reason) => {
    expect(() => decodeMessage(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toThrow(reason)
  })

  test(`${FUZZED} spoiled messages are read or refused in little time`, () => {
    const seeds = fc.sample(anyMessage, { numRuns: 200, seed: 1 }).map(one => encodeMessage(one))
    const random = generator(20260101)
    let taken = 0
    for (let round = 0; round < FUZZED; round++) {
      const octets = spoiled(seeds[random(seeds.length)]!, random)
      try {
        decodeMessage(octets)
        taken++
      } catch (error) {
        if (!(error instanceof DnsFormatError)) throw new Error(`${hexOf(octets)}: ${error}`)
      }
    }
    // Only useful while it writes both.
    expect(taken).toBeGreaterThan(FUZZED / 100)
    expect(taken).toBeLessThan(FUZZED)
  }, 600_000)

  test('the most expensive message is decoded quickly', () => {
    // 64 KB of records whose names all point to one with 127 labels.
    const name = Buffer.concat([Buffer.from('0161'.repeat(126), 'hex'), Buffer.from([0])])
    const record = Buffer.from('c00c00020001000000000002c00c', 'hex')
    const count = Math.floor((65_535 - 12 - name.length - 10) / record.length)
    const head = Buffer.from('00010000000000000000000000', 'hex').subarray(0, 12)
    head.writeUInt16BE(count + 1, 6)
    const octets = Buffer.concat([head, name, Buffer.from('00100001000000000000', 'hex'), ...Array<Buffer>(count).fill(record)])
    const start = cpuTime()
    expect(decodeMessage(octets).answer).toHaveLength(count + 1)
    expect(cpuTime() - start).toBeLessThan(2000)
  })
})

describe('updates', () => {
  const rdata = rdataOfText('A', '192.0.2.1', null)
  const prerequisites: Prerequisite[] = [
    { kind: 'name_in_use', name: 'a.example.' },
    { kind: 'name_not_in_use', name: 'b.example.' },
    { kind: 'rrset_exists', name: 'c.example.', type: 'MX' },
    { kind: 'rrset_absent', name: 'd.example.', type: 'TYPE731' },
    { kind: 'rrset_is', name: 'e.example.', type: 'A', rdata },
  ]
  const steps: UpdateStep[] = [
    { kind: 'add', name: 'a.example.', type: 'A', ttl: 60, rdata },
    { kind: 'delete_record', name: 'a.example.', type: 'A', rdata },
    { kind: 'delete_rrset', name: 'a.example.', type: 'A' },
    { kind: 'delete_name', name: 'a.example.' },
  ]

  test('come back', () => {
    const octets = encodeMessage(updateMessage(9, 'example.', prerequisites, steps))
    expect(decodeMessage(octets)).toMatchObject({ id: 9, opcode: OPCODE.UPDATE })
    expect(readUpdate(decodeMessage(octets))).toEqual({ zone: 'example.', prerequisites, steps })
  })

  test.each([
    ['no zone', message({ id: 1 })],
    ['another type than SOA', message({ id: 1, question: [{ name: 'example.', type: 'A', class: CLASS.IN }] })],
    ['a prerequisite with a TTL', { ...updateMessage(1, 'a.', [], []), answer: [a('a.')] }],
    ['a deletion with rdata', { ...updateMessage(1, 'a.', [], []), authority: [{ ...a('a.'), class: CLASS.ANY, ttl: 0 }] }],
    ['an addition of ANY', { ...updateMessage(1, 'a.', [], []), authority: [{ ...a('a.'), type: 'ANY' }] }],
  ])('%s is rejected', (_, one) => {
    expect(() => readUpdate(one)).toThrow(DnsFormatError)
  })
})

/** A message with changed octets, inserted pointers, truncated, duplicated, or completely random. */
function spoiled(octets: Uint8Array, random: Random): Uint8Array {
  if (random(10) === 0) return Uint8Array.from({ length: random(120) }, () => random(256))
  const changed = octets.slice(0, random(4) === 0 ? random(octets.length + 1) : octets.length)
  for (let left = random(4); left > 0 && changed.length > 2; left--) {
    const at = random(changed.length - 1)
    changed[at] = random(2) === 0 ? 0xc0 : random(256)
    if (random(2) === 0) changed[at + 1] = random(256)
  }
  return random(20) === 0 ? new Uint8Array([...changed, ...changed]) : changed
}
