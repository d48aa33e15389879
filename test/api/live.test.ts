import { describe, expect, test } from 'bun:test'
import type { Permission } from '../../src/core/permissions'
import { auditActions } from '../../src/features/audit-actions'
import { record } from '../../src/core/change'
import { addChangeHint, changeHintsChannel, changeHintsOf } from '../../src/core/change-hints'
import { raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { liveOf, maxStreams } from '../../src/features/live/live'
import { permissionFor } from '../../src/features/live/visible-changes'
import { addPerson, cookieOf, password, person } from '../support/people'
import { isPostgres } from '../../src/core/db/dialect'
import { Worker } from '../../src/core/jobs/worker'
import { recorderOf } from '../../src/features/monitors/series/recorder'
import { createApp } from '../../src/hub/app'
import { jobKinds } from '../../src/hub/jobs'
import { otherHub, watched } from '../support/watched-monitors'
import { EventReader, type StreamEvent } from '../support/event-stream'
import { callerWith, world, type Caller, type World } from '../support/world'

const gatherMs = 250
const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
const noPhases = { dns: null, connect: null, tls: null, first_byte: null }

/** Opens a stream with a token or a session cookie. */
async function openStream(
  here: World,
  caller: Caller | string,
  query = '',
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const credential: Record<string, string> =
    typeof caller === 'string' ? { cookie: caller } : { authorization: `Bearer ${caller.token}` }
  const request = new Request(`http://localhost:8484/v1/stream${query}`, { headers: { ...credential, ...headers } })
  return new EventReader(await here.app.handle(request))
}

const createHeartbeat = async (caller: Caller, name: string): Promise<string> =>
  (await caller.call('POST', '/v1/heartbeats', { name, schedule })).body.id

const created = (id: string) => ({ type: 'heartbeat', id, action: 'heartbeat.create' })

async function signIn(here: World, email: string): Promise<string> {
  return cookieOf(await here.anonymous.call('POST', '/v1/sessions', { email, password }))
}

/** The sequence number in a position. */
const seqOf = (position: string) => Number(position.split('-')[0])

/** Waits for work triggered by a commit. */
const soon = () => Bun.sleep(100)

describe('a stream', () => {
  test('starts with its position, and sends the changes of a quarter of a second in one event, each once', async () => {
    const here = await world()
    const stream = await openStream(here, here.acme)
    expect(stream.response.headers.get('cache-control')).toContain('no-transform')
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no')
    const hello = await stream.next()
    expect(hello).toEqual({
      event: 'hello',
      id: hello!.data.position,
      data: { at: '2026-11-21T10:00:00.000Z', position: hello!.id },
    })
    expect(stream.retry).toBe(2000)
    const [one, other] = [await createHeartbeat(here.acme, 'one'), await createHeartbeat(here.acme, 'other')]
    for (const name of ['two', 'three']) await here.acme.call('PATCH', `/v1/heartbeats/${one}`, { name })
    await here.advance(gatherMs)
    const event = await stream.next()
    expect(event!.event).toBe('change')
    expect(event!.data.changes).toEqual([
      created(one),
      created(other),
      { type: 'heartbeat', id: one, action: 'heartbeat.update' },
    ])
    expect(event!.id).not.toBe(hello!.id)
    await stream.close()
    expect(liveOf(here.hub).size).toBe(0)
  })

  test('resumes after the position of the client, sent either way', async () => {
    const here = await world()
    const first = await openStream(here, here.acme)
    const { id: start } = (await first.next())!
    await first.close()
    const createdResponse = [created(await createHeartbeat(here.acme, 'meanwhile'))]
    await here.advance(gatherMs)
    await soon()
    for (const named of [{ query: `?since=${start}` }, { query: '?since=7', headers: { 'last-event-id': start } }]) {
      const stream = await openStream(here, here.acme, named.query, named.headers)
      expect((await stream.next())!.id).toBe(start)
      expect((await stream.next())!.data.changes).toEqual(createdResponse)
      const next = created(await createHeartbeat(here.acme, 'next'))
      await here.advance(gatherMs)
      expect((await stream.next())!.data.changes).toEqual([next])
      createdResponse.push(next)
      await stream.close()
    }
  })

  test('sends reset if the position is invalid or too old, or there are too many changes', async () => {
    const here = await world()
    for (const since of ['nonsense', '999999', '-1', '1e3']) {
      const stream = await openStream(here, here.acme, `?since=${since}`)
      expect((await stream.next())!.event).toBe('hello')
      expect(await stream.next()).toMatchObject({ event: 'reset', data: {} })
      await stream.close()
    }
    const stream = await openStream(here, here.acme)
    const { id: start } = (await stream.next())!
    await manyChanges(here, 201)
    await here.advance(gatherMs)
    const reset = await stream.next()
    expect(reset).toMatchObject({ event: 'reset', data: {} })
    expect(seqOf(reset!.id)).toBe(seqOf(start) + 201)
    const late = await openStream(here, here.acme, `?since=${start}`)
    await late.next()
    expect(await late.next()).toEqual(reset)
    const createdResponse = await createHeartbeat(here.acme, 'after')
    await here.advance(gatherMs)
    for (const one of [stream, late]) expect((await one.next())!.data.changes).toEqual([created(createdResponse)])
  })

  test('sends a keep-alive every 15 seconds, with the position after skipped changes', async () => {
    const here = await world()
    const stream = await openStream(here, await here.scoped('dns.read'))
    const { id } = (await stream.next())!
    await createHeartbeat(here.acme, 'invisible')
    for (let n = 0; n < 15; n++) await here.advance(1000)
    await soon()
    const zone = await here.acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes[0]).toEqual({ type: 'zone', id: zone.body.id, action: 'dns.zone.create' })
    expect(stream.comments).toBe(1)
    expect(seqOf(stream.lastEventId)).toBeGreaterThan(seqOf(id) + 1)
  })

  test('responds to HEAD with headers only, and does not stay open', async () => {
    const here = await world()
    const headers = { authorization: `Bearer ${here.acme.token}` }
    const answer = await here.app.handle(new Request('http://localhost:8484/v1/stream', { method: 'HEAD', headers }))
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(liveOf(here.hub).size).toBe(0)
  })
})

