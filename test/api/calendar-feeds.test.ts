import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import ICAL from 'ical.js'
import { certificates } from '../../src/features/certificates/tables'
import { calendarFeeds } from '../../src/features/calendar/tables'
import { record } from '../../src/core/change'
import { makeCertificate } from '../support/make-certificates'
import { world, type Caller, type World } from '../support/world'

const path = '/v1/calendar-feeds'
const dayMs = 86_400_000
const everything = { name: 'Operations', include: ['domains', 'certificates', 'maintenance'] }

async function create(caller: Caller, body: object = everything) {
  const { status, body: created, text } = await caller.call('POST', path, body)
  expect([status, text.includes('errors')]).toEqual([201, false])
  return created
}
/** Reads a feed like a calendar program. */
async function read(w: World, url: string, headers: Record<string, string> = {}) {
  const { pathname } = new URL(url)
  const response = await w.anonymous.call('GET', pathname, undefined, headers)
  return { ...response, events: response.status === 200 ? eventsIn(response.text) : [] }
}
/** The events of a calendar, as another implementation of RFC 5545 reads them. */
const eventsIn = (text: string) =>
  new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map(component => {
    const event = new ICAL.Event(component)
    return { uid: event.uid, summary: event.summary, start: event.startDate.toString(), end: event.endDate.toString() }
  })

