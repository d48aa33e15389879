import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events } from '../../src/core/db/tables'
import { sendCertificateAlarms } from '../../src/features/certificates/alarms'
import { usualRenewalAt } from '../../src/features/certificates/life'
import type { Presence } from '../../src/features/certificates/places'
import { recordCertificates } from '../../src/features/certificates/record'
import { pruneCertificates } from '../../src/features/certificates/retention'
import { certificates } from '../../src/features/certificates/tables'
import { makeCertificate, type MadeCertificate } from '../support/make-certificates'
import { world } from '../support/world'

const w = await world()
const day = 86_400_000
const pemType = { 'content-type': 'application/x-pem-file' }
const upload = (body: string, query = '', caller = w.acme) => caller.call('POST', `/v1/certificates${query}`, body, pemType)
const endpoint = (id: string): Presence => ({
  ...{ kind: 'endpoint', endpointId: id, address: '192.0.2.1', host: `${id}.test`, port: 443 },
})
const see = (chain: MadeCertificate[], presence: Presence) =>
  record(w.hub, async tx => {
    const sightings = [{ chain: chain.map(one => one.der), presence }]
    return { result: await recordCertificates(tx, w.acme.workspaceId, sightings, w.clock.now()) }
  })

const root = await makeCertificate({ subject: 'CN=Own root', isCa: true })
const middle = await makeCertificate({ subject: 'O=Own CA,CN=Issuing', isCa: true, issuer: root })
const lasting = (days: number, names: string[], start = w.clock.now()) =>
  makeCertificate({ names, issuer: middle, notBefore: new Date(start), notAfter: new Date(start + days * day) })

test('a certificate is uploaded with its chain, read, updated, and deleted', async () => {
  const made = await lasting(90, ['up.test', '*.up.test', '192.0.2.9'])
  const created = await upload(middle.pem + made.pem)
  expect(created.status).toBe(201)
  const { id } = created.body
  expect(created.body).toMatchObject({
    ...{ common_name: 'up.test', dns_names: ['up.test', '*.up.test'], ip_addresses: ['192.0.2.9'], name_count: 3 },
    ...{ trust: 'untrusted', status: 'valid', level: null, days_left: 90, in_use: true, sources: ['upload'], presence_count: 1 },
    ...{ key: { type: 'ec', bits: 256 }, lifetime_seconds: 90 * 86_400, auto_renewing: false, superseded_by: null },
    ...{ presences: [{ kind: 'upload', ended_at: null }], findings: [], version: 1 },
  })
  const again = await upload(made.pem)
  expect([again.status, again.body.id]).toEqual([200, id])
  expect((await w.acme.call('POST', '/v1/certificates', made.der, { 'content-type': 'application/pkix-cert' })).status).toBe(200)
  const updated = await w.acme.call('PATCH', `/v1/certificates/${id}`, { tags: ['shop'], notes: 'Ask Ann.' })
  expect(updated.body).toMatchObject({ tags: ['shop'], notes: 'Ask Ann.', version: 2 })
  expect((await w.rival.call('GET', `/v1/certificates/${id}`)).status).toBe(404)
  expect((await w.rival.call('GET', `/v1/certificates/${id}/chain`)).status).toBe(404)
  // The issuer can’t be deleted before what it issued.
  const [issuer] = created.body.chain
  expect((await w.acme.call('DELETE', `/v1/certificates/${issuer}`)).status).toBe(409)
  expect((await w.acme.call('DELETE', `/v1/certificates/${id}`)).status).toBe(204)
  expect((await w.acme.call('DELETE', `/v1/certificates/${issuer}`)).status).toBe(204)
  expect(await w.audited()).toEqual([
    ...['certificates.certificate.create', 'certificates.certificate.update'],
    ...['certificates.certificate.delete', 'certificates.certificate.delete'],
  ])
})

test('a certificate that is served somewhere can’t be deleted', async () => {
  const [id] = await see([await lasting(90, ['served.test'])], endpoint('tls_served'))
  expect((await w.acme.call('DELETE', `/v1/certificates/${id}`)).body.code).toBe('conflict')
})

