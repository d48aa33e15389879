import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ControllerCommand, Operation } from '../../src/features/servers/controllers/controller'
import { redfish } from '../../src/features/servers/controllers/redfish'
import type { Problem } from '../../src/core/problem'
import { failureOf } from '../support/controllers/failure'
import { problem, RedfishDouble } from '../support/controllers/redfish'
import { ManualClock } from '../support/manual-clock'
import { pluginContext } from '../support/plugin-context'

let service: RedfishDouble
let clock: ManualClock

beforeEach(async () => {
  service = await new RedfishDouble().start()
  clock = new ManualClock()
})
afterEach(() => service.stop())

const open = (more: object = {}) =>
  redfish.open({ url: service.url, user: service.user, password: service.password, ...more }, { ...pluginContext(), clock })

/** Starts a command that continues. */
async function started(command: ControllerCommand): Promise<Operation> {
  const result = await open().start(command)
  if (result.state !== 'running') throw new Error(`${command.verb} is ${result.state}`)
  // Operations are stored as JSON.
  return JSON.parse(JSON.stringify(result.operation)) as Operation
}

describe('the system', () => {
  test('is the only one of the service', async () => {
    expect(await open().check()).toEqual({
      detail: 'Redfish 1.15.0, Example Corp R1, serial number SN-1',
      warnings: ['The password is sent without encryption. Use an https URL.'],
    })
    expect(await open().power!()).toBe('off')
    expect(service.resets).toEqual([])
  })

  test('must be named if there are several', async () => {
    service.systemIds = ['node 1', 'node 2']
    expect(await failureOf(open().check())).toEqual([
      'invalid',
      'The Redfish service has several systems. Set system_id. It has: node 1, node 2.',
    ])
    expect(await failureOf(open({ system_id: '3' }).power!())).toEqual([
      'not_found',
      'The Redfish service has no system "3". It has: node 1, node 2.',
    ])
    expect(await open({ system_id: 'node 2' }).power!()).toBe('off')
    expect(service.requests.at(-1)).toBe('GET /redfish/v1/Systems/node%202')
  })

  test.each([
    ['On', 'on'],
    ['Off', 'off'],
    ['PoweringOn', 'off'],
    ['PoweringOff', 'on'],
    ['Paused', 'on'],
    ['Exploded', 'unknown'],
  ] as const)('with the power state %s is %s', async (state, power) => {
    service.power = state
    expect(await open().power!()).toBe(power)
  })
})

describe('verbs', () => {
  test.each([
    [{ verb: 'power_on' }, 'Off', 'On'],
    [{ verb: 'power_off' }, 'On', 'ForceOff'],
    [{ verb: 'shutdown', timeoutSeconds: 60, thenForce: false }, 'On', 'GracefulShutdown'],
    [{ verb: 'reboot' }, 'On', 'GracefulRestart'],
    [{ verb: 'power_cycle' }, 'On', 'PowerCycle'],
  ] as [ControllerCommand, string, string][])('wait for the power: %j', async (command, power, type) => {
    service.power = power
    service.delay = 2
    let operation = await started(command)
    expect(service.resets).toEqual([type])
    for (let polls = 1; ; polls++) {
      const polled = await open().poll(operation)
      if (polled.state === 'running') operation = polled.operation
      else {
        expect(polled).toEqual({ state: 'done' })
        // After a restart, the power is on as before.
        expect(polls).toBe(command.verb === 'reboot' || command.verb === 'power_cycle' ? 1 : 3)
        return
      }
    }
  })

  test('suspend and resume have no power to wait for', async () => {
    service.power = 'On'
    expect(await open().start({ verb: 'suspend' })).toEqual({ state: 'done' })
    expect(await open().start({ verb: 'resume' })).toEqual({ state: 'done' })
    expect(service.resets).toEqual(['Pause', 'Resume'])
  })

  test('do nothing if the power is as wanted', async () => {
    expect(await open().start({ verb: 'power_off' })).toEqual({ state: 'done', unchanged: true })
    expect(service.resets).toEqual([])
  })

  test.each([false, true])('obey the allowed values, in an ActionInfo: %p', async hasActionInfo => {
    service.hasActionInfo = hasActionInfo
    service.power = 'On'
    service.allowed = ['ForceOn', 'ForceOff', 'ForceRestart']
    await started({ verb: 'power_cycle' })
    expect(service.resets).toEqual(['ForceRestart'])
    expect(await failureOf(open().start({ verb: 'reboot' }))).toEqual([
      'refused',
      'The Redfish service does not support GracefulRestart. It supports ForceOn, ForceOff, ForceRestart.',
    ])
    expect((await open().check()).warnings).toContain('The system does not support shutdown, reboot.')
    service.power = 'Off'
    await started({ verb: 'power_on' })
    expect(service.resets).toEqual(['ForceRestart', 'ForceOn'])
  })

  test('use the first value if the service lists none', async () => {
    service.allowed = null
    service.power = 'On'
    await started({ verb: 'power_cycle' })
    expect(service.resets).toEqual(['PowerCycle'])
    service.fault = asked => (asked.startsWith('POST') ? { status: 400, body: problem('No such value.') } : undefined)
    expect(await failureOf(open().start({ verb: 'power_cycle' }))).toEqual([
      'refused',
      'The remote server rejected the request (400): No such value.',
    ])
  })
})

