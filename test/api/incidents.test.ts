import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId } from '../../src/core/ids'
import { pruneIncidents } from '../../src/features/incidents/retention'
import { endOutage, openOutage } from '../support/outages'
import { callerWith, world, type World } from '../support/world'

const at = (id: string, rest = '') => `/v1/incidents/${id}${rest}`

async function down(w: World, more?: Parameters<typeof openOutage>[2]) {
  const subject = newId('mon')
  const { incident } = await openOutage(w, subject, more)
  await w.audited()
  return { subject, id: incident.id }
}

const get = async (w: World, id: string) => (await w.acme.call('GET', at(id))).body
const timelineOf = (incident: any) => incident.timeline.map((one: any) => `${one.kind}: ${one.text}`)

describe('an incident', () => {
  test('shows what failed, since when, and the evidence', async () => {
    const w = await world()
    const { subject, id } = await down(w)
    w.clock.advance(5_000)
    const read = await w.readOnly.call('GET', at(id))
    expect(read.body).toMatchObject({
      id,
      kind: 'monitor.down',
      title: 'Shop is down',
      status: 'open',
      severity: 'critical',
      cause: 'HTTP 503',
      monitors: [{ id: subject, name: 'Shop', role: 'cause' }],
      heartbeats: [],
      locations: ['local'],
      started_at: new Date(w.clock.now() - 20_000).toISOString(),
      confirmed_at: new Date(w.clock.now() - 5_000).toISOString(),
      acknowledged_at: null,
      acknowledged_by: null,
      resolved_at: null,
      resolution: null,
      duration_seconds: 20,
      evidence: { status: 503 },
      postmortem: null,
      version: 1,
    })
    expect(timelineOf(read.body)).toEqual(['opened: HTTP 503'])
    expect((await w.rival.call('GET', at(id))).status).toBe(404)
    await endOutage(w, subject)
    expect(await get(w, id)).toMatchObject({ status: 'resolved', resolution: 'recovered', duration_seconds: 20 })
  })

  test('can be acknowledged until the acknowledgement expires, is removed, or the incident is resolved', async () => {
    const w = await world()
    const { id } = await down(w)
    const acknowledged = await w.acme.call('POST', at(id, '/acknowledge'), { note: 'Looking into it.' })
    expect(acknowledged.body).toMatchObject({
      status: 'acknowledged',
      acknowledged_at: new Date(w.clock.now()).toISOString(),
      acknowledged_by: { type: 'token', name: 'full token' },
      acknowledgement_expires_at: new Date(w.clock.now() + 4 * 3600_000).toISOString(),
    })
    expect(await w.emitted()).toEqual(['monitor.acknowledged'])
    const [event] = (await w.acme.call('GET', '/v1/events')).body.data
    expect(event.data).toMatchObject({ note: 'Looking into it.', incident: { id, status: 'acknowledged' }, monitor: null })
    // Acknowledging again restarts the expiry.
    await w.advance(3 * 3600_000)
    await w.acme.call('POST', at(id, '/acknowledge'), {})
    await w.advance(2 * 3600_000)
    expect((await get(w, id)).status).toBe('acknowledged')
    await w.advance(2 * 3600_000)
    expect(await get(w, id)).toMatchObject({ status: 'open', acknowledged_by: null, acknowledgement_expires_at: null })
    await w.acme.call('POST', at(id, '/acknowledge'), { expires_in_seconds: null })
    await w.advance(100 * 86_400_000)
    expect((await get(w, id)).status).toBe('acknowledged')
    expect((await w.acme.call('POST', at(id, '/unacknowledge'), { note: 'Off duty.' })).body.status).toBe('open')
    const { version } = await get(w, id)
    expect((await w.acme.call('POST', at(id, '/unacknowledge'))).body.version).toBe(version)
    expect(timelineOf(await get(w, id))).toEqual([
      'opened: HTTP 503',
      'acknowledged: Looking into it.',
      'acknowledged: Acknowledged for 4 h.',
      'acknowledgement_expired: The acknowledgement by full token expired.',
      'acknowledged: Acknowledged.',
      'unacknowledged: Off duty.',
    ])
    expect(await w.audited()).toEqual([
      'incident.acknowledge',
      'incident.acknowledge',
      'incident.unacknowledge',
      'incident.acknowledge',
      'incident.unacknowledge',
    ])
    await w.acme.call('POST', at(id, '/resolve'))
    expect((await w.acme.call('POST', at(id, '/acknowledge'), {})).status).toBe(409)
    expect((await w.acme.call('POST', at(id, '/unacknowledge'))).status).toBe(409)
  })

  test('that was closed manually stays closed until its subject recovers or gets worse', async () => {
    const w = await world()
    const { subject, id } = await down(w)
    expect((await w.acme.call('POST', at(id, '/resolve'), { note: 'Known.' })).body).toMatchObject({
      status: 'resolved',
      resolution: 'closed',
    })
    expect(await openOutage(w, subject)).toMatchObject({ opened: false, reopened: false, incident: { id, status: 'resolved' } })
    await endOutage(w, subject)
    w.clock.advance(20 * 60_000)
    const next = await openOutage(w, subject)
    expect(next.opened).toBe(true)

    const slow = await down(w, { kind: 'monitor.degraded', severity: 'warning' })
    await w.acme.call('POST', at(slow.id, '/resolve'))
    expect((await openOutage(w, slow.subject, { kind: 'monitor.degraded' })).opened).toBe(false)
    expect((await openOutage(w, slow.subject)).opened).toBe(true)
  })

  test('that was reopened and closed while its subject was up does not suppress later failures', async () => {
    const w = await world()
    const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }
    const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
    const ping = (rest = '') => w.app.handle(new Request(`http://localhost:8484/ping/${beat.uuid}${rest}`))
    const listed = async () => (await w.acme.call('GET', `/v1/incidents?heartbeat=${beat.id}`)).body.data
    await ping('/fail')
    await ping()
    const [first] = await listed()
    expect(first.status).toBe('resolved')
    await w.acme.call('POST', at(first.id, '/reopen'))
    await w.acme.call('POST', at(first.id, '/resolve'))
    w.clock.advance(20 * 60_000)
    await ping('/fail')
    const [second] = await listed()
    expect([second.status, second.id === first.id]).toEqual(['open', false])
    // Closed while the subject is down, so it stays closed.
    await w.acme.call('POST', at(second.id, '/resolve'))
    await ping('/fail')
    expect((await listed())[0]).toMatchObject({ id: second.id, status: 'resolved' })
  })

  test('can be reopened manually unless its subject has a later incident', async () => {
    const w = await world()
    const { subject, id } = await down(w)
    await endOutage(w, subject)
    w.clock.advance(600_000)
    const again = await w.acme.call('POST', at(id, '/reopen'), { note: 'Not yet.' })
    expect(again.body).toMatchObject({ status: 'open', resolved_at: null, resolution: null, duration_seconds: 15 })
    expect((await openOutage(w, subject)).incident.id).toBe(id)
    await endOutage(w, subject)
    w.clock.advance(20 * 60_000)
    await openOutage(w, subject)
    expect((await w.acme.call('POST', at(id, '/reopen'))).status).toBe(409)
  })

  test('can be updated, which records the changed fields on the timeline', async () => {
    const w = await world()
    const { id } = await down(w)
    const patch = { severity: 'warning', title: 'Shop is down', notes: 'Only the old one.' }
    expect((await w.acme.call('PATCH', at(id), patch)).body).toMatchObject({ ...patch, version: 2 })
    expect((await w.acme.call('PATCH', at(id), patch)).body.version).toBe(2)
    expect((await w.acme.call('PATCH', at(id), { notes: null }, { 'if-match': '"1"' })).status).toBe(412)
    expect(timelineOf(await get(w, id))).toEqual(['opened: HTTP 503', 'edited: Severity and notes changed.'])
    expect(await w.audited()).toEqual(['incident.update'])
    const nonMember = await w.acme.call('PATCH', at(id), { assignee_id: newId('usr') })
    expect([nonMember.status, nonMember.body.errors[0].pointer]).toEqual([422, '#/assignee_id'])
  })

  test('has editable notes and a postmortem', async () => {
    const w = await world()
    const { id } = await down(w)
    const note = await w.acme.call('POST', at(id, '/updates'), { text: 'Restarted it.' })
    expect(note.status).toBe(201)
    expect(note.headers.get('location')).toBe(at(id, `/updates/${note.body.id}`))
    w.clock.advance(1000)
    const path = at(id, `/updates/${note.body.id}`)
    expect((await w.acme.call('PATCH', path, { text: 'Restarted both.' })).body).toMatchObject({
      text: 'Restarted both.',
      edited_at: new Date(w.clock.now()).toISOString(),
    })
    expect((await w.acme.call('GET', path)).body.text).toBe('Restarted both.')
    const [first] = (await get(w, id)).timeline
    expect((await w.acme.call('PATCH', at(id, `/updates/${first.id}`), { text: 'no' })).status).toBe(409)
    expect((await w.acme.call('PUT', at(id, '/postmortem'), { body: '# Why\n' })).body.postmortem.body).toBe('# Why\n')
    expect((await w.acme.call('DELETE', at(id, '/postmortem'))).status).toBe(204)
    expect((await get(w, id)).postmortem).toBeNull()
    expect(await w.audited()).toEqual([
      'incident.note.create',
      'incident.note.update',
      'incident.postmortem.update',
      'incident.postmortem.delete',
    ])
  })

  test('includes the latest timeline entries; the rest is paginated', async () => {
    const w = await world()
    const { id } = await down(w)
    for (let n = 1; n <= 60; n++) await w.acme.call('POST', at(id, '/updates'), { text: `note ${n}` })
    const shown = await get(w, id)
    expect(shown.timeline.map((one: any) => one.text)).toEqual(Array.from({ length: 50 }, (_, n) => `note ${n + 11}`))
    const first = await w.acme.call('GET', at(id, '/timeline?limit=40'))
    const cursor = first.body.pagination.next_cursor
    const second = await w.acme.call('GET', at(id, `/timeline?limit=40&cursor=${cursor}`))
    expect(first.body.data[0].text).toBe('HTTP 503')
    expect(second.body.data.at(-1).text).toBe('note 60')
    expect(first.body.data.length + second.body.data.length).toBe(61)
    expect((await w.acme.call('GET', at(id, '/timeline?kind=opened'))).body.data).toHaveLength(1)
  })
})

