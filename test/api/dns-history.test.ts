import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { servedText, zoneEdit } from '../support/zone-edits'
import { world, type Caller, type World } from '../support/world'
import { createZone } from '../support/zones'

const rrsets = (caller: Caller, id: string, ...list: object[]) =>
  caller.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets: list })
const a = (name: string, contents: string[], more: object = {}) => ({
  name,
  type: 'A',
  ttl: 300,
  records: contents.map(content => ({ content })),
  ...more,
})
const history = async (caller: Caller, id: string, query = '') =>
  (await caller.call('GET', `/v1/dns/zones/${id}/history${query}`)).body.data
const revert = async (w: World, id: string, body: object, caller = w.acme) => {
  const answer = await caller.call('POST', `/v1/dns/zones/${id}/revert`, { apply: true, ...body })
  // A zone applies one plan at a time.
  await w.settle()
  return answer
}
/** Reverts with all block reasons allowed, and returns the applied plan. */
const forced = async (w: World, id: string, body: object) => {
  const caller = w.acme
  const plan = (await revert(w, id, body)).body
  if (plan.status === 'applied') return plan
  const allow = plan.blocked.map((one: any) => one.code)
  const done = await caller.call('POST', `/v1/dns/zones/${id}/apply`, {
    plan_id: plan.id,
    hash: plan.hash,
    allow,
    note: 'It is a test.',
  })
  expect(done.status).toBe(202)
  await w.settle()
  return (await caller.call('GET', `/v1/dns/plans/${plan.id}`)).body
}
const names = (plan: any) => plan.targets[0].ops.map((one: any) => one.name)
/** Everything that a revert restores. */
const all = async (caller: Caller, id: string, ids = true) => {
  const { data } = (await caller.call('GET', `/v1/dns/zones/${id}/records?limit=1000`)).body
  const { soa } = (await caller.call('GET', `/v1/dns/zones/${id}`)).body
  const kept = data.map(({ id: record, name, type, ttl, content, comment, tags }: any) =>
    JSON.stringify({ ...(ids && { record }), name, type, ttl, content, comment, tags }),
  )
  return { soa, records: kept.sort() }
}