test('when the newer certificate of a lineage is deleted, the older one is in use again, with its events', async () => {
  const start = w.clock.now()
  const { id } = (await upload((await lasting(90, ['line.delete.test'], start)).pem)).body
  const newer = (await upload((await lasting(100, ['line.delete.test'], start + 1000)).pem)).body
  const shown = async () => (await w.acme.call('GET', `/v1/certificates/${id}`)).body
  expect(await shown()).toMatchObject({ status: 'superseded', superseded_by: newer.id, in_use: false })
  expect((await w.acme.call('DELETE', `/v1/certificates/${newer.id}`)).status).toBe(204)
  expect(await shown()).toMatchObject({ status: 'valid', superseded_by: null, in_use: true })
  const [row] = await w.hub.read.select().from(certificates).where(eq(certificates.id, id))
  expect(row!.alarmAt).toBe(start + 60 * day)
  expect((await w.acme.call('DELETE', `/v1/certificates/${id}`)).status).toBe(204)
})

test('bad uploads are refused, and private keys by a code of their own', async () => {
  const [one, other] = [await lasting(90, ['bad.test']), await lasting(90, ['other.test'])]
  const refused = async (body: string) => {
    const { status, body: problem, text } = await upload(body)
    expect(text).not.toContain(one.keyPem.split('\n')[1]!)
    return [status, problem.code, problem.errors?.[0]?.code]
  }
  expect(await refused(one.pem + one.keyPem)).toEqual([422, 'private_key_refused', 'private_key'])
  expect(await refused(one.pem.slice(0, -40))).toEqual([422, 'validation_failed', 'format'])
  expect(await refused('hello')).toEqual([422, 'validation_failed', 'format'])
  expect(await refused(one.pem + other.pem)).toEqual([422, 'validation_failed', 'too_many'])
  expect((await upload('-----BEGIN CERTIFICATE-----\n'.repeat(100_000))).status).toBe(413)
  expect((await upload(one.pem, '?source=elsewhere')).status).toBe(400)
  expect((await w.acme.call('POST', '/v1/certificates', { pem: one.pem })).status).toBe(415)
  expect((await upload(one.pem, '', w.readOnly)).status).toBe(403)
  const { data } = (await w.acme.call('GET', '/v1/certificates?name=bad.test')).body
  expect(data).toEqual([])
})

test('the list finds certificates by name with wildcards, place, status, and time', async () => {
  const [shop] = await see([await lasting(90, ['shop.find.test', '*.find.test']), middle], endpoint('tls_find'))
  const { id: soon } = (await upload((await lasting(20, ['soon.find.test'], w.clock.now() - 15 * day)).pem)).body
  const found = async (query: string) => {
    const { body } = await w.acme.call('GET', `/v1/certificates?${query}&limit=100`)
    return body.data.map((one: { id: string }) => one.id).filter((one: string) => one === shop || one === soon)
  }
  expect(await found('name=any.find.test')).toEqual([shop])
  expect(await found('name=Shop.find.test')).toEqual([shop])
  expect(await found('name=a.b.find.test')).toEqual([])
  expect(await found('name=find.test')).toEqual([])
  expect(await found('q=find&sort=not_after')).toEqual([soon, shop])
  expect(await found('endpoint_id=tls_find')).toEqual([shop])
  expect(await found('server_id=tls_find')).toEqual([])
  expect(await found('status=expiring')).toEqual([soon])
  expect(await found('level=expiring,critical')).toEqual([soon])
  expect(await found('source=upload&in_use=true&trust=untrusted')).toEqual([soon])
  const cut = new Date(w.clock.now() + 30 * day).toISOString()
  expect(await found(`not_after[lt]=${cut}`)).toEqual([soon])
  expect(await found('issuer=issuing')).toEqual([soon, shop])
  // Issuers are not listed by themselves.
  const { body } = await w.acme.call('GET', '/v1/certificates?q=Issuing&limit=100')
  expect(body.data.every((one: { is_ca: boolean }) => !one.is_ca)).toBe(true)
})

test('statuses are the same in the list and in a certificate, at every time', async () => {
  const start = w.clock.now()
  const made = await lasting(30, ['walk.test'], start + day)
  const { id } = (await upload(made.pem)).body
  const seen: string[] = []
  for (let passed = 0; passed <= 32; passed++) {
    const { status, level } = (await w.acme.call('GET', `/v1/certificates/${id}`)).body
    const listed = (await w.acme.call('GET', `/v1/certificates?ids=${id}&status=${status}${level ? `&level=${level}` : ''}`)).body
    expect(listed.data).toHaveLength(1)
    if (seen.at(-1) !== `${status} ${level}`) seen.push(`${status} ${level}`)
    w.clock.advance(day)
  }
  expect(seen).toEqual(['not_yet_valid null', 'valid null', 'expiring expiring', 'expiring critical', 'expired expired'])
})