test('manual incidents can reference monitors and heartbeats of the workspace', async () => {
  const w = await world()
  const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
  const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule })).body
  const foreign = (await w.rival.call('POST', '/v1/heartbeats', { name: 'theirs', schedule })).body
  await w.audited()
  const created = await w.acme.call('POST', '/v1/incidents', { title: 'Payments fail', affected: [beat.id] })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    kind: 'manual',
    severity: 'warning',
    cause: 'Payments fail',
    heartbeats: [{ id: beat.id, name: 'backup', role: 'affected' }],
    evidence: null,
    timeline: [{ kind: 'opened', actor: { type: 'token' } }],
  })
  expect(await w.audited()).toEqual(['incident.create'])
  const wrong = async (input: object) => {
    const { status, body } = await w.acme.call('POST', '/v1/incidents', { title: 'x', ...input })
    return [status, body.errors[0].pointer]
  }
  expect(await wrong({ affected: [beat.id, foreign.id] })).toEqual([422, '#/affected/1'])
  expect(await wrong({ started_at: new Date(w.clock.now() + 1).toISOString() })).toEqual([422, '#/started_at'])
  expect(await wrong({ title: ' ' })).toEqual([422, '#/title'])
  expect((await w.acme.call('POST', at(created.body.id, '/resolve'))).body.status).toBe('resolved')
  expect((await w.acme.call('POST', at(created.body.id, '/reopen'))).body.status).toBe('open')
})