describe('a calendar feed', () => {
  test('is created, updated, rotated, and deleted', async () => {
    const w = await world()
    const { acme, audited } = w
    const feed = await create(acme)
    expect(feed).toEqual({
      ...everything,
      id: expect.stringMatching(/^cal_/),
      tags: [],
      url: expect.stringMatching(/^http.+\/v1\/calendar-feeds\/bw_cal_[0-9A-Za-z]{36}\/calendar\.ics$/),
      last_used_at: null,
      version: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const one = `${path}/${feed.id}`
    expect((await acme.call('GET', one)).body).toEqual(feed)
    expect((await acme.call('GET', path)).body.data).toEqual([feed])
    const updated = await acme.call('PATCH', one, { include: ['maintenance'], tags: ['shop'] })
    expect(updated.body).toMatchObject({ include: ['maintenance'], tags: ['shop'], url: feed.url, version: 2 })
    const rotated = (await acme.call('POST', `${one}/rotate`)).body
    expect([rotated.version, rotated.url === feed.url]).toEqual([3, false])
    expect([(await read(w, feed.url)).status, (await read(w, rotated.url)).status]).toEqual([404, 200])
    expect((await acme.call('DELETE', one)).status).toBe(204)
    expect((await read(w, rotated.url)).status).toBe(404)
    expect(await audited()).toEqual(['create', 'update', 'rotate', 'delete'].map(verb => `domains.calendar.${verb}`))
  })

  test('is refused without a name or contents, and above 50', async () => {
    const { acme, hub } = await world()
    const pointers = async (body: object) =>
      (await acme.call('POST', path, { ...everything, ...body })).body.errors.map((error: any) => error.pointer)
    expect(await pointers({ name: '' })).toEqual(['#/name'])
    expect(await pointers({ include: [] })).toEqual(['#/include'])
    expect(await pointers({ include: ['watched_domains'] })).toEqual(['#/include/0'])
    expect(await pointers({ include: ['maintenance', 'maintenance'] })).toEqual(['#/include'])
    await create(acme)
    const [row] = await hub.read.select().from(calendarFeeds)
    const more = Array.from({ length: 49 }, (_, n) => ({ ...row!, id: `cal_${n}`, secretHash: String(n) }))
    await record(hub, async tx => ({ result: void (await tx.insert(calendarFeeds).values(more)) }))
    expect((await acme.call('POST', path, everything)).status).toBe(409)
  })

  test('shows its URL, and includes something, only with the permissions for it', async () => {
    const w = await world()
    const { acme, rival, readOnly, scoped } = w
    const feed = await create(acme)
    const one = `${path}/${feed.id}`
    const urlFor = async (caller: Caller) => (await caller.call('GET', one)).body.url
    expect(await urlFor(readOnly)).toBeNull()
    const partly = await scoped('domains.write', 'monitoring.read')
    expect(await urlFor(partly)).toBeNull()
    expect(await urlFor(await scoped('domains.write', 'monitoring.read', 'certificates.read'))).toBe(feed.url)
    for (const [method, at, body] of [
      ['POST', path, everything],
      ['PATCH', one, { include: ['certificates'] }],
      ['POST', `${one}/rotate`],
    ] as const) {
      const { status, body: problem } = await partly.call(method, at, body)
      expect([method, status, problem.required_permission]).toEqual([method, 403, 'certificates.read'])
    }
    expect((await rival.call('GET', one)).status).toBe(404)
    expect((await rival.call('POST', `${one}/rotate`)).status).toBe(404)
  })

  test('contains maintenance and certificates, read by another implementation, with stable identifiers', async () => {
    const w = await world()
    const { acme, clock } = w
    const today = Math.floor(clock.now() / dayMs) * dayMs
    const iso = (days: number) => new Date(today + days * dayMs).toISOString()
    const local = (days: number) => iso(days).slice(0, 10)
    const name = 'Ünïcode; “a, b” \\n '.repeat(5).trim()
    const window = await acme.call('POST', '/v1/maintenance-windows', {
      ...{ name, kind: 'rrule', rrule: 'FREQ=WEEKLY;COUNT=3', timezone: 'UTC', duration_seconds: 5400 },
      ...{ starts_at_local: iso(7).slice(0, 19), targets: { tags: ['shop'] } },
    })
    expect(window.status).toBe(201)
    await upload(w, { name: 'www.example.com', ends: today + 40 * dayMs + 3600_000, tags: ['shop_1'] })
    await upload(w, { name: 'old.example.com', ends: today - 31 * dayMs })
    await upload(w, { name: 'away.example.com', ends: today + 9 * dayMs, inUse: false })
    const domain = await acme.call('POST', '/v1/domains', { name: 'münchen.de', expires_at: local(50), tags: ['shop'] })
    expect([domain.status, domain.text]).toEqual([201, expect.any(String)])
    const { url, id } = await create(acme)

    const { headers, events, text } = await read(w, url)
    expect(headers.get('content-type')).toBe('text/calendar; charset=utf-8')
    expect(events).toEqual([
      { uid: `${domain.body.id}@bailiwick`, summary: 'Domain expires: münchen.de', start: local(50), end: local(51) },
      {
        uid: expect.stringMatching(/^cert_.+@bailiwick$/),
        summary: 'Certificate expires: www.example.com',
        start: local(40),
        end: local(41),
      },
      ...[7, 14, 21].map(days => ({
        uid: `${window.body.id}-${today + days * dayMs}@bailiwick`,
        summary: `Maintenance: ${name}`,
        start: `${local(days)}T00:00:00Z`,
        end: `${local(days)}T01:30:00Z`,
      })),
    ])
    // RFC 5545 section 3.1: lines end with CRLF, and have at most 75 octets.
    expect(text.split('\r\n').filter(line => Buffer.byteLength(line) > 75 || line.includes('\n'))).toEqual([])

    // Nothing changes until the next day, and then only what has passed.
    const etag = headers.get('etag')!
    clock.advance(dayMs - (clock.now() % dayMs) - 1)
    const same = await read(w, url, { 'if-none-match': `"other", ${etag}` })
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag])
    clock.advance(8 * dayMs)
    const later = await read(w, url, { 'if-none-match': etag })
    expect([later.status, later.events.map(one => one.uid)]).toEqual([
      200,
      events.filter((_, at) => at !== 2).map(one => one.uid),
    ])
    expect((await acme.call('GET', `${path}/${id}`)).body.last_used_at).not.toBeNull()

    const uidsWith = async (tags: string[]) => {
      await acme.call('PATCH', `${path}/${id}`, { tags })
      return (await read(w, url)).events.map(one => one.uid.slice(0, 4))
    }
    expect(await uidsWith(['shop'])).toEqual(['dom_', 'mw_0', 'mw_0'])
    expect(await uidsWith(['shop_1'])).toEqual(['cert'])
    // An underscore is no wildcard.
    expect(await uidsWith(['shopx1'])).toEqual([])
  })

  test('can be read 60 times an hour, and wrong secrets are limited by address', async () => {
    const w = await world()
    const { url } = await create(w.acme)
    const statuses: number[] = []
    for (let n = 0; n < 61; n++) statuses.push((await read(w, url)).status)
    expect([new Set(statuses.slice(0, 60)), statuses[60]]).toEqual([new Set([200]), 429])
    w.clock.advance(3_600_000)
    expect((await read(w, url)).status).toBe(200)

    const bodies = new Set<string>()
    for (const secret of [
      'x',
      'bw_cal_',
      `bw_cal_${'0'.repeat(36)}`,
      url.split('/').at(-2)!.slice(0, -1),
      'a%00b',
      'x'.repeat(2_000),
    ]) {
      const { status, body } = await read(w, url.replace(/bw_cal_\w+/, secret))
      expect([secret, status]).toEqual([secret, 404])
      bodies.add(body.detail)
    }
    expect(bodies.size).toBeLessThanOrEqual(2)
    const wrong = url.replace(/bw_cal_\w+/, 'wrong')
    const refused: number[] = []
    for (let n = 0; n < 40; n++) refused.push((await read(w, wrong)).status)
    expect(refused.at(-1)).toBe(429)
    // They don’t keep anyone from reading a feed.
    expect((await read(w, url)).status).toBe(200)
  })
})

interface Uploaded {
  name: string
  /** Milliseconds UTC. */
  ends: number
  tags?: string[]
  inUse?: boolean
}

async function upload(w: World, { name, ends, tags, inUse = true }: Uploaded): Promise<void> {
  const { pem } = await makeCertificate({ names: [name], notBefore: new Date(ends - 90 * dayMs), notAfter: new Date(ends) })
  const { status, body } = await w.acme.call('POST', '/v1/certificates', pem, { 'content-type': 'application/x-pem-file' })
  expect(status).toBe(201)
  if (tags) await w.acme.call('PATCH', `/v1/certificates/${body.id}`, { tags })
  if (inUse) return
  await record(w.hub, async tx => ({
    result: void (await tx.update(certificates).set({ inUse }).where(eq(certificates.id, body.id))),
  }))
}
