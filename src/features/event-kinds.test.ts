import { expect, test } from 'bun:test'
import { FormatRegistry } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Ajv2020 } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import type { EventData, EventKind } from '../core/event-kinds'
import { eventKind, eventKinds, isEventKind } from './event-kinds'
import { isId } from '../core/ids'
import { areas } from '../core/permissions'

for (const format of ['date', 'date-time']) {
  if (!FormatRegistry.Has(format)) FormatRegistry.Set(format, text => !Number.isNaN(Date.parse(text)))
}
const everyKind = eventKinds.map(entry => [entry.kind, entry] as const)

test('the eight core kinds come first, with their exact names', () => {
  expect(eventKinds.filter(entry => !entry.extension).map(entry => entry.kind)).toEqual([
    'domain.expiring',
    'domain.status_changed',
    'dns.records_changed',
    'server.status_changed',
    'monitor.alert',
    'watched_domain.dropping_soon',
    'watched_domain.available',
    'watched_domain.registered',
  ])
  expect(eventKinds.slice(0, 8).every(entry => !entry.extension)).toBe(true)
})

test('there are twelve extensions', () => {
  expect(eventKinds.filter(entry => entry.extension).map(entry => entry.kind)).toEqual([
    'monitor.recovered',
    'monitor.acknowledged',
    'certificate.expiring',
    'certificate.issued',
    'certificate.gap_changed',
    'deployment.finished',
    'dynamic_ip.changed',
    'firewall.reverted',
    'port.opened',
    'server.certificate_not_served',
    'tls_endpoint.grade_changed',
    'webhook.endpoint_disabled',
  ])
})

test('domain.expiring has only the domain and the date', () => {
  const schema = published('domain.expiring')
  expect(Object.keys(schema.properties)).toEqual(['domain', 'expires_at'])
  expect(schema.required).toEqual(['domain', 'expires_at'])
  const valid = validator('domain.expiring')
  expect(valid({ domain: 'example.com', expires_at: '2027-01-31' })).toBe(true)
  expect(valid({ domain: 'example.com', expires_at: '2027-01-31T00:00:00Z' })).toBe(false)
  expect(valid({ domain: 'example.com', expires_at: '2027-02-31' })).toBe(false)
  expect(valid({ domain: 'example.com', expires_at: '2027-01-31', days_left: 7 })).toBe(false)
})

test.each(everyKind)('the example of %s matches its schema in TypeBox and Ajv (2020-12, strict)', (kind, entry) => {
  const compiled = TypeCompiler.Compile(entry.data)
  expect([...compiled.Errors(entry.example)]).toEqual([])
  const valid = validator(kind)
  valid(entry.example)
  expect(valid.errors ?? []).toEqual([])
})

test.each(everyKind)('%s rejects missing and unknown fields on every level', (kind, entry) => {
  const valid = validator(kind)
  const compiled = TypeCompiler.Compile(entry.data)
  for (const { path, object } of objectsIn(entry.example)) {
    // Labels have arbitrary names.
    if (path.at(-1) === 'labels') continue
    for (const member of Object.keys(object)) {
      const rest = Object.fromEntries(Object.entries(object).filter(([name]) => name !== member))
      const broken = replaced(entry.example, path, rest)
      expect({ path, member, valid: valid(broken) || compiled.Check(broken) }).toEqual({ path, member, valid: false })
    }
    const broken = replaced(entry.example, path, { ...object, surprise: 1 })
    expect({ path, valid: valid(broken) || compiled.Check(broken) }).toEqual({ path, valid: false })
  }
})

test.each(everyKind)('every field of %s has a description', kind => {
  const undescribed: string[] = []
  const walk = (schema: unknown, where: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'properties') {
        for (const [member, inner] of Object.entries(value as Record<string, { description?: string; const?: string }>)) {
          // A discriminator is self-explanatory.
          if (!inner.description && member !== 'kind') undescribed.push(`${where}.${member}`)
        }
      }
      walk(value, `${where}.${name}`)
    }
  }
  walk(published(kind), kind)
  expect(undescribed).toEqual([])
})

test.each(everyKind)('%s has an area, a title and a description, and its example fits in a message', (kind, entry) => {
  expect(areas).toContain(entry.area)
  expect(entry.title).toMatch(/^[A-Z].*[^.]$/)
  expect(entry.description).toMatch(/^[A-Z].*\.$/)
  expect(entry.version).toBe(1)
  expect(Buffer.byteLength(JSON.stringify({ event: kind, data: entry.example }))).toBeLessThan(20_000)
})