describe('a stream contains', () => {
  test('nothing from other workspaces, areas without permission, or resources outside a restricted token', async () => {
    const here = await world()
    const seen = await createHeartbeat(here.acme, 'seen')
    const createdResponse = await here.acme.call('POST', '/v1/tokens', { name: 'restricted', mode: 'full', resource_ids: [seen] })
    const restricted = callerWith(here.app, here.acme.workspaceId, createdResponse.body.token)
    const callers = { all: here.acme, rival: here.rival, dns: await here.scoped('dns.read'), restricted }
    const streams = new Map<string, EventReader>()
    for (const [name, caller] of Object.entries(callers)) streams.set(name, await openStream(here, caller))
    for (const stream of streams.values()) await stream.next()
    const unseen = await createHeartbeat(here.acme, 'unseen')
    await here.acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
    await here.acme.call('PATCH', `/v1/heartbeats/${seen}`, { name: 'renamed' })
    await here.acme.call('PATCH', `/v1/heartbeats/${unseen}`, { name: 'renamed' })
    await createHeartbeat(here.rival, 'theirs')
    await here.advance(gatherMs)
    const actions = async (name: string) => (await streams.get(name)!.next())!.data.changes.map((one: any) => one.action)
    expect(await actions('all')).toEqual(['heartbeat.create', 'dns.zone.create', 'heartbeat.update', 'heartbeat.update'])
    expect(await actions('rival')).toEqual(['heartbeat.create'])
    expect(await actions('dns')).toEqual(['dns.zone.create'])
    expect(await actions('restricted')).toEqual(['heartbeat.update'])
  })

  test('no denied actions', async () => {
    const here = await world()
    const stream = await openStream(here, here.acme)
    await stream.next()
    expect((await here.readOnly.call('POST', '/v1/heartbeats', { name: 'no' })).status).toBe(403)
    const createdResponse = await createHeartbeat(here.acme, 'yes')
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes).toEqual([created(createdResponse)])
  })

  test('each action with the permission of its area', () => {
    const areas = new Map<string, Permission>(auditActions.map(one => [one.action.split('.')[0]!, permissionFor(one.action)]))
    // A new area needs its permission in visible-changes.ts, otherwise only `account.read` can see its changes.
    expect(Object.fromEntries(areas)).toEqual({
      account: 'account.read',
      certificates: 'certificates.read',
      cloud: 'cloud.read',
      dns: 'dns.read',
      domains: 'domains.read',
      dynamic_ip: 'dynamic_ip.read',
      heartbeat: 'monitoring.read',
      incident: 'monitoring.read',
      maintenance: 'monitoring.read',
      monitor: 'monitoring.read',
      notification: 'monitoring.read',
      webhooks: 'webhooks.read',
    })
  })
})

