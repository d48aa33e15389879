import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cipherSuites } from './cipher-suites'
import { readOpenSession, readRakp2, readRakp4, type Exchange } from './key-exchange'
import { commands, requestMessage, responseTo } from './messages'
import { openPlain, openSealed, openSetup, plainPacket, sealedPacket, setupPacket } from './packets'

const octets = (maxLength: number) => fc.uint8Array({ maxLength })
const sessionId = Buffer.from([1, 2, 3, 4])
const suites = [cipherSuites[3], cipherSuites[17]]
const keysOf = (suite: (typeof suites)[number]) => ({ suite, integrity: Buffer.alloc(20, 7), encryption: Buffer.alloc(16, 9) })
const exchangeOf = (suite: (typeof suites)[number]): Exchange => ({
  suite,
  user: 'bailiwick',
  password: 'changeme',
  privilege: 3,
  consoleId: sessionId,
  consoleRandom: Buffer.alloc(16, 5),
})
/** Something that can follow a correct header. */
const withHeader = fc
  .tuple(fc.constantFrom([], [6, 0, 255, 7], [6, 0, 255, 7, 6], [6, 0, 255, 7, 6, 0xc0], [6, 0, 255, 7, 6, 0x11]), octets(120))
  .map(([head, rest]) => Uint8Array.from([...head, ...rest]))

describe('packets', () => {
  test.each(suites)('of a session are read back with their message, $id', suite => {
    fc.assert(
      fc.property(octets(200), fc.nat(0xffffffff), (message, sequence) => {
        const packet = sealedPacket(message, sessionId, sequence, keysOf(suite))
        expect(openSealed(packet, sessionId, keysOf(suite))).toEqual({ sequence, message: Buffer.from(message) })
        expect(openSealed(packet, Buffer.from([1, 2, 3, 5]), keysOf(suite))).toBeNull()
      }),
    )
  })

  test.each(suites)('that were changed or truncated are ignored, $id', suite => {
    fc.assert(
      fc.property(octets(60), fc.nat(), fc.integer({ min: 1, max: 255 }), (message, place, change) => {
        const packet = sealedPacket(message, sessionId, 1, keysOf(suite))
        // The first four octets are not authenticated.
        const at = 4 + (place % (packet.length - 4))
        expect(openSealed(packet.subarray(0, at), sessionId, keysOf(suite))).toBeNull()
        packet[at]! ^= change
        expect(openSealed(packet, sessionId, keysOf(suite))).toBeNull()
      }),
    )
  })

  test('outside of a session are read back', () => {
    fc.assert(
      fc.property(octets(200), message => {
        expect(openPlain(plainPacket(message))).toEqual(Buffer.from(message))
        expect(openSetup(0x11, setupPacket(0x11, message))).toEqual(Buffer.from(message))
        expect(openSetup(0x13, setupPacket(0x11, message))).toBeNull()
      }),
    )
  })

  test.each(suites)('with any content are read or ignored, $id', suite => {
    const exchange = exchangeOf(suite)
    const part = { bmcId: sessionId, bmcRandom: Buffer.alloc(16), guid: Buffer.alloc(16) }
    fc.assert(
      fc.property(withHeader, fc.nat(255), (packet, tag) => {
        expect(openSealed(packet, sessionId, keysOf(suite))).toBeNull()
        const payload = openSetup(0x11, packet) ?? Buffer.from(packet)
        for (const read of [
          openPlain(packet),
          readOpenSession(payload, tag, exchange),
          readRakp2(payload, tag, exchange, sessionId),
          readRakp4(payload, tag, exchange, part),
          responseTo(commands.getDeviceId, 1, packet),
        ])
          expect(typeof read).toBe('object')
      }),
      { numRuns: 500 },
    )
  })
})

test('requests have two checksums', () => {
  // The example of a Get Device ID request.
  expect(requestMessage(commands.getDeviceId, 1)).toEqual(Buffer.from([0x20, 0x18, 0xc8, 0x81, 0x04, 0x01, 0x7a]))
})

test('only the response to a request is accepted', () => {
  const response = Buffer.from([0x81, 0x04, 0x7b, 0x20, 0x08, 0x01, 0x00, 0x61, 0x76])
  expect(responseTo(commands.getChassisStatus, 2, response)).toEqual({ completion: 0, data: Buffer.from([0x61]) })
  expect(responseTo(commands.getChassisStatus, 3, response)).toBeNull()
  expect(responseTo(commands.getDeviceId, 2, response)).toBeNull()
  expect(responseTo(commands.getChassisStatus, 2, Buffer.concat([response, Buffer.from([1])]))).toBeNull()
})