test('incidents can be filtered by status, severity, subject, tag, time and text', async () => {
  const w = await world()
  const startedAt = w.clock.now()
  const shop = await down(w)
  await w.advance(60_000)
  await endOutage(w, shop.subject)
  await w.advance(3600_000)
  const cart = await down(w, {
    subject: { type: 'monitor', id: newId('mon'), name: 'Cart 100%', tags: ['a_b'] },
    severity: 'warning',
    kind: 'monitor.degraded',
    cause: '2.1 s',
  })
  const found = async (query: string) => (await w.acme.call('GET', `/v1/incidents?${query}`)).body.data.map((one: any) => one.id)
  expect(await found('')).toEqual([cart.id, shop.id])
  expect(await found('sort=started_at')).toEqual([shop.id, cart.id])
  expect(await found('status=open,acknowledged')).toEqual([cart.id])
  expect(await found('severity=critical')).toEqual([shop.id])
  expect(await found('kind=monitor.degraded')).toEqual([cart.id])
  expect(await found(`monitor=${shop.subject}`)).toEqual([shop.id])
  expect(await found(`heartbeat=${shop.subject}x`)).toEqual([])
  expect(await found('tag=shop')).toEqual([shop.id])
  expect(await found('tag=axb')).toEqual([])
  expect(await found('q=100%25')).toEqual([cart.id])
  expect(await found('q=http 5')).toEqual([shop.id])
  const time = (ms: number) => new Date(ms).toISOString()
  expect(await found(`from=${time(startedAt + 120_000)}`)).toEqual([cart.id])
  expect(await found(`from=${time(startedAt + 30_000)}&to=${time(startedAt + 90_000)}`)).toEqual([shop.id])
  expect((await w.acme.call('GET', '/v1/incidents?include=total&limit=1')).body.pagination).toMatchObject({
    has_more: true,
    total: 2,
  })
})