describe('changes that are not in the audit log', () => {
  const alert = (here: World) => raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n')

  test('are sent: deliveries, notifications, notices and actions', async () => {
    const here = await world()
    const inbox = receiver()
    const endpoint = (await here.acme.call('POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
    const streams = [await openStream(here, here.acme), await openStream(here, await here.scoped('dns.read'))]
    const token = await here.acme.call('POST', '/v1/tokens', { name: 'restricted', mode: 'full', resource_ids: [endpoint.id] })
    streams.push(await openStream(here, callerWith(here.app, here.acme.workspaceId, token.body.token)))
    for (const stream of streams) await stream.next()
    await alert(here)
    await here.settle()
    await record(here.hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId: here.acme.workspaceId,
          kind: 'token.expiring' as const,
          resource: null,
          text: 'x',
          details: {},
          dedupKey: 'x',
        },
      ],
    }))
    await here.advance(gatherMs)
    const [delivery] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
    const [notice] = (await here.acme.call('GET', '/v1/notices')).body.data
    const moved = { type: 'webhook_delivery', id: delivery.id, action: 'webhooks.delivery.update' }
    const { changes } = (await streams[0]!.next())!.data
    expect(changes).toContainEqual(moved)
    expect(changes).toContainEqual({ type: 'notice', id: notice.id, action: 'account.notice.create' })
    expect((await streams[2]!.next())!.data.changes).toEqual([moved])
    const zone = await here.acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
    await here.advance(gatherMs)
    expect((await streams[1]!.next())!.data.changes).toEqual([{ type: 'zone', id: zone.body.id, action: 'dns.zone.create' }])
    await stopReceivers()
  })

  test('are sent to clients that reconnect within a minute; later, they get reset', async () => {
    const here = await world()
    const first = await openStream(here, here.acme)
    const { id: start } = (await first.next())!
    await first.close()
    await addHints(here, 1)
    await here.advance(gatherMs)
    await soon()
    const second = await openStream(here, here.acme, `?since=${start}`)
    await second.next()
    expect((await second.next())!.data.changes).toEqual([{ type: 'action', id: 'act_0', action: 'dns.action.update' }])
    const end = second.lastEventId
    await second.close()
    await here.advance(30_000)
    const third = await openStream(here, here.acme, `?since=${end}`)
    await third.next()
    await addHints(here, 2)
    await here.advance(gatherMs)
    expect((await third.next())!.event).toBe('change')
    await third.close()
    for (let n = 0; n < 61; n++) await here.advance(1000)
    const late = await openStream(here, here.acme, `?since=${end}`)
    await late.next()
    expect((await late.next())!.event).toBe('reset')
  })

  test('are merged if there are many', async () => {
    const here = await world()
    const stream = await openStream(here, here.acme)
    await stream.next()
    await addHints(here, 500)
    await addHints(here, 500)
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes).toEqual([{ type: 'action', id: '*', action: 'dns.action.update' }])
  })

  test('are not sent if they were rolled back', async () => {
    const here = await world()
    const stream = await openStream(here, here.acme)
    await stream.next()
    await expect(addHints(here, 1, new Error('undone'))).rejects.toThrow('undone')
    const createdResponse = await createHeartbeat(here.acme, 'done')
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes).toEqual([created(createdResponse)])
  })
})

