import { describe, expect, test } from 'bun:test'
import { world, type World } from '../support/world'

const period = (period_seconds: number, grace_seconds: number) => ({ kind: 'period', period_seconds, grace_seconds })

async function createHeartbeat(w: World, input: object = {}) {
  const response = await w.acme.call('POST', '/v1/heartbeats', { name: 'nightly backup', schedule: period(60, 10), ...input })
  expect(response.status).toBe(201)
  await w.audited()
  return response.body
}

/** Sends a ping and returns the status and body of the response. */
async function ping(w: World, path: string, init: RequestInit = {}): Promise<string> {
  const response = await w.app.handle(new Request(`http://localhost:8484${path}`, init))
  return `${response.status} ${await response.text()}`
}

describe('heartbeats', () => {
  test('a new heartbeat has a ping URL and a slug, and never alerts', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    expect(hb).toMatchObject({
      status: 'new',
      slug: 'nightly-backup',
      started: false,
      methods: 'any',
      expected_at: null,
      down_at: null,
      version: 1,
    })
    expect(hb.ping_url).toBe(`http://127.0.0.1:8484/ping/${hb.uuid}`)
    await w.advance(400 * 86_400_000)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.status).toBe('new')
    expect(await w.emitted()).toEqual([])
  })

  test('the ping URL is hidden from read-only callers', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    const read = await w.readOnly.call('GET', `/v1/heartbeats/${hb.id}`)
    expect(read.body).toMatchObject({ uuid: null, ping_url: null })
    expect((await w.readOnly.call('GET', '/v1/heartbeats')).text).not.toContain(hb.uuid)
    expect((await w.acme.call('GET', '/v1/audit-events')).text).not.toContain(hb.uuid)
  })

  test('a missed ping sends one alert at its due time, and the next success a recovery', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    expect(await ping(w, `/ping/${hb.uuid}`)).toBe('200 OK')
    expect(await w.audited()).toEqual(['heartbeat.activate'])
    await w.advance(60_000)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.status).toBe('grace')
    expect((await w.acme.call('GET', '/v1/heartbeats?status=grace')).body.data.map((one: any) => one.id)).toEqual([hb.id])
    expect((await w.acme.call('GET', '/v1/heartbeats?status=up,new')).body.data).toEqual([])
    await w.advance(9_999)
    expect(await w.emitted()).toEqual([])
    await w.advance(1)
    expect(await w.emitted()).toEqual(['monitor.alert'])
    expect(await w.audited()).toEqual(['heartbeat.miss', 'incident.open'])
    await w.advance(86_400_000)
    expect(await w.emitted()).toEqual([])
    expect(await ping(w, `/ping/${hb.uuid}`)).toBe('200 OK')
    expect(await w.emitted()).toEqual(['monitor.recovered'])
    expect(await w.audited()).toEqual(['heartbeat.recover', 'incident.resolve'])
    const flips = await w.acme.call('GET', `/v1/heartbeats/${hb.id}/flips`)
    expect(flips.body.data.map((one: any) => `${one.from} ${one.to} ${one.reason}`)).toEqual([
      'down up ping',
      'up down late',
      'new up ping',
    ])
  })

  test('a reported failure sends an alert immediately, and further failures send no second one', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    expect(await ping(w, `/ping/${hb.uuid}/fail`)).toBe('200 OK')
    expect(await ping(w, `/ping/${hb.uuid}/3`)).toBe('200 OK')
    expect(await w.emitted()).toEqual(['monitor.alert'])
    expect(await ping(w, `/ping/${hb.uuid}/0`)).toBe('200 OK')
    expect(await w.emitted()).toEqual(['monitor.recovered'])
    const pings = await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings`)
    expect(pings.body.data.map((one: any) => [one.n, one.kind, one.exit_status])).toEqual([
      [3, 'success', 0],
      [2, 'fail', 3],
      [1, 'fail', null],
    ])
  })

  test('a run that does not finish within the grace period takes the heartbeat down', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    await ping(w, `/ping/${hb.uuid}`)
    await ping(w, `/ping/${hb.uuid}/start`)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body).toMatchObject({ started: true, status: 'up' })
    await w.advance(10_000)
    expect(await w.emitted()).toEqual(['monitor.alert'])
    const [flip] = (await w.acme.call('GET', `/v1/heartbeats/${hb.id}/flips`)).body.data
    expect(flip.reason).toBe('start_timeout')
  })

  test('the duration of a run is measured by its run ID', async () => {
    const w = await world()
    const hb = await createHeartbeat(w, { schedule: period(3600, 600) })
    const [a, b] = ['5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278', '0C2EBB61-2A7A-4D3A-8D2B-9F5A3D3B2A11']
    await ping(w, `/ping/${hb.uuid}/start?rid=${a}`)
    w.clock.advance(1000)
    await ping(w, `/ping/${hb.uuid}/start?rid=${b}`)
    w.clock.advance(2000)
    await ping(w, `/ping/${hb.uuid}?rid=${a}`)
    await ping(w, `/ping/${hb.uuid}?rid=${b.toLowerCase()}`)
    const { data } = (await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings`)).body
    expect(data.map((one: any) => one.duration_ms)).toEqual([2000, 3000, null, null])
  })

  test('a paused heartbeat sends no alerts, and a ping resumes it unless it must be resumed manually', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    const manual = await createHeartbeat(w, { name: 'manual', manual_resume: true })
    for (const one of [hb, manual]) {
      await ping(w, `/ping/${one.uuid}`)
      const paused = await w.acme.call('POST', `/v1/heartbeats/${one.id}/pause`)
      expect(paused.body).toMatchObject({ status: 'paused', down_at: null, version: 2 })
    }
    await w.advance(3600_000)
    expect(await w.emitted()).toEqual([])
    await ping(w, `/ping/${hb.uuid}`)
    await ping(w, `/ping/${manual.uuid}`)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.status).toBe('up')
    expect((await w.acme.call('GET', `/v1/heartbeats/${manual.id}`)).body.status).toBe('paused')
    expect((await w.acme.call('POST', `/v1/heartbeats/${manual.id}/resume`)).body.status).toBe('new')
  })

  test('rotating creates a new ping URL and disables the old one', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    const rotated = (await w.acme.call('POST', `/v1/heartbeats/${hb.id}/rotate`)).body
    expect(rotated.uuid).not.toBe(hb.uuid)
    expect(await ping(w, `/ping/${hb.uuid}`)).toBe('404 not found')
    expect(await ping(w, `/ping/${rotated.uuid}`)).toBe('200 OK')
  })

  test('a shorter schedule counts from the last ping', async () => {
    const w = await world()
    const hb = await createHeartbeat(w, { schedule: period(3600, 60) })
    await ping(w, `/ping/${hb.uuid}`)
    w.clock.advance(30_000)
    const edited = await w.acme.call('PATCH', `/v1/heartbeats/${hb.id}`, { schedule: period(60, 5) }, { 'if-match': '"1"' })
    expect(edited.status).toBe(200)
    await w.advance(34_999)
    expect(await w.emitted()).toEqual([])
    await w.advance(1)
    expect(await w.emitted()).toEqual(['monitor.alert'])
  })

  test('a patch is merged, including the fields of the schedule, and null resets to the default', async () => {
    const w = await world()
    const hb = await createHeartbeat(w, { description: 'notes', tags: ['prod'], slug: 'other' })
    const patch = async (body: object) => await w.acme.call('PATCH', `/v1/heartbeats/${hb.id}`, body)
    expect((await patch({ schedule: { grace_seconds: 120 } })).body.schedule).toEqual(period(60, 120))
    expect((await patch({ schedule: { kind: 'cron', expression: '0 2 * * *', timezone: 'UTC' } })).body.schedule).toEqual({
      kind: 'cron',
      expression: '0 2 * * *',
      timezone: 'UTC',
      grace_seconds: 120,
    })
    expect((await patch({ description: null, tags: null, slug: null })).body).toMatchObject({
      description: '',
      tags: [],
      slug: 'nightly-backup',
    })
    const incomplete = await patch({ schedule: { kind: 'period' } })
    expect([incomplete.status, incomplete.body.errors[0].pointer, incomplete.body.errors[0].code]).toEqual([
      422,
      '#/schedule/period_seconds',
      'required',
    ])
    expect((await patch({ schedule: { timezone: null } })).status).toBe(422)
    expect((await patch({ name: null })).status).toBe(422)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.schedule.kind).toBe('cron')
  })

  test('a heartbeat that is down has the time it went down, and so does its alert', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    const at = (seconds: number) => new Date(Date.parse('2026-11-21T10:00:00Z') + seconds * 1000).toISOString()
    await ping(w, `/ping/${hb.uuid}`)
    await w.advance(70_000)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body).toMatchObject({
      status: 'down',
      status_since_at: at(70),
      down_at: at(70),
      expected_at: null,
    })
    const [alert] = (await w.acme.call('GET', '/v1/events?kind=monitor.alert')).body.data
    expect(alert.data.heartbeat).toMatchObject({ last_ping_at: at(0), expected_at: at(60), down_at: at(70) })
    await ping(w, `/ping/${hb.uuid}`)
    w.clock.advance(5000)
    await ping(w, `/ping/${hb.uuid}/fail`)
    const [failed] = (await w.acme.call('GET', '/v1/events?kind=monitor.alert')).body.data
    expect(failed.data).toMatchObject({ reason: 'fail', heartbeat: { down_at: at(75) } })
  })

  test('pings change the ETag but not the version, so that concurrent updates don’t fail', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    const first = (await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).headers.get('etag')!
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`, undefined, { 'if-none-match': first })).status).toBe(304)
    await ping(w, `/ping/${hb.uuid}`)
    const second = await w.acme.call('GET', `/v1/heartbeats/${hb.id}`, undefined, { 'if-none-match': first })
    expect(second.status).toBe(200)
    expect((await w.acme.call('PATCH', `/v1/heartbeats/${hb.id}`, { name: 'renamed' }, { 'if-match': first })).status).toBe(200)
    const stale = await w.acme.call('PATCH', `/v1/heartbeats/${hb.id}`, { name: 'again' }, { 'if-match': first })
    expect(stale.status).toBe(412)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.name).toBe('renamed')
  })

  test('invalid fields are reported with their pointers', async () => {
    const w = await world()
    const invalid = await w.acme.call('POST', '/v1/heartbeats', {
      name: '',
      schedule: { kind: 'period', period_seconds: 4, grace_seconds: 1.5, extra: 1 },
      tags: ['UPPER'],
      colour: 'red',
    })
    expect(invalid.status).toBe(422)
    expect(invalid.body.errors.map((one: any) => one.pointer).sort()).toEqual([
      '#/colour',
      '#/name',
      '#/schedule/extra',
      '#/schedule/grace_seconds',
      '#/schedule/period_seconds',
      '#/tags/0',
    ])
    for (const [schedule, pointer] of [
      [{ kind: 'cron', expression: '* * * *', timezone: 'UTC', grace_seconds: 60 }, '#/schedule/expression'],
      [{ kind: 'cron', expression: '0 0 30 2 *', timezone: 'UTC', grace_seconds: 60 }, '#/schedule/expression'],
      [{ kind: 'cron', expression: '0 2 * * *', timezone: 'Mars/Base', grace_seconds: 60 }, '#/schedule/timezone'],
      [{ kind: 'calendar', expression: 'Mon *-*-* 25:00', timezone: 'UTC', grace_seconds: 60 }, '#/schedule/expression'],
      [{ kind: 'hourly' }, '#/schedule/kind'],
      [{ kind: 'cron', expression: '0 2 * * *', grace_seconds: 60 }, '#/schedule/timezone'],
    ] as const) {
      const response = await w.acme.call('POST', '/v1/heartbeats', { name: 'x', schedule })
      expect(response.status).toBe(422)
      expect(response.body.errors[0].pointer).toBe(pointer)
    }
    expect((await w.acme.call('GET', '/v1/heartbeats')).body.data).toEqual([])
    expect(await w.audited()).toEqual([])
  })

  test('cron expressions use their time zone, and calendar events the rules of systemd', async () => {
    const w = await world() // 2026-11-21T10:00Z is a Saturday
    const cron = await createHeartbeat(w, {
      name: 'c',
      schedule: { kind: 'cron', expression: '30 2 * * *', timezone: 'Europe/Paris', grace_seconds: 60 },
    })
    const calendar = await createHeartbeat(w, {
      name: 'd',
      schedule: { kind: 'calendar', expression: 'Mon..Fri 09:00', timezone: 'America/New_York', grace_seconds: 60 },
    })
    await ping(w, `/ping/${cron.uuid}`)
    await ping(w, `/ping/${calendar.uuid}`)
    expect((await w.acme.call('GET', `/v1/heartbeats/${cron.id}`)).body.expected_at).toBe('2026-11-22T01:30:00.000Z')
    expect((await w.acme.call('GET', `/v1/heartbeats/${calendar.id}`)).body.expected_at).toBe('2026-11-23T14:00:00.000Z')
  })

  test('a heartbeat is not found from another workspace', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/rotate'],
      ['GET', '/pings'],
      ['GET', '/flips'],
      ['GET', '/pings/1'],
    ] as const) {
      const response = await w.rival.call(
        method,
        `/v1/heartbeats/${hb.id}${path}`,
        method === 'PATCH' ? { name: 'mine' } : undefined,
      )
      expect([method, path, response.status]).toEqual([method, path, 404])
    }
  })

  test('the plan limits the number of heartbeats', async () => {
    const w = await world()
    await w.limit(w.rival.workspaceId, { heartbeats: 1 })
    const input = { name: 'a', schedule: period(60, 10) }
    const [one, two] = await Promise.all([
      w.rival.call('POST', '/v1/heartbeats', input),
      w.rival.call('POST', '/v1/heartbeats', input),
    ])
    expect([one.status, two.status].sort()).toEqual([201, 403])
    const rejected = one.status === 403 ? one : two
    expect(rejected.body).toMatchObject({ code: 'plan_limit_reached', limit: 'heartbeats', max: 1, used: 1, plan: 'pro' })
  })

  test('a repeated request with an Idempotency-Key creates one heartbeat and does not repeat its ping URL', async () => {
    const w = await world()
    const create = () =>
      w.acme.call('POST', '/v1/heartbeats', { name: 'a', schedule: period(60, 10) }, { 'idempotency-key': 'k1' })
    const first = await create()
    const replay = await create()
    expect(replay.status).toBe(201)
    expect(replay.headers.get('idempotent-replayed')).toBe('true')
    expect(replay.headers.get('location')).toBe(first.headers.get('location'))
    expect(replay.body).toMatchObject({ id: first.body.id, uuid: null, ping_url: null, secret_shown_before: true })
    expect((await w.acme.call('GET', '/v1/heartbeats')).body.data).toHaveLength(1)
    const other = await w.acme.call(
      'POST',
      '/v1/heartbeats',
      { name: 'b', schedule: period(60, 10) },
      { 'idempotency-key': 'k1' },
    )
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('pagination returns every heartbeat once, in any order and with filters', async () => {
    const w = await world()
    for (let i = 0; i < 23; i++)
      await w.acme.call('POST', '/v1/heartbeats', { name: `job ${i % 7}`, tags: i % 2 ? ['odd'] : [], schedule: period(60, 10) })
    for (const [query, expected] of [
      ['', 23],
      ['&sort=name', 23],
      ['&sort=-name,created_at', 23],
      ['&tag=odd&sort=name', 11],
      ['&q=JOB%201', 4],
      ['&q=1%20%20job', 4],
    ] as const) {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page: any = (await w.acme.call('GET', `/v1/heartbeats?limit=5${query}${cursor ? `&cursor=${cursor}` : ''}`)).body
        seen.push(...page.data.map((one: any) => one.id))
        cursor = page.pagination.next_cursor
      }
      expect([query, seen.length, new Set(seen).size]).toEqual([query, expected, expected])
    }
    const page = (await w.acme.call('GET', '/v1/heartbeats?limit=5&sort=name&include=total')).body
    expect(page.pagination.total).toBe(23)
    for (const [query, code] of [
      ['limit=0', 'invalid_parameter'],
      ['limit=x', 'invalid_parameter'],
      ['colour=red', 'unknown_parameter'],
      ['sort=colour', 'invalid_parameter'],
      [`sort=-name&cursor=${page.pagination.next_cursor}`, 'invalid_cursor'],
      [`sort=name&cursor=${page.pagination.next_cursor}x`, 'invalid_cursor'],
    ] as const) {
      const response = await w.acme.call('GET', `/v1/heartbeats?${query}`)
      expect([query, response.status, response.body.code]).toEqual([query, 400, code])
    }
  })

  test('deleting a heartbeat deletes its pings', async () => {
    const w = await world()
    const hb = await createHeartbeat(w)
    await ping(w, `/ping/${hb.uuid}`)
    expect((await w.acme.call('DELETE', `/v1/heartbeats/${hb.id}`)).status).toBe(204)
    expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).status).toBe(404)
    expect(await ping(w, `/ping/${hb.uuid}`)).toBe('404 not found')
    expect(await w.audited()).toEqual(['heartbeat.activate', 'heartbeat.delete'])
  })
})
