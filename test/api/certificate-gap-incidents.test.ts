import { afterAll, expect, test } from 'bun:test'
import { inArray } from 'drizzle-orm'
import { events } from '../../src/core/db/tables'
import { allowPrivateNetwork, channelAt } from '../support/channels'
import { gapScene } from '../support/gap-scene'
import { receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

const minuteMs = 60_000
const dayMs = 86_400_000

// The tests share a hub, with names of their own.
const here = await allowPrivateNetwork(await world())
afterAll(stopReceivers)
const messages = receiver()
await channelAt(here, messages.url, { name: 'Ops', group_seconds: 0, settings: { url: messages.url } })
const { call } = here.acme
const { port, serveOwn, scan, workOut, openGap } = await gapScene(here)

const incidentsOf = async (endpointId: string) =>
  ((await call('GET', '/v1/incidents?kind=certificate.gap&limit=100')).body.data as any[]).filter(one =>
    one.tls_endpoints.some((each: any) => each.id === endpointId),
  )

test('a severe gap opens an incident of its endpoint, is acknowledged with it, and closes it', async () => {
  const { path, gap, endpointId } = await openGap('shop.example.com')
  const [incident, ...others] = await incidentsOf(endpointId)
  expect(others).toEqual([])
  const named = { id: endpointId, name: `shop.example.com:${port}`, role: 'cause' }
  expect(incident).toMatchObject({
    ...{ id: gap.incident_id, kind: 'certificate.gap', status: 'open', severity: 'warning', cause: gap.detail },
    title: `shop.example.com:${port} serves a certificate that is not trusted`,
    ...{ tls_endpoints: [named], certificates: [], monitors: [], heartbeats: [] },
    evidence: { gap_id: gap.id, kind: 'untrusted_served', fix: gap.fix },
  })
  const incidentPath = `/v1/incidents/${incident.id}`
  const statusOf = async () => (await call('GET', incidentPath)).body.status

  const until = new Date(here.clock.now() + 7 * dayMs).toISOString()
  await call('POST', `${path}/acknowledge`, { note: 'Replaced next week.', until })
  expect((await call('GET', incidentPath)).body).toMatchObject({ status: 'acknowledged', acknowledgement_expires_at: until })
  await call('POST', `${path}/unacknowledge`)
  expect(await statusOf()).toBe('open')
  expect(await here.audited()).toEqual([
    'certificates.gap.acknowledge',
    'incident.acknowledge',
    'certificates.gap.unacknowledge',
    'incident.unacknowledge',
  ])

  await call('POST', `${path}/acknowledge`, { note: 'Accepted.' })
  await here.audited()
  await serveOwn('shop.example.com')
  await scan(endpointId)
  expect((await call('GET', incidentPath)).body).toMatchObject({ status: 'resolved', resolution: 'recovered' })
  const kinds = (await call('GET', `${incidentPath}/timeline`)).body.data.map((one: any) => one.kind)
  expect(kinds.filter((one: string) => one !== 'notified')).toEqual([
    ...['opened', 'acknowledged', 'unacknowledged', 'acknowledged', 'resolved'],
  ])
  const alerts = await here.hub.read
    .select({ kind: events.kind })
    .from(events)
    .where(inArray(events.kind, ['monitor.alert', 'monitor.recovered']))
  expect(alerts).toEqual([])

  const isTold = () => messages.received.some(one => JSON.parse(one.body).kind === 'incident.resolved')
  for (let tries = 0; tries < 30 && !isTold(); tries++) await here.advance(1000)
  const sent = messages.received.splice(0).map(one => JSON.parse(one.body))
  const { title } = incident
  const titles = sent.map(one => [one.kind, one.title])
  expect(titles[0]).toEqual(['incident.opened', title])
  expect(titles).toContainEqual(['incident.acknowledged', expect.stringContaining(`: ${title}`)])
  expect(titles).toContainEqual(['incident.resolved', `Resolved: ${title}`])
  expect(sent[0]).toMatchObject({ resource: { type: 'tls_endpoint', id: endpointId }, thread: incident.id })

  // It comes back within ten minutes of the end.
  await here.advance(5 * minuteMs)
  await scan(endpointId)
  const [again, ...rest] = await incidentsOf(endpointId)
  expect([again.id, again.status, rest]).toEqual([incident.id, 'open', []])
})

test('the incident of an endpoint is as severe as its worst gap, and is resolved with the last one', async () => {
  const { gap, endpointId } = await openGap('two.example.com')
  await serveOwn('other.example.com', here.clock.now() + 6 * minuteMs)
  // The first gap is about the certificate before.
  await scan(endpointId)
  expect((await incidentsOf(endpointId))[0].status).toBe('resolved')
  await here.advance(5 * minuteMs)
  await scan(endpointId)
  const [incident] = await incidentsOf(endpointId)
  expect([incident.id, incident.status, incident.severity]).toEqual([gap.incident_id, 'open', 'warning'])
  await here.advance(10 * minuteMs)
  await scan(endpointId)
  await here.advance(5 * minuteMs)
  await scan(endpointId)
  const open = (await call('GET', `/v1/certificate-gaps?endpoint_id=${endpointId}&status=open&sort=severity`)).body.data as any[]
  expect(open.map(one => [one.kind, one.incident_id])).toEqual([
    ['expired_served', incident.id],
    ['mismatch_served', incident.id],
    ['untrusted_served', incident.id],
  ])
  expect((await incidentsOf(endpointId))[0]).toMatchObject({
    ...{ severity: 'critical', title: `two.example.com:${port} serves an expired certificate`, status: 'open' },
  })
  const { posture } = (await call('GET', '/v1/overview')).body
  expect(posture.gaps).toMatchObject({ total: expect.any(Number), by_severity: { critical: 1, medium: 0 } })
  expect(posture.grades).toContainEqual({ grade: 'T', count: expect.any(Number) })
  expect((await call('GET', `/v1/certificates/${open[0].certificate_id}`)).body.gap_ids.toSorted()).toEqual(
    open.map(one => one.id).toSorted(),
  )
  await call('DELETE', `/v1/tls-endpoints/${endpointId}`)
  await workOut()
  expect((await incidentsOf(endpointId)).map(one => one.status)).toEqual(['resolved'])
})

test('an incident that was resolved manually stays so until the gap is gone', async () => {
  const { id, endpointId } = await openGap('closed.example.com')
  const [{ id: incidentId }] = await incidentsOf(endpointId)
  await call('POST', `/v1/incidents/${incidentId}/resolve`)
  await workOut()
  const statuses = async () => (await incidentsOf(endpointId)).map(one => one.status)
  expect(await statuses()).toEqual(['resolved'])
  await serveOwn('closed.example.com')
  await scan(endpointId)
  expect((await call('GET', `/v1/certificate-gaps/${id}`)).body.status).toBe('resolved')
  await here.advance(15 * minuteMs)
  await scan(endpointId)
  expect(await statuses()).toEqual(['open', 'resolved'])
})

const kindsOf = async (incidentId: string) =>
  ((await call('GET', `/v1/incidents/${incidentId}/timeline`)).body.data as any[])
    .map(one => one.kind as string)
    .filter(one => one !== 'notified')

/** A new endpoint, for which the server presents a self-signed certificate of another name. Its gaps open in one evaluation. */
async function openSeveral(servername: string, names: string, notAfter?: number) {
  await serveOwn(names, notAfter)
  const endpointId = (await call('POST', '/v1/tls-endpoints', { host: '127.0.0.1', port, servername })).body.id as string
  await here.settle()
  await here.advance(5 * minuteMs)
  await scan(endpointId)
  const [incident] = await incidentsOf(endpointId)
  const gaps = (await call('GET', `/v1/certificate-gaps?endpoint_id=${endpointId}&status=open`)).body.data as any[]
  return { endpointId, incident, gapOf: (kind: string) => gaps.find(one => one.kind === kind) }
}

test('gaps that open and are resolved together change the incident once', async () => {
  const { endpointId, incident, gapOf } = await openSeveral('batch.example.com', 'unlike.example.com', here.clock.now() - dayMs)
  expect(incident).toMatchObject({
    ...{ status: 'open', severity: 'critical', title: `batch.example.com:${port} serves an expired certificate` },
    evidence: { gap_id: gapOf('expired_served').id },
  })
  expect(['expired_served', 'mismatch_served', 'untrusted_served'].map(kind => gapOf(kind)?.incident_id)).toEqual([
    ...[incident.id, incident.id, incident.id],
  ])
  expect(await kindsOf(incident.id)).toEqual(['opened'])
  await serveOwn('batch.example.com')
  await scan(endpointId)
  expect(await kindsOf(incident.id)).toEqual(['opened', 'resolved'])
})

test('the incident is about a gap that still exists, and acknowledged with the last one', async () => {
  const { endpointId, incident, gapOf } = await openSeveral('first.example.com', 'second.example.com')
  expect(incident).toMatchObject({ severity: 'warning', evidence: { gap_id: gapOf('mismatch_served').id } })
  const paths = ['mismatch_served', 'untrusted_served'].map(kind => `/v1/certificate-gaps/${gapOf(kind).id}`)
  const statusOf = async () => (await call('GET', `/v1/incidents/${incident.id}`)).body.status
  for (let times = 0; times < 3; times++) {
    await Promise.all(paths.map(path => call('POST', `${path}/acknowledge`, { note: 'Known.' })))
    expect(await statusOf()).toBe('acknowledged')
    await Promise.all(paths.map(path => call('POST', `${path}/unacknowledge`)))
    expect(await statusOf()).toBe('open')
  }

  const before = await kindsOf(incident.id)
  // The name that the certificate is for.
  await call('PATCH', `/v1/tls-endpoints/${endpointId}`, { servername: 'second.example.com' })
  await here.settle()
  await workOut()
  const remaining = (await call('GET', paths[1]!)).body
  expect([(await call('GET', paths[0]!)).body.status, remaining.status]).toEqual(['resolved', 'open'])
  expect((await call('GET', `/v1/incidents/${incident.id}`)).body).toMatchObject({
    ...{ status: 'open', title: `second.example.com:${port} serves a certificate that is not trusted` },
    ...{ cause: remaining.detail, evidence: { gap_id: remaining.id, fix: remaining.fix } },
  })
  expect(await kindsOf(incident.id)).toEqual(before)
})
