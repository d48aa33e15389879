import { describe, expect, test } from 'bun:test'
import { getTableName } from 'drizzle-orm'
import { idempotencyKeys } from '../../src/core/db/tables'
import { contacts } from '../../src/features/contacts/tables'
import { contactInput } from '../support/contacts'
import { everyTable } from '../support/every-table'
import { world, type Caller, type World } from '../support/world'

const path = '/v1/contacts'

async function add(caller: Caller, changes: object = {}) {
  const { status, body } = await caller.call('POST', path, { ...contactInput, ...changes })
  expect([status, body.errors]).toEqual([201, undefined])
  return body
}
/** The errors of a request, as `pointer code`. */
async function refusals(caller: Caller, method: string, one: string, body: object): Promise<string[]> {
  const response = await caller.call(method, one, body)
  expect(response.status).toBe(422)
  return response.body.errors.map((error: any) => `${error.pointer} ${error.code}`)
}

describe('a contact', () => {
  test('is created, read, updated, and deleted', async () => {
    const { acme, audited } = await world()
    const created = await acme.call('POST', path, contactInput)
    const { id } = created.body
    expect(id).toStartWith('con_')
    expect(created.headers.get('location')).toBe(`${path}/${id}`)
    expect(created.body).toEqual({
      ...contactInput,
      id,
      phone: '+33123456789',
      state: '',
      fields: {},
      registrar_ids: {},
      email_verified: 'unknown',
      used_by: 0,
      tags: [],
      version: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const one = `${path}/${id}`
    expect((await acme.call('GET', one)).body).toEqual(created.body)
    const fields = { company_number: '12345678', us_nexus: 'C21' }
    const updated = await acme.call('PATCH', one, { phone: '+1 202 555 0123', fields, tags: ['own'] }, { 'if-match': '"1"' })
    expect(updated.body).toMatchObject({ phone: '+12025550123', fields, tags: ['own'], label: 'Company', version: 2 })
    // A null removes a field, and resets other members to their defaults.
    const cleared = await acme.call('PATCH', one, { type: 'individual', organization: null, fields: { us_nexus: null } })
    expect(cleared.body).toMatchObject({ organization: '', fields: { company_number: '12345678' }, version: 3 })
    // Nothing changes, also not how the data is encrypted.
    expect((await acme.call('PATCH', one, { phone: '+1.2025550123', fields: {} })).body.version).toBe(3)
    expect((await acme.call('PATCH', one, { label: 'Mine' }, { 'if-match': '"2"' })).status).toBe(412)
    expect((await acme.call('PATCH', one, { label: 'Mine' })).body).toMatchObject({
      label: 'Mine',
      version: 4,
      first_name: 'Ada',
    })
    expect((await acme.call('DELETE', one)).status).toBe(204)
    expect((await acme.call('GET', one)).status).toBe(404)
    const verbs = ['create', 'update', 'update', 'update', 'delete']
    expect(await audited()).toEqual(verbs.map(verb => `domains.contact.${verb}`))
  })

  test('is listed by label, country, tag, and search', async () => {
    const { acme } = await world()
    const paris = await add(acme, { label: 'Head office', tags: ['own'] })
    const berlin = await add(acme, { label: 'Berlin office', country: 'DE', city: 'Berlin', postal_code: '10115' })
    const idsOf = async (query: string) => (await acme.call('GET', `${path}?${query}`)).body.data.map((one: any) => one.id)
    expect(await idsOf('')).toEqual([berlin.id, paris.id])
    expect(await idsOf('sort=-label')).toEqual([paris.id, berlin.id])
    expect(await idsOf('country=DE')).toEqual([berlin.id])
    expect(await idsOf('tag=own')).toEqual([paris.id])
    expect(await idsOf('q=office%20ber')).toEqual([berlin.id])
    expect(await idsOf('q=Example')).toEqual([])
    expect(await idsOf(`ids=${paris.id}`)).toEqual([paris.id])
  })

  test('is only visible in its workspace, and changed only with write permission', async () => {
    const { acme, rival, readOnly, anonymous, scoped } = await world()
    const { id } = await add(acme)
    const one = `${path}/${id}`
    const statuses = async (caller: Caller) => [
      (await caller.call('GET', path)).body.data?.length ?? 'refused',
      (await caller.call('GET', one)).status,
      (await caller.call('GET', `${one}/requirements?tld=us&registrar_kind=epp`)).status,
      (await caller.call('PATCH', one, { label: 'Other' })).status,
      (await caller.call('POST', path, {})).status,
      (await caller.call('DELETE', one)).status,
    ]
    expect(await statuses(rival)).toEqual([0, 404, 404, 404, 422, 404])
    expect(await statuses(readOnly)).toEqual([1, 200, 200, 403, 403, 403])
    expect(await statuses(await scoped('dns.write'))).toEqual(['refused', 403, 403, 403, 403, 403])
    expect(await statuses(anonymous)).toEqual(['refused', 401, 401, 401, 401, 401])
  })

  test('is refused with every problem, and none repeats personal data', async () => {
    const { acme } = await world()
    const wrong = {
      email: 'nobody@localhost',
      phone: '0123456789',
      country: 'UK',
      organization: '',
      fields: { birth_country: 'XX', us_nexus: 'C99', birth_date: '2026-02-30', shoe_size: '43' },
    }
    expect((await refusals(acme, 'POST', path, { ...contactInput, ...wrong })).sort()).toEqual([
      '#/email pattern',
      '#/fields/birth_date format',
      '#/fields/shoe_size unknown_field',
      '#/fields/us_nexus enum',
    ])
    const unrelated = { ...contactInput, ...wrong, email: 'a@example.com', fields: { birth_country: 'XX' } }
    const refused = await acme.call('POST', path, unrelated)
    expect(refused.body.errors.map((one: any) => one.pointer)).toEqual([
      '#/organization',
      '#/country',
      '#/fields/birth_country',
      '#/phone',
    ])
    for (const value of ['0123456789', 'Ada', 'XX']) expect(refused.text).not.toContain(value)
    for (const [country, more, problems] of [
      ['US', {}, ['#/state required']],
      ['US', { state: 'CA', postal_code: '' }, ['#/postal_code required']],
      ['IE', { postal_code: '' }, []],
    ] as const) {
      const body = { ...contactInput, country, ...more }
      const errors = problems.length === 0 ? void (await add(acme, body)) : await refusals(acme, 'POST', path, body)
      expect([country, errors ?? []]).toEqual([country, [...problems]])
    }
    for (const email of [
      'a',
      'a@b',
      '@example.com',
      'a b@example.com',
      'a@example.com\n',
      'a@-x.com',
      'ä@example.com',
      `${'x'.repeat(65)}@example.com`,
    ])
      expect(await refusals(acme, 'POST', path, { ...contactInput, email })).toEqual(['#/email pattern'])
    expect(await refusals(acme, 'POST', path, { ...contactInput, address: [] })).toEqual(['#/address too_few'])
    expect(await refusals(acme, 'POST', path, { ...contactInput, address: ['1', '2', '3', '4'] })).toEqual(['#/address too_many'])
    expect(await refusals(acme, 'POST', path, { ...contactInput, first_name: ' ' })).toEqual(['#/first_name pattern'])
    expect(await refusals(acme, 'POST', path, { ...contactInput, city: 'Paris\u0000' })).toHaveLength(1)
    const { id } = await add(acme)
    expect(await refusals(acme, 'PATCH', `${path}/${id}`, { country: 'US' })).toEqual(['#/state required'])
    expect(await refusals(acme, 'PATCH', `${path}/${id}`, { organization: null })).toEqual(['#/organization required'])
    expect(await refusals(acme, 'PATCH', `${path}/${id}`, { first_name: null })).toHaveLength(1)
  })

  test('is compared with what a registry and a registrar require', async () => {
    const { acme } = await world()
    const { id } = await add(acme, { country: 'IE', postal_code: '' })
    const ask = (query: string) => acme.call('GET', `${path}/${id}/requirements?${query}`)
    expect((await ask('tld=.co.uk.&registrar_kind=namecheap')).body).toEqual({
      tld: 'co.uk',
      registrar_kind: 'namecheap',
      complete: false,
      missing: ['#/fields/uk_registrant_type', '#/state', '#/postal_code'].map(pointer => ({
        pointer,
        code: 'required',
        detail: expect.stringContaining('is required'),
      })),
      sources: [expect.stringContaining('nominet'), expect.stringContaining('namecheap')],
    })
    expect((await ask('tld=com&registrar_kind=manual')).body).toMatchObject({ complete: true, missing: [] })
    expect((await ask('tld=br')).body).toMatchObject({
      registrar_kind: null,
      missing: [{ pointer: '#/country' }, { pointer: '#/fields/tax_id' }],
    })
    expect((await ask('registrar_kind=namecom')).body).toMatchObject({
      tld: null,
      missing: [{ pointer: '#/state' }, { pointer: '#/postal_code' }],
    })
    for (const query of ['tld=COM&registrar_kind=epp', 'tld=a%20b&registrar_kind=epp', 'tld=com&registrar_kind=other'])
      expect([query, (await ask(query)).status]).toEqual([query, 400])
  })

  test('a workspace can have 1,000 contacts', async () => {
    const w = await world()
    await fill(w, w.acme.workspaceId, 999)
    await add(w.acme)
    const { status, body } = await w.acme.call('POST', path, contactInput)
    expect([status, body.detail]).toEqual([409, 'A workspace can have at most 1000 contacts.'])
  })
})

async function fill(w: World, workspaceId: string, count: number): Promise<void> {
  const row = { workspaceId, label: 'x', country: 'FR', tags: [], personalSealed: '', version: 1, createdAt: 1, updatedAt: 1 }
  const rows = Array.from({ length: count }, (_, n) => ({ ...row, id: `con_${n}` }))
  await w.hub.store.transact(async tx => void (await tx.insert(contacts).values(rows)))
}

test('personal data is in no table and no export in plain text, but replayed responses contain it', async () => {
  const w = await world()
  const planted = {
    first_name: 'Plantedfirst',
    last_name: 'Plantedlast',
    organization: 'Planted Organization',
    email: 'planted@personal.example',
    phone: '+33198765432',
    address: ['99 Planted Street'],
    city: 'Plantedcity',
    postal_code: '98765',
    fields: { tax_id: 'PLANTED-TAX-ID' },
  }
  const key = { 'Idempotency-Key': 'a-key' }
  const created = await w.acme.call('POST', path, { ...contactInput, ...planted }, key)
  const replayed = await w.acme.call('POST', path, { ...contactInput, ...planted }, key)
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
  expect(replayed.body).toEqual(created.body)
  const operations = [{ op: 'update', id: created.body.id, body: { ...planted, last_name: 'Plantedlater' } }]
  const inBulk = await w.acme.call('POST', `${path}/bulk`, { operations }, key)
  expect([inBulk.status, inBulk.body.succeeded]).toEqual([200, 1])
  expect((await w.acme.call('POST', `${path}/bulk`, { operations }, key)).body).toEqual(inBulk.body)
  await w.acme.call('PATCH', `${path}/${created.body.id}`, { phone: '+33 1 98 76 54 33', label: 'Known label' })
  const export_ = await w.acme.call('GET', '/v1/audit-events/export')
  await w.acme.call('DELETE', `${path}/${created.body.id}`, undefined, { 'if-match': '*' })
  await w.settle()

  const stored: Record<string, string> = { export: export_.text }
  for (const table of await everyTable()) {
    const rows = await w.hub.read.select().from(table)
    stored[getTableName(table)] = JSON.stringify(rows)
  }
  // The search works: the label is not personal data.
  expect(stored.export).toContain('Known label')
  expect(JSON.stringify(await w.hub.read.select().from(idempotencyKeys))).toContain('sealed:')
  const secrets = ['lanted', 'PLANTED', '98765432', '98765433', '1 98 76']
  const found = Object.entries(stored).flatMap(([name, text]) =>
    secrets.filter(one => text.includes(one)).map(one => `${one} in ${name}`),
  )
  expect(found).toEqual([])
  expect(stored.export).toContain('changed_fields')
})
