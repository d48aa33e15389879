import { describe, expect, test } from 'bun:test'
import type { Permission } from '../../src/core/permissions'
import { auditActions } from '../../src/core/audit-actions'
import { record } from '../../src/core/change'
import { touch, touchesChannel, touchesOf } from '../../src/core/touches'
import { raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { liveOf, mostStreams } from '../../src/features/live/live'
import { permissionFor } from '../../src/features/live/told'
import { addPerson, cookieOf, password, person } from '../support/people'
import { isPostgres } from '../../src/core/db/dialect'
import { Worker } from '../../src/core/jobs/worker'
import { recorderOf } from '../../src/features/monitors/series/recorder'
import { makeApp } from '../../src/hub/app'
import { jobKinds } from '../../src/hub/jobs'
import { otherHub, watched } from '../support/watched-monitors'
import { EventReader, type Heard } from '../support/event-stream'
import { callerWith, world, type Caller, type World } from '../support/world'

const gather = 250
const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
const noPhases = { dns: null, connect: null, tls: null, first_byte: null }

/** Opens a stream as the holder of a token, or of a cookie. */
async function listen(here: World, who: Caller | string, query = '', headers: Record<string, string> = {}): Promise<EventReader> {
  const credential: Record<string, string> = typeof who === 'string' ? { cookie: who } : { authorization: `Bearer ${who.token}` }
  const request = new Request(`http://localhost:8484/v1/stream${query}`, { headers: { ...credential, ...headers } })
  return new EventReader(await here.app.handle(request))
}

const makeHeartbeat = async (caller: Caller, name: string): Promise<string> =>
  (await caller.call('POST', '/v1/heartbeats', { name, schedule })).body.id

const created = (id: string) => ({ type: 'heartbeat', id, action: 'heartbeat.create' })

async function signIn(here: World, email: string): Promise<string> {
  return cookieOf(await here.stranger.call('POST', '/v1/sessions', { email, password }))
}

/** The number of the entry of the log that a place names. */
const entryOf = (position: string) => Number(position.split('-')[0])

/** Lets what a commit set off come to its end. */
const soon = () => Bun.sleep(100)

describe('a stream', () => {
  test('begins with where it is, and tells what is committed in one event a quarter of a second, each change once', async () => {
    const here = await world()
    const stream = await listen(here, here.acme)
    expect(stream.answer.headers.get('cache-control')).toContain('no-transform')
    expect(stream.answer.headers.get('x-accel-buffering')).toBe('no')
    const hello = await stream.next()
    expect(hello).toEqual({
      event: 'hello',
      id: hello!.data.position,
      data: { at: '2026-11-21T10:00:00.000Z', position: hello!.id },
    })
    expect(stream.retry).toBe(2000)
    const [one, other] = [await makeHeartbeat(here.acme, 'one'), await makeHeartbeat(here.acme, 'other')]
    for (const name of ['two', 'three']) await here.acme.call('PATCH', `/v1/heartbeats/${one}`, { name })
    await here.pass(gather)
    const told = await stream.next()
    expect(told!.event).toBe('change')
    expect(told!.data.changes).toEqual([created(one), created(other), { type: 'heartbeat', id: one, action: 'heartbeat.update' }])
    expect(told!.id).not.toBe(hello!.id)
    await stream.close()
    expect(liveOf(here.hub).size).toBe(0)
  })

  test('goes on behind the place that the client remembers, whichever way it names it', async () => {
    const here = await world()
    const first = await listen(here, here.acme)
    const { id: start } = (await first.next())!
    await first.close()
    const made = [created(await makeHeartbeat(here.acme, 'meanwhile'))]
    await here.pass(gather)
    await soon()
    for (const named of [{ query: `?since=${start}` }, { query: '?since=7', headers: { 'last-event-id': start } }]) {
      const stream = await listen(here, here.acme, named.query, named.headers)
      expect((await stream.next())!.id).toBe(start)
      expect((await stream.next())!.data.changes).toEqual(made)
      const next = created(await makeHeartbeat(here.acme, 'next'))
      await here.pass(gather)
      expect((await stream.next())!.data.changes).toEqual([next])
      made.push(next)
      await stream.close()
    }
  })

  test('says that all is to be read anew when the place is none, too old, or too much was changed at once', async () => {
    const here = await world()
    for (const since of ['nonsense', '999999', '-1', '1e3']) {
      const stream = await listen(here, here.acme, `?since=${since}`)
      expect((await stream.next())!.event).toBe('hello')
      expect(await stream.next()).toMatchObject({ event: 'reset', data: {} })
      await stream.close()
    }
    const stream = await listen(here, here.acme)
    const { id: start } = (await stream.next())!
    await manyChanges(here, 201)
    await here.pass(gather)
    const reset = await stream.next()
    expect(reset).toMatchObject({ event: 'reset', data: {} })
    expect(entryOf(reset!.id)).toBe(entryOf(start) + 201)
    const late = await listen(here, here.acme, `?since=${start}`)
    await late.next()
    expect(await late.next()).toEqual(reset)
    const made = await makeHeartbeat(here.acme, 'after')
    await here.pass(gather)
    for (const one of [stream, late]) expect((await one.next())!.data.changes).toEqual([created(made)])
  })

  test('shows that it lives every 15 seconds, and remembers what it passed over', async () => {
    const here = await world()
    const stream = await listen(here, await here.scoped('dns.read'))
    const { id } = (await stream.next())!
    await makeHeartbeat(here.acme, 'unheard')
    for (let n = 0; n < 15; n++) await here.pass(1000)
    await soon()
    const zone = await here.acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
    await here.pass(gather)
    expect((await stream.next())!.data.changes[0]).toEqual({ type: 'zone', id: zone.body.id, action: 'dns.zone.create' })
    expect(stream.comments).toBe(1)
    expect(entryOf(stream.lastEventId)).toBeGreaterThan(entryOf(id) + 1)
  })

  test('answers HEAD with its headers alone, and holds no place for it', async () => {
    const here = await world()
    const headers = { authorization: `Bearer ${here.acme.token}` }
    const answer = await here.app.handle(new Request('http://localhost:8484/v1/stream', { method: 'HEAD', headers }))
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(liveOf(here.hub).size).toBe(0)
  })
})

describe('is told', () => {
  test('nothing of other workspaces, of areas that may not be read, nor beyond a narrowed token', async () => {
    const here = await world()
    const seen = await makeHeartbeat(here.acme, 'seen')
    const made = await here.acme.call('POST', '/v1/tokens', { name: 'narrowed', mode: 'full', resource_ids: [seen] })
    const narrowed = callerWith(here.app, here.acme.workspaceId, made.body.token)
    const callers = { all: here.acme, rival: here.rival, dns: await here.scoped('dns.read'), narrowed }
    const streams = new Map<string, EventReader>()
    for (const [name, caller] of Object.entries(callers)) streams.set(name, await listen(here, caller))
    for (const stream of streams.values()) await stream.next()
    const unseen = await makeHeartbeat(here.acme, 'unseen')
    await here.acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
    await here.acme.call('PATCH', `/v1/heartbeats/${seen}`, { name: 'renamed' })
    await here.acme.call('PATCH', `/v1/heartbeats/${unseen}`, { name: 'renamed' })
    await makeHeartbeat(here.rival, 'theirs')
    await here.pass(gather)
    const actions = async (name: string) => (await streams.get(name)!.next())!.data.changes.map((one: any) => one.action)
    expect(await actions('all')).toEqual(['heartbeat.create', 'dns.zone.create', 'heartbeat.update', 'heartbeat.update'])
    expect(await actions('rival')).toEqual(['heartbeat.create'])
    expect(await actions('dns')).toEqual(['dns.zone.create'])
    expect(await actions('narrowed')).toEqual(['heartbeat.update'])
  })

  test('nothing of what was refused', async () => {
    const here = await world()
    const stream = await listen(here, here.acme)
    await stream.next()
    expect((await here.readOnly.call('POST', '/v1/heartbeats', { name: 'no' })).status).toBe(403)
    const made = await makeHeartbeat(here.acme, 'yes')
    await here.pass(gather)
    expect((await stream.next())!.data.changes).toEqual([created(made)])
  })

  test('each action by an area that exists', () => {
    const areas = new Map<string, Permission>(auditActions.map(one => [one.action.split('.')[0]!, permissionFor(one.action)]))
    // An area that is new here needs its permission in told.ts, or it is heard of by those who see to the account alone.
    expect(Object.fromEntries(areas)).toEqual({
      account: 'account.read',
      dns: 'dns.read',
      heartbeat: 'monitoring.read',
      incident: 'monitoring.read',
      maintenance: 'monitoring.read',
      monitor: 'monitoring.read',
      notification: 'monitoring.read',
      webhooks: 'webhooks.read',
    })
  })
})

describe('what the log does not tell', () => {
  const alert = (here: World) => raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n')

  test('is told too: deliveries on their way, messages, notices and actions', async () => {
    const here = await world()
    const inbox = receiver()
    const endpoint = (await here.acme.call('POST', '/v1/webhook-endpoints', { url: inbox.url, events: ['monitor.alert'] })).body
    const streams = [await listen(here, here.acme), await listen(here, await here.scoped('dns.read'))]
    const token = await here.acme.call('POST', '/v1/tokens', { name: 'narrowed', mode: 'full', resource_ids: [endpoint.id] })
    streams.push(await listen(here, callerWith(here.app, here.acme.workspaceId, token.body.token)))
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
          matter: 'x',
        },
      ],
    }))
    await here.pass(gather)
    const [delivery] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
    const [notice] = (await here.acme.call('GET', '/v1/notices')).body.data
    const moved = { type: 'webhook_delivery', id: delivery.id, action: 'webhooks.delivery.move' }
    const { changes } = (await streams[0]!.next())!.data
    expect(changes).toContainEqual(moved)
    expect(changes).toContainEqual({ type: 'notice', id: notice.id, action: 'account.notice.give' })
    expect((await streams[2]!.next())!.data.changes).toEqual([moved])
    const zone = await here.acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
    await here.pass(gather)
    expect((await streams[1]!.next())!.data.changes).toEqual([{ type: 'zone', id: zone.body.id, action: 'dns.zone.create' }])
    await stopReceivers()
  })

  test('is told to who comes back within a minute, and afterwards all is read anew', async () => {
    const here = await world()
    const first = await listen(here, here.acme)
    const { id: start } = (await first.next())!
    await first.close()
    await touched(here, 1)
    await here.pass(gather)
    await soon()
    const second = await listen(here, here.acme, `?since=${start}`)
    await second.next()
    expect((await second.next())!.data.changes).toEqual([{ type: 'action', id: 'act_0', action: 'dns.action.move' }])
    const end = second.lastEventId
    await second.close()
    await here.pass(30_000)
    const third = await listen(here, here.acme, `?since=${end}`)
    await third.next()
    await touched(here, 2)
    await here.pass(gather)
    expect((await third.next())!.event).toBe('change')
    await third.close()
    for (let n = 0; n < 61; n++) await here.pass(1000)
    const late = await listen(here, here.acme, `?since=${end}`)
    await late.next()
    expect((await late.next())!.event).toBe('reset')
  })

  test('is told as one where it is much', async () => {
    const here = await world()
    const stream = await listen(here, here.acme)
    await stream.next()
    await touched(here, 500)
    await touched(here, 500)
    await here.pass(gather)
    expect((await stream.next())!.data.changes).toEqual([{ type: 'action', id: '*', action: 'dns.action.move' }])
  })

  test('is not told where it was undone', async () => {
    const here = await world()
    const stream = await listen(here, here.acme)
    await stream.next()
    await expect(touched(here, 1, new Error('undone'))).rejects.toThrow('undone')
    const made = await makeHeartbeat(here.acme, 'done')
    await here.pass(gather)
    expect((await stream.next())!.data.changes).toEqual([created(made)])
  })
})