test('the ids in the examples are well formed', () => {
  const ids = JSON.stringify(eventKinds.map(entry => entry.example)).match(/"[a-z]+_01[^"]*"/g) ?? []
  expect(ids.length).toBeGreaterThan(15)
  for (const id of ids.map(quoted => quoted.slice(1, -1))) {
    expect(isId(id, id.slice(0, id.indexOf('_')) as 'tok') ? id : `malformed: ${id}`).toBe(id)
  }
})

test('an alert is about a monitor, a heartbeat, or a probe, and has four types', () => {
  const heartbeat = example('monitor.alert').heartbeat
  const monitor = example('monitor.recovered').monitor
  const probe = { id: 'probe_01k3zb9y1z3a5b7c9d1e3f5g7h', name: 'Garage', location: null, last_seen_at: null }
  const noSubject = { monitor: null, heartbeat: null, probe: null, incident: null }
  const alerts: EventData<'monitor.alert'>[] = [
    { kind: 'monitor.down', status: 'down', previous_status: 'up', reason: 'HTTP 503', ...noSubject, monitor },
    { kind: 'monitor.degraded', status: 'degraded', previous_status: 'up', reason: 'slow', ...noSubject, monitor },
    { kind: 'heartbeat.missed', status: 'down', previous_status: 'new', reason: 'late', ...noSubject, heartbeat },
    { kind: 'probe.offline', status: 'offline', previous_status: 'online', reason: 'silent', ...noSubject, probe },
  ]
  const valid = validator('monitor.alert')
  for (const alert of alerts) expect(valid(alert)).toBe(true)
  expect(valid({ ...alerts[0], kind: 'monitor.recovered' })).toBe(false)
  expect(valid({ ...alerts[0], monitor: undefined })).toBe(false)
})

test('a heartbeat in an alert can have each of the three schedules', () => {
  const alert = example('monitor.alert')
  const valid = validator('monitor.alert')
  const withSchedule = (schedule: object) => valid({ ...alert, heartbeat: { ...alert.heartbeat, schedule } })
  expect(withSchedule({ kind: 'period', period_seconds: 60, grace_seconds: 30 })).toBe(true)
  expect(withSchedule({ kind: 'cron', expression: '*/5 * * * *', timezone: 'Europe/Paris', grace_seconds: 30 })).toBe(true)
  expect(withSchedule({ kind: 'calendar', expression: 'Mon..Fri 08:00', timezone: 'UTC', grace_seconds: 30 })).toBe(true)
  expect(withSchedule({ kind: 'period', expression: '* * * * *', timezone: 'UTC', grace_seconds: 30 })).toBe(false)
})

test('the type of a kind’s data knows its fields and their values', () => {
  const data: EventData<'domain.status_changed'> = { ...example('domain.status_changed'), status: 'active' }
  expect(data.status).toBe('active')
  // @ts-expect-error: no such status
  data.status = 'expiring'
  // @ts-expect-error: the date is missing
  const short: EventData<'domain.expiring'> = { domain: 'example.com' }
  expect(validator('domain.expiring')(short)).toBe(false)
})

test('a kind is found by its exact name only', () => {
  expect(eventKind('dns.records_changed')?.area).toBe('dns')
  for (const name of ['dns.*', 'DNS.records_changed', 'dns', '', 'constructor', '__proto__']) {
    expect(eventKind(name)).toBeUndefined()
    expect(isEventKind(name)).toBe(false)
  }
})

function example<K extends EventKind>(kind: K): EventData<K> {
  return eventKind(kind)?.example as EventData<K>
}

/** The schema as receivers get it: plain JSON. */
function published(kind: string) {
  return JSON.parse(JSON.stringify(eventKind(kind)?.data)) as { properties: Record<string, object>; required: string[] }
}

function validator(kind: string) {
  const ajv = new Ajv2020({ strict: true, allErrors: true })
  addFormats.default(ajv)
  return ajv.compile(published(kind))
}

function objectsIn(value: unknown, path: (string | number)[] = []): { path: (string | number)[]; object: object }[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, member]) => objectsIn(member, [...path, name]))
  return Array.isArray(value) ? inner : [{ path, object: value }, ...inner]
}

function replaced(value: unknown, [first, ...rest]: (string | number)[], by: unknown): unknown {
  if (first === undefined) return by
  const copy = structuredClone(value) as Record<string | number, unknown>
  copy[first] = replaced(copy[first], rest, by)
  return copy
}
