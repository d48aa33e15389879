import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CLASS, message, OPCODE } from './message'
import { decodeMessage } from './message-decode'
import { encodeMessage, encodeTransfer } from './message-encode'
import { rdataOfText } from './rdata'
import { readUpdate, updateMessage } from './update'
import {
  refuseTsig,
  signTsig,
  transferSigner,
  transferVerifier,
  TSIG_ERROR,
  tsigLength,
  UNSIGNED_MAX,
  verifyTsig,
  type TsigAlgorithm,
  type TsigKey,
} from './tsig'

const secret = Buffer.from('bailiwick test secret of 32 octs')
const keyOf = (algorithm: TsigAlgorithm, allowMd5 = false): TsigKey => ({ name: 'key.example.', algorithm, secret, allowMd5 })
const key = keyOf('hmac-sha256')
const now = 1_795_268_969
const question = [{ name: 'www.example.', type: 'A', class: CLASS.IN }]
const query = encodeMessage(message({ id: 0x1234, question }))
const hexOf = (octets: Uint8Array) => Buffer.from(octets).toString('hex')
const verdictOf = (octets: Uint8Array, keys: TsigKey[], at = now) =>
  verifyTsig(octets, decodeMessage(octets).tsig!, keys, { now: at })
const errorOf = (verdict: ReturnType<typeof verdictOf>) => (verdict.ok ? 0 : verdict.error)

// Queries signed by dig of BIND 9.18: `dig +norec +noedns -y <algorithm>:key.example:<secret> www.example A`.
const fromDig: [TsigAlgorithm, string][] = [
  [
    'hmac-md5',
    '91700020000100000000000103777777076578616d706c650000010001036b6579076578616d706c650000fa00ff00000000003a08686d61632d6d6435077369672d616c670372656703696e740000006b01a169012c0010096c1fa3a71fc281f477fb0ac45b0cca917000000000',
  ],
  [
    'hmac-sha1',
    'e2520020000100000000000103777777076578616d706c650000010001036b6579076578616d706c650000fa00ff00000000002f09686d61632d736861310000006b01a169012c0014286ff153f014f2946439af39ea3649cfc9ca7c40e25200000000',
  ],
  [
    'hmac-sha224',
    'd1e70020000100000000000103777777076578616d706c650000010001036b6579076578616d706c650000fa00ff0000000000390b686d61632d7368613232340000006b01a169012c001c6a69d443b0820e7a889109690de90a0d168144d3aa12082a5252b11fd1e700000000',
  ],
  [
    'hmac-sha256',
    '4ee80020000100000000000103777777076578616d706c650000010001036b6579076578616d706c650000fa00ff00000000003d0b686d61632d7368613235360000006b01a169012c002057c2b0f937d244e9237fd8de4766b03e5b4b4947987a7586eeff15af88427abf4ee800000000',
  ],
  [
    'hmac-sha384',
    'e2f60020000100000000000103777777076578616d706c650000010001036b6579076578616d706c650000fa00ff00000000004d0b686d61632d7368613338340000006b01a169012c00303cc64abf57a8df518eb4772eaf1cb39359920e58c2c4cc984617ebf870fdd5e572e577392a8023f7673f24d83302acdae2f600000000',
  ],
  [
    'hmac-sha512',
    '97ff0020000100000000000103777777076578616d706c650000010001036b6579076578616d706c650000fa00ff00000000005d0b686d61632d7368613531320000006b01a169012c0040653da6a1dc9be4fed479764441fd356762399029d9d114457e9218408835cf02ee0feb96abd69f8d40b6073894066c0e0884c92d83493261f8262eae3e6a756c97ff00000000',
  ],
]