test('bulk requests acknowledge and resolve incidents', async () => {
  const w = await world()
  const [one, two] = [await down(w), await down(w)]
  const bulk = await w.acme.call('POST', '/v1/incidents/bulk', {
    operations: [
      { op: 'acknowledge', id: one.id, body: { note: 'mine' } },
      { op: 'resolve', id: two.id, body: {} },
    ],
  })
  expect(bulk.body).toMatchObject({ succeeded: 2, failed: 0 })
  expect([(await get(w, one.id)).status, (await get(w, two.id)).status]).toEqual(['acknowledged', 'resolved'])
})

test('a restricted token can read and acknowledge the incidents of its monitors', async () => {
  const w = await world()
  const [one, two] = [await down(w), await down(w)]
  const created = await w.acme.call('POST', '/v1/tokens', { name: 'restricted', mode: 'full', resource_ids: [one.subject] })
  const restricted = callerWith(w.app, w.acme.workspaceId, created.body.token)
  expect((await restricted.call('GET', '/v1/incidents')).body.data.map((each: any) => each.id)).toEqual([one.id])
  expect((await restricted.call('POST', at(one.id, '/acknowledge'), {})).status).toBe(200)
  expect((await restricted.call('GET', at(one.id, '/timeline'))).body.data).toHaveLength(2)
  expect((await restricted.call('GET', at(two.id))).status).toBe(404)
  expect((await restricted.call('POST', at(two.id, '/resolve'))).status).toBe(404)
  expect((await restricted.call('POST', '/v1/incidents', { title: 'x' })).status).toBe(403)
})

test('any sequence of actions leaves at most one unresolved incident per subject and a complete timeline', async () => {
  const w = await world()
  const step = fc.record({
    do: fc.constantFrom('down', 'recovered', 'acknowledge', 'unacknowledge', 'resolve', 'reopen', 'reopen first', 'wait'),
    after: fc.constantFrom(1000, 9 * 60_000, 11 * 60_000),
  })
  const verbs: Record<string, string> = { acknowledge: 'acknowledged', unacknowledge: 'unacknowledged', resolve: 'resolved' }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async steps => {
      const subject = newId('mon')
      const list = async () => (await w.acme.call('GET', `/v1/incidents?monitor=${subject}&sort=id`)).body.data as any[]
      for (const one of steps) {
        await w.advance(one.do === 'wait' ? 5 * 3600_000 : one.after)
        const before = await list()
        const chosen = one.do === 'reopen first' ? before[0] : before.at(-1)
        if (one.do === 'down') await openOutage(w, subject)
        else if (one.do === 'recovered') await endOutage(w, subject)
        else if (one.do !== 'wait' && chosen) await w.acme.call('POST', at(chosen.id, `/${one.do.split(' ')[0]}`), {})
        const after = await list()
        expect(after.filter(each => each.status !== 'resolved').length).toBeLessThanOrEqual(1)
        for (const each of after) {
          const was = before.find(other => other.id === each.id)
          const fresh = each.timeline.slice(was?.timeline.length ?? 0).map((entry: any) => entry.kind)
          // Every change is recorded exactly once.
          const moved = was?.status !== each.status || (one.do === 'acknowledge' && each === after.at(-1) && fresh.length > 0)
          expect([one.do, fresh.length]).toEqual([one.do, moved ? 1 : 0])
          if (moved && was)
            expect(fresh[0]).toBe(
              verbs[one.do] ?? (one.do === 'wait' ? 'acknowledgement_expired' : one.do === 'recovered' ? 'resolved' : 'reopened'),
            )
          expect(each.timeline[0].kind).toBe('opened')
          expect(each.duration_seconds).toBeGreaterThanOrEqual(0)
        }
      }
    }),
    { numRuns: 20 },
  )
})

test('resolved incidents are deleted after the retention of the plan, unresolved ones are kept', async () => {
  const w = await world()
  await w.limit(w.acme.workspaceId, { incident_days: 30 })
  const [resolved, ongoing] = [await down(w), await down(w)]
  await w.advance(40 * 86_400_000)
  await endOutage(w, resolved.subject)
  await w.advance(29 * 86_400_000)
  await pruneIncidents(w.hub)
  expect((await get(w, resolved.id)).status).toBe('resolved')
  await w.advance(86_400_001)
  await pruneIncidents(w.hub)
  expect((await w.acme.call('GET', at(resolved.id))).status).toBe(404)
  expect((await get(w, ongoing.id)).status).toBe('open')
})

