import { describe, expect, test } from 'bun:test'
import { validateSettings } from '../../src/core/sealed-settings'
import { controllerKindOf, controllerKinds } from '../../src/features/servers/controllers'
import { controllerVerbs, type ControllerCommand } from '../../src/features/servers/controllers/controller'
import { failureOf } from '../support/controllers/failure'
import { freePort } from '../support/free-port'
import { pluginContext } from '../support/plugin-context'

/** Settings of each kind for a port where nothing listens. A new kind needs an entry. */
const settingsFor: Record<string, (port: number) => Record<string, unknown>> = {
  redfish: port => ({ url: `http://127.0.0.1:${port}`, user: 'bailiwick', password: 'changeme-7f21' }),
  ipmi: port => ({ host: '127.0.0.1', port, user: 'bailiwick', password: 'changeme-7f21' }),
  ssh: port => ({
    host: '127.0.0.1',
    port,
    user: 'bailiwick',
    password: 'changeme-7f21',
    host_key: `SHA256:${'A'.repeat(43)}`,
  }),
  wake_on_lan: port => ({ mac: '52:54:00:12:34:56', broadcast: '127.255.255.255', port }),
}

const commandOf = (verb: (typeof controllerVerbs)[number]): ControllerCommand =>
  verb === 'shutdown' ? { verb, timeoutSeconds: 60, thenForce: false } : { verb }

test('kinds are found by their names', () => {
  expect(controllerKinds.map(one => one.kind)).toEqual(['redfish', 'ipmi', 'ssh', 'wake_on_lan'])
  for (const one of controllerKinds) expect(controllerKindOf(one.kind)).toBe(one)
  expect(controllerKindOf('none')).toBeUndefined()
})

describe.each(controllerKinds)('$kind', kind => {
  const settings = async () => validateSettings(kind, settingsFor[kind.kind]!(await freePort()))

  test('has settings with descriptions, and a destination for its secrets', () => {
    for (const schema of Object.values(kind.settings.properties)) expect(schema.description).toEndWith('.')
    expect(kind.destination.length).toBeGreaterThan(0)
    expect(kind.secrets.every(path => path in kind.settings.properties)).toBe(true)
  })

  test('supports verbs, and tells the power if it says so', async () => {
    expect(kind.verbs.length).toBeGreaterThan(0)
    expect(controllerVerbs).toEqual(expect.arrayContaining([...kind.verbs]))
    expect(kind.open(await settings(), pluginContext()).power !== undefined).toBe(kind.readsPower)
  })

  test('refuses other verbs without a connection', async () => {
    const controller = kind.open(await settings(), pluginContext())
    for (const verb of controllerVerbs.filter(one => !kind.verbs.includes(one)))
      expect((await failureOf(controller.start(commandOf(verb))))[0]).toBe('refused')
  })

  test('fails if nothing listens, without a secret in the message', async () => {
    const controller = kind.open(await settings(), pluginContext())
    // Nobody responds to a magic packet.
    if (kind.kind === 'wake_on_lan') return expect(await controller.check()).toMatchObject({ warnings: [] })
    for (const call of [controller.check(), ...kind.verbs.map(verb => controller.start(commandOf(verb)))]) {
      const [failure, message] = await failureOf(call)
      expect(failure).toBe('unreachable')
      expect(message).not.toContain('changeme-7f21')
    }
  })

  test('follows the network policy', async () => {
    const controller = kind.open(await settings(), pluginContext({}, { allowPrivate: false }))
    for (const call of [controller.check(), ...kind.verbs.map(verb => controller.start(commandOf(verb)))]) {
      const [failure, message] = await failureOf(call)
      expect([failure, message]).toEqual(['unreachable', expect.stringContaining('network policy')])
    }
  })
})