describe('power', () => {
  test('that does not follow is an error after two minutes', async () => {
    service.delay = Infinity
    const operation = await started({ verb: 'power_on' })
    clock.advance(119_000)
    expect(await open().poll(operation)).toMatchObject({ state: 'running' })
    clock.advance(2000)
    expect(await failureOf(open().poll(operation))).toEqual(['timeout', 'The power is still off. It should be on by now.'])
  })

  test('is forced off after a shutdown that took too long', async () => {
    service.power = 'On'
    service.delay = Infinity
    const operation = await started({ verb: 'shutdown', timeoutSeconds: 60, thenForce: true })
    clock.advance(61_000)
    service.delay = 1
    const polled = await open().poll(operation)
    expect(service.resets).toEqual(['GracefulShutdown', 'ForceOff'])
    if (polled.state !== 'running') throw new Error(polled.state)
    expect(await open().poll(polled.operation)).toMatchObject({ state: 'running' })
    expect(await open().poll(polled.operation)).toEqual({ state: 'done' })
  })

  test('is asked again if the service does not respond meanwhile', async () => {
    const operation = await started({ verb: 'power_on' })
    service.fault = () => 'closed'
    expect(await open().poll(operation)).toMatchObject({ state: 'running' })
    clock.advance(121_000)
    expect((await failureOf(open().poll(operation)))[0]).toBe('unreachable')
    service.fault = () => undefined
    expect(await open().poll(operation)).toEqual({ state: 'done' })
  })
})

describe.each(['monitor', 'task'] as const)('a %s', style => {
  beforeEach(() => {
    service.taskStyle = style
    service.power = 'On'
  })
  const running = () => ({ status: style === 'monitor' ? 202 : 200, body: { TaskState: 'Running', PercentComplete: 40 } })

  test('is followed until it ends, and then the power', async () => {
    service.delay = 1
    service.taskReplies = [running(), { status: 200, body: { TaskState: 'Completed', TaskStatus: 'OK' } }]
    const operation = await started({ verb: 'power_off' })
    expect(await open().poll(operation)).toEqual({ state: 'running', operation, progress: 40 })
    expect(await open().poll(operation)).toMatchObject({ state: 'running', detail: 'Waiting for the power to be off.' })
    service.taskReplies = []
    expect(await open().poll(operation)).toEqual({ state: 'done' })
    const path = style === 'monitor' ? 'TaskMonitors/7' : 'TaskService/Tasks/7'
    expect(service.requests).toContain(`GET /redfish/v1/${path}`)
  })

  test('that fails is an error with its messages', async () => {
    const body = { TaskState: 'Exception', Messages: [{ Message: 'The fans are missing.' }] }
    service.taskReplies = [{ status: style === 'monitor' ? 202 : 200, body }]
    expect(await failureOf(open().poll(await started({ verb: 'power_off' })))).toEqual([
      'refused',
      'The task ended with the state Exception. The fans are missing.',
    ])
  })

  test('does not delay a forced power off', async () => {
    service.taskReplies = [running()]
    service.delay = Infinity
    const operation = await started({ verb: 'shutdown', timeoutSeconds: 30, thenForce: true })
    clock.advance(29_000)
    expect(await open().poll(operation)).toMatchObject({ state: 'running', progress: 40 })
    clock.advance(2000)
    await open().poll(operation)
    expect(service.resets).toEqual(['GracefulShutdown', 'ForceOff'])
  })
})