describe.each(fromDig)('%s', (algorithm, hex) => {
  const octets = Buffer.from(hex, 'hex')

  test('messages signed by dig are verified, and we sign them the same way', () => {
    const one = keyOf(algorithm, true)
    const { tsig } = decodeMessage(octets)
    expect(verdictOf(octets, [one])).toMatchObject({ ok: true, key: one })
    const bare = Buffer.from(octets.subarray(0, tsig!.at))
    bare.writeUInt16BE(0, 10)
    expect(hexOf(signTsig(bare, one, { time: now }).message)).toBe(hex)
    expect(octets.length - bare.length).toBe(tsigLength(one))
  })

  test('no octet can be changed', () => {
    const one = keyOf(algorithm, true)
    for (let at = 0; at < octets.length; at++) {
      const changed = Uint8Array.from(octets)
      changed[at]! ^= 1
      let verified = false
      try {
        const { tsig } = decodeMessage(changed)
        verified = tsig !== null && verifyTsig(changed, tsig, [one], { now }).ok
      } catch {
        continue
      }
      // Only the id may change: forwarders use their own, and the original id is in the record.
      expect([at, verified]).toEqual([at, at < 2])
    }
  })
})

describe('verification failures', () => {
  const signed = signTsig(query, key, { time: now }).message

  test.each([
    ['another key', [{ ...key, name: 'other.example.' }], TSIG_ERROR.BADKEY],
    ['another algorithm of the key', [keyOf('hmac-sha512')], TSIG_ERROR.BADKEY],
    ['another secret', [{ ...key, secret: Buffer.from('x') }], TSIG_ERROR.BADSIG],
    ['no key', [], TSIG_ERROR.BADKEY],
  ])('%s', (_, keys, error) => expect(errorOf(verdictOf(signed, keys))).toBe(error))

  test('a time outside the fudge, which is checked after the MAC', () => {
    expect(errorOf(verdictOf(signed, [key], now + 300))).toBe(0)
    expect(errorOf(verdictOf(signed, [key], now + 301))).toBe(TSIG_ERROR.BADTIME)
    expect(errorOf(verdictOf(signed, [key], now - 301))).toBe(TSIG_ERROR.BADTIME)
    expect(errorOf(verdictOf(signed, [{ ...key, secret: Buffer.from('x') }], 0))).toBe(TSIG_ERROR.BADSIG)
  })

  test('a truncated MAC', () => {
    const { tsig } = decodeMessage(signed)
    const cut = (size: number) => verifyTsig(signed, { ...tsig!, mac: tsig!.mac.subarray(0, size) }, [key], { now })
    expect([16, 15, 9, 0].map(size => errorOf(cut(size)))).toEqual([
      TSIG_ERROR.BADTRUNC,
      ...Array<number>(3).fill(TSIG_ERROR.BADSIG),
    ])
    expect([16, 15, 9].map(size => cut(size)).map(one => 'malformed' in one)).toEqual([false, true, true])
    const longer = verifyTsig(signed, { ...tsig!, mac: new Uint8Array(33) }, [key], { now })
    expect(longer).toMatchObject({ ok: false, error: TSIG_ERROR.BADSIG, malformed: true })
  })

  test('HMAC-MD5, unless the key allows it', () => {
    const md5 = signTsig(query, keyOf('hmac-md5', true), { time: now }).message
    expect(errorOf(verdictOf(md5, [keyOf('hmac-md5')]))).toBe(TSIG_ERROR.BADKEY)
    expect(errorOf(verdictOf(md5, [keyOf('hmac-md5', true)]))).toBe(0)
    expect(() => signTsig(query, keyOf('hmac-md5'), { time: now })).toThrow('The key must not use HMAC-MD5 (RFC 8945 6)')
  })
})

