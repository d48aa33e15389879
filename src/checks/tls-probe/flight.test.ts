import { describe, expect, test } from 'bun:test'
import {
  alert,
  certificateMessage,
  curveKey,
  extension,
  handshake,
  helloDone,
  primeKey,
  record,
  records,
  serverHello,
} from '../../../test/support/tls-messages'
import { FlightReader, type Answer } from './flight'
import { TlsFormatError } from './format-error'
import { groups13, groupsBefore13 } from './groups'
import { suites13, suitesBefore13 } from './suites'

const ecdheRsa = 0xc02f
const dheRsa = 0x0033
const psk = 0x00aa
const rsaExport = 0x0003
const certificates = [Buffer.alloc(900, 1), Buffer.alloc(700, 2)]
const offer = { suites: [...suitesBefore13, ...suites13], groups: [...groupsBefore13, ...groups13] }
const retry = extension(43, Buffer.from([3, 4]))
const renegotiation = extension(0xff01, Buffer.from([0]))

const read = (...parts: Buffer[]): Answer | null => new FlightReader(offer).push(Buffer.concat(parts))
const flightOf = (...parts: Buffer[]) => {
  const answer = read(record(Buffer.concat([...parts, helloDone])))
  return answer?.kind === 'accepted' ? answer.flight : null
}
const refusalOf = (...parts: Buffer[]): string => {
  try {
    read(...parts)
  } catch (error) {
    expect(error).toBeInstanceOf(TlsFormatError)
    return (error as Error).message
  }
  return 'none'
}

describe('the answer to a ClientHello', () => {
  test('is read up to where keys would be needed', () => {
    expect(
      flightOf(serverHello({ suite: ecdheRsa, extensions: [renegotiation] }), certificateMessage(certificates), curveKey(0x1d)),
    ).toMatchObject({
      version: '1.2',
      suite: { name: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256' },
      ephemeral: { kind: 'ec', bits: 255, group: 'x25519' },
      compression: false,
      secureRenegotiation: true,
      certificates: certificates.map(one => Uint8Array.from(one)),
      certificateCount: 2,
      staple: null,
    })
    expect(
      read(record(serverHello({ suite: 0x1301, extensions: [retry, extension(51, Buffer.from([0x11, 0xec]))] }))),
    ).toMatchObject({
      flight: { version: '1.3', ephemeral: { kind: 'hybrid', group: 'X25519MLKEM768' }, certificates: null },
    })
    expect(flightOf(serverHello({ version: 0x0300, suite: dheRsa, compression: 1 }))).toMatchObject({
      version: 'ssl3',
      compression: true,
      secureRenegotiation: false,
    })
  })

  test.each([
    ['of 1024 bits', dheRsa, primeKey(Buffer.alloc(128, 0xff)), 1024],
    ['with leading zeros', dheRsa, primeKey(Buffer.concat([Buffer.alloc(65), Buffer.alloc(63, 0x7f)])), 503],
    ['for export suites', rsaExport, primeKey(Buffer.alloc(64, 0x80)), 512],
    [
      'after a hint',
      psk,
      handshake(12, Buffer.concat([Buffer.from([0, 2, 1, 1]), primeKey(Buffer.alloc(256, 0x80)).subarray(4)])),
      2048,
    ],
    ['of zero', dheRsa, primeKey(Buffer.alloc(8)), 0],
  ])('tells the size of a key %s', (_, suite, key, bits) => {
    expect(flightOf(serverHello({ suite }), key)?.ephemeral?.bits).toBe(bits)
  })

  test('contains the OCSP response', () => {
    const status = handshake(22, Buffer.from([1, 0, 0, 3, 9, 8, 7]))
    expect(flightOf(serverHello({ suite: ecdheRsa }), certificateMessage(certificates), status)?.staple).toEqual(
      Uint8Array.of(9, 8, 7),
    )
  })

  test('is the same however it arrives', () => {
    const octets = Buffer.concat([
      ...[serverHello({ suite: ecdheRsa }), certificateMessage(certificates), curveKey(0x17), helloDone].map(one => records(one)),
    ])
    const reader = new FlightReader(offer)
    const answers = [...octets].map(octet => reader.push(Uint8Array.of(octet)))
    expect(answers.slice(0, -1).every(one => one === null)).toBe(true)
    expect(answers.at(-1)).toEqual(read(octets))
  })

  test('refuses with an alert, after warnings', () => {
    expect(read(alert(112, 1), alert(40))).toEqual({ kind: 'refused', alert: 40 })
    expect(read(alert(0, 1))).toEqual({ kind: 'refused', alert: 0 })
    expect(read(alert(112, 1))).toBeNull()
  })

  test('may have a thousand certificates, and 20 are read', () => {
    const flight = flightOfRecords(
      serverHello({ suite: 0x2f }),
      certificateMessage(Array.from({ length: 1000 }, () => Buffer.alloc(200))),
      helloDone,
    )
    expect([flight?.certificateCount, flight?.certificates?.length]).toEqual([1000, 20])
  })

  test.each([
    ['does not speak TLS on this port', Buffer.from('220 mail.example.com ESMTP\r\n')],
    ['does not speak TLS on this port', Buffer.from([22, 80])],
    ['sent a record of 65535 bytes', Buffer.from([22, 3, 3, 0xff, 0xff])],
    ['sent an empty record', record(Buffer.alloc(0))],
    ['sent an alert that is cut off', record(Buffer.from([2]), 21)],
    ['sent more than 10 warnings', Buffer.concat(Array.from({ length: 11 }, () => alert(112, 1)))],
    ['sent a handshake message of 16777215 bytes', record(Buffer.from([2, 0xff, 0xff, 0xff]))],
    ['sent handshake message 11 before its ServerHello', record(certificateMessage([]))],
    ['sent two ServerHello messages', record(Buffer.concat([serverHello({ suite: 0x2f }), serverHello({ suite: 0x2f })]))],
    ['chose the suite 0x5600, which was not offered', record(serverHello({ suite: 0x5600 }))],
    ['chose the unknown version 0x0305', record(serverHello({ version: 0x0305, suite: 0x2f }))],
    [
      'sent the extension 5 twice',
      record(serverHello({ suite: 0x2f, extensions: [extension(5, Buffer.alloc(0)), extension(5, Buffer.alloc(0))] })),
    ],
    [
      'chose the group 0xfe00, which was not offered',
      record(Buffer.concat([serverHello({ suite: ecdheRsa }), curveKey(0xfe00)])),
    ],
    ['sent a handshake of more than 262144 bytes', Buffer.alloc(262_145, 22)],
    [
      'sent more than 300 records',
      Buffer.concat([
        record(serverHello({ suite: 0x2f })),
        ...Array.from({ length: 300 }, () => record(handshake(99, Buffer.alloc(0)))),
      ]),
    ],
    [
      'sent a list of certificates that is cut off',
      record(Buffer.concat([serverHello({ suite: 0x2f }), handshake(11, Buffer.from([0, 0, 3, 0, 0, 9]))])),
    ],
  ])('is refused: the server %s', (message, octets) => {
    expect(refusalOf(octets)).toBe(message)
  })

  function flightOfRecords(...parts: Buffer[]) {
    const answer = read(records(Buffer.concat(parts)))
    return answer?.kind === 'accepted' ? answer.flight : null
  }
})