describe('the history of a zone', () => {
  test('lists changes with actor, serials, and records before and after', async () => {
    const w = await world()
    const { acme, readOnly } = w
    const zone = await createZone(acme)
    const created = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, {
      type: 'MX',
      name: '@',
      content: '10 mail',
      comment: 'in',
    })
    await acme.call('PATCH', `/v1/dns/records/${created.body.id}`, { ttl: 60 })
    await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { soa: { minimum: 60 } })
    const [soa, edited, added, first] = await history(readOnly, zone.id)
    expect([first, added, edited, soa].map(one => [one.version, one.serial_before, one.serial_after])).toEqual([
      [1, 0, 1],
      [2, 1, 2],
      [3, 2, 3],
      [4, 3, 4],
    ])
    expect(soa).toMatchObject({ soa: { before: { minimum: 300 }, after: { minimum: 60 } }, rrset_count: 0 })
    expect(edited).toMatchObject({
      origin: 'api',
      actor: { type: 'token', name: 'full token' },
      created: 0,
      updated: 1,
      deleted: 0,
      soa: null,
    })
    expect(edited.request_id).toStartWith('req_')
    const whole = (await acme.call('GET', `/v1/dns/zones/${zone.id}/history/${edited.id}`)).body
    expect(whole).toMatchObject({ ...edited, truncated: false })
    const form = { comment: 'in', options: null, records: [{ id: created.body.id, content: '10 mail.example.com.' }] }
    expect(whole.rrsets).toMatchObject([{ name: '@', type: 'MX', before: { ...form, ttl: 3600 }, after: { ...form, ttl: 60 } }])
  })

  test('is filtered by name, type, actor, origin and time, with pagination', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    await rrsets(w.acme, zone.id, a('www', ['192.0.2.1']), { name: 'mail', type: 'TXT', records: [{ content: 'x' }] })
    await w.advance(60_000)
    const since = new Date(w.clock.now()).toISOString()
    await w.acme.call('POST', `/v1/dns/zones/${zone.id}/import?mode=merge`, 'mail 60 IN A 192.0.2.2\n', {
      'content-type': 'text/dns',
    })
    const versions = async (query: string) => (await history(w.acme, zone.id, query)).map((one: any) => one.version)
    expect(await versions('?name=www')).toEqual([2])
    expect(await versions('?name=WWW.example.com.&type=a')).toEqual([2])
    expect(await versions('?name=mail')).toEqual([3, 2])
    expect(await versions('?name=mail&type=A')).toEqual([3])
    expect(await versions('?type=TXT')).toEqual([2])
    expect(await versions('?origin=import')).toEqual([3])
    expect(await versions(`?occurred_at[gte]=${since}`)).toEqual([3])
    const [{ actor }] = await history(w.acme, zone.id)
    expect(await versions(`?actor=${actor.id}`)).toEqual([3, 2, 1])
    expect(await versions('?actor=tok_other')).toEqual([])
    const first = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}/history?limit=2`)).body
    expect(await versions(`?limit=2&cursor=${first.pagination.next_cursor}`)).toEqual([1])
    expect((await w.acme.call('GET', `/v1/dns/zones/${zone.id}/history?name=a..b`)).status).toBe(400)
  })

  test('is not visible to other workspaces', async () => {
    const w = await world()
    const { acme, rival, readOnly } = w
    const zone = await createZone(acme)
    const other = await createZone(rival, 'example.org')
    const [{ id }] = await history(acme, zone.id)
    for (const path of ['history', `history/${id}`, 'diff?from=1'])
      expect((await rival.call('GET', `/v1/dns/zones/${zone.id}/${path}`)).status).toBe(404)
    expect((await rival.call('GET', `/v1/dns/zones/${other.id}/history/${id}`)).status).toBe(404)
    expect((await revert(w, zone.id, { version: 1 }, rival)).status).toBe(404)
    expect((await revert(w, other.id, { changeset_id: id }, rival)).status).toBe(404)
    expect((await revert(w, zone.id, { version: 1 }, readOnly)).status).toBe(403)
  })

  test('truncates large changes, and returns the rest by name', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    const file = Array.from({ length: 1001 }, (_, n) => `h${n} 60 IN A 192.0.2.1\n`).join('')
    await acme.call('POST', `/v1/dns/zones/${zone.id}/import?mode=merge`, file, { 'content-type': 'text/dns' })
    const [{ id }] = await history(acme, zone.id)
    const whole = (await acme.call('GET', `/v1/dns/zones/${zone.id}/history/${id}`)).body
    expect([whole.rrset_count, whole.rrsets.length, whole.truncated]).toEqual([1001, 1000, true])
    const one = (await acme.call('GET', `/v1/dns/zones/${zone.id}/history/${id}?name=h999`)).body
    expect([one.rrsets.length, one.truncated]).toEqual([1, false])
    const diff = (await acme.call('GET', `/v1/dns/zones/${zone.id}/diff?from=1`)).body
    expect([diff.rrsets.length, diff.truncated]).toEqual([1000, true])
  })
})

describe('the diff of two versions', () => {
  test('contains the net changes', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    await rrsets(acme, zone.id, a('www', ['192.0.2.1']), a('gone', ['192.0.2.9']))
    await rrsets(acme, zone.id, a('www', ['192.0.2.2']), a('passing', ['192.0.2.3']), a('gone', []))
    await rrsets(acme, zone.id, a('passing', []), a('www', ['192.0.2.1', '192.0.2.4']))
    await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { soa: { minimum: 60 } })
    const diff = async (query: string) => (await acme.call('GET', `/v1/dns/zones/${zone.id}/diff?${query}`)).body
    const contents = (one: any) => one && one.records.map((record: any) => record.content).sort()
    const describeChanges = ({ rrsets: list }: any) =>
      list.map((one: any) => [one.name, contents(one.before), contents(one.after)])
    const forth = await diff('from=2')
    expect(forth).toMatchObject({ from: { version: 2, serial: 2 }, to: { version: 5, serial: 5 }, truncated: false })
    expect(forth.soa).toMatchObject({ before: { minimum: 300 }, after: { minimum: 60 } })
    expect(describeChanges(forth)).toEqual([
      ['gone', ['192.0.2.9'], null],
      ['www', ['192.0.2.1'], ['192.0.2.1', '192.0.2.4']],
    ])
    expect(describeChanges(await diff('from=5&to=2'))).toEqual([
      ['gone', null, ['192.0.2.9']],
      ['www', ['192.0.2.1', '192.0.2.4'], ['192.0.2.1']],
    ])
    expect(await diff('from=4&to=4')).toMatchObject({ rrsets: [], soa: null })
    for (const query of ['from=6', 'from=2&to=6']) expect((await diff(query)).code).toBe('not_found')
    expect((await diff('from=0')).code).toBe('invalid_parameter')
    // By default, the last change.
    expect(await diff('')).toMatchObject({ from: { version: 4 }, to: { version: 5 }, rrsets: [] })
  })
})

describe('reverting', () => {
  test('one changeset restores values, TTLs, comments and ids, and increases the serial', async () => {
    const w = await world()
    const { acme, audited, emitted } = w
    const zone = await createZone(acme)
    await rrsets(acme, zone.id, a('www', ['192.0.2.1', '192.0.2.2'], { comment: 'web', tags: ['front'] }))
    const before = await all(acme, zone.id)
    await rrsets(acme, zone.id, a('www', ['192.0.2.3'], { ttl: 60, comment: '' }))
    const [{ id }] = await history(acme, zone.id)
    await audited()
    await emitted()
    const only = await acme.call('POST', `/v1/dns/zones/${zone.id}/revert`, { changeset_id: id })
    expect([only.status, only.body.status, only.body.blocked]).toEqual([201, 'open', []])
    expect(await history(acme, zone.id)).toHaveLength(3)
    expect([await audited(), await emitted()]).toEqual([['dns.zone.revert'], []])
    const done = await revert(w, zone.id, { changeset_id: id, note: 'It was wrong.' })
    expect(done.body).toMatchObject({ status: 'applied', targets: only.body.targets, note: 'It was wrong.' })
    expect(await all(acme, zone.id)).toEqual(before)
    expect([await audited(), await emitted()]).toEqual([['dns.zone.revert'], ['dns.records_changed']])
    const [last] = await history(acme, zone.id)
    expect(last).toMatchObject({ note: 'It was wrong.', plan_id: done.body.id, serial_after: 4, created: 2, deleted: 1 })
    // Reverting again changes nothing.
    expect(names((await revert(w, zone.id, { changeset_id: id })).body)).toEqual([])
    expect(await history(acme, zone.id)).toHaveLength(4)
    expect(names((await revert(w, zone.id, { changeset_id: last.id })).body)).toEqual(['www'])
  })

  test('a changeset with later changes is rejected with their names, and possible for the rest', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    await rrsets(acme, zone.id, a('www', ['192.0.2.1']), a('mail', ['192.0.2.1']))
    await rrsets(acme, zone.id, a('www', ['192.0.2.2']), a('mail', ['192.0.2.2']))
    const [{ id }] = await history(acme, zone.id)
    await rrsets(acme, zone.id, a('www', ['192.0.2.3']))
    const rejected = await revert(w, zone.id, { changeset_id: id })
    expect([rejected.status, rejected.body.code]).toEqual([409, 'conflict'])
    expect(rejected.body.detail).toContain('A of www')
    expect(rejected.body.detail).not.toContain('mail')
    const some = await revert(w, zone.id, { changeset_id: id, rrsets: [{ name: 'mail', type: 'A' }] })
    expect(names(some.body)).toEqual(['mail'])
    expect(names((await revert(w, zone.id, { version: 2 })).body)).toEqual(['www'])
  })

  test('an SOA change can have later changes', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { soa: { minimum: 60 } })
    const [{ id }] = await history(acme, zone.id)
    await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { soa: { minimum: 30 } })
    expect((await revert(w, zone.id, { changeset_id: id })).body.detail).toContain('the SOA')
    const done = await revert(w, zone.id, { version: 1 })
    expect(done.body.targets[0].ops).toMatchObject([
      {
        action: 'update',
        name: '@',
        type: 'SOA',
        before: { values: [expect.stringMatching(/ 30$/)] },
        after: { values: [expect.stringMatching(/ 300$/)] },
      },
    ])
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({ soa: zone.soa, serial: 4 })
  })

  test('a rename can be reverted completely, with the id, or partly', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    const { body } = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'old', content: '192.0.2.1' })
    await acme.call('PATCH', `/v1/dns/records/${body.id}`, { name: 'new' })
    const [{ id }] = await history(acme, zone.id)
    await forced(w, zone.id, { changeset_id: id })
    expect((await acme.call('GET', `/v1/dns/records/${body.id}`)).body.name).toBe('old')
    await forced(w, zone.id, { version: 3 })
    // The record still exists under its new name, so this is a different one.
    await forced(w, zone.id, { version: 2, rrsets: [{ name: 'old', type: 'A' }] })
    const { data } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?content=192.0.2.1`)).body
    expect(data.map((one: any) => one.name).sort()).toEqual(['new', 'old'])
    await forced(w, zone.id, { version: 2 })
    const left = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?content=192.0.2.1`)).body.data
    expect(left.map((one: any) => one.name)).toEqual(['old'])
  })

  test('a restored record has a version it never had before', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    const { body } = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content: '192.0.2.1' })
    const path = `/v1/dns/records/${body.id}`
    await acme.call('PATCH', path, { content: '192.0.2.2' })
    const { version } = (await acme.call('GET', path)).body
    await acme.call('DELETE', path)
    await forced(w, zone.id, { version: 2 })
    const { body: restored } = await acme.call('GET', path)
    expect(restored.content).toBe('192.0.2.1')
    expect(restored.version).toBeGreaterThan(version)
  })

  test('to any version restores its records', async () => {
    const w = await world()
    let zones = 0
    await fc.assert(
      fc.asyncProperty(fc.array(zoneEdit, { minLength: 2, maxLength: 10 }), fc.nat(100), async (edits, n) => {
        const zone = await createZone(w.acme, `zone${++zones}.example`)
        const seen = [{ version: 1, ...(await all(w.acme, zone.id, false)) }]
        for (const edit of edits) {
          await edit(w.acme, zone.id)
          const { version } = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
          seen.push({ version, ...(await all(w.acme, zone.id, false)) })
        }
        const { serial } = await servedText(w, zone.id)
        const { version, ...then } = seen[n % seen.length]!
        await forced(w, zone.id, { version })
        expect(await all(w.acme, zone.id, false)).toEqual(then)
        expect((await servedText(w, zone.id)).serial).toBeGreaterThanOrEqual(serial)
      }),
      { numRuns: 12 },
    )
  }, 180_000)

  test('requires exactly one target, and a known version', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    expect((await revert(w, zone.id, {})).status).toBe(422)
    expect((await revert(w, zone.id, { version: 1, changeset_id: 'zchg_x' })).status).toBe(422)
    expect((await revert(w, zone.id, { version: 2 })).body.code).toBe('not_found')
    const bad = await revert(w, zone.id, { version: 1, rrsets: [{ name: 'a..b', type: 'A' }] })
    expect([bad.status, bad.body.errors[0].pointer]).toEqual([422, '#/rrsets/0/name'])
    const stale = await acme.call('POST', `/v1/dns/zones/${zone.id}/revert`, { version: 1, apply: true }, { 'if-match': '"7"' })
    expect(stale.status).toBe(412)
  })

  test('is blocked by locks and other guards', async () => {
    const w = await world()
    const { acme } = w
    const zone = await createZone(acme)
    await rrsets(acme, zone.id, a('www', ['192.0.2.1']))
    await rrsets(acme, zone.id, a('www', ['192.0.2.2'], { locked: true }))
    const held = (await revert(w, zone.id, { version: 2 })).body
    expect([held.status, held.blocked.map((one: any) => one.code)]).toEqual(['open', ['locked']])
    expect(await history(acme, zone.id)).toHaveLength(3)
    expect((await forced(w, zone.id, { version: 2 })).status).toBe('applied')
    const [record] = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?name=www`)).body.data
    expect(record).toMatchObject({ content: '192.0.2.1', locked: true })
  })
})

test('a record that was about to expire when it was deleted is restored without an expiry', async () => {
  const w = await world()
  const { id } = await createZone(w.acme)
  const end = new Date(w.clock.now() + 90_000).toISOString()
  await rrsets(w.acme, id, a('brief', ['192.0.2.1'], { expires_at: end }))
  w.clock.advance(60_000)
  await rrsets(w.acme, id, a('brief', []))
  const [last] = await history(w.acme, id)
  const undone = await revert(w, id, { changeset_id: last.id })
  expect([undone.status, undone.body.status]).toEqual([201, 'applied'])
  const { data } = (await w.acme.call('GET', `/v1/dns/zones/${id}/records?name=brief`)).body
  expect(data).toMatchObject([{ content: '192.0.2.1', expires_at: null }])
})