describe('errors', () => {
  test('of the sign-in', async () => {
    expect(await failureOf(open({ password: 'wrong-password' }).check())).toEqual([
      'unauthorized',
      'The user or password was rejected (401): Sign in.',
    ])
  })

  test.each([
    [{ status: 409, body: problem('In POST.') }, 'locked', 'The Redfish service is busy with another operation (409): In POST.'],
    [{ status: 501, body: problem('Never.') }, 'refused', 'The Redfish service does not support this (501): Never.'],
    [
      { status: 503, body: problem('Soon.'), headers: { 'retry-after': '30' } },
      'throttled',
      'The remote server is rate limiting requests (503): Soon.',
    ],
    [{ status: 404, body: problem('Gone.') }, 'not_found', 'The Redfish service does not have this resource (404): Gone.'],
    [{ status: 200 }, 'invalid_response', 'The response is not JSON. This may not be the address of the API.'],
    [{ status: 200, body: [] }, 'invalid_response', 'The response is not a Redfish resource.'],
    [{ status: 200, body: {} }, 'invalid_response', 'The Redfish service has no Systems.'],
  ])('of a response: %j', async (reply, failure, message) => {
    service.fault = () => reply
    expect(await failureOf(open().power!())).toEqual([failure, message])
  })

  test('do not repeat the password', async () => {
    service.fault = () => ({ status: 400, body: problem(`Got ${service.password}.`) })
    expect((await failureOf(open().power!()))[1]).toEndWith('Got [redacted].')
  })

  test('after the reset was sent tell that it may have happened', async () => {
    service.power = 'On'
    service.fault = asked => (asked.startsWith('POST') ? 'closed' : undefined)
    const error: unknown = await open()
      .start({ verb: 'power_cycle' })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ failure: 'unreachable', ambiguous: true })
  })
})

test('a self-signed certificate is accepted by its fingerprint', async () => {
  const pem = (name: string) => readFileSync(`test/fixtures/tls/self-signed.${name}`, 'utf8')
  const secure = await new RedfishDouble().start({ cert: pem('pem'), key: pem('key') })
  const fingerprint = new X509Certificate(pem('pem')).fingerprint256
  const settings = { url: secure.url, user: secure.user, password: secure.password }
  const check = (more: object) => redfish.open({ ...settings, ...more }, pluginContext()).check()
  expect((await check({ fingerprint })).warnings).toEqual([])
  expect((await failureOf(check({})))[1]).toContain('self-signed')
  const before = secure.requests.length
  const other = fingerprint.replaceAll(/[0-9A-F]/g, '0')
  expect((await failureOf(check({ fingerprint: other })))[1]).toContain(fingerprint.replaceAll(':', '').toLowerCase())
  expect(secure.requests).toHaveLength(before)
  secure.stop()
})

test('settings are validated', () => {
  const problems = (more: object) => {
    try {
      redfish.validate!({ url: 'https://bmc.test', user: 'a', password: 'b', ...more })
      return []
    } catch (error) {
      return (error as Problem).extras.errors!.map(one => one.pointer)
    }
  }
  expect(problems({ fingerprint: 'a'.repeat(64) })).toEqual([])
  expect(problems({ url: 'ftp://bmc.test' })).toEqual(['#/settings/url'])
  expect(problems({ fingerprint: 'SHA256:abc' })).toEqual(['#/settings/fingerprint'])
  expect(problems({ url: 'http://bmc.test', fingerprint: 'a'.repeat(64) })).toEqual(['#/settings/fingerprint'])
})