describe('answers', () => {
  test('are signed including the MAC of the request', () => {
    const signedRequest = signTsig(query, key, { time: now })
    const answer = signTsig(encodeMessage(message({ id: 0x1234, question })), key, {
      time: now,
      prior: signedRequest.mac,
    }).message
    const { tsig } = decodeMessage(answer)
    expect(verifyTsig(answer, tsig!, [key], { now, prior: signedRequest.mac }).ok).toBe(true)
    expect(errorOf(verifyTsig(answer, tsig!, [key], { now, prior: query }))).toBe(TSIG_ERROR.BADSIG)
  })

  test('to a wrong clock contain the time', () => {
    const response = decodeMessage(
      signTsig(query, key, { time: now, error: TSIG_ERROR.BADTIME, serverTime: now + 5000 }).message,
    ).tsig!
    expect(response).toMatchObject({ error: TSIG_ERROR.BADTIME, timeSigned: now })
    expect(Buffer.from(response.other).readUIntBE(0, 6)).toBe(now + 5000)
  })

  test('to a wrong key are not signed', () => {
    const signedRequest = decodeMessage(signTsig(query, key, { time: now }).message).tsig!
    const refused = decodeMessage(refuseTsig(query, signedRequest, TSIG_ERROR.BADKEY)).tsig!
    expect(refused).toMatchObject({ key: 'key.example.', error: TSIG_ERROR.BADKEY, originalId: 0x1234 })
    expect(refused.mac).toHaveLength(0)
  })

  test('an update of all forms is signed and read', () => {
    const step = { kind: 'add', name: 'a.example.', type: 'A', ttl: 60, rdata: rdataOfText('A', '192.0.2.1', null) } as const
    const octets = signTsig(encodeMessage(updateMessage(5, 'example.', [], [step])), key, { time: now }).message
    expect(verdictOf(octets, [key]).ok).toBe(true)
    expect(decodeMessage(octets).opcode).toBe(OPCODE.UPDATE)
    expect(readUpdate(decodeMessage(octets)).steps).toEqual([step])
  })
})

describe('transfers with many messages', () => {
  const first = message({ id: 3, question: [{ name: 'example.', type: 'AXFR', class: CLASS.IN }] })
  const answers = Array.from({ length: 200 }, (_, at) => ({
    name: `h${at}.example.`,
    type: 'A',
    class: CLASS.IN,
    ttl: 1,
    rdata: rdataOfText('A', '192.0.2.1', null),
  }))
  const parts = [...encodeTransfer(first, answers, { limit: 600, reserve: tsigLength(key) })]
  const signedRequest = signTsig(encodeMessage(first), key, { time: now }).mac

  test('are verified only in the correct order', () => {
    const sign = transferSigner(key, signedRequest)
    const signed = parts.map(part => sign(part, now))
    expect(signed.length).toBeGreaterThan(5)
    expect(Math.max(...signed.map(one => one.length))).toBeLessThanOrEqual(600)
    const verified = (octets: Uint8Array[]) => {
      const verifier = transferVerifier(key, signedRequest)
      return octets.every(one => verifier.next(one, decodeMessage(one).tsig, now).ok) && verifier.end().ok
    }
    expect(verified(signed)).toBe(true)
    expect(verified(signed.toSpliced(1, 1))).toBe(false)
    expect(verified(signed.toReversed())).toBe(false)
    expect(verified([])).toBe(false)
  })

  test('may leave some messages unsigned, but not the first, the last, or too many in a row', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), signs => {
        const verifier = transferVerifier(key, signedRequest)
        let prior = signedRequest
        let unsigned: Uint8Array[] = []
        let timersOnly = false
        const passed = signs.map((signsOne, at) => {
          const part = parts[at % parts.length]!
          if (!signsOne) {
            unsigned.push(part)
            return verifier.next(part, null, now).ok
          }
          const { message: octets, mac } = signTsig(part, key, { time: now, prior, timersOnly, unsigned })
          prior = mac
          unsigned = []
          timersOnly = true
          return verifier.next(octets, decodeMessage(octets).tsig, now).ok
        })
        if (signs[0]) expect(passed).not.toContain(false)
        else expect(passed[0]).toBe(false)
        if (signs[0]) expect(verifier.end().ok).toBe(signs.at(-1)!)
      }),
      { numRuns: 50 },
    )
    const verifier = transferVerifier(key, signedRequest)
    const opening = transferSigner(key, signedRequest)(parts[0]!, now)
    expect(verifier.next(opening, decodeMessage(opening).tsig, now).ok).toBe(true)
    const rest = Array.from({ length: UNSIGNED_MAX + 1 }, () => verifier.next(parts[1]!, null, now).ok)
    expect(rest.indexOf(false)).toBe(UNSIGNED_MAX)
  })
})
