import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { enrolmentKeys } from '../../src/features/servers/enrolment-keys/tables'
import { pruneServers } from '../../src/features/servers/watch'
import { publicKeyText } from '../../src/wire/signed'
import { AgentDouble, Machine } from '../support/agent-double'
import { cloudScene } from '../support/clouds/cloud-scene'
import { world, type World } from '../support/world'

const addServer = async (here: World, name: string): Promise<string> =>
  (await here.acme.call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id
const newKey = async (here: World, input: object = {}): Promise<{ id: string; key: string }> => {
  const { status, body } = await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', ...input })
  expect([status, body.errors]).toEqual([201, undefined])
  return body
}
const noticesOf = async (here: World): Promise<string[]> =>
  (await here.acme.call('GET', '/v1/notices')).body.data.map((one: any) => one.kind)
const agentOf = async (here: World, id: string) => (await here.acme.call('GET', `/v1/agents/${id}`)).body
const awaiting = async (here: World) =>
  (await here.acme.call('GET', '/v1/agents?state=awaiting_approval')).body.data as { id: string; server_id: string | null }[]

describe('an enrolment key', () => {
  test('is shown once, listed, and deleted, with audit events', async () => {
    const here = await world()
    const created = await here.acme.call('POST', '/v1/enrolment-keys', {
      ...{ name: 'Golden image', uses: 20, expires_in_seconds: 86_400, labels: { role: 'web' }, allow: ['reboot'] },
    })
    const { key, ...shown } = created.body
    expect(key).toMatch(/^bw_enrol_[0-9A-Za-z]{36}$/)
    expect(shown).toMatchObject({
      ...{ name: 'Golden image', uses: 20, used: 0, state: 'active', labels: { role: 'web' }, allow: ['reboot'] },
      ...{ approve: 'auto', match: false, server_id: null, hint: `bw_enrol_…${key.slice(-4)}` },
      expires_at: new Date(here.clock.now() + 86_400_000).toISOString(),
    })
    const one = created.headers.get('location')!
    expect(one).toBe(`/v1/enrolment-keys/${shown.id}`)
    const read = await here.acme.call('GET', one)
    expect(read.body).toEqual(shown)
    expect((await here.acme.call('GET', '/v1/enrolment-keys')).text).not.toContain(key)
    const [row] = await here.hub.read.select().from(enrolmentKeys).where(eq(enrolmentKeys.id, shown.id))
    expect(JSON.stringify(row)).not.toContain(key)
    expect((await here.acme.call('DELETE', one)).status).toBe(204)
    expect((await here.acme.call('GET', one)).status).toBe(404)
    expect((await new Machine(here).enrol(key)).body).toMatchObject({ status: 401, code: 'invalid_token' })
    expect(await here.audited()).toEqual(['cloud.enrolment_key.create', 'cloud.enrolment_key.delete'])
  })

  test('is limited in its uses, its time, and its number', async () => {
    const here = await world()
    const { id, key } = await newKey(here, { uses: 2 })
    for (const hostname of ['web-1', 'web-2']) expect((await new Machine(here, { hostname }).enrol(key)).status).toBe(201)
    const refused = await new Machine(here).enrol(key)
    expect([refused.status, refused.body.detail]).toEqual([
      ...[401, 'This enrolment key is used up: it was for 2 enrolments. Create another one.'],
    ])
    expect((await here.acme.call('GET', `/v1/enrolment-keys/${id}`)).body).toMatchObject({ state: 'used_up', used: 2 })
    const short = await newKey(here, { expires_in_seconds: 60 })
    await here.advance(60_000)
    expect((await new Machine(here).enrol(short.key)).body).toMatchObject({
      ...{ status: 401, code: 'token_expired', detail: 'This enrolment key has expired. Create another one.' },
    })
    // Those that are used up don’t count.
    for (let at = 1; at < 100; at++) await newKey(here)
    const over = await here.acme.call('POST', '/v1/enrolment-keys', { name: 'one more' })
    expect([over.status, over.body.detail]).toEqual([409, 'A workspace can have at most 100 enrolment keys.'])
  })

  test('is refused with values that make no sense', async () => {
    const here = await world()
    const cases: [object, string][] = [
      [{ uses: 0 }, '#/uses'],
      [{ uses: 1001 }, '#/uses'],
      [{ expires_in_seconds: 30 * 86_400 + 1 }, '#/expires_in_seconds'],
      [{ allow: ['everything'] }, '#/allow/0'],
      [{ allow: ['restart:'] }, '#/allow/0'],
      [{ labels: { bailiwick: 'x' } }, '#/labels/bailiwick'],
      [{ approve: 'never' }, '#/approve'],
      [{ server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km' }, '#/server_id'],
    ]
    for (const [input, pointer] of cases) {
      const { status, body } = await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', ...input })
      expect([status, body.errors[0].pointer]).toEqual([422, pointer])
    }
    const foreign = await here.rival.call('POST', '/v1/servers', { name: 'theirs' }, { 'Idempotency-Key': 'theirs' })
    const { status } = await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', server_id: foreign.body.id })
    expect(status).toBe(422)
  })
})

describe('an agent', () => {
  test('is enrolled as a new server, with its labels and its monitor', async () => {
    const here = await world()
    const { key, id } = await newKey(here, { labels: { role: 'web' } })
    await here.audited()
    const facts = { hostname: 'web-1', virtualization: 'kvm', cores: 4, memory_bytes: 2 ** 31 }
    const machine = new Machine(here, facts)
    const { status, body } = await machine.enrol(key)
    expect(status).toBe(201)
    expect(body).toEqual({
      agent_id: expect.stringMatching(/^agent_/),
      server_id: expect.stringMatching(/^srv_/),
      token: expect.stringMatching(/^bw_agent_[0-9A-Za-z]{36}$/),
      hub_key: expect.stringMatching(/^ed25519:[A-Za-z0-9_-]{43}$/),
      config: { interval_seconds: 60, watched_units: [], watched_processes: [] },
    })
    expect((await here.acme.call('GET', `/v1/servers/${body.server_id}`)).body).toMatchObject({
      ...{ name: 'web-1', kind: 'vm', origin: 'added', labels: { role: 'web' }, health: 'up', status: 'running' },
      ...{ size: { cores: 4 }, agent: { id: body.agent_id, state: 'reporting', version: '0.3.0' } },
    })
    expect(await agentOf(here, body.agent_id)).toMatchObject({
      ...{ name: 'web-1', server_id: body.server_id, assurance: 'key', enrolment_key_id: id, facts, last_report_at: null },
      hint: `bw_agent_…${body.token.slice(-4)}`,
    })
    const { data } = (await here.acme.call('GET', '/v1/monitors')).body
    expect(data).toMatchObject([{ type: 'server', target: body.server_id }])
    expect(await here.audited()).toEqual(['cloud.agent.enroll', 'cloud.server.create', 'monitor.create'])
    expect((await here.rival.call('GET', `/v1/agents/${body.agent_id}`)).status).toBe(404)
  })

  test('can repeat its request until its first report, in case the response was lost', async () => {
    const here = await world()
    const { key } = await newKey(here)
    const machine = new Machine(here)
    const first = (await machine.enrol(key)).body
    const second = (await machine.enrol(key)).body
    expect(second).toEqual({ ...first, token: second.token })
    expect(second.token).not.toBe(first.token)
    expect((await here.acme.call('GET', '/v1/agents')).body.data).toHaveLength(1)
    expect((await machine.report({}, { token: first.token })).status).toBe(401)
    expect((await machine.report()).status).toBe(200)
    const again = await machine.enrol(key)
    expect([again.status, again.body.code]).toEqual([401, 'token_revoked'])
  })

  test('must prove that it has the key that it sends', async () => {
    const here = await world()
    const { key } = await newKey(here, { uses: null })
    const machine = new Machine(here)
    const foreign = new Machine(here)
    const stolen = await machine.enrol(key, { public_key: publicKeyText(foreign.key) })
    expect([stolen.status, stolen.body.detail]).toEqual([
      401,
      'The signature does not match the request and the key of the agent.',
    ])
    const { status, body } = await machine.enrol(key, { public_key: undefined })
    expect(status).toBe(201)
    expect(await agentOf(here, body.agent_id)).toMatchObject({ assurance: 'token' })
    expect((await machine.report({}, { signature: null })).status).toBe(200)
  })

  test('gets no server beyond the plan', async () => {
    const here = await world()
    await here.limit(here.acme.workspaceId, { servers: 0 })
    const { key } = await newKey(here)
    const { status, body } = await new Machine(here).enrol(key)
    expect([status, body.code]).toEqual([403, 'plan_limit_reached'])
    expect((await here.acme.call('GET', '/v1/agents')).body.data).toEqual([])
  })

  test('is refused with what is wrong, after its key was checked', async () => {
    const here = await world()
    const { key } = await newKey(here, { uses: null })
    const cases: [object, string][] = [
      [{ v: 2 }, '#/v'],
      [{ machine_id_hash: 'short' }, '#/machine_id_hash'],
      [{ allow: ['everything'] }, '#/allow/0'],
      [{ version: '\u001b[2J' }, '#/version'],
      [{ facts: { cores: '4' } }, '#/facts/cores'],
      [{ facts: { hostname: 'a\nb' } }, '#/facts/hostname'],
      [{ more: 1 }, '#/more'],
    ]
    for (const [changed, pointer] of cases) {
      const { status, body } = await new Machine(here).enrol(key, changed)
      expect([status, body.errors?.[0].pointer]).toEqual([422, pointer])
      expect((await new Machine(here).enrol(`bw_enrol_${'a'.repeat(36)}`, changed)).status).toBe(401)
    }
    expect((await here.acme.call('GET', '/v1/agents')).body.data).toEqual([])
  })
})

describe('an agent that could take over a server', () => {
  test('awaits approval if its machine is known, while the first one continues', async () => {
    const here = await world()
    const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
    const { key } = await newKey(here)
    const other = new Machine(here, { hostname: 'clone' }, '192.0.2.30')
    const asked = await other.enrol(key, { machine_id_hash: agent.machine.id })
    expect([asked.status, asked.body]).toEqual([202, { state: 'awaiting_approval' }])
    expect((await other.enrol(key, { machine_id_hash: agent.machine.id })).status).toBe(202)
    expect(await noticesOf(here)).toEqual(['agent.approval'])
    const [waiting, ...more] = await awaiting(here)
    expect([waiting!.server_id, more]).toEqual([agent.serverId, []])
    expect((await agent.sendReport()).status).toBe(200)
    await here.audited()

    const approved = await here.acme.call('POST', `/v1/agents/${waiting!.id}/approve`, { server_id: null })
    expect(approved.body).toMatchObject({ state: 'stopped', name: 'clone' })
    expect(await here.audited()).toEqual(['cloud.agent.approve', 'cloud.server.create', 'monitor.create'])
    const enrolled = await other.enrol(key, { machine_id_hash: agent.machine.id })
    expect(enrolled.status).toBe(201)
    expect(enrolled.body.server_id).not.toBe(agent.serverId)
    expect((await other.report()).status).toBe(200)
    expect((await agent.sendReport()).status).toBe(200)
  })

  test('replaces the agent of the server once it is approved', async () => {
    const here = await world()
    const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
    const { key } = await newKey(here)
    const other = new Machine(here, { hostname: 'web-1' })
    expect((await other.enrol(key, { machine_id_hash: agent.machine.id })).status).toBe(202)
    const [waiting] = await awaiting(here)
    await here.audited()
    expect((await here.acme.call('POST', `/v1/agents/${waiting!.id}/approve`)).status).toBe(200)
    expect(await here.audited()).toEqual(['cloud.agent.approve', 'cloud.agent.revoke'])
    const refused = await agent.sendReport()
    expect([refused.status, refused.body.code]).toEqual([401, 'token_revoked'])
    expect((await other.enrol(key, { machine_id_hash: agent.machine.id })).body.server_id).toBe(agent.serverId)
    expect((await here.acme.call('GET', `/v1/servers/${agent.serverId}`)).body.agent.id).toBe(waiting!.id)
  })

  test('awaits approval with the key of a server that another machine reports about, unless that is silent', async () => {
    const here = await world()
    const serverId = await addServer(here, 'web-1')
    const agent = await AgentDouble.enroll(here, serverId)
    const second = new Machine(here)
    expect((await second.enrol((await newKey(here, { server_id: serverId })).key)).status).toBe(202)
    await agent.stops('shutdown')
    const third = new Machine(here)
    const { status, body } = await third.enrol((await newKey(here, { server_id: serverId })).key)
    expect([status, body.server_id]).toEqual([201, serverId])
    expect((await agent.sendReport()).body.code).toBe('token_revoked')
  })

  test('is rejected for good', async () => {
    const here = await world()
    const { key } = await newKey(here, { approve: 'manual' })
    const machine = new Machine(here)
    expect((await machine.enrol(key)).status).toBe(202)
    const [waiting] = await awaiting(here)
    expect(waiting!.server_id).toBeNull()
    expect((await here.rival.call('POST', `/v1/agents/${waiting!.id}/approve`)).status).toBe(404)
    expect((await here.readOnly.call('POST', `/v1/agents/${waiting!.id}/approve`)).status).toBe(403)
    expect((await here.acme.call('POST', `/v1/agents/${waiting!.id}/reject`)).body.state).toBe('revoked')
    const again = await machine.enrol(key)
    expect([again.status, again.body.code]).toEqual([401, 'token_revoked'])
    for (const verb of ['approve', 'reject'])
      expect((await here.acme.call('POST', `/v1/agents/${waiting!.id}/${verb}`)).status).toBe(409)
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
  })

  test('can’t be approved once its key is deleted, and is one of at most 100', async () => {
    const here = await world()
    const { id, key } = await newKey(here, { approve: 'manual', uses: null })
    for (let at = 0; at < 100; at++) expect((await new Machine(here).enrol(key)).status).toBe(202)
    const over = await new Machine(here).enrol(key)
    expect([over.status, over.body.detail]).toEqual([
      ...[409, '100 agents await approval already. Approve or reject some of them first.'],
    ])
    await here.acme.call('DELETE', `/v1/enrolment-keys/${id}`)
    const [waiting] = await awaiting(here)
    const { status, body } = await here.acme.call('POST', `/v1/agents/${waiting!.id}/approve`)
    expect([status, body.detail]).toEqual([
      ...[409, 'The enrolment key of this agent was deleted, so it can’t be approved. Enroll it again with another key.'],
    ])
  })

  test('is linked to the server with its address only if its key says so', async () => {
    const here = await world({ BAILIWICK_TRUSTED_PROXIES: '127.0.0.1/32' })
    const scene = await cloudScene(here)
    const created = await scene.create('web-1')
    await scene.finish(created.body.action_id)
    const { id, addresses } = await scene.named('web-1')
    const address: string = addresses.find((one: any) => one.scope === 'public' && one.family === 4).address
    const { key } = await newKey(here, { uses: null, match: true })
    const enrolled = async (of: string, from: string, ownKey = key) =>
      await new Machine(here, { hostname: 'web-1', addresses: [of] }, from).enrol(ownKey)

    // It must call from the address that it claims to have.
    expect((await enrolled(address, '192.0.2.99')).body.server_id).not.toBe(id)
    expect((await enrolled('192.0.2.99', address)).body.server_id).not.toBe(id)
    const offered = await enrolled(address, address, (await newKey(here)).key)
    expect(offered.status).toBe(202)
    expect(await awaiting(here)).toMatchObject([{ server_id: id }])
    expect((await enrolled(address, address)).body.server_id).toBe(id)
    // A second one would replace the first.
    expect((await enrolled(address, address)).status).toBe(202)
  })
})

describe('the commands that install an agent', () => {
  test('contain a key for one server, or for a new one', async () => {
    const here = await world()
    const serverId = await addServer(here, 'web-1')
    const path = `/v1/servers/${serverId}/agent`
    const { status, body } = await here.acme.call('POST', path, { allow: ['reboot'] }, { 'Idempotency-Key': 'install' })
    expect(status).toBe(201)
    expect(body.commands.curl).toContain(` --key ${body.key} --hub-key ed25519:`)
    expect(body.commands.curl).toEndWith(' --allow reboot')
    const replayed = await here.acme.call('POST', path, { allow: ['reboot'] }, { 'Idempotency-Key': 'install' })
    expect(replayed.body).toEqual({ ...body, key: null, commands: null, secret_shown_before: true })
    expect((await new Machine(here).enrol(body.key)).body.server_id).toBe(serverId)
    expect((await here.rival.call('POST', path, {})).status).toBe(404)

    const other = await here.acme.call('POST', '/v1/agents', { labels: { role: 'db' }, monitor: false })
    const enrolled = await new Machine(here, { hostname: 'db-1' }).enrol(other.body.key)
    expect((await here.acme.call('GET', `/v1/servers/${enrolled.body.server_id}`)).body).toMatchObject({
      ...{ name: 'db-1', labels: { role: 'db' }, kind: 'external' },
    })
    expect((await here.acme.call('GET', '/v1/monitors')).body.data).toEqual([])
  })
})

describe('the agent of a server that is created at a cloud', () => {
  test('is installed by its user data, with a key of its own', async () => {
    const here = await world()
    const scene = await cloudScene(here)
    await here.audited()
    const created = await scene.create('web-1', { enroll_agent: true, user_data: '#cloud-config\npackages: [nginx]\n' })
    expect([created.status, created.body.errors]).toEqual([201, undefined])
    expect(await here.audited()).toEqual(['cloud.server.create', 'cloud.enrolment_key.create'])
    await scene.finish(created.body.action_id)
    const { userData } = scene.double.serverNamed('web-1')!
    expect(userData).toContain('#cloud-config\npackages: [nginx]\n')
    expect(userData).toContain('/download/agent')
    const [key] = /bw_enrol_[0-9A-Za-z]{36}/.exec(userData!)!
    const machine = new Machine(here, { hostname: 'web-1' })
    expect((await machine.enrol(key)).body.server_id).toBe(created.body.id)
    expect((await new Machine(here).enrol(key)).status).toBe(401)

    const only = await scene.create('web-2', { enroll_agent: true })
    await scene.finish(only.body.action_id)
    expect(scene.double.serverNamed('web-2')!.userData).toStartWith('#!/bin/sh\nif command -v curl')
  })

  test('can’t be installed on drafts, with MIME user data, or without a cloud account', async () => {
    const here = await world()
    const scene = await cloudScene(here)
    const refused = async (fields: object, query = '') => {
      const { status, body } = await scene.create('web-1', { enroll_agent: true, ...fields }, query)
      return [status, (body.errors ?? body.problems)[0].pointer]
    }
    expect(await refused({ provision: false })).toEqual([422, '#/enroll_agent'])
    expect(await refused({ user_data: 'MIME-Version: 1.0\n' })).toEqual([422, '#/enroll_agent'])
    expect(await refused({ user_data: 'MIME-Version: 1.0\n' }, '?dry_run=true')).toEqual([200, '#/enroll_agent'])
    expect(await refused({ user_data: `#cloud-config\n${'x'.repeat(32_700)}` })).toEqual([422, '#/user_data'])
    const own = await here.acme.call('POST', '/v1/servers', { name: 'nas', enroll_agent: true }, { 'Idempotency-Key': 'nas' })
    expect([own.status, own.body.errors[0].pointer]).toEqual([422, '#/enroll_agent'])
    expect((await here.acme.call('GET', '/v1/enrolment-keys')).body.data).toEqual([])
  })
})

describe('an enrolled agent', () => {
  test('is updated, revoked, and deleted, with consequences for its server', async () => {
    const here = await world()
    const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
    const one = `/v1/agents/${agent.id}`
    await here.audited()
    const updated = await here.acme.call('PATCH', one, { config: { watched_units: ['nginx.service'] } })
    expect(updated.body.config).toEqual({ interval_seconds: 60, watched_units: ['nginx.service'], watched_processes: [] })
    expect((await agent.sendReport()).body.config).toEqual(updated.body.config)
    expect((await here.acme.call('PATCH', one, { config: { interval_seconds: 5 } })).status).toBe(422)
    const server = async () => (await here.acme.call('GET', `/v1/servers/${agent.serverId}`)).body
    expect(await server()).toMatchObject({ health: 'up', status: 'running' })
    expect((await here.acme.call('POST', `${one}/revoke`)).body).toMatchObject({ state: 'revoked', server_id: agent.serverId })
    expect((await here.acme.call('POST', `${one}/revoke`)).status).toBe(200)
    expect(await server()).toMatchObject({ health: 'unknown', status: 'unknown', agent: null })
    expect((await agent.sendReport()).body.code).toBe('token_revoked')
    expect((await here.acme.call('DELETE', one)).status).toBe(204)
    expect((await agent.sendReport()).body.code).toBe('invalid_token')
    expect(await here.audited()).toEqual(['cloud.agent.update', 'cloud.agent.revoke', 'cloud.agent.delete'])
  })

  test('has two tokens for a while after a rotation', async () => {
    const here = await world()
    const agent = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
    const old = agent.machine.token
    const rotated = await here.acme.call('POST', `/v1/agents/${agent.id}/rotate`, { grace_seconds: 3600 })
    const { token, hint } = rotated.body
    expect(token).toMatch(/^bw_agent_/)
    expect(hint).toBe(`bw_agent_…${token.slice(-4)}`)
    expect((await agent.sendReport()).status).toBe(200)
    agent.machine.token = token
    expect((await agent.sendReport()).status).toBe(200)
    await here.advance(3_600_000)
    agent.machine.token = old
    expect((await agent.sendReport()).status).toBe(401)
    // The key of the machine is needed with either.
    agent.machine.token = token
    expect((await agent.sendReport({}, { signature: null })).status).toBe(401)
  })

  test('is found by its filters', async () => {
    const here = await world()
    const first = await AgentDouble.enroll(here, await addServer(here, 'web-1'), { allow: ['collect', 'reboot'] })
    await AgentDouble.enroll(here, await addServer(here, 'web-2'), { version: '0.2.0' })
    const found = async (query: string) =>
      (await here.acme.call('GET', `/v1/agents?${query}`)).body.data.map((one: { id: string }) => one.id)
    expect(await found('allow=reboot')).toEqual([first.id])
    expect(await found('version=0.3.0')).toEqual([first.id])
    expect(await found(`server_id=${first.serverId}`)).toEqual([first.id])
    expect(await found('state=reporting')).toHaveLength(2)
    expect(await found('state=silent,revoked')).toEqual([])
  })
})

test('expired keys, agents that nobody approved, and agents that were revoked long ago are deleted', async () => {
  const here = await world()
  const days = async (count: number) => {
    await here.advance(count * 86_400_000)
    await pruneServers(here.hub)
  }
  const names = async (path: string): Promise<string[]> =>
    (await here.acme.call('GET', path)).body.data.map((one: { name: string }) => one.name).sort()
  const revoked = await AgentDouble.enroll(here, await addServer(here, 'web-1'))
  await here.acme.call('POST', `/v1/agents/${revoked.id}/revoke`)
  await newKey(here, { name: 'unused' })
  const { key } = await newKey(here, { name: 'manual', approve: 'manual' })
  const waiting = new Machine(here, { hostname: 'waiting' })
  expect((await waiting.enrol(key)).status).toBe(202)
  await days(6)
  expect(await names('/v1/enrolment-keys')).toEqual(['manual', 'test', 'unused'])
  // It still asks, so its key is needed.
  expect((await waiting.enrol(key)).status).toBe(202)
  await days(2)
  expect(await names('/v1/enrolment-keys')).toEqual(['manual'])
  expect(await names('/v1/agents?state=awaiting_approval')).toEqual(['waiting'])
  await days(6)
  expect(await names('/v1/agents?state=awaiting_approval')).toEqual([])
  expect(await names('/v1/enrolment-keys')).toEqual([])
  expect((await revoked.sendReport()).body.code).toBe('token_revoked')
  await days(77)
  expect((await revoked.sendReport()).body.code).toBe('invalid_token')
})