describe('a heartbeat', () => {
  async function beat(w: World, more: object = {}) {
    const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 30 }
    const { body } = await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule, tags: ['db'], ...more })
    await w.audited()
    return body
  }
  const ping = (w: World, hb: any, rest = '', body?: string) =>
    w.app.handle(new Request(`http://localhost:8484/ping/${hb.uuid}${rest}`, { method: 'POST', ...(body && { body }) }))
  const incidentsOf = async (w: World, hb: any) => (await w.acme.call('GET', `/v1/incidents?heartbeat=${hb.id}`)).body.data
  const eventsOf = async (w: World) => (await w.acme.call('GET', '/v1/events?sort=id')).body.data

  test('that misses a ping opens an incident, which the next ping resolves, with events for both', async () => {
    const w = await world()
    const hb = await beat(w, { severity: 'warning' })
    await ping(w, hb)
    await w.advance(90_000)
    const [open] = await incidentsOf(w, hb)
    expect(open).toMatchObject({
      kind: 'heartbeat.missed',
      title: 'backup missed a ping',
      status: 'open',
      severity: 'warning',
      heartbeats: [{ id: hb.id, name: 'backup', role: 'cause' }],
      monitors: [],
      evidence: { schedule: hb.schedule },
    })
    await w.advance(30_000)
    await ping(w, hb)
    const [resolved] = await incidentsOf(w, hb)
    expect(resolved).toMatchObject({ id: open.id, status: 'resolved', resolution: 'recovered', duration_seconds: 30 })
    expect(timelineOf(resolved).at(-1)).toBe('resolved: Recovered after 30 s.')
    const events = await eventsOf(w)
    expect(events.map((one: any) => [one.kind, one.data.incident.id, one.data.incident.status])).toEqual([
      ['monitor.alert', open.id, 'open'],
      ['monitor.recovered', open.id, 'resolved'],
    ])
    expect(await w.audited()).toEqual([
      'heartbeat.activate',
      'heartbeat.miss',
      'incident.open',
      'heartbeat.recover',
      'incident.resolve',
    ])
  })

  test('whose job fails reports exit status and output', async () => {
    const w = await world()
    const hb = await beat(w)
    await ping(w, hb, '/3', 'disk full')
    const [open] = await incidentsOf(w, hb)
    expect(open).toMatchObject({
      title: 'backup reported a failure',
      severity: 'critical',
      cause: 'The job reported a failure.',
      evidence: { exit_status: 3, body: 'disk full', body_truncated: false },
    })
    const acknowledged = await w.acme.call('POST', at(open.id, '/acknowledge'), {})
    expect(acknowledged.status).toBe(200)
    const event = (await eventsOf(w)).at(-1)
    expect(event).toMatchObject({
      kind: 'monitor.acknowledged',
      resource: { type: 'heartbeat', id: hb.id },
      data: { heartbeat: { id: hb.id, slug: 'backup' }, acknowledged_by: { type: 'token' }, note: null },
    })
  })

  test('whose job starts but does not finish says so', async () => {
    const w = await world()
    const hb = await beat(w)
    await ping(w, hb, '/start')
    await w.advance(31_000)
    expect((await incidentsOf(w, hb))[0]).toMatchObject({ title: 'backup did not finish in time' })
  })

  test('that is paused or deleted resolves its incident', async () => {
    const w = await world()
    const [one, two] = [await beat(w), await beat(w)]
    for (const hb of [one, two]) await ping(w, hb, '/fail')
    await w.acme.call('POST', `/v1/heartbeats/${one.id}/pause`)
    await w.acme.call('DELETE', `/v1/heartbeats/${two.id}`)
    expect((await incidentsOf(w, one))[0]).toMatchObject({ status: 'resolved', resolution: 'paused' })
    expect((await incidentsOf(w, two))[0]).toMatchObject({ resolution: 'deleted', heartbeats: [{ name: 'backup' }] })
    expect((await w.audited()).filter(action => action === 'incident.resolve')).toHaveLength(2)
  })

  test('that fails repeatedly has a single incident', async () => {
    const w = await world()
    const hb = await beat(w)
    await ping(w, hb, '/fail')
    await ping(w, hb, '/1')
    await w.advance(3600_000)
    expect(await incidentsOf(w, hb)).toHaveLength(1)
  })
})
