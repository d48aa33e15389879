import { expect, test } from 'bun:test'
import { FlightReader } from '../../src/checks/tls-probe/flight'
import { TlsFormatError } from '../../src/checks/tls-probe/format-error'
import { groups13, groupsBefore13 } from '../../src/checks/tls-probe/groups'
import { Ssl2Reader } from '../../src/checks/tls-probe/ssl2'
import { suites13, suites2, suitesBefore13 } from '../../src/checks/tls-probe/suites'
import { alert, certificateMessage, curveKey, extension, helloDone, primeKey, record, serverHello } from '../support/tls-messages'

const offer = { suites: [...suitesBefore13, ...suites13], groups: [...groupsBefore13, ...groups13] }
const certificates = [Buffer.alloc(900, 1), Buffer.alloc(700, 2)]
const seeds = [
  record(
    Buffer.concat([
      serverHello({ suite: 0xc02f, extensions: [extension(0xff01, Buffer.from([0]))] }),
      ...[certificateMessage(certificates), curveKey(0x1d), helloDone],
    ]),
  ),
  record(
    Buffer.concat([serverHello({ suite: 0x33 }), certificateMessage(certificates), primeKey(Buffer.alloc(64, 0x80)), helloDone]),
  ),
  record(serverHello({ suite: 0x1301, extensions: [extension(43, Buffer.from([3, 4])), extension(51, Buffer.from([0, 0x1d]))] })),
  Buffer.concat([alert(112, 1), alert(40)]),
  Buffer.from([0x80, 17, 4, 0, 1, 0, 2, 0, 0, 0, 6, 0, 0, 1, 0, 0x80, 2, 0, 0x80]),
]

// Longer runs: BAILIWICK_TEST_TLS_FUZZ_RUNS=10000000.
test('the readers throw only their own errors, whatever a server sends', () => {
  let state = 1
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const outcomes = new Set<string>()
  const runs = Number(process.env.BAILIWICK_TEST_TLS_FUZZ_RUNS ?? 20_000)
  for (let run = 0; run < runs; run++) {
    const octets = Buffer.from(seeds[random(seeds.length)]!)
    for (let changes = random(6); changes >= 0; changes--) {
      // Lengths and types are at the start.
      const at = random(random(2) === 0 ? Math.min(octets.length, 120) : octets.length)
      octets[at] = random(2) === 0 ? random(256) : [0, 1, 0x7f, 0x80, 0xff][random(5)]!
    }
    const cut = random(4) === 0 ? octets.subarray(0, random(octets.length)) : octets
    const reader = random(5) === 0 ? new Ssl2Reader(suites2) : new FlightReader(offer)
    const split = random(cut.length + 1)
    try {
      const answer = reader.push(cut.subarray(0, split)) ?? reader.push(cut.subarray(split))
      outcomes.add(answer === null ? 'incomplete' : 'read')
    } catch (error) {
      if (!(error instanceof TlsFormatError)) throw error
      outcomes.add('refused')
    }
  }
  expect([...outcomes].sort()).toEqual(['incomplete', 'read', 'refused'])
})
