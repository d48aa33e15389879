import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { nextNumber } from '../../src/core/counters'
import { newId } from '../../src/core/ids'
import { topicsOf } from '../../src/core/topics'
import { maintenanceTopic, nextBoundary, refreshCalendar, activeWindow } from '../../src/features/maintenance/calendar'
import { calendarCounter } from '../../src/features/maintenance/calendar-counter'
import { maintenanceWindows } from '../../src/features/maintenance/tables'
import { world, type World } from '../support/world'

const path = '/v1/maintenance-windows'
const hour = 3_600_000
const once = (at: number, more: object = {}) => ({
  name: 'New disks',
  kind: 'once',
  starts_at_local: new Date(at).toISOString().slice(0, 19),
  timezone: 'UTC',
  duration_seconds: 3600,
  targets: { tags: ['database'] },
  ...more,
})
const iso = (at: number) => new Date(at).toISOString()
const hb = newId('hb')
const mon = newId('mon')
const group = newId('mon')

async function createWindow(w: World, body: object) {
  const response = await w.acme.call('POST', path, body)
  expect(response.status).toBe(201)
  return response.body
}

test('an invalid time zone, rule, and duration are reported together', async () => {
  const w = await world()
  const invalid = {
    kind: 'cron',
    cron: '0 25 * * *',
    timezone: 'Mars/Base',
    starts_at_local: 'soon',
    rrule: 'FREQ=DAILY',
    duration_seconds: 5,
  }
  const { status, body } = await w.acme.call('POST', path, once(w.clock.now(), invalid))
  expect([status, body.errors.map((one: any) => one.pointer).toSorted()]).toEqual([
    422,
    ['#/cron', '#/duration_seconds', '#/rrule', '#/starts_at_local', '#/timezone'],
  ])
})

test('rules with impossible month or day numbers are rejected', async () => {
  const w = await world()
  for (const rrule of [
    'FREQ=DAILY;BYMONTH=13',
    'FREQ=MONTHLY;BYMONTHDAY=0',
    'FREQ=YEARLY;BYYEARDAY=400',
    'FREQ=YEARLY;BYWEEKNO=60',
  ]) {
    const response = await w.acme.call('POST', path, once(w.clock.now(), { kind: 'rrule', rrule }))
    expect([rrule, response.status, response.body.errors?.[0].pointer]).toEqual([rrule, 422, '#/rrule'])
  }
  await createWindow(w, once(w.clock.now(), { kind: 'rrule', rrule: 'FREQ=MONTHLY;BYMONTHDAY=-1,15' }))
})

const coveringWindow = (w: World, more: object = {}, at = w.clock.now()) =>
  activeWindow(w.hub, { workspaceId: w.acme.workspaceId, id: mon, tags: [], groupIds: [], ...more }, at)?.name ?? null

