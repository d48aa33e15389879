import { expect, test } from 'bun:test'
import { record, systemActor, jobContext } from '../../src/core/change'
import { world } from '../support/world'

const url = 'http://127.0.0.1:9/log'

test('an unknown action is rejected by the list and by streams', async () => {
  const { acme } = await world()
  for (const action of ['foo', 'nope.*', 'heartbeat', 'heartbeat.creates', 'account.token.create.*']) {
    const listed = await acme.call('GET', `/v1/audit-events?action=${action}`)
    expect([action, listed.status, listed.body.errors[0].pointer]).toEqual([action, 400, '#/query/action'])
    const created = await acme.call('POST', '/v1/audit-streams', { name: 'SIEM', url, actions: ['account.*', action] })
    expect([created.status, created.body.errors.map((one: any) => `${one.pointer} ${one.code}`)]).toEqual([
      422,
      ['#/actions/1 unknown'],
    ])
  }
  for (const action of ['heartbeat.create', 'heartbeat.*', 'account.token.*'])
    expect((await acme.call('GET', `/v1/audit-events?action=${action}`)).status).toBe(200)
  const { id } = (await acme.call('POST', '/v1/audit-streams', { name: 'SIEM', url, active: false })).body
  expect((await acme.call('PATCH', `/v1/audit-streams/${id}`, { actions: ['nope.*'] })).status).toBe(422)
  expect((await acme.call('PATCH', `/v1/audit-streams/${id}`, { actions: ['heartbeat.*'] })).status).toBe(200)
})

test('an action of an earlier version can still be found, in its own workspace', async () => {
  const { hub, acme, rival } = await world()
  const audit = {
    workspaceId: acme.workspaceId,
    action: 'fax.line.cut' as never,
    actor: systemActor('test'),
    context: jobContext,
    targets: [],
  }
  await record(hub, async () => ({ result: undefined, audits: [audit] }))
  for (const action of ['fax.line.cut', 'fax.*']) {
    expect((await acme.call('GET', `/v1/audit-events?action=${action}`)).body.data).toHaveLength(1)
    expect((await rival.call('GET', `/v1/audit-events?action=${action}`)).status).toBe(400)
  }
})