test('a certificate is retired 30 days after it was last seen', async () => {
  const [old, next] = [await lasting(900, ['gone.test']), await lasting(900, ['here.test'])]
  const [id] = await see([old], endpoint('tls_gone'))
  w.clock.advance(day)
  await see([next], endpoint('tls_gone'))
  const statusOf = async () => (await w.acme.call('GET', `/v1/certificates/${id}`)).body.status
  w.clock.advance(30 * day - 1)
  expect(await statusOf()).toBe('valid')
  w.clock.advance(1)
  expect(await statusOf()).toBe('retired')
  await see([old], endpoint('tls_gone'))
  expect(await statusOf()).toBe('valid')
})

test('the chain is downloaded as PEM, and a private root is trusted from when it is added', async () => {
  const made = await lasting(90, ['chain.test'])
  const { id } = (await upload(made.pem + middle.pem)).body
  const chain = async (format: string) => (await w.acme.call('GET', `/v1/certificates/${id}/chain?format=${format}`)).text
  expect(await chain('leaf')).toBe(made.pem)
  expect(await chain('full')).toBe(made.pem + middle.pem)
  const trustOf = async () => (await w.acme.call('GET', `/v1/certificates/${id}`)).body.trust
  expect(await trustOf()).toBe('untrusted')
  const input = { name: 'Own', pem: root.pem }
  const added = await w.acme.call('POST', '/v1/certificate-authorities', input)
  expect(added.status).toBe(201)
  expect((await w.acme.call('POST', '/v1/certificate-authorities', input)).body.code).toBe('already_exists')
  await w.settle()
  expect(await trustOf()).toBe('private')
  const refused = async (pem: string) => {
    const { status, body } = await w.acme.call('POST', '/v1/certificate-authorities', { name: 'Bad', pem })
    return [status, body.code, body.errors[0].pointer]
  }
  expect(await refused(middle.pem)).toEqual([422, 'validation_failed', '#/pem'])
  expect(await refused(root.pem + root.keyPem)).toEqual([422, 'private_key_refused', '#/pem'])
  expect(await refused(root.pem + middle.pem)).toEqual([422, 'validation_failed', '#/pem'])
  expect((await w.rival.call('GET', `/v1/certificate-authorities/${added.body.id}`)).status).toBe(404)
  expect((await w.acme.call('DELETE', `/v1/certificate-authorities/${added.body.id}`)).status).toBe(204)
  await w.settle()
  expect(await trustOf()).toBe('untrusted')
})

/** The events about a certificate. */
const alarmsOf = async (id: string) => {
  const rows = await w.hub.read.select().from(events).where(eq(events.resourceId, id)).orderBy(events.sequence)
  return rows.map(row => {
    const { data } = JSON.parse(row.body) as { data: { level: string; renewal_overdue: boolean; seen_at: string[] } }
    return { at: row.occurredAt, ...data }
  })
}
/** Walks through times at which something may be sent, just before and at each. */
async function walk(times: readonly number[]): Promise<void> {
  for (const at of [...times].sort((a, b) => a - b)) {
    for (const time of [at - 1, at]) {
      if (time > w.clock.now()) w.clock.advance(time - w.clock.now())
      await sendCertificateAlarms(w.hub)
      await sendCertificateAlarms(w.hub)
    }
  }
}

test('events are sent once at exactly the levels of the lifetime', async () => {
  const start = w.clock.now()
  const lives: [days: number, expiring: number, critical: number][] = [
    [6, 4, 5],
    [47, 47 * (2 / 3), 40],
    [90, 60, 83],
    [200, 170, 193],
    [398, 368, 391],
  ]
  const ids = await Promise.all(
    lives.map(async ([days]) => (await see([await lasting(days, [`d${days}.test`], start)], endpoint(`tls_${days}`)))[0]!),
  )
  await walk(lives.flatMap(([days, ...levels]) => [...levels, days].map(one => Math.ceil(start + one * day))))
  for (const [at, [days, expiring, critical]] of lives.entries()) {
    const sent = await alarmsOf(ids[at]!)
    const expected = [expiring, critical, days].map(one => Math.ceil(start + one * day))
    expect(sent.map(one => [one.level, one.at])).toEqual(
      ['expiring', 'critical', 'expired'].map((level, n) => [level, expected[n]!]),
    )
    expect(sent[0]).toMatchObject({ renewal_overdue: false, seen_at: [`tls_${days}.test:443`] })
  }
})