/** Adds change hints for a number of actions. */
const addHints = ({ hub, acme: { workspaceId } }: World, count: number, error?: Error) =>
  record(hub, async tx => {
    for (let n = 0; n < count; n++)
      addChangeHint(tx, { workspaceId, action: 'dns.action.update', type: 'action', id: `act_${n}`, parentId: null })
    if (error) throw error
    return { result: undefined }
  })

describe('watching', () => {
  test('monitors sends their check results, at most every quarter of a second', async () => {
    const here = await world()
    const [one, other] = [await watched(here), await watched(here, { name: 'other' })]
    const theirs = (await here.rival.call('POST', '/v1/monitors', { type: 'http', target: 'https://example.org/' })).body.id
    const stream = await openStream(here, here.acme, `?watch=${one},${theirs},mon_nonsense`)
    await stream.next()
    const at = new Date(here.clock.now()).toISOString()
    here.engine.report({ monitor: one, phases: { ...noPhases, total: 41.26 } })
    here.engine.report({ monitor: other })
    here.engine.report({ monitor: theirs })
    await here.settle()
    await here.advance(gatherMs)
    const events = [(await stream.next())!, (await stream.next())!]
    expect(events.map(one => one.event).sort()).toEqual(['change', 'results'])
    const results = events.find(one => one.event === 'results')!
    expect(results.data).toEqual({ monitors: [{ id: one, status: 'up', last_check_at: at, ok: true, response_ms: 41.3 }] })
    here.engine.report({ monitor: one, status: 'down' })
    here.engine.report({ monitor: one, status: 'down', phases: { ...noPhases, total: 7 } })
    await here.settle()
    await here.advance(gatherMs)
    // Only the last result of a quarter of a second is sent, with the status at that time.
    expect((await nextOf(stream, 'results')).data.monitors).toMatchObject([
      { id: one, status: 'down', ok: false, response_ms: 7 },
    ])
    await stream.close()
  })

  test('heartbeats sends their pings', async () => {
    const here = await world()
    const createdResponse = (await here.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
    const stream = await openStream(here, here.acme, `?watch_heartbeats=${createdResponse.id}`)
    await stream.next()
    await here.anonymous.call('GET', `/ping/${createdResponse.uuid}/start`)
    await here.advance(gatherMs)
    expect((await nextOf(stream, 'heartbeats')).data.heartbeats[0]).toMatchObject({
      id: createdResponse.id,
      started: true,
      ping_count: 1,
    })
    await here.anonymous.call('GET', `/ping/${createdResponse.uuid}`)
    await here.advance(gatherMs)
    expect((await nextOf(stream, 'heartbeats')).data.heartbeats[0]).toMatchObject({
      status: 'up',
      started: false,
      ping_count: 2,
      last_duration_ms: 250,
    })
  })

  test('sends nothing without permission, and is limited to 100 monitors', async () => {
    const here = await world()
    const monitor = await watched(here)
    const stream = await openStream(here, await here.scoped('dns.read'), `?watch=${monitor}`)
    await stream.next()
    here.engine.report({ monitor })
    await here.settle()
    await here.advance(gatherMs)
    await soon()
    await stream.close()
    expect(await nextUntilEnd(stream)).toEqual([])
    const many = Array.from({ length: 101 }, (_, n) => `mon_${n}`).join(',')
    expect((await here.acme.call('GET', `/v1/stream?watch=${many}`)).body).toMatchObject({
      code: 'invalid_parameter',
      errors: [{ pointer: '#/query/watch' }],
    })
  })
})

describe.skipIf(!isPostgres)('at another hub', () => {
  test('changes, checks and pings of this hub arrive within a second', async () => {
    const here = await world()
    const monitor = await watched(here)
    const beat = (await here.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
    const other = await otherHub(here)
    const app = createApp(other.hub, new Worker(other.hub, jobKinds))
    const stream = await openStream({ ...here, app }, here.acme, `?watch=${monitor}&watch_heartbeats=${beat.id}`)
    await stream.next()
    // The first poll finds the existing state.
    await here.advance(1000)
    for (const resources of liveOf(other.hub)['watched']) await resources['polling']
    const createdResponse = await createHeartbeat(here.acme, 'elsewhere')
    await other.hub.store.listen(changeHintsChannel, text => changeHintsOf(other.hub).receive(text))
    await addHints(here, 1)
    await here.anonymous.call('GET', `/ping/${beat.uuid}/start`)
    here.engine.report({ monitor, phases: { ...noPhases, total: 12 } })
    await here.settle()
    await recorderOf(here.hub).flush()
    const received = new Map<string, any[]>()
    const receiving = (async () => {
      while (!['change', 'heartbeats', 'results'].every(one => received.has(one)) || received.get('change')!.length < 2) {
        const { event, data } = (await stream.next())!
        received.set(event, [...(received.get(event) ?? []), ...(Object.values(data)[0] as any[])])
      }
      return true
    })()
    for (let n = 0; n < 200 && !(await Promise.race([receiving, Bun.sleep(50)])); n++) await here.advance(250)
    expect(received.get('change')).toContainEqual(created(createdResponse))
    expect(received.get('change')).toContainEqual({ type: 'action', id: 'act_0', action: 'dns.action.update' })
    expect(received.get('heartbeats')).toMatchObject([{ id: beat.id, started: true }])
    expect(received.get('results')).toMatchObject([{ id: monitor, ok: true, response_ms: 12 }])
    await stream.close()
    await other.close()
  })
})

describe('a stream of a session', () => {
  test('uses the workspace in the query, if the user is a member', async () => {
    const here = await world()
    await person(here, here.acme.workspaceId, 'owner', 'ada@example.com')
    const cookie = await signIn(here, 'ada@example.com')
    const stream = await openStream(here, cookie, `?workspace=${here.acme.workspaceId}`)
    await stream.next()
    const createdResponse = await createHeartbeat(here.acme, 'hers')
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes).toContainEqual(created(createdResponse))
    const call = (workspace: string) => here.anonymous.call('GET', `/v1/stream?workspace=${workspace}`, undefined, { cookie })
    expect((await call(here.rival.workspaceId)).status).toBe(404)
    expect((await call('nonsense')).body).toMatchObject({ code: 'invalid_parameter', errors: [{ pointer: '#/query/workspace' }] })
    expect((await here.acme.call('GET', `/v1/stream?workspace=${here.rival.workspaceId}`)).status).toBe(404)
    // Other operations don't have this parameter.
    expect((await here.acme.call('GET', `/v1/heartbeats?workspace=${here.acme.workspaceId}`)).body.code).toBe('unknown_parameter')
    expect((await here.anonymous.call('GET', '/v1/stream')).status).toBe(401)
  })

  test('ends when the user signs out or is removed, or a token is revoked', async () => {
    const here = await world()
    await addPerson(here.hub, here.acme.workspaceId, 'owner', 'olga@example.com')
    const { user } = await person(here, here.acme.workspaceId, 'admin', 'ada@example.com')
    await person(here, here.acme.workspaceId, 'viewer', 'eve@example.com')
    const token = (await here.acme.call('POST', '/v1/tokens', { name: 'short', mode: 'read_only' })).body
    const cookies = { ada: await signIn(here, 'ada@example.com'), eve: await signIn(here, 'eve@example.com') }
    const ada = await openStream(here, cookies.ada)
    const eve = await openStream(here, cookies.eve)
    const revoked = await openStream(here, callerWith(here.app, here.acme.workspaceId, token.token))
    const suspended = await openStream(here, here.rival)
    for (const stream of [ada, eve, revoked, suspended]) await stream.next()
    await here.acme.call('DELETE', `/v1/members/${user.id}`)
    await here.advance(gatherMs)
    expect(await nextUntilEnd(ada)).toEqual(['change'])
    const out = { cookie: cookies.eve, origin: 'http://localhost:8484', 'bailiwick-csrf': '1' }
    expect((await here.anonymous.call('DELETE', '/v1/sessions', undefined, out)).status).toBe(204)
    await here.advance(gatherMs)
    expect(await nextUntilEnd(eve)).toEqual([])
    await here.acme.call('DELETE', `/v1/tokens/${token.id}`)
    await here.acme.call('POST', `/v1/workspaces/${here.rival.workspaceId}/suspend`, {})
    for (let n = 0; n < 5; n++) await here.advance(1000)
    expect((await nextUntilEnd(revoked)).length).toBeGreaterThan(0)
    expect(await nextUntilEnd(suspended)).toEqual([])
    expect(liveOf(here.hub).size).toBe(0)
  })

  test('ends when the session expires', async () => {
    const here = await world()
    await person(here, here.acme.workspaceId, 'owner', 'ada@example.com')
    const stream = await openStream(here, await signIn(here, 'ada@example.com'))
    await stream.next()
    here.clock.jump(31 * 24 * 3600 * 1000)
    for (let n = 0; n < 5; n++) await here.advance(1000)
    expect(await nextUntilEnd(stream)).toEqual([])
  })

  test('gets reset when the role changes, and then only changes visible to the new role', async () => {
    const here = await world()
    await addPerson(here.hub, here.acme.workspaceId, 'owner', 'olga@example.com')
    const { user } = await person(here, here.acme.workspaceId, 'admin', 'ada@example.com')
    const stream = await openStream(here, await signIn(here, 'ada@example.com'))
    await stream.next()
    await here.acme.call('PATCH', `/v1/members/${user.id}`, { role: 'viewer' })
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes[0].action).toBe('account.member.update')
    expect((await stream.next())!.event).toBe('reset')
    await here.acme.call('POST', '/v1/tokens', { name: 'invisible', mode: 'read_only' })
    const createdResponse = await createHeartbeat(here.acme, 'visible')
    await here.advance(gatherMs)
    expect((await stream.next())!.data.changes).toEqual([created(createdResponse)])
  })
})