describe('a maintenance window', () => {
  test('is created, read, updated, and deleted, with audit events', async () => {
    const w = await world()
    const start = Math.ceil(w.clock.now() / hour) * hour + hour
    const { id, ...rest } = await createWindow(w, once(start))
    expect(rest).toMatchObject({
      name: 'New disks',
      description: '',
      kind: 'once',
      rrule: null,
      cron: null,
      exdates: [],
      targets: { all: false, monitors: [], heartbeats: [], groups: [], tags: ['database'] },
      status: 'scheduled',
      current: null,
      next_occurrences: [{ starts_at: iso(start), ends_at: iso(start + hour), started_manually: false }],
      version: 1,
    })
    const edited = await w.acme.call('PATCH', `${path}/${id}`, {
      kind: 'cron',
      cron: '0  22 * * *',
      starts_at_local: null,
      targets: { monitors: [mon] },
    })
    expect(edited.body).toMatchObject({
      kind: 'cron',
      cron: '0 22 * * *',
      targets: { monitors: [mon], tags: ['database'] },
      version: 2,
    })
    expect(edited.body.next_occurrences).toHaveLength(5)
    expect((await w.acme.call('PATCH', `${path}/${id}`, { name: 'New disks' })).body.version).toBe(2)
    expect((await w.readOnly.call('GET', `${path}?q=disk&kind=cron`)).body.data).toEqual([edited.body])
    expect((await w.readOnly.call('POST', path, once(start))).status).toBe(403)
    for (const [method, rest] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/occurrences'],
      ['POST', '/start'],
      ['POST', '/stop'],
    ] as const)
      expect(
        (await w.rival.call(method, `${path}/${id}${rest}`, method === 'GET' || method === 'DELETE' ? undefined : {})).status,
      ).toBe(404)
    expect((await w.acme.call('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await w.acme.call('GET', `${path}/${id}`)).status).toBe(404)
    expect(await w.audited()).toEqual([
      'maintenance.window.create',
      'maintenance.window.update',
      'maintenance.window.create denied',
      'maintenance.window.delete',
    ])
  })

  test('with invalid fields is rejected with the field, and nothing changes', async () => {
    const w = await world()
    const { id } = await createWindow(w, once(w.clock.now() + hour))
    const invalid: [object, string][] = [
      [{ timezone: 'Mars/Base' }, '#/timezone'],
      [{ kind: 'rrule', rrule: 'FREQ=SECONDLY' }, '#/rrule'],
      [{ starts_at_local: '2026-13-01T00:00' }, '#/starts_at_local'],
      [{ duration_seconds: 5 }, '#/duration_seconds'],
      [{ targets: { tags: [] } }, '#/targets'],
      [{ targets: { monitors: ['hb_1'] } }, '#/targets/monitors/0'],
    ]
    for (const [fields, pointer] of invalid) {
      expect((await w.acme.call('PATCH', `${path}/${id}`, fields)).body).toMatchObject({ status: 422, errors: [{ pointer }] })
      const created = await w.acme.call('POST', path, { ...once(w.clock.now()), ...fields })
      expect(created.body).toMatchObject({ status: 422, errors: [{ pointer }] })
    }
    expect((await w.acme.call('GET', path)).body.data).toMatchObject([{ version: 1 }])
  })

  test('lists its occurrences by local time, with pagination', async () => {
    const w = await world()
    const { id } = await createWindow(w, {
      name: 'Nightly',
      kind: 'rrule',
      starts_at_local: '2027-03-01T22:00',
      timezone: 'Europe/Berlin',
      duration_seconds: 7200,
      rrule: 'FREQ=DAILY;COUNT=60',
      exdates: ['2027-03-27'],
      targets: { all: true },
    })
    const url = `${path}/${id}/occurrences?from=2027-03-26T22:00:00Z&to=2027-03-31T00:00:00Z&limit=2`
    const first = await w.acme.call('GET', url)
    expect(first.body.data.map((one: any) => one.starts_at)).toEqual(['2027-03-26T21:00:00.000Z', '2027-03-28T20:00:00.000Z'])
    const second = await w.acme.call('GET', `${url}&cursor=${first.body.pagination.next_cursor}`)
    expect(second.body).toMatchObject({
      data: [
        { starts_at: '2027-03-29T20:00:00.000Z', ends_at: '2027-03-29T22:00:00.000Z' },
        { starts_at: '2027-03-30T20:00:00.000Z' },
      ],
      pagination: { has_more: false, next_cursor: null },
    })
    expect((await w.acme.call('GET', `${path}/${id}/occurrences?from=2027-03-26T22:00:00Z&to=2027-03-26T21:00:00Z`)).status).toBe(
      400,
    )
    expect((await w.acme.call('GET', `${path}/${id}/occurrences?to=2039-03-26T21:00:00Z`)).status).toBe(400)
    const soon = await w.acme.call('GET', `${path}/${id}/occurrences`)
    expect(soon.body.data.every((one: any) => Date.parse(one.starts_at) < w.clock.now() + 35 * 24 * hour)).toBe(true)
  })

  test('is started and stopped manually, in addition to its schedule', async () => {
    const w = await world()
    const start = w.clock.now() + hour
    const { id } = await createWindow(w, once(start, { targets: { all: true } }))
    expect((await w.acme.call('POST', `${path}/${id}/stop`)).body).toMatchObject({ status: 'scheduled', version: 1 })
    const started = await w.acme.call('POST', `${path}/${id}/start`, { duration_seconds: 600 })
    expect(started.body).toMatchObject({
      status: 'in_progress',
      current: { starts_at: iso(w.clock.now()), ends_at: iso(w.clock.now() + 600_000), started_manually: true },
    })
    expect(coveringWindow(w)).toBe('New disks')
    w.clock.advance(60_000)
    expect((await w.acme.call('POST', `${path}/${id}/stop`, {})).body).toMatchObject({ status: 'scheduled', current: null })
    expect(coveringWindow(w)).toBeNull()
    w.clock.advance(hour)
    expect((await w.acme.call('GET', `${path}/${id}`)).body).toMatchObject({
      status: 'in_progress',
      current: { started_manually: false },
    })
    expect((await w.acme.call('POST', `${path}/${id}/stop`)).body).toMatchObject({ status: 'ended', next_occurrences: [] })
    expect(coveringWindow(w)).toBeNull()
    expect((await w.acme.call('POST', `${path}/${id}/start`)).body).toMatchObject({ status: 'in_progress' })
    expect(await w.audited()).toEqual([
      'maintenance.window.create',
      'maintenance.window.start',
      'maintenance.window.stop',
      'maintenance.window.stop',
      'maintenance.window.start',
    ])
  })

  test('is limited to 200 per workspace', async () => {
    const w = await world()
    const { id } = await createWindow(w, once(w.clock.now()))
    await record(w.hub, async tx => {
      const [row] = await tx.select().from(maintenanceWindows).where(eq(maintenanceWindows.id, id))
      await tx.insert(maintenanceWindows).values(Array.from({ length: 199 }, () => ({ ...row!, id: newId('mw') })))
      return { result: undefined }
    })
    expect((await w.acme.call('POST', path, once(w.clock.now()))).status).toBe(409)
  })
})

describe('the maintenance calendar', () => {
  test('finds the window that covers a monitor or heartbeat, and its end, from memory', async () => {
    const w = await world()
    const start = w.clock.now() + hour
    await createWindow(w, once(start, { name: 'By tag', targets: { tags: ['database'] } }))
    await createWindow(w, once(start, { name: 'By monitor', targets: { monitors: [mon] } }))
    await createWindow(w, once(start, { name: 'By group', targets: { groups: [group] }, duration_seconds: 7200 }))
    await createWindow(w, once(start, { name: 'By heartbeat', targets: { heartbeats: [hb] } }))
    expect(coveringWindow(w)).toBeNull()
    expect(nextBoundary(w.hub, w.clock.now())).toBe(Math.floor(start / 1000) * 1000)
    w.clock.advance(hour)
    expect(coveringWindow(w)).toBe('By monitor')
    expect(coveringWindow(w, { id: hb })).toBe('By heartbeat')
    expect(coveringWindow(w, { id: newId('mon'), tags: ['database'] })).toBe('By tag')
    expect(coveringWindow(w, { groupIds: [group] })).toBe('By group')
    expect(coveringWindow(w, { id: group })).toBe('By group')
    expect(coveringWindow(w, { id: newId('mon'), tags: ['web'] })).toBeNull()
    expect(coveringWindow(w, { workspaceId: w.rival.workspaceId })).toBeNull()
    expect(nextBoundary(w.hub, w.clock.now())).toBe(Math.floor(start / 1000) * 1000 + hour)
    w.clock.advance(hour)
    expect(coveringWindow(w)).toBeNull()
    expect(coveringWindow(w, { groupIds: [group] })).toBe('By group')
  })

  test('works for any time in the future, and after the clock was set back', async () => {
    const w = await world()
    await createWindow(w, {
      ...once(0),
      kind: 'cron',
      starts_at_local: null,
      cron: '*/10 * * * *',
      duration_seconds: 60,
      targets: { all: true },
    })
    const at = Math.ceil(w.clock.now() / 600_000) * 600_000
    for (const later of [0, 20, 24 * 90, 1, 24 * 400]) {
      expect(coveringWindow(w, {}, at + later * hour + 59_999)).toBe('New disks')
      expect(coveringWindow(w, {}, at + later * hour + 60_000)).toBeNull()
      expect(nextBoundary(w.hub, at + later * hour + 60_000)).toBe(at + later * hour + 600_000)
    }
  })

  test('detects changes by another hub on refresh and notifies', async () => {
    const w = await world()
    const { id } = await createWindow(w, once(w.clock.now() - 60_000, { targets: { all: true } }))
    expect(coveringWindow(w)).toBe('New disks')
    let woken = 0
    const off = topicsOf(w.hub).on(maintenanceTopic, () => void woken++)
    await refreshCalendar(w.hub)
    expect(woken).toBe(0)
    await record(w.hub, async tx => {
      await tx.delete(maintenanceWindows).where(eq(maintenanceWindows.id, id))
      await nextNumber(tx, calendarCounter)
      return { result: undefined }
    })
    await refreshCalendar(w.hub)
    expect([coveringWindow(w), woken]).toEqual([null, 1])
    off()
  })
})
