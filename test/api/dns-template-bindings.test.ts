import { describe, expect, test } from 'bun:test'
import {
  siteTemplate,
  siteAddress,
  templateOf,
  createTemplate,
  applyTemplate,
  recordsOf,
  createRecord,
  pointersAndCodes,
} from '../support/templates'
import { callerWith, world } from '../support/world'
import { createZone } from '../support/zones'

describe('a binding', () => {
  const bound = async (more: object = {}) => {
    const w = await world()
    const zone = await createZone(w.acme)
    const template = await createTemplate(w.acme, siteTemplate)
    const binding = await applyTemplate(w.acme, template.id, zone, { variables: siteAddress, mode: 'linked', ...more })
    const path = `/v1/dns/template-bindings/${binding.id}`
    const state = async () => (await w.acme.call('GET', path)).body
    return { ...w, zone, template, path, state }
  }

  test('is outdated after its template is updated, until it is applied', async () => {
    const { acme, zone, template, path, state, audited } = await bound()
    const records = [{ type: 'A', name: '@', content: '{{address}}', ttl: 600 }]
    await acme.call('PATCH', `/v1/dns/templates/${template.id}`, { description: 'More words.' })
    expect((await state()).state).toBe('current')
    await acme.call('PATCH', `/v1/dns/templates/${template.id}`, { records })
    expect((await state()).state).toBe('outdated')
    expect((await acme.call('GET', '/v1/dns/template-bindings?state=outdated&include=total')).body.pagination.total).toBe(1)
    expect(await recordsOf(acme, zone)).toEqual(['@ 300 A 192.0.2.10', 'www 3600 CNAME example.com.'])
    const preview = (await acme.call('POST', `${path}/preview`, {})).body
    expect(preview.changes.map((one: any) => `${one.action} ${one.name} ${one.type}`)).toEqual(['update @ A', 'delete www CNAME'])
    await audited()
    const done = await acme.call('POST', `${path}/apply`, {})
    expect(done.body).toMatchObject({ state: 'current', template_version: 3, created: 0, updated: 1, deleted: 1 })
    expect(await recordsOf(acme, zone)).toEqual(['@ 600 A 192.0.2.10'])
    expect((await acme.call('POST', `${path}/apply`, {})).body).toMatchObject({ created: 0, updated: 0, deleted: 0, version: 2 })
    expect(await audited()).toEqual(['dns.template_binding.apply'])
  })

  test('in mode once is never outdated', async () => {
    const { acme, template, state } = await bound({ mode: 'once' })
    await acme.call('PATCH', `/v1/dns/templates/${template.id}`, {
      records: [{ type: 'A', name: '@', content: '{{address}}', ttl: 9 }],
    })
    expect((await state()).state).toBe('current')
  })

  test('can have new variables, which change the zone when applied', async () => {
    const { acme, zone, path, state } = await bound()
    const variables = { address: '192.0.2.20' }
    expect((await acme.call('PATCH', path, { variables: { address: 'x' } })).status).toBe(422)
    expect((await acme.call('PATCH', path, { variables }, { 'if-match': '"1"' })).body).toMatchObject({
      state: 'outdated',
      variables,
    })
    expect(await recordsOf(acme, zone)).toContain('@ 300 A 192.0.2.10')
    expect((await acme.call('POST', `${path}/apply`, {}, { 'if-match': '"1"' })).status).toBe(412)
    expect((await acme.call('POST', `${path}/apply`, {})).body).toMatchObject({ updated: 0, created: 1, deleted: 1 })
    expect(await recordsOf(acme, zone)).toContain('@ 300 A 192.0.2.20')
    await acme.call('POST', `${path}/apply`, { variables: { address: '192.0.2.30' } })
    expect(await state()).toMatchObject({ state: 'current', variables: { address: '192.0.2.30' } })
  })

  test('keeps other variables, and drops those the template no longer has', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const text = (name: string, fallback?: string) => ({ name, type: 'string', ...(fallback && { default: fallback }) })
    const template = await createTemplate(
      acme,
      templateOf([{ type: 'TXT', name: '@', content: '{{a}} {{b}} {{c}}' }], [text('a'), text('b', 'y'), text('c')]),
    )
    const binding = await applyTemplate(acme, template.id, zone, { mode: 'linked', variables: { a: '1', b: '2', c: '3' } })
    const path = `/v1/dns/template-bindings/${binding.id}`
    expect((await acme.call('PATCH', path, { variables: { a: '4', b: null } })).body.variables).toEqual({ a: '4', c: '3' })
    expect(pointersAndCodes(await acme.call('PATCH', path, { variables: { c: null } }))).toEqual(['#/variables/c required'])
    expect((await acme.call('POST', `${path}/apply`, {})).status).toBe(200)
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 TXT "4 y 3"'])
    const records = [{ type: 'TXT', name: '@', content: '{{a}}' }]
    await acme.call('PATCH', `/v1/dns/templates/${template.id}`, { variables: [text('a')], records })
    expect((await acme.call('POST', `${path}/apply`, {})).body).toMatchObject({ variables: { a: '4' }, state: 'current' })
    expect((await acme.call('GET', path)).body.rrsets).toEqual([
      { name: '@', type: 'TXT', ttl: null, essential: true, values: ['"4"'], spf_terms: [] },
    ])
  })

  test('is modified when its records are, lists the differences, and can be restored', async () => {
    const { acme, zone, path, state } = await bound()
    const { data } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?source=template`)).body
    const [a, www] = ['A', 'CNAME'].map(type => data.find((one: any) => one.type === type))
    await acme.call('PATCH', `/v1/dns/records/${a.id}`, { ttl: 60, content: '192.0.2.99' })
    await acme.call('DELETE', `/v1/dns/records/${www.id}`)
    const edited = await state()
    expect(edited.state).toBe('modified')
    const differences = edited.differences.sort((x: any, y: any) => (x.name < y.name ? -1 : 1))
    expect(differences).toEqual([
      {
        name: '@',
        type: 'A',
        kind: 'changed',
        essential: true,
        missing: ['192.0.2.10'],
        extra: ['192.0.2.99'],
        ttl: { expected: 300, actual: 60 },
      },
      { name: 'www', type: 'CNAME', kind: 'missing', essential: true, missing: ['example.com.'], extra: [], ttl: null },
    ])
    for (const [query, count] of [
      ['modified', 1],
      ['current,outdated', 0],
    ] as const)
      expect((await acme.call('GET', `/v1/dns/template-bindings?state=${query}&include=total`)).body.pagination.total).toBe(count)
    await acme.call('POST', `${path}/apply`, {})
    expect(await state()).toMatchObject({ state: 'current', differences: [] })
    expect(await recordsOf(acme, zone)).toEqual(['@ 300 A 192.0.2.10', 'www 3600 CNAME example.com.'])
  })

  test('is current again when an edit is undone manually', async () => {
    const { acme, zone, state } = await bound()
    const { id } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=A&name=@`)).body.data[0]
    await acme.call('PATCH', `/v1/dns/records/${id}`, { ttl: 60 })
    expect((await state()).state).toBe('modified')
    await acme.call('PATCH', `/v1/dns/records/${id}`, { ttl: 300 })
    expect((await state()).state).toBe('current')
  })

  test('allows edits of non-essential records', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const dmarc = { type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none', essential: false }
    const template = await createTemplate(acme, templateOf([dmarc]))
    const binding = await applyTemplate(acme, template.id, zone, { mode: 'linked' })
    const { id } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=TXT`)).body.data[0]
    await acme.call('PATCH', `/v1/dns/records/${id}`, { content: 'v=DMARC1; p=reject' })
    const path = `/v1/dns/template-bindings/${binding.id}`
    expect((await acme.call('GET', path)).body).toMatchObject({ state: 'current', differences: [{ essential: false }] })
    expect((await acme.call('POST', `${path}/apply`, {})).body.records).toMatchObject([{ outcome: 'keep_modified' }])
    expect(await recordsOf(acme, zone)).toEqual(['_dmarc 3600 TXT "v=DMARC1; p=reject"'])
  })

  test('restores tagged TXT records, regardless of on_conflict', async () => {
    const { acme } = await world()
    for (const on_conflict of ['fail', 'skip']) {
      const zone = await createZone(acme, `${on_conflict}.example`)
      const template = await createTemplate(
        acme,
        templateOf([{ type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none', on_conflict }]),
      )
      const binding = await applyTemplate(acme, template.id, zone, { mode: 'linked' })
      const { id } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=TXT`)).body.data[0]
      await acme.call('PATCH', `/v1/dns/records/${id}`, { content: 'v=DMARC1; p=reject' })
      await createRecord(acme, zone, { type: 'TXT', name: '_dmarc', content: 'something else' })
      const path = `/v1/dns/template-bindings/${binding.id}`
      expect((await acme.call('GET', path)).body.state).toBe('modified')
      expect((await acme.call('POST', `${path}/apply`, {})).body).toMatchObject({
        state: 'current',
        records: [{ outcome: 'replace' }],
      })
      expect(await recordsOf(acme, zone)).toEqual(['_dmarc 3600 TXT "something else"', '_dmarc 3600 TXT "v=DMARC1; p=none"'])
    }
  })

  test('can be deleted with or without its unmodified records', async () => {
    const { acme, zone, path } = await bound()
    await acme.call('DELETE', path)
    expect(await recordsOf(acme, zone)).toEqual(['@ 300 A 192.0.2.10', 'www 3600 CNAME example.com.'])
    const other = await bound()
    const { data } = (await other.acme.call('GET', `/v1/dns/zones/${other.zone.id}/records?type=A&name=@`)).body
    await other.acme.call('PATCH', `/v1/dns/records/${data[0].id}`, { ttl: 60 })
    expect((await other.acme.call('DELETE', `${other.path}?records=remove`)).status).toBe(204)
    expect(await recordsOf(other.acme, other.zone)).toEqual(['@ 60 A 192.0.2.10'])
    expect((await other.acme.call('GET', other.path)).status).toBe(404)
  })

  test('keeps records that existed before or that other bindings use', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const a = (name: string, content: string) => ({ type: 'A', name, content, on_conflict: 'merge' })
    await createRecord(acme, zone, { type: 'A', name: 'old', content: '192.0.2.1' })
    const one = await createTemplate(acme, templateOf([a('old', '192.0.2.1'), a('both', '192.0.2.2'), a('own', '192.0.2.3')]))
    const two = await createTemplate(acme, templateOf([a('both', '192.0.2.2')]))
    const binding = await applyTemplate(acme, one.id, zone)
    await applyTemplate(acme, two.id, zone)
    await acme.call('DELETE', `/v1/dns/template-bindings/${binding.id}?records=remove`)
    expect(await recordsOf(acme, zone)).toEqual(['both 3600 A 192.0.2.2', 'old 3600 A 192.0.2.1'])
  })

  test('is deleted with its zone, and is visible to tokens restricted to the zone', async () => {
    const { acme, zone, path, app } = await bound()
    const other = await createZone(acme, 'other.example')
    const token = async (id: string) =>
      callerWith(
        app,
        acme.workspaceId,
        (await acme.call('POST', '/v1/tokens', { name: 'n', mode: 'full', resource_ids: [id] })).body.token,
      )
    const [own, anonymous] = [await token(zone.id), await token(other.id)]
    expect((await own.call('GET', path)).status).toBe(200)
    expect((await own.call('GET', `/v1/dns/zones/${zone.id}/template-bindings`)).body.data.length).toBe(1)
    expect((await own.call('GET', `/v1/dns/zones/${zone.id}/template-bindings?zone_id=${other.id}`)).body.code).toBe(
      'unknown_parameter',
    )
    expect((await anonymous.call('GET', path)).status).toBe(404)
    expect((await anonymous.call('GET', '/v1/dns/template-bindings')).body.data).toEqual([])
    await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
    expect((await acme.call('GET', path)).status).toBe(404)
  })
})