describe('limits', () => {
  test('at most 20 streams per credential', async () => {
    const here = await world()
    const streams = await Promise.all(Array.from({ length: maxStreams.perCredential }, () => openStream(here, here.acme)))
    const refused = await here.acme.call('GET', '/v1/stream')
    expect([refused.status, refused.body.code, refused.body['violated-policies']]).toEqual([429, 'rate_limited', ['streams']])
    await (await openStream(here, here.readOnly)).close()
    await streams[0]!.close()
    expect((await here.acme.call('GET', '/v1/stream')).status).toBe(200)
  })

  test('no streams after the hub has stopped', async () => {
    const here = await world()
    const stream = await openStream(here, here.acme)
    await stream.next()
    liveOf(here.hub).end()
    expect(await stream.next()).toBeNull()
    expect(await nextUntilEnd(await openStream(here, here.acme))).toEqual(['hello'])
    expect(liveOf(here.hub).size).toBe(0)
  })

  test('a client that does not read is disconnected', async () => {
    const here = await world()
    const stream = await openStream(here, here.acme)
    await stream.next()
    let position = ''
    for (let n = 0; n < 100 && liveOf(here.hub).size > 0; n++) {
      await manyChanges(here, 150)
      await here.advance(gatherMs)
      await soon()
      position = String(n)
    }
    expect([position !== '', liveOf(here.hub).size]).toEqual([true, 0])
    await expect(nextUntilEnd(stream)).rejects.toThrow('too slow')
  }, 180_000)
})

/** Returns the next event of a kind and skips others. */
async function nextOf(stream: EventReader, event: string): Promise<StreamEvent> {
  for (;;) {
    const next = (await stream.next())!
    if (next.event === event) return next
  }
}

async function nextUntilEnd(stream: EventReader): Promise<string[]> {
  const events: string[] = []
  for (let next = await stream.next(); next; next = await stream.next()) events.push(next.event)
  return events
}

/** Writes a number of audit events in one transaction, like a bulk operation. */
const manyChanges = ({ hub, acme }: World, count: number) =>
  record(hub, async () => ({
    result: undefined,
    audits: Array.from({ length: count }, (_, n) => ({
      workspaceId: acme.workspaceId,
      action: 'heartbeat.update' as const,
      actor: { type: 'system' as const, id: 'test', name: 'test', hint: null },
      context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' as const },
      targets: [{ type: 'heartbeat', id: `hb_01k3zb2c4d6e8f0g2h4j6k${String(n).padStart(4, '0')}`, name: 'one of many' }],
    })),
  }))