/** Notes that so many actions went on, as the actions do. */
const touched = ({ hub, acme: { workspaceId } }: World, many: number, undone?: Error) =>
  record(hub, async tx => {
    for (let n = 0; n < many; n++)
      touch(tx, { workspaceId, action: 'dns.action.move', type: 'action', id: `act_${n}`, within: null })
    if (undone) throw undone
    return { result: undefined }
  })

describe('who watches', () => {
  test('monitors is told what came of their checks, once a quarter of a second', async () => {
    const here = await world()
    const [one, other] = [await watched(here), await watched(here, { name: 'other' })]
    const theirs = (await here.rival.call('POST', '/v1/monitors', { type: 'http', target: 'https://example.org/' })).body.id
    const stream = await listen(here, here.acme, `?watch=${one},${theirs},mon_nonsense`)
    await stream.next()
    const at = new Date(here.clock.now()).toISOString()
    here.engine.say({ monitor: one, phases: { ...noPhases, total: 41.26 } })
    here.engine.say({ monitor: other })
    here.engine.say({ monitor: theirs })
    await here.settle()
    await here.pass(gather)
    const events = [(await stream.next())!, (await stream.next())!]
    expect(events.map(one => one.event).sort()).toEqual(['change', 'results'])
    const results = events.find(one => one.event === 'results')!
    expect(results.data).toEqual({ monitors: [{ id: one, status: 'up', last_check_at: at, ok: true, response_ms: 41.3 }] })
    here.engine.say({ monitor: one, status: 'down' })
    here.engine.say({ monitor: one, status: 'down', phases: { ...noPhases, total: 7 } })
    await here.settle()
    await here.pass(gather)
    // The last of a quarter of a second is told, and what the monitor is by then.
    expect((await nextOf(stream, 'results')).data.monitors).toMatchObject([
      { id: one, status: 'down', ok: false, response_ms: 7 },
    ])
    await stream.close()
  })

  test('heartbeats is told of their pings', async () => {
    const here = await world()
    const made = (await here.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
    const stream = await listen(here, here.acme, `?watch_heartbeats=${made.id}`)
    await stream.next()
    await here.stranger.call('GET', `/ping/${made.uuid}/start`)
    await here.pass(gather)
    expect((await nextOf(stream, 'heartbeats')).data.heartbeats[0]).toMatchObject({ id: made.id, started: true, ping_count: 1 })
    await here.stranger.call('GET', `/ping/${made.uuid}`)
    await here.pass(gather)
    expect((await nextOf(stream, 'heartbeats')).data.heartbeats[0]).toMatchObject({
      status: 'up',
      started: false,
      ping_count: 2,
      last_duration_ms: 250,
    })
  })

  test('hears nothing without the permission, and more than a hundred cannot be watched', async () => {
    const here = await world()
    const monitor = await watched(here)
    const stream = await listen(here, await here.scoped('dns.read'), `?watch=${monitor}`)
    await stream.next()
    here.engine.say({ monitor })
    await here.settle()
    await here.pass(gather)
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
  test('what this one commits, checks and receives is told within a second', async () => {
    const here = await world()
    const monitor = await watched(here)
    const beat = (await here.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
    const other = await otherHub(here)
    const app = makeApp(other.hub, new Worker(other.hub, jobKinds))
    const stream = await listen({ ...here, app }, here.acme, `?watch=${monitor}&watch_heartbeats=${beat.id}`)
    await stream.next()
    // The first look finds what there is.
    await here.pass(1000)
    await soon()
    const made = await makeHeartbeat(here.acme, 'elsewhere')
    await other.hub.store.listen(touchesChannel, text => touchesOf(other.hub).heard(text))
    await touched(here, 1)
    await here.stranger.call('GET', `/ping/${beat.uuid}/start`)
    here.engine.say({ monitor, phases: { ...noPhases, total: 12 } })
    await here.settle()
    await recorderOf(here.hub).flush()
    const heard = new Map<string, any[]>()
    const hearing = (async () => {
      while (!['change', 'heartbeats', 'results'].every(one => heard.has(one)) || heard.get('change')!.length < 2) {
        const { event, data } = (await stream.next())!
        heard.set(event, [...(heard.get(event) ?? []), ...(Object.values(data)[0] as any[])])
      }
      return true
    })()
    for (let n = 0; n < 200 && !(await Promise.race([hearing, Bun.sleep(50)])); n++) await here.pass(250)
    expect(heard.get('change')).toContainEqual(created(made))
    expect(heard.get('change')).toContainEqual({ type: 'action', id: 'act_0', action: 'dns.action.move' })
    expect(heard.get('heartbeats')).toMatchObject([{ id: beat.id, started: true }])
    expect(heard.get('results')).toMatchObject([{ id: monitor, ok: true, response_ms: 12 }])
    await stream.close()
    await other.close()
  })
})

describe('a session', () => {
  test('listens in the workspace that the query names, if it belongs to it', async () => {
    const here = await world()
    await person(here, here.acme.workspaceId, 'owner', 'ada@example.com')
    const cookie = await signIn(here, 'ada@example.com')
    const stream = await listen(here, cookie, `?workspace=${here.acme.workspaceId}`)
    await stream.next()
    const made = await makeHeartbeat(here.acme, 'hers')
    await here.pass(gather)
    expect((await stream.next())!.data.changes).toContainEqual(created(made))
    const call = (workspace: string) => here.stranger.call('GET', `/v1/stream?workspace=${workspace}`, undefined, { cookie })
    expect((await call(here.rival.workspaceId)).status).toBe(404)
    expect((await call('nonsense')).body).toMatchObject({ code: 'invalid_parameter', errors: [{ pointer: '#/query/workspace' }] })
    expect((await here.acme.call('GET', `/v1/stream?workspace=${here.rival.workspaceId}`)).status).toBe(404)
    // Elsewhere the query names no workspace.
    expect((await here.acme.call('GET', `/v1/heartbeats?workspace=${here.acme.workspaceId}`)).body.code).toBe('unknown_parameter')
    expect((await here.stranger.call('GET', '/v1/stream')).status).toBe(401)
  })

  test('that ends, a person who is removed and a token that is revoked hear no more', async () => {
    const here = await world()
    await addPerson(here.hub, here.acme.workspaceId, 'owner', 'olga@example.com')
    const { user } = await person(here, here.acme.workspaceId, 'admin', 'ada@example.com')
    await person(here, here.acme.workspaceId, 'viewer', 'eve@example.com')
    const token = (await here.acme.call('POST', '/v1/tokens', { name: 'short', mode: 'read_only' })).body
    const cookies = { ada: await signIn(here, 'ada@example.com'), eve: await signIn(here, 'eve@example.com') }
    const ada = await listen(here, cookies.ada)
    const eve = await listen(here, cookies.eve)
    const revoked = await listen(here, callerWith(here.app, here.acme.workspaceId, token.token))
    const suspended = await listen(here, here.rival)
    for (const stream of [ada, eve, revoked, suspended]) await stream.next()
    await here.acme.call('DELETE', `/v1/members/${user.id}`)
    await here.pass(gather)
    expect(await nextUntilEnd(ada)).toEqual(['change'])
    const out = { cookie: cookies.eve, origin: 'http://localhost:8484', 'bailiwick-csrf': '1' }
    expect((await here.stranger.call('DELETE', '/v1/sessions', undefined, out)).status).toBe(204)
    await here.pass(gather)
    expect(await nextUntilEnd(eve)).toEqual([])
    await here.acme.call('DELETE', `/v1/tokens/${token.id}`)
    await here.acme.call('POST', `/v1/workspaces/${here.rival.workspaceId}/suspend`, {})
    for (let n = 0; n < 5; n++) await here.pass(1000)
    expect((await nextUntilEnd(revoked)).length).toBeGreaterThan(0)
    expect(await nextUntilEnd(suspended)).toEqual([])
    expect(liveOf(here.hub).size).toBe(0)
  })

  test('that runs out hears no more, though nobody did anything', async () => {
    const here = await world()
    await person(here, here.acme.workspaceId, 'owner', 'ada@example.com')
    const stream = await listen(here, await signIn(here, 'ada@example.com'))
    await stream.next()
    here.clock.jump(31 * 24 * 3600 * 1000)
    for (let n = 0; n < 5; n++) await here.pass(1000)
    expect(await nextUntilEnd(stream)).toEqual([])
  })

  test('whose role is another is told to read anew, and hears what that one may', async () => {
    const here = await world()
    await addPerson(here.hub, here.acme.workspaceId, 'owner', 'olga@example.com')
    const { user } = await person(here, here.acme.workspaceId, 'admin', 'ada@example.com')
    const stream = await listen(here, await signIn(here, 'ada@example.com'))
    await stream.next()
    await here.acme.call('PATCH', `/v1/members/${user.id}`, { role: 'viewer' })
    await here.pass(gather)
    expect((await stream.next())!.data.changes[0].action).toBe('account.member.update')
    await soon()
    expect((await stream.next())!.event).toBe('reset')
    await here.acme.call('POST', '/v1/tokens', { name: 'unheard', mode: 'read_only' })
    const made = await makeHeartbeat(here.acme, 'heard')
    await here.pass(gather)
    expect((await stream.next())!.data.changes).toEqual([created(made)])
  })
})

describe('there are', () => {
  test('twenty streams for a credential at most', async () => {
    const here = await world()
    const streams = await Promise.all(Array.from({ length: mostStreams.ofHolder }, () => listen(here, here.acme)))
    const refused = await here.acme.call('GET', '/v1/stream')
    expect([refused.status, refused.body.code, refused.body['violated-policies']]).toEqual([429, 'rate_limited', ['streams']])
    await (await listen(here, here.readOnly)).close()
    await streams[0]!.close()
    expect((await here.acme.call('GET', '/v1/stream')).status).toBe(200)
  })

  test('none any more when the hub stops', async () => {
    const here = await world()
    const stream = await listen(here, here.acme)
    await stream.next()
    liveOf(here.hub).end()
    expect(await stream.next()).toBeNull()
    expect(await nextUntilEnd(await listen(here, here.acme))).toEqual(['hello'])
    expect(liveOf(here.hub).size).toBe(0)
  })

  test('none for who does not read', async () => {
    const here = await world()
    const stream = await listen(here, here.acme)
    await stream.next()
    let position = ''
    for (let n = 0; n < 100 && liveOf(here.hub).size > 0; n++) {
      await manyChanges(here, 150)
      await here.pass(gather)
      await soon()
      position = String(n)
    }
    expect([position !== '', liveOf(here.hub).size]).toEqual([true, 0])
    await expect(nextUntilEnd(stream)).rejects.toThrow('too slow')
  }, 60_000)
})

/** The next event of a kind; others may come before it. */
async function nextOf(stream: EventReader, event: string): Promise<Heard> {
  for (;;) {
    const heard = (await stream.next())!
    if (heard.event === event) return heard
  }
}

async function nextUntilEnd(stream: EventReader): Promise<string[]> {
  const events: string[] = []
  for (let heard = await stream.next(); heard; heard = await stream.next()) events.push(heard.event)
  return events
}

/** Writes so many entries into the log in one transaction, as a bulk does. */
const manyChanges = ({ hub, acme }: World, many: number) =>
  record(hub, async () => ({
    result: undefined,
    audits: Array.from({ length: many }, (_, n) => ({
      workspaceId: acme.workspaceId,
      action: 'heartbeat.update' as const,
      actor: { type: 'system' as const, id: 'test', name: 'test', hint: null },
      context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' as const },
      targets: [{ type: 'heartbeat', id: `hb_01k3zb2c4d6e8f0g2h4j6k${String(n).padStart(4, '0')}`, name: 'one of many' }],
    })),
  }))
