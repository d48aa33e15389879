import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { checksum, echoReply, echoRequest, echoSent, withoutHeader } from './echo'
import { pingReport } from './command'

test('the checksum matches the example in RFC 1071 section 3', () => {
  expect(checksum(Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7))).toBe(~0xddf2 & 0xffff)
})

test('a request has a valid checksum and is distinguished from its reply', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(4 as const, 6 as const),
      fc.nat(0xffff),
      fc.nat(0xffff),
      fc.uint8Array({ maxLength: 65 }),
      (family, id, sequence, data) => {
        const octets = echoRequest(family, id, sequence, data)
        if (family === 4) expect(checksum(octets)).toBe(0)
        expect(echoSent(family, octets)).toEqual({ id, sequence })
        expect(echoReply(family, octets)).toBeNull()
        octets[0] = family === 4 ? 0 : 129
        expect(echoReply(family, octets)).toEqual({ id, sequence, data })
        expect(echoReply(family, octets.subarray(0, 7))).toBeNull()
      },
    ),
  )
})

test('the IP header is removed, including options', () => {
  expect([...withoutHeader(Uint8Array.of(0x46, ...Array(23).fill(9), 0, 1))]).toEqual([0, 1])
})

test.each<[string, number, object]>([
  [
    '64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.031 ms\n64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=12 ms',
    3,
    { sent: 3, times: [0.031, 12], error: null },
  ],
  ['64 bytes from 192.0.2.1: seq=0 ttl=42 time=1.250 ms', 1, { sent: 1, times: [1.25], error: null }],
  ['From 10.0.0.1 icmp_seq=1 Destination Host Unreachable', 1, { sent: 1, times: [], error: 'EHOSTUNREACH' }],
  ['ping: connect: Network is unreachable', 1, { sent: 1, times: [], error: 'ENETUNREACH' }],
  ['ping: local error: message too long, mtu=1500', 1, { sent: 1, times: [], error: 'EMSGSIZE' }],
])('what ping prints is read: %s', (output, count, report) => {
  expect(pingReport(output, count)).toEqual(report as ReturnType<typeof pingReport>)
})
