import { Value } from '@sinclair/typebox/value'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { join } from 'node:path'
import { softwareRaid } from '../../src/agent/sample/arrays'
import type { reportParts } from '../../src/agent/machine'
import { Containers } from '../../src/agent/sample/containers'
import { Moments } from '../../src/agent/sample/moments'
import { PartsReader } from '../../src/agent/sample/parts'
import { Root } from '../../src/agent/sample/root'
import { sessionOf, sessionsInUtmp } from '../../src/agent/sample/sessions'
import { diskState } from '../../src/agent/sample/smart'
import { Troubles } from '../../src/agent/sample/troubles'
import { parseFailed, parseShown } from '../../src/agent/sample/units'
import { AgentReport } from '../../src/wire/agent'
import { MachineFiles } from '../support/machine-files'

// What agents read is what the hub accepts, whatever is on the server.

type Part = (typeof reportParts)[number]
const errorsOf = (part: Part, value: unknown) =>
  [...Value.Errors(AgentReport.properties[part], value)].map(one => `${one.path} ${one.message}`)

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 500 }),
  fc.constantFrom('', ' ', '\u0000', '\n', '\u202e', 'a'.repeat(5000), '💾'.repeat(300), 'x\u0007y'),
)
/** A line of /proc/net/tcp. */
const openPort =
  '   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1594 1 0000 100 0 0 10 0'
const pathsOfFacts = ['etc/hostname', 'etc/hosts', 'etc/os-release', 'proc/cpuinfo', 'proc/meminfo', 'proc/stat', 'etc/timezone']

test('the shapes of the hub are used', () => {
  expect(errorsOf('problems', ['a\u0007'])).not.toEqual([])
  expect(errorsOf('facts', { hostname: '' })).not.toEqual([])
})

test('facts', async () => {
  using machine = new MachineFiles()
  const reader = new PartsReader({ root: new Root(machine.folder), containers: null, smartFile: join(machine.folder, 'none') })
  await fc.assert(
    fc.asyncProperty(odd, odd, async (text, other) => {
      for (const path of [...pathsOfFacts, 'run/systemd/container', 'proc/sys/kernel/osrelease', 'proc/mdstat'])
        machine.write({ [path]: `${text}\n` })
      machine.write({
        'etc/os-release': `PRETTY_NAME="${other}"\nID=${other}\nVERSION_ID='${text}'\n`,
        'etc/passwd': `${other}:x:0:0\n`,
        'proc/self/net/tcp': '',
        'proc/1/net/tcp': `${openPort}\n`,
        'proc/1/comm': other,
        'run/systemd/sessions/1': `CLASS=user\nUSER=${text}\nTTY=${other}\nREMOTE_HOST=${text}\nREALTIME=${text}\n`,
        'proc/cpuinfo': `processor: 0\nmodel name : ${other}\n`,
      })
      const parts = await reader.read(0, [], true)
      for (const [part, value] of Object.entries(parts))
        expect([part, value === undefined ? [] : errorsOf(part as Part, value)]).toEqual([part, []])
    }),
    { numRuns: 60 },
  )
})

test('sessions', () => {
  fc.assert(
    fc.property(odd, fc.uint8Array({ maxLength: 900 }), (text, bytes) => {
      const one = sessionOf(`CLASS=user\nUSER=${text}\nTTY=${text}\nREMOTE_HOST=${text}\nREALTIME=${text}\n`)
      expect(errorsOf('sessions', [one].filter(Boolean))).toEqual([])
      const entries = Buffer.concat([Buffer.from([7, 0]), bytes])
      expect(errorsOf('sessions', sessionsInUtmp(entries))).toEqual([])
    }),
  )
})

test('busy moments, and what starts to fail', () => {
  using machine = new MachineFiles()
  const { moments: ofMoments, events } = AgentReport.properties
  const errors = (schema: typeof ofMoments | typeof events, value: unknown) =>
    [...Value.Errors(schema, value)].map(one => `${one.path} ${one.message}`)
  fc.assert(
    fc.property(odd, fc.double(), fc.double(), (text, one, other) => {
      machine.write({
        'etc/passwd': `${text}:x:${process.getuid!()}:0`,
        'proc/1/stat': `1 (${text}) S 0 0 0 0 -1 0 0 0 0 0 ${one} ${other} 0 0 20 0 1 0 ${one} 0 ${Math.round(other)} 0`,
        'proc/1/cmdline': text,
      })
      const options = { withCommands: true, pageBytes: 4096, seconds: () => performance.now() / 1000 }
      const moments = new Moments(new Root(machine.folder), options)
      const averages = [99.99, null, null]
      moments.follow({ columns: ['cpu.used_percent', 'memory.used_bytes'], row: [0, 6, averages, averages] }, 0)
      expect(errors(ofMoments, [moments.follow(null, 0)])).toEqual([])
      const troubles = new Troubles(join(machine.folder, 'troubles.json'))
      troubles.follow({ units: [] }, 0)
      const failed = parseFailed(`${text} loaded ${text} failed`)
      expect(errors(events, troubles.follow({ units: failed.map(unit => ({ ...unit, state: 'failed' })) }, 0))).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('units, disks, and arrays', () => {
  fc.assert(
    fc.property(odd, odd, (text, other) => {
      expect(errorsOf('units', parseFailed(`${text} loaded ${other} failed`))).toEqual([])
      expect(errorsOf('units', parseShown(`LoadState=loaded\nActiveState=${text}\nSubState=${other}`, ['a']))).toEqual([])
      expect(errorsOf('arrays', softwareRaid(`md0 : ${text} raid1\n ${other}\n`))).toEqual([])
      const output = JSON.stringify({
        model_name: text,
        serial_number: other,
        smartctl: { messages: [{ string: text }, { string: other }] },
      })
      expect(errorsOf('disks', [diskState(other, output, [], 0).disk])).toEqual([])
    }),
  )
})

test('containers', async () => {
  using machine = new MachineFiles()
  machine.write({ 'run/keep': '' })
  let list: unknown = []
  const server = Bun.serve({ unix: join(machine.folder, 'run/docker.sock'), fetch: () => Response.json(list) })
  try {
    const containers = new Containers(new Root(machine.folder))
    await fc.assert(
      fc.asyncProperty(odd, odd, async (text, other) => {
        list = [
          { Id: 'a'.repeat(64), Names: [text], Image: other, State: text, Status: other },
          { Id: 'b'.repeat(64), Names: text },
        ]
        expect(errorsOf('containers', await containers.read(() => {}))).toEqual([])
      }),
      { numRuns: 40 },
    )
  } finally {
    await server.stop(true)
  }
})
