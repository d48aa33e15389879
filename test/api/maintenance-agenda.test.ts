import { expect, test } from 'bun:test'
import { world, type World } from '../support/world'

const path = '/v1/maintenance-windows'
const hour = 3_600_000
const day = 24 * hour
const iso = (at: number) => new Date(at).toISOString()
const local = (at: number) => iso(at).slice(0, 19)

const createWindow = async (w: World, at: number, more: object = {}) =>
  (
    await w.acme.call('POST', path, {
      name: 'New disks',
      kind: 'once',
      starts_at_local: local(at),
      timezone: 'UTC',
      duration_seconds: 3600,
      targets: { all: true },
      ...more,
    })
  ).body
const agendaPath = (from: number, to: number, more = '') => `${path}/agenda?from=${iso(from)}&to=${iso(to)}${more}`

test('the occurrences of all windows in a period are listed in order, with pagination', async () => {
  const w = await world()
  const now = Math.ceil(w.clock.now() / day) * day
  const daily = await createWindow(w, now - 3 * day, { name: 'Backups', kind: 'rrule', rrule: 'FREQ=DAILY' })
  const long = await createWindow(w, now - hour, { name: 'Move', duration_seconds: 7200 })
  await createWindow(w, now + 20 * day)
  const { body } = await w.readOnly.call('GET', agendaPath(now, now + 3 * day))
  expect(body.data.map((one: any) => [one.window_id, one.name, one.starts_at])).toEqual([
    [long.id, 'Move', iso(now - hour)],
    [daily.id, 'Backups', iso(now)],
    [daily.id, 'Backups', iso(now + day)],
    [daily.id, 'Backups', iso(now + 2 * day)],
  ])
  const listed: any[] = []
  let cursor: string | null = null
  do {
    const page: any = (await w.acme.call('GET', agendaPath(now, now + 3 * day, `&limit=1${cursor ? `&cursor=${cursor}` : ''}`)))
      .body
    listed.push(...page.data)
    cursor = page.pagination.next_cursor
  } while (cursor)
  expect(listed).toEqual(body.data)
  expect((await w.rival.call('GET', agendaPath(now, now + 3 * day))).body.data).toEqual([])
  const rejected = await w.acme.call('GET', agendaPath(now, now + 63 * day))
  expect([rejected.status, rejected.body.errors[0].pointer]).toEqual([400, '#/query/to'])
})

test('the occurrences of a schedule can be previewed', async () => {
  const w = await world()
  const preview = (timing: Record<string, string>) =>
    w.acme.call(
      'GET',
      `${path}/next-occurrences?${new URLSearchParams({ timezone: 'UTC', duration_seconds: '3600', ...timing })}`,
    )
  const start = Math.ceil(w.clock.now() / day) * day + day
  const weekly = await preview({ kind: 'rrule', rrule: 'FREQ=WEEKLY', starts_at_local: local(start) })
  expect(weekly.body.next_occurrences.map((one: any) => one.starts_at)).toEqual(
    [0, 1, 2, 3, 4].map(week => iso(start + week * 7 * day)),
  )
  const once = await preview({ kind: 'once', starts_at_local: local(start) })
  expect(once.body.next_occurrences).toEqual([{ starts_at: iso(start), ends_at: iso(start + hour), started_manually: false }])
  const invalid = await preview({ kind: 'rrule', rrule: 'FREQ=SOMETIMES', starts_at_local: local(start) })
  expect([invalid.status, invalid.body.errors[0].pointer]).toEqual([400, '#/query/rrule'])
  expect((await preview({ kind: 'once' })).body.errors[0].pointer).toBe('#/query/starts_at_local')
  expect((await w.acme.call('GET', path)).body.data).toEqual([])
})
