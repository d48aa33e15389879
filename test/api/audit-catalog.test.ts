import { expect, test } from 'bun:test'
import Ajv, { type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { auditActions, codeOf } from '../../src/features/audit-actions'
import { receiver } from '../support/receiver'
import { world } from '../support/world'

const ajv = addFormats(new Ajv({ strict: true, allowUnionTypes: true }))
const compiled = new Map<string, ValidateFunction>()
/** Schema errors of the changes of an action; null if there are none. Many actions share a schema. */
function faultsOf(schema: object, changes: unknown) {
  const text = JSON.stringify(schema)
  const validate = compiled.getOrInsertComputed(text, () => ajv.compile(schema))
  return validate(changes) ? null : validate.errors
}
const { acme, rival, scoped, settle } = await world()
const catalog = async () => (await acme.call('GET', '/v1/audit-events/catalog')).body.data as any[]

test('every action is listed with its own codes', async () => {
  const listed = await catalog()
  expect(listed.map(one => one.action)).toEqual(auditActions.map(one => one.action))
  expect(new Set(listed.map(one => one.action)).size).toBe(listed.length)
  const codes = listed.flatMap(one => Object.values(one.codes) as string[])
  expect(new Set(codes).size).toBe(codes.length)
  expect(codes.filter(code => !/^[A-Z]{2}\d{3}[SFD]$/.test(code))).toEqual([])
  expect(codeOf('heartbeat.pause', 'denied')).toBe('HB004D')
  expect(codeOf('gone.for.ever', 'success')).toBeNull()
})

test('the schemas of changes compile, and match their examples', async () => {
  for (const { action, changes_schema, example } of await catalog()) {
    expect([action, example.action]).toEqual([action, action])
    if (changes_schema === null) expect([action, example.changes]).toEqual([action, null])
    else expect([action, faultsOf(changes_schema, example.changes)]).toEqual([action, null])
  }
}, 180_000)

test('every action has sentences about its actor and targets', async () => {
  for (const { action, channels, target_types, sentences } of await catalog()) {
    for (const sentence of Object.values(sentences) as string[]) {
      expect([action, sentence]).toEqual([action, expect.stringMatching(/^(\{[a-z_]+\}|[A-Z][a-z]*) [^.]+[^. ]$/)])
      for (const [, name] of sentence.matchAll(/\{(\w+)\}/g))
        expect([action, sentence, ['actor', ...target_types].includes(name!)]).toEqual([action, sentence, true])
    }
    // Only what nobody did is described without an actor.
    if (channels.includes('api'))
      expect([action, sentences.denied]).toEqual([action, expect.stringMatching(/^\{actor\} was not allowed to /)])
  }
  const sentencesOf = async (action: string) => (await catalog()).find(one => one.action === action).sentences
  expect(await sentencesOf('dns.record.update')).toEqual({
    success: '{actor} updated {record}',
    failure: '{actor} failed to update {record}',
    denied: '{actor} was not allowed to update {record}',
  })
  expect((await sentencesOf('dns.template_binding.apply')).success).toBe(
    '{actor} applied the latest version of {dns_template} to {zone}',
  )
  expect((await sentencesOf('maintenance.window.stop')).success).toBe('{actor} stopped {maintenance_window}')
  expect((await sentencesOf('certificates.tls_endpoint.scan')).success).toBe('{actor} scanned {tls_endpoint}')
  expect((await sentencesOf('cloud.snapshot_policy.run')).success).toBe('{actor} ran {snapshot_policy}')
  expect((await sentencesOf('cloud.server.shutdown')).success).toBe('{actor} shut down {server}')
  expect((await sentencesOf('cloud.server.rebuild')).success).toBe('{actor} rebuilt {server}')
  expect((await sentencesOf('monitor.fail')).success).toBe('{monitor} went down')
})

test('it is filtered by prefix or action, and invalid filters are rejected', async () => {
  const of = async (query: string) =>
    ((await acme.call('GET', `/v1/audit-events/catalog?action=${query}`)).body.data as any[]).map(one => one.action)
  expect(await of('heartbeat.ping_key.*')).toEqual(['heartbeat.ping_key.create', 'heartbeat.ping_key.rotate'])
  expect(await of('heartbeat.pause')).toEqual(['heartbeat.pause'])
  expect(await of('nothing.*')).toEqual([])
  expect((await acme.call('GET', '/v1/audit-events/catalog?action=*')).status).toBe(400)
  expect((await (await scoped('dns.read')).call('GET', '/v1/audit-events/catalog')).status).toBe(403)
  expect((await rival.call('GET', '/v1/audit-events/catalog')).status).toBe(200)
})

test('the changes of events match the schema of their action, and events have its code', async () => {
  const call = async (method: string, path: string, body?: unknown) => (await acme.call(method, path, body)).body
  const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
  const heartbeat = await call('POST', '/v1/heartbeats', { name: 'beat', schedule })
  for (const what of ['pause', 'resume', 'rotate']) await call('POST', `/v1/heartbeats/${heartbeat.id}/${what}`)
  await call('PATCH', `/v1/heartbeats/${heartbeat.id}`, { name: 'other', tags: ['a'] })
  await call('GET', '/v1/heartbeats/ping-key')
  await call('POST', '/v1/heartbeats/ping-key/rotate')
  await call('DELETE', `/v1/heartbeats/${heartbeat.id}`)
  const url = receiver().url
  const hook = { url, events: ['monitor.alert'], headers: { 'X-Own': 'a value of one' } }
  const endpoint = await call('POST', '/v1/webhook-endpoints', hook)
  await call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, { active: false, headers: null })
  for (const what of ['secret/rotate', 'secret/promote', 'test', 'enable'])
    await call('POST', `/v1/webhook-endpoints/${endpoint.id}/${what}`, what === 'secret/promote' ? undefined : {})
  const [delivery] = (await call('GET', '/v1/webhook-deliveries')).data
  await call('POST', `/v1/webhook-deliveries/${delivery.id}/resend`)
  await settle()
  await call('DELETE', `/v1/webhook-endpoints/${endpoint.id}`)
  const auth = { type: 'bearer', token: 'changeme-9f2c41' }
  const monitor = await call('POST', '/v1/monitors', { target: 'https://shop.example.com/', key: 'shop', options: { auth } })
  await call('PATCH', `/v1/monitors/${monitor.id}`, { degraded_if: ['[TTFB] > 1s'], options: { auth: { token: 'another' } } })
  for (const what of ['pause', 'reset', 'resume', 'clone']) await call('POST', `/v1/monitors/${monitor.id}/${what}`, {})
  await call('POST', '/v1/monitoring/import?prune=true', { monitors: [{ key: 'shop', target: 'https://shop.example.com/' }] })
  await call('DELETE', `/v1/monitors/${monitor.id}`)
  const token = await call('POST', '/v1/tokens', { name: 'one', mode: 'read_only' })
  await call('PATCH', `/v1/tokens/${token.id}`, { name: 'two' })
  await call('POST', `/v1/tokens/${token.id}/rotate`, { grace_seconds: 0 })
  await call('DELETE', `/v1/tokens/${token.id}`)
  await call('POST', '/v1/workspaces', { name: 'third' })
  await call('PATCH', `/v1/workspaces/${rival.workspaceId}`, { name: 'Rival' })

  const schemas = new Map((await catalog()).map(one => [one.action, one]))
  const seen = new Set<string>()
  for (const workspace of [acme, rival]) {
    const { data } = (await workspace.call('GET', '/v1/audit-events?limit=100')).body
    for (const { action, code, outcome, changes, targets, context } of data) {
      const { codes, changes_schema, target_types, channels } = schemas.get(action)
      seen.add(action)
      expect([action, code]).toEqual([action, codes[outcome]])
      if (changes_schema === null) expect([action, changes]).toEqual([action, null])
      else expect([action, faultsOf(changes_schema, changes)]).toEqual([action, null])
      for (const { type } of targets) expect([action, target_types]).toEqual([action, expect.arrayContaining([type])])
      expect([action, channels]).toEqual([action, expect.arrayContaining([context.channel])])
    }
  }
  expect(seen.size).toBeGreaterThan(20)
})