test('the overview contains what has to be replaced', async () => {
  const { id } = (await upload((await lasting(6, ['soon.overview.test'], w.clock.now() - 5.5 * day)).pem)).body
  const { expiring } = (await w.acme.call('GET', '/v1/overview')).body.posture
  expect(expiring.data.find((one: { id: string }) => one.id === id)).toEqual({
    ...{ id, name: 'soon.overview.test', level: 'critical', renewal_overdue: false },
    expires_at: new Date(w.clock.now() + day / 2).toISOString(),
  })
  await see([await lasting(6, ['soon.overview.test'])], endpoint('tls_overview'))
  const after = (await w.acme.call('GET', '/v1/overview')).body.posture.expiring
  expect(after.data.map((one: { id: string }) => one.id)).not.toContain(id)
})

test('after a pause, only the gravest level is sent', async () => {
  const [id] = await see([await lasting(6, ['pause.test'])], endpoint('tls_pause'))
  w.clock.advance(7 * day)
  await sendCertificateAlarms(w.hub)
  expect((await alarmsOf(id!)).map(one => one.level)).toEqual(['expired'])
})

test('a certificate that renews itself sends nothing, until its renewal is overdue', async () => {
  const start = w.clock.now()
  const life = 90 * day
  const ids: string[] = []
  // Renewed after 60 of 90 days, five times.
  for (let turn = 0; turn < 5; turn++) {
    const [id] = await see([await lasting(90, ['renewing.test'])], endpoint('tls_renewing'))
    ids.push(id!)
    if (turn < 4) await walk([w.clock.now() + 59 * day, w.clock.now() + 60 * day - 1])
    if (turn < 4) w.clock.advance(start + (turn + 1) * 60 * day - w.clock.now())
  }
  const last = w.clock.now()
  const due = usualRenewalAt({ notBefore: last, notAfter: last + life })
  const { body } = await w.acme.call('GET', `/v1/certificates/${ids.at(-1)}`)
  expect(body).toMatchObject({ auto_renewing: true, renewal_due_at: new Date(due).toISOString(), renewal_overdue: false })
  await walk([last + 60 * day, due + life / 10 - 1])
  for (const id of ids) expect(await alarmsOf(id)).toEqual([])
  await walk([due + life / 10])
  const sent = await alarmsOf(ids.at(-1)!)
  expect(sent.map(one => [one.level, one.at, one.renewal_overdue])).toEqual([['expiring', due + life / 10, true]])
  const replaced = (await w.acme.call('GET', `/v1/certificates/${ids[0]}`)).body
  expect(replaced).toMatchObject({ status: 'superseded', superseded_by: ids.at(-1), level: null })
})

test('certificates are deleted two years after they were last seen, unless they are in use or issued others', async () => {
  const start = w.clock.now()
  const [ca, other] = await Promise.all(['Kept', 'Gone'].map(name => makeCertificate({ subject: `CN=${name} CA`, isCa: true })))
  const make = (name: string, issuer: MadeCertificate, days = 900) =>
    makeCertificate({ names: [name], issuer, notBefore: new Date(start), notAfter: new Date(start + days * day) })
  const gone = await make('gone.prune.test', other!)
  const kept = await make('kept.prune.test', ca!)
  const logged = await make('logged.prune.test', ca!, 10)
  const loggedValid = await make('valid.prune.test', ca!, 2000)
  const stored = await make('upload.prune.test', ca!, 10)
  const [goneId] = await see([gone, other!], endpoint('tls_prune'))
  const [keptId] = await see([kept, ca!], endpoint('tls_prune'))
  const ids = [goneId!, keptId!]
  for (const one of [logged, loggedValid, stored]) ids.push((await upload(one.pem, one === stored ? '' : '?source=ct')).body.id)
  const [otherId, caId] = await Promise.all(
    ids.slice(0, 2).map(async id => (await w.acme.call('GET', `/v1/certificates/${id}`)).body.chain[0] as string),
  )
  const left = async () => {
    await pruneCertificates(w.hub)
    const rows = await w.hub.read.select({ id: certificates.id }).from(certificates)
    const all = new Set(rows.map(row => row.id))
    return [...ids, otherId!, caId!].map(id => all.has(id))
  }
  w.clock.advance(730 * day)
  expect(await left()).toEqual([true, true, true, true, true, true, true])
  w.clock.advance(1)
  expect((await left())[0]).toBe(false)
  w.clock.advance(10 * day)
  // The issuer follows.
  expect(await left()).toEqual([false, true, false, true, true, false, true])
})