describe('sensors', () => {
  const at = (path: string) => ({ '@odata.id': `/redfish/v1/Chassis/1${path}` })
  const add = (resources: Record<string, object>) => {
    for (const [path, resource] of Object.entries(resources)) service.resources[`/redfish/v1/Chassis/1${path}`] = resource
  }

  test('of Thermal and Power', async () => {
    add({
      '': { Thermal: at('/Thermal'), Power: at('/Power') },
      '/Thermal': {
        Temperatures: [
          { Name: 'CPU', ReadingCelsius: 41.5 },
          { Name: 'CPU', ReadingCelsius: 43 },
          { Name: 'Absent', ReadingCelsius: null, Status: { State: 'Absent' } },
        ],
        Fans: [
          { FanName: 'Fan 1', Reading: 2100, ReadingUnits: 'RPM' },
          { Name: 'Fan 2', Reading: 30, ReadingUnits: 'Percent' },
        ],
      },
      '/Power': { PowerControl: [{ Name: 'System Power Control', PowerConsumedWatts: 129 }] },
    })
    expect(await open().sensors!()).toEqual([
      { metric: 'temperature.celsius', name: 'CPU', value: 41.5 },
      { metric: 'temperature.celsius', name: 'CPU 2', value: 43 },
      { metric: 'fan.rpm', name: 'Fan 1', value: 2100 },
      { metric: 'power.watts', name: 'System Power Control', value: 129 },
    ])
  })

  test('of ThermalSubsystem and PowerSubsystem', async () => {
    add({
      '': { Name: 'Chassis', ThermalSubsystem: at('/ThermalSubsystem'), PowerSubsystem: at('/PowerSubsystem') },
      '/ThermalSubsystem': { ThermalMetrics: at('/Metrics'), Fans: at('/Fans') },
      '/Metrics': { TemperatureReadingsCelsius: [{ DeviceName: 'Intake', Reading: 22 }] },
      '/Fans': { Members: [at('/Fans/1'), at('/Fans/missing')] },
      '/Fans/1': { Name: 'Fan 1', SpeedPercent: { Reading: 45, SpeedRPM: 2200 } },
      '/PowerSubsystem': { PowerSupplies: at('/PowerSupplies') },
      '/PowerSupplies': { Members: [at('/PowerSupplies/1')] },
      '/PowerSupplies/1': { Name: 'PSU 1', Metrics: at('/PowerSupplies/1/Metrics') },
      '/PowerSupplies/1/Metrics': { InputPowerWatts: { Reading: 120.5 } },
    })
    const expected = [
      { metric: 'temperature.celsius', name: 'Intake', value: 22 },
      { metric: 'fan.rpm', name: 'Fan 1', value: 2200 },
    ] as const
    expect(await open().sensors!()).toEqual([...expected, { metric: 'power.watts', name: 'PSU 1', value: 120.5 }])
    const chassis = service.resources['/redfish/v1/Chassis/1']
    add({ '': { ...chassis, EnvironmentMetrics: at('/Environment') }, '/Environment': { PowerWatts: { Reading: 240 } } })
    expect(await open().sensors!()).toEqual([...expected, { metric: 'power.watts', name: 'Chassis', value: 240 }])
  })

  test('of a list', async () => {
    add({
      '': { Sensors: at('/Sensors') },
      '/Sensors': { Members: [at('/Sensors/1'), at('/Sensors/2'), at('/Sensors/3'), { id: 4 }] },
      '/Sensors/1': { Name: 'Board', ReadingType: 'Temperature', ReadingUnits: 'Cel', Reading: 35 },
      '/Sensors/2': { Name: 'Fan', ReadingType: 'Rotational', ReadingUnits: '{rev}/min', Reading: 900 },
      '/Sensors/3': { Name: '12 V', ReadingType: 'Voltage', ReadingUnits: 'V', Reading: 12.1 },
    })
    expect(await open().sensors!()).toEqual([
      { metric: 'temperature.celsius', name: 'Board', value: 35 },
      { metric: 'fan.rpm', name: 'Fan', value: 900 },
    ])
  })

  test('are none without a chassis', async () => {
    expect(await open().sensors!()).toEqual([])
  })
})
