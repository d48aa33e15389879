import { describe, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { auditEntries } from '../../src/core/db/tables'
import { domains } from '../../src/features/domains/tables'
import { registryFacts, registryInterests } from '../../src/features/registry/tables'
import { cookieOf, password, person } from '../support/people'
import { world, type World } from '../support/world'

async function scene() {
  const w = await world()
  const send = async (body: string | Uint8Array<ArrayBuffer>, type = 'text/csv', query = '', token = w.acme.token) => {
    const response = await w.app.handle(
      new Request(`http://localhost:8484/v1/domains/import${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body,
      }),
    )
    return { status: response.status, body: (await response.json()) as any }
  }
  return { w, send }
}
const countDomains = async (w: World) => (await w.hub.read.select({ id: domains.id }).from(domains)).length

describe('an import', () => {
  test('of CSV creates the valid domains, and names the problem of each other line', async () => {
    const { w, send } = await scene()
    await w.acme.call('POST', '/v1/domains', { name: 'known.com' })
    await w.audited()
    const csv = [
      'Name;expires_at;registrar;auto_renew;tags;notes',
      'shop.com;2027-04-02;Porkbun;yes;shop, eu;"Two',
      'lines"',
      'https://www.example.co.uk:8443/cart?x=1;;;;;',
      'known.com;;;;;',
      'SHOP.com.;;;;;',
      '',
      'co.uk;;;;;',
      'foo.github.io;;;;;',
      'a.com;2027-02-30;;;;',
      'b.com;;;maybe;;',
      'c.com;;;;Shop;',
      'd.com;31.01.2027;;;;',
      'e.com',
    ].join('\r\n')
    const { status, body } = await send(csv)
    expect(status).toBe(200)
    expect(body).toMatchObject({ created: 4, existing: 1, invalid: 5 })
    expect(body.lines.map((one: any) => [one.line, one.name, one.outcome, one.code])).toEqual([
      [2, 'shop.com', 'created', null],
      [4, 'example.co.uk', 'created', null],
      [5, 'known.com', 'existing', null],
      [6, 'shop.com', 'duplicate', null],
      [8, null, 'invalid', 'public_suffix'],
      [9, null, 'invalid', 'private_suffix'],
      [10, 'a.com', 'invalid', 'format'],
      [11, 'b.com', 'invalid', 'format'],
      [12, 'c.com', 'invalid', 'pattern'],
      [13, 'd.com', 'created', null],
      [14, 'e.com', 'created', null],
    ])
    expect((await w.acme.call('GET', `/v1/domains/${body.lines[0].id}`)).body).toMatchObject({
      ...{
        name: 'shop.com',
        expires_at: '2027-04-02',
        expiry: { source: 'given' },
        registrar: { name: 'Porkbun', iana_id: null },
      },
      ...{ auto_renew: true, tags: ['shop', 'eu'], notes: 'Two\nlines', sync: { state: 'pending' } },
    })
    expect((await w.audited()).toSorted()).toEqual([
      ...Array.from({ length: 4 }, () => 'domains.domain.create'),
      'domains.domain.import',
    ])
    const again = await send(csv)
    expect(again.body).toMatchObject({ created: 0, existing: 5, invalid: 5 })
    expect(await w.audited()).toEqual([])
  })

  test('of text and JSON', async () => {
    const { send } = await scene()
    const text = await send('# mine\nexample.org\n\nwww.example.net\nmail.example.net:25\n*.münchen.de', 'text/plain')
    expect(text.body.lines.map((one: any) => [one.line, one.name, one.outcome])).toEqual([
      [2, 'example.org', 'created'],
      [4, 'example.net', 'created'],
      [5, 'example.net', 'duplicate'],
      [6, 'xn--mnchen-3ya.de', 'created'],
    ])
    const json = await send(
      JSON.stringify({ domains: ['a.com', { name: 'b.com', expires_at: '2027-01-01', tags: ['x'] }] }),
      'application/json',
    )
    expect(json.body).toMatchObject({ created: 2, invalid: 0 })
    for (const wrong of ['{', '[]', '{"domains":[1]}', '{"domains":[{"name":"c.com","x":1}]}'])
      expect([wrong, (await send(wrong, 'application/json')).status]).toEqual([wrong, 422])
  })

  test('is refused as a whole if the document can’t be read, and changes nothing', async () => {
    const { w, send } = await scene()
    const cases: [body: string | Uint8Array<ArrayBuffer>, pointer: string, rule: string][] = [
      ['name\n"shop.com\nexample.com\n', '#/lines/2', 'never closed'],
      ['name\nshop\u0000.com\n', '#/lines/2', 'NUL'],
      [new Uint8Array(Buffer.from('\ufeffname\nshop.com', 'utf16le')), '#', 'UTF-8'],
      [new Uint8Array(Buffer.from('name\nshop.com', 'utf16le')), '#/lines/1', 'NUL'],
      [new Uint8Array([0x6e, 0xff, 0x0a]), '#', 'UTF-8'],
      ['name,price\nshop.com,3\n', '#/lines/1', 'unknown column "price"'],
      ['expires_at\n2027-01-01\n', '#/lines/1', 'column name'],
      ['name,name\na.com,b.com\n', '#/lines/1', 'twice'],
      ['name\na.com,b.com\n', '#/lines/2', '2 cells'],
      ['', '#/lines/1', 'header'],
      [`name\n${Array.from({ length: 10_001 }, (_, n) => `d${n}.com`).join('\n')}`, '#/lines/10002', 'at most 10000'],
    ]
    for (const [sent, pointer, rule] of cases) {
      const { status, body } = await send(sent)
      expect([rule, status, body.errors?.[0]?.pointer]).toEqual([rule, 422, pointer])
      expect(body.errors[0].detail).toContain(rule)
    }
    expect((await send('x'.repeat(2 * 1024 * 1024 + 1), 'text/plain')).status).toBe(413)
    expect((await send('name', 'application/xml')).status).toBe(415)
    expect(await countDomains(w)).toBe(0)
  })

  test('can be a dry run, all or nothing, and is limited by the plan', async () => {
    const { w, send } = await scene()
    const dry = await send('name\na.com\nco.uk\n', 'text/csv', '?dry_run=true')
    expect(dry.body).toMatchObject({ created: 1, invalid: 1 })
    expect(dry.body.lines[0].id).toBeNull()
    const atomic = await send('name\na.com\nco.uk\n', 'text/csv', '?mode=atomic')
    expect(atomic).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/lines/3', code: 'public_suffix' }] } })
    await w.limit(w.acme.workspaceId, { domains: 2 })
    expect((await send('name\na.com\nb.com\nc.com\n', 'text/csv', '?mode=atomic')).body).toMatchObject({
      ...{ code: 'plan_limit_reached', max: 2, used: 0 },
      detail: expect.stringContaining('Create at most 2'),
    })
    expect(await countDomains(w)).toBe(0)
    const partial = await send('name\na.com\nb.com\nc.com\n')
    expect(partial.body.lines.map((one: any) => one.code)).toEqual([null, null, 'plan_limit_reached'])
    expect((await send('name\na.com\n', 'text/csv', '', w.readOnly.token)).status).toBe(403)
  })

  test('of 10,000 lines with 300 invalid ones creates 9,700 domains, and no others when it is repeated', async () => {
    const { w, send } = await scene()
    await w.limit(w.acme.workspaceId, { domains: null })
    const csv = ['name', ...Array.from({ length: 10_000 }, (_, n) => (n % 100 < 3 ? `bad_${n}.com` : `shop-${n}.com`))].join('\n')
    const { body } = await send(csv)
    expect(body).toMatchObject({ created: 9700, existing: 0, invalid: 300 })
    const bad = body.lines.filter((one: any) => one.outcome === 'invalid')
    expect(bad).toHaveLength(300)
    expect(bad[0]).toMatchObject({ line: 2, input: 'bad_0.com', detail: expect.stringContaining('underscores') })
    const own = and(eq(registryInterests.holderType, 'domain'), eq(registryInterests.name, 'shop-9999.com'))
    expect(await w.hub.read.select().from(registryInterests).where(own)).toHaveLength(1)
    expect(await w.hub.read.select().from(registryFacts).where(eq(registryFacts.name, 'shop-9999.com'))).toHaveLength(1)
    const created = eq(auditEntries.action, 'domains.domain.create')
    expect(await w.hub.read.$count(auditEntries, created)).toBe(9700)
    expect((await send(csv)).body).toMatchObject({ created: 0, existing: 9700, invalid: 300 })
  }, 60_000)
})

test('a link to an export names the workspace in its query', async () => {
  const { w, send } = await scene()
  await send('name\nshop.com\n')
  await person(w, w.acme.workspaceId, 'owner', 'ada@example.com')
  const cookie = cookieOf(await w.anonymous.call('POST', '/v1/sessions', { email: 'ada@example.com', password }))
  const exported = (workspace: string) =>
    w.app.handle(new Request(`http://localhost:8484/v1/domains/export?workspace=${workspace}`, { headers: { cookie } }))
  expect(await (await exported(w.acme.workspaceId)).text()).toContain('shop.com')
  expect((await exported(w.rival.workspaceId)).status).toBe(404)
})

test('an export can be imported again, and its cells are no formulas', async () => {
  const { w, send } = await scene()
  await send('name,expires_at,auto_renew,tags,notes\nshop.com,2027-04-02,true,a b,"=1+1, ""x"""\n')
  const exported = (token: string) =>
    w.app.handle(new Request('http://localhost:8484/v1/domains/export', { headers: { authorization: `Bearer ${token}` } }))
  const response = await exported(w.acme.token)
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const text = await response.text()
  expect(text.split('\r\n')[0]).toBe(
    '"name","expires_at","registrar","auto_renew","tags","notes","status","expiry_confidence","delegation","id"',
  )
  expect(text).toContain('"shop.com","2027-04-02",,"true","a b","\'=1+1, ""x""","unknown","given"')
  expect((await send(text)).body).toMatchObject({ existing: 1, invalid: 0 })
  expect((await (await exported(w.rival.token)).text()).split('\r\n')).toHaveLength(2)
})
