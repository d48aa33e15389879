import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

const a = (content: string) => ({ type: 'A', name: 'www', content })

/** A template linked to some zones. */
async function linked(w: World, names: string[]) {
  const { acme } = w
  const template = (await acme.call('POST', '/v1/dns/templates', { name: 'One', records: [a('192.0.2.1')] })).body
  const zones: any[] = []
  const bindings: any[] = []
  for (const name of names) {
    const zone = await createZone(acme, name)
    zones.push(zone)
    const applied = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: zone.id, mode: 'linked' })
    bindings.push(applied.body)
  }
  const edit = (...records: object[]) => acme.call('PATCH', `/v1/dns/templates/${template.id}`, { records })
  const roll = (body: object = {}) => acme.call('POST', `/v1/dns/templates/${template.id}/rollout`, body)
  const rolled = async (body: object = {}): Promise<any> => {
    const { id } = (await roll(body)).body
    await w.settle()
    const action = (await acme.call('GET', `/v1/actions/${id}`)).body
    expect(action).toMatchObject({ status: 'success', progress: 100 })
    return action.result
  }
  const contents = async (zone: any) =>
    (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?name=www`)).body.data.map((one: any) => one.content)
  const states = async () => {
    const { data } = (await acme.call('GET', `/v1/dns/templates/${template.id}/bindings?sort=id&limit=100`)).body
    return data.map((one: any) => one.state)
  }
  return { template, zones, bindings, edit, roll, rolled, contents, states }
}

describe('a template rollout', () => {
  test('updates all linked zones, with an event for each', async () => {
    const w = await world()
    const { acme, audited, emitted } = w
    const { template, zones, edit, roll, contents, states } = await linked(w, ['a.example', 'b.example', 'c.example'])
    const once = await createZone(acme, 'once.example')
    await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: once.id })
    await edit(a('192.0.2.2'))
    expect(await states()).toEqual(['outdated', 'outdated', 'outdated', 'current'])
    await audited()
    await emitted()
    const started = await roll()
    expect([started.status, started.headers.get('location'), started.body.type]).toEqual([
      202,
      `/v1/actions/${started.body.id}`,
      'dns_template.roll_out',
    ])
    expect((await roll()).body.code).toBe('resource_locked')
    await w.settle()
    expect((await acme.call('GET', `/v1/actions/${started.body.id}`)).body).toMatchObject({
      status: 'success',
      progress: 100,
      resources: [{ type: 'dns_template', id: template.id }],
      result: { matched: 3, applied: 3, unchanged: 0, modified: 0, failed: 0, problems: [] },
    })
    for (const zone of zones) expect(await contents(zone)).toEqual(['192.0.2.2'])
    expect(await contents(once)).toEqual(['192.0.2.1'])
    expect(await states()).toEqual(['current', 'current', 'current', 'current'])
    const apply = 'dns.template_binding.apply'
    expect(await audited()).toEqual(['dns.template.roll_out', apply, apply, apply])
    expect(await emitted()).toEqual(['dns.records_changed', 'dns.records_changed', 'dns.records_changed'])
    const { data } = (await acme.call('GET', '/v1/events?sort=-id&limit=1')).body
    expect(data[0].data).toMatchObject({ origin: 'template', actor: { type: 'token' } })
  })

  test('skips modified bindings unless they should be restored', async () => {
    const w = await world()
    const { zones, edit, rolled, contents, states } = await linked(w, ['a.example', 'b.example'])
    const { id } = (await w.acme.call('GET', `/v1/dns/zones/${zones[0].id}/records?name=www`)).body.data[0]
    await w.acme.call('PATCH', `/v1/dns/records/${id}`, { content: '192.0.2.99' })
    await edit(a('192.0.2.2'))
    expect(await rolled()).toMatchObject({ matched: 2, applied: 1, modified: 1 })
    expect([await contents(zones[0]), await contents(zones[1])]).toEqual([['192.0.2.99'], ['192.0.2.2']])
    expect(await states()).toEqual(['modified', 'current'])
    expect(await rolled({ modified: 'restore' })).toMatchObject({ applied: 1, unchanged: 1, modified: 0 })
    expect([await contents(zones[0]), await states()]).toEqual([['192.0.2.2'], ['current', 'current']])
  })

  test('reports failures with a reason, and succeeds once they are fixed', async () => {
    const w = await world()
    const { zones, bindings, edit, rolled, states, contents } = await linked(w, ['a.example', 'b.example', 'c.example'])
    const inTheWay = await w.acme.call('POST', `/v1/dns/zones/${zones[0].id}/records`, {
      type: 'TXT',
      name: 'mail',
      content: 'x',
    })
    await w.acme.call('POST', `/v1/dns/zones/${zones[1].id}/records`, { type: 'MX', name: '@', content: '10 mail' })
    await edit(a('192.0.2.2'), { type: 'CNAME', name: 'mail', content: 'mail.example.net' })
    const result = await rolled()
    expect(result).toMatchObject({ matched: 3, applied: 1, failed: 2 })
    expect(result.problems.map((one: any) => [one.binding_id, one.code])).toEqual([
      [bindings[0].id, 'conflict'],
      [bindings[1].id, 'validation_failed'],
    ])
    expect(await states()).toEqual(['failed', 'failed', 'current'])
    // Failed bindings are not partly applied.
    expect([await contents(zones[0]), await contents(zones[1])]).toEqual([['192.0.2.1'], ['192.0.2.1']])
    const found = await w.acme.call('GET', '/v1/dns/template-bindings?state=failed&sort=id')
    expect(found.body.data.map((one: any) => one.error.code)).toEqual(['conflict', 'validation_failed'])
    await w.acme.call('DELETE', `/v1/dns/records/${inTheWay.body.id}`)
    expect(await rolled()).toMatchObject({ applied: 1, unchanged: 1, failed: 1 })
    expect(await states()).toEqual(['current', 'failed', 'current'])
  })

  test('is blocked by guards per zone, unless overridden', async () => {
    const w = await world()
    const { edit, rolled, states } = await linked(w, ['a.example'])
    await edit(a('192.0.2.1'), { type: 'A', name: '*', content: '192.0.2.1' })
    expect((await rolled()).problems).toMatchObject([{ code: 'plan_blocked' }])
    expect(await rolled({ allow: ['new_wildcard'], note: 'On purpose.' })).toMatchObject({ applied: 1, failed: 0 })
    expect(await states()).toEqual(['current'])
  })

  test('handles more zones than fit in a batch', async () => {
    const w = await world()
    const { zones, edit, rolled, contents } = await linked(
      w,
      Array.from({ length: 45 }, (_, n) => `n${n}.example`),
    )
    await edit(a('192.0.2.2'))
    expect(await rolled()).toMatchObject({ matched: 45, applied: 45 })
    expect(await contents(zones[44])).toEqual(['192.0.2.2'])
    expect(await rolled()).toMatchObject({ matched: 45, applied: 0, unchanged: 45 })
  })

  test('of a built-in template only affects its own workspace', async () => {
    const w = await world()
    const path = '/v1/dns/templates/tmpl_builtin_no_mail'
    for (const [caller, name] of [
      [w.acme, 'a.example'],
      [w.rival, 'r.example'],
    ] as const) {
      const zone = await createZone(caller, name)
      await caller.call('POST', `${path}/apply`, { zone_id: zone.id, mode: 'linked' })
    }
    const started = await Promise.all([w.acme, w.rival].map(caller => caller.call('POST', `${path}/rollout`, {})))
    expect(started.map(one => [one.status, one.body.result.matched])).toEqual([
      [202, 1],
      [202, 1],
    ])
    await w.settle()
    expect((await w.rival.call('GET', `/v1/actions/${started[0]!.body.id}`)).status).toBe(404)
  })

  test('is in the audit log as documented', async () => {
    const w = await world()
    const { bindings, template, edit, rolled } = await linked(w, ['a.example'])
    await edit(a('192.0.2.2'))
    await rolled()
    await w.acme.call('PATCH', `/v1/dns/template-bindings/${bindings[0].id}`, { mode: 'once' })
    await w.acme.call('DELETE', `/v1/dns/template-bindings/${bindings[0].id}?records=remove`)
    await w.acme.call('DELETE', `/v1/dns/templates/${template.id}`)
    const ajv = addFormats(new Ajv({ strict: true, allowUnionTypes: true }))
    const catalog = new Map<string, any>(
      (await w.acme.call('GET', '/v1/audit-events/catalog?action=dns.*')).body.data.map((one: any) => [one.action, one]),
    )
    const { data } = (await w.acme.call('GET', '/v1/audit-events?limit=100')).body
    const own = data.filter((one: any) => one.action.startsWith('dns.template'))
    expect(new Set(own.map((one: any) => one.action)).size).toBe(8)
    for (const { action, changes, targets, context } of own) {
      const { changes_schema, target_types, channels } = catalog.get(action)
      if (changes_schema === null) expect([action, changes]).toEqual([action, null])
      else expect([action, ajv.validate(changes_schema, changes), ajv.errors]).toEqual([action, true, null])
      for (const { type } of targets) expect([action, target_types]).toEqual([action, expect.arrayContaining([type])])
      expect([action, channels]).toEqual([action, expect.arrayContaining([context.channel])])
    }
  })
})
