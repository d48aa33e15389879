import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ControllerCommand } from '../../src/features/servers/controllers/controller'
import { openIpmi } from '../../src/features/servers/controllers/ipmi'
import { BmcDouble } from '../support/controllers/bmc'
import { failureOf } from '../support/controllers/failure'
import { pluginContext } from '../support/plugin-context'

const waits = { repeated: [40, 80, 160], once: 120 }
let bmc: BmcDouble

beforeEach(async () => {
  bmc = await new BmcDouble().start()
})
afterEach(() => bmc.stop())

const open = (more: object = {}) =>
  openIpmi(
    { host: '127.0.0.1', port: bmc.port, user: 'bailiwick', password: 'changeme-bmc-20bytes', cipher_suite: 17, ...more },
    pluginContext(),
    waits,
  )

describe.each([17, 3])('with cipher suite %p', cipher_suite => {
  test('identifies the BMC and reads the power', async () => {
    const controller = open({ cipher_suite })
    const { detail, warnings } = await controller.check()
    expect(detail).toBe('IPMI 2.0, firmware 2.41, Dell, product 256')
    expect(warnings).toHaveLength(cipher_suite === 3 ? 1 : 0)
    expect(await controller.power!()).toBe('off')
    bmc.power = 'on'
    expect(await controller.power!()).toBe('on')
    expect(bmc.controls).toEqual([])
  })

  test('switches the power', async () => {
    const controller = open({ cipher_suite })
    const verbs: ControllerCommand[] = [
      { verb: 'power_on' },
      { verb: 'power_cycle' },
      { verb: 'shutdown', timeoutSeconds: 60, thenForce: false },
      { verb: 'power_on' },
      { verb: 'power_off' },
    ]
    for (const command of verbs) {
      const started = await controller.start(command)
      expect(started.state).toBe('running')
      if (started.state === 'running') expect(await controller.poll(started.operation)).toEqual({ state: 'done' })
    }
    expect(bmc.controls).toEqual([1, 2, 5, 1, 0])
  })

  test('ignores damaged, repeated, and invented packets', async () => {
    const noise = fc.array(
      fc.record({
        kind: fc.constantFrom('garbage', 'truncated', 'earlier', 'changed'),
        octets: fc.uint8Array({ maxLength: 80 }),
        place: fc.nat(1000),
        change: fc.integer({ min: 1, max: 255 }),
      }),
      { maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(noise, async packets => {
        bmc.power = 'off'
        bmc.controls.length = 0
        bmc.sent = (response, earlier) => [
          ...packets.flatMap(({ kind, octets, place, change }): Uint8Array[] => {
            if (kind === 'garbage') return [octets]
            if (kind === 'truncated') return [response.subarray(0, place % response.length)]
            if (kind === 'earlier') return earlier.length === 0 ? [] : [earlier[place % earlier.length]!]
            // Only packets of a session are authenticated.
            if (response[5] !== 0xc0) return []
            const changed = Buffer.from(response)
            changed[4 + (place % (response.length - 4))]! ^= change
            return [changed]
          }),
          response,
          response,
        ]
        const controller = open({ cipher_suite })
        expect(await controller.start({ verb: 'power_on' })).toMatchObject({ state: 'running' })
        expect(await controller.power!()).toBe('on')
        expect(bmc.controls).toEqual([1])
      }),
      { numRuns: 40 },
    )
  })
})

describe('sign-in', () => {
  test('has different errors for its causes', async () => {
    expect(await failureOf(open({ password: 'wrong' }).check())).toEqual([
      'unauthorized',
      'The password of the user "bailiwick" is wrong.',
    ])
    expect(await failureOf(open({ user: 'nobody' }).check())).toEqual([
      'unauthorized',
      'The BMC has no user "nobody", or the user has no access over LAN.',
    ])
    bmc.suites = [3]
    expect(await failureOf(open().check())).toEqual([
      'refused',
      'The BMC does not accept cipher suite 17. Enable it in the BMC, or set cipher_suite to 3.',
    ])
    bmc.ignored = () => true
    expect(await failureOf(open().check())).toEqual([
      'timeout',
      'The host does not respond to IPMI. Check that IPMI over LAN is enabled in the BMC.',
    ])
    bmc.stop()
    expect(await failureOf(open().check())).toEqual(['unreachable', 'Nothing listens on this UDP port of the host.'])
    bmc = await new BmcDouble().start()
  })

  test('has the same errors if the BMC does not respond to what it does not know', async () => {
    bmc.ignored = request => request === 'rakp1'
    expect(await failureOf(open({ user: 'nobody' }).check())).toEqual([
      'unauthorized',
      'The BMC has no user "nobody", or the user has no access over LAN.',
    ])
    bmc.ignored = request => request === 'open'
    expect((await failureOf(open().check()))[1]).toStartWith('The BMC does not accept cipher suite 17.')
    bmc.ignored = request => request === 'rakp3'
    expect(await failureOf(open().check())).toEqual(['timeout', 'The BMC did not complete the sign-in.'])
  })

  test('needs the privilege level', async () => {
    expect((await failureOf(open({ privilege: 'administrator' }).check()))[0]).toBe('unauthorized')
    bmc.users.bailiwick!.privilege = 4
    expect(await open({ privilege: 'administrator' }).power!()).toBe('off')
  })

  test('reports other statuses', async () => {
    const statuses: [status: number, failure: string][] = [
      [0x01, 'throttled'],
      [0x0a, 'unauthorized'],
      [0x0f, 'unauthorized'],
      [0x12, 'refused'],
    ]
    for (const [status, failure] of statuses) {
      bmc.status = request => (request === 'rakp3' ? status : 0)
      expect((await failureOf(open().check()))[0]).toBe(failure)
    }
  })

  test('is ended, also after an error', async () => {
    await open().check()
    bmc.completion = () => 0xc1
    expect(await failureOf(open().start({ verb: 'power_on' }))).toEqual([
      'refused',
      'The BMC does not support this command (completion code 0xc1).',
    ])
    while (bmc.sessions.size > 0) await Bun.sleep(1)
  })
})

test('uses a hard reset if the BMC refuses a power cycle', async () => {
  bmc.power = 'on'
  bmc.completion = control => (control === 2 ? 0xc1 : 0)
  expect(await open().start({ verb: 'power_cycle' })).toMatchObject({ state: 'running' })
  expect(bmc.controls).toEqual([2, 3])
  bmc.completion = () => 0xd5
  expect(await failureOf(open().start({ verb: 'power_cycle' }))).toEqual([
    'refused',
    'The BMC does not allow this in the current power state (completion code 0xd5).',
  ])
  bmc.completion = () => 0xd4
  expect((await failureOf(open().start({ verb: 'power_cycle' })))[0]).toBe('unauthorized')
  expect(bmc.controls).toEqual([2, 3, 2, 3, 2])
})

test('repeats commands that were lost, except a power cycle', async () => {
  let lost = 1
  const isCommand = (packet: Buffer) => packet[5] === 0xc0
  bmc.sent = response => (isCommand(response) && bmc.controls.length > 0 && lost-- > 0 ? [] : [response])
  expect(await open().start({ verb: 'power_on' })).toMatchObject({ state: 'running' })
  expect(bmc.controls).toEqual([1, 1])

  bmc.controls.length = 0
  bmc.sent = response => (bmc.controls.length > 0 ? [] : [response])
  expect(await failureOf(open().start({ verb: 'power_cycle' }))).toEqual(['timeout', 'The BMC did not respond to a command.'])
  expect(bmc.controls).toEqual([2])
})

test('does nothing if the power is as wanted', async () => {
  expect(await open().start({ verb: 'power_off' })).toEqual({ state: 'done', unchanged: true })
  expect(await open().start({ verb: 'shutdown', timeoutSeconds: 1, thenForce: true })).toEqual({ state: 'done', unchanged: true })
  bmc.power = 'on'
  expect(await open().start({ verb: 'power_on' })).toEqual({ state: 'done', unchanged: true })
  expect(bmc.controls).toEqual([])
})
