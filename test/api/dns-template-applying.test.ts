import { describe, expect, test } from 'bun:test'
import {
  siteAddress,
  templateOf,
  createTemplate,
  applyTemplate,
  recordsOf,
  createRecord,
  pointersAndCodes,
} from '../support/templates'
import { world } from '../support/world'
import { createZone } from '../support/zones'

describe('applying a template', () => {
  test('adds its records in one change and creates a binding', async () => {
    const { acme, audited, emitted } = await world()
    const zone = await createZone(acme)
    const template = await createTemplate(acme)
    await audited()
    await emitted()
    const answer = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      host: 'shop',
      variables: siteAddress,
      mode: 'linked',
    })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/v1/dns/template-bindings/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      template_id: template.id,
      template_version: 1,
      zone: 'example.com',
      host: 'shop',
      mode: 'linked',
      variables: siteAddress,
      state: 'current',
      serial: 2,
      created: 2,
      updated: 0,
      deleted: 0,
    })
    expect(await recordsOf(acme, zone)).toEqual(['shop 300 A 192.0.2.10', 'www.shop 3600 CNAME shop.example.com.'])
    const { data } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?source=template`)).body
    expect(data.length).toBe(2)
    expect(await audited()).toEqual(['dns.template.apply'])
    expect(await emitted()).toEqual(['dns.records_changed'])
    const [event] = (await acme.call('GET', '/v1/events?sort=-id&limit=1')).body.data
    expect(event.data.origin).toBe('template')
    const seen = (await acme.call('GET', `/v1/dns/template-bindings/${answer.body.id}`)).body
    expect(seen).toMatchObject({ state: 'current', differences: [] })
  })

  test('can be previewed without changing anything', async () => {
    const { acme, audited } = await world()
    const zone = await createZone(acme)
    const template = await createTemplate(acme)
    await createRecord(acme, zone, { type: 'A', name: '@', content: '192.0.2.99' })
    await audited()
    const preview = await acme.call('POST', `/v1/dns/templates/${template.id}/preview`, {
      zone_id: zone.id,
      variables: siteAddress,
    })
    expect(preview.status).toBe(200)
    expect(preview.body).toMatchObject({ applicable: false, blocked: [], serial: 2 })
    expect(preview.body.records).toMatchObject([
      {
        record_index: 0,
        outcome: 'conflict',
        content: '192.0.2.10',
        existing: [{ name: '@', type: 'A', content: '192.0.2.99' }],
      },
      { record_index: 1, outcome: 'create', name: 'www', existing: [] },
    ])
    const rejected = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      variables: siteAddress,
    })
    expect([rejected.status, rejected.body.code]).toEqual([409, 'conflict'])
    expect(rejected.body.conflicts.map((one: any) => one.record_index)).toEqual([0])
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 A 192.0.2.99'])
    expect((await acme.call('GET', '/v1/dns/template-bindings')).body.data).toEqual([])
    expect(await audited()).toEqual([])
  })

  test('skips, replaces or merges with conflicting records', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    for (const name of ['skip', 'replace', 'merge', 'rival'])
      await createRecord(acme, zone, { type: 'A', name, content: '192.0.2.99', ttl: 60 })
    const a = (name: string) => ({ type: 'A', name, content: '192.0.2.1', ttl: 300, on_conflict: name })
    const template = await createTemplate(
      acme,
      templateOf([
        a('skip'),
        a('replace'),
        a('merge'),
        { type: 'CNAME', name: 'rival', content: 'merge', on_conflict: 'replace' },
      ]),
    )
    const { records } = await applyTemplate(acme, template.id, zone)
    expect(records.map((one: any) => one.outcome)).toEqual(['skip', 'replace', 'merge', 'replace'])
    expect(await recordsOf(acme, zone)).toEqual([
      'merge 60 A 192.0.2.1',
      'merge 60 A 192.0.2.99',
      'replace 300 A 192.0.2.1',
      'rival 3600 CNAME merge.example.com.',
      'skip 60 A 192.0.2.99',
    ])
  })

  test('merges SPF records and keeps other TXT records', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    await createRecord(acme, zone, { type: 'TXT', name: '@', content: 'v=spf1 mx ip4:192.0.2.0/24 ~all' })
    await createRecord(acme, zone, { type: 'TXT', name: '@', content: 'verified=yes' })
    const spf = (term: string) => templateOf([{ type: 'TXT', name: '@', content: `v=spf1 ${term} -all`, on_conflict: 'merge' }])
    const [one, two] = [
      await createTemplate(acme, spf('include:one.example MX')),
      await createTemplate(acme, spf('include:two.example')),
    ]
    const first = await applyTemplate(acme, one.id, zone)
    expect(first).toMatchObject({ created: 0, updated: 1, deleted: 0 })
    await applyTemplate(acme, two.id, zone)
    expect(await recordsOf(acme, zone)).toEqual([
      '@ 3600 TXT "v=spf1 mx ip4:192.0.2.0/24 include:one.example include:two.example ~all"',
      '@ 3600 TXT "verified=yes"',
    ])
    expect((await acme.call('GET', `/v1/dns/template-bindings/${first.id}`)).body.state).toBe('current')
    expect((await acme.call('DELETE', `/v1/dns/template-bindings/${first.id}?records=remove`)).status).toBe(204)
    expect(await recordsOf(acme, zone)).toContain('@ 3600 TXT "v=spf1 mx ip4:192.0.2.0/24 include:two.example ~all"')
    const many = await createTemplate(acme, spf(Array.from({ length: 10 }, (_, n) => `include:n${n}.example`).join(' ')))
    expect((await applyTemplate(acme, many.id, zone)).warnings.map((w: any) => w.rule)).toEqual(['spf_too_many_lookups'])
  })

  test('rejects invalid values, naming the variable', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const content = '{{ip}} {{six}} {{server_name}} {{text}} {{n}} {{word}}'
    const template = await createTemplate(
      acme,
      templateOf(
        [{ type: 'TXT', name: '@', content }],
        [
          { name: 'ip', type: 'ip' },
          { name: 'six', type: 'ipv6' },
          { name: 'server_name', type: 'host' },
          { name: 'text', type: 'string', pattern: '[a-z]{2,4}' },
          { name: 'n', type: 'int' },
          { name: 'word', type: 'enum', values: ['yes', 'no'] },
        ],
      ),
    )
    const apply = (variables: object) =>
      acme.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: zone.id, variables })
    const wrong = await apply({
      ip: '192.0.2.01',
      six: '192.0.2.1',
      server_name: 'a b',
      text: 'ABC',
      n: '1.5',
      word: 'maybe',
      other: 1,
    })
    expect([wrong.status, pointersAndCodes(wrong)]).toEqual([
      422,
      [
        '#/variables/other unknown',
        ...['ip', 'six', 'server_name', 'text', 'n', 'word'].map(name => `#/variables/${name} invalid_value`),
      ],
    ])
    expect(pointersAndCodes(await apply({}))).toContain('#/variables/word required')
    await applyTemplate(acme, template.id, zone, {
      variables: { ip: '192.0.2.1', six: '2001:DB8::1', server_name: 'BÜcher.example.', text: 'abc', n: 7, word: 'yes' },
    })
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 TXT "192.0.2.1 2001:db8::1 xn--bcher-kva.example. abc 7 yes"'])
  })

  test('is rejected if the zone would violate a rule, also in previews', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const template = await createTemplate(acme, templateOf([{ type: 'MX', name: '@', content: '10 mail' }]))
    await createRecord(acme, zone, { type: 'CNAME', name: 'mail', content: 'mail.example.net' })
    for (const verb of ['preview', 'apply']) {
      const rejected = await acme.call('POST', `/v1/dns/templates/${template.id}/${verb}`, { zone_id: zone.id })
      expect([rejected.status, pointersAndCodes(rejected)]).toEqual([422, ['#/records/0 dns_rule']])
    }
  })

  test('is blocked by guards until each reason is allowed, with a note', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const template = await createTemplate(acme, templateOf([{ type: 'A', name: '*', content: '192.0.2.1' }]))
    const apply = (more: object) => acme.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: zone.id, ...more })
    const blocked = await apply({})
    expect([blocked.status, blocked.body.code, blocked.body.reasons.map((one: any) => one.code)]).toEqual([
      409,
      'plan_blocked',
      ['new_wildcard'],
    ])
    expect((await apply({ allow: ['new_wildcard'] })).status).toBe(422)
    expect((await apply({ allow: ['new_wildcard'], note: 'All of it is one server.' })).status).toBe(201)
    expect(await recordsOf(acme, zone)).toEqual(['* 3600 A 192.0.2.1'])
  })

  test('is rejected if it would disable existing mail', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const office = { mx_host: 'example-com.mail.protection.outlook.com' }
    const first = await applyTemplate(acme, 'tmpl_builtin_microsoft_365', zone, { variables: office, mode: 'linked' })
    const before = await recordsOf(acme, zone)
    const rejected = await acme.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/apply', { zone_id: zone.id, mode: 'linked' })
    expect([rejected.status, rejected.body.code]).toEqual([409, 'conflict'])
    expect(rejected.body.conflicts.map((one: any) => [one.type, one.existing[0].content])).toEqual([
      ['MX', '0 example-com.mail.protection.outlook.com.'],
      ['TXT', expect.stringContaining('v=spf1 include:')],
    ])
    expect(await recordsOf(acme, zone)).toEqual(before)
    expect((await acme.call('GET', `/v1/dns/template-bindings/${first.id}`)).body.state).toBe('current')
  })

  test('is blocked if it replaces records of another linked template, until allowed', async () => {
    const { acme, audited } = await world()
    const zone = await createZone(acme)
    const first = await createTemplate(acme)
    const binding = await applyTemplate(acme, first.id, zone, { variables: siteAddress, mode: 'linked' })
    const other = await createTemplate(acme, {
      ...templateOf([
        { type: 'A', name: '@', content: '192.0.2.99', on_conflict: 'replace' },
        { type: 'A', name: 'www', content: '192.0.2.99', on_conflict: 'replace' },
      ]),
      name: 'Other',
    })
    const path = `/v1/dns/templates/${other.id}`
    const preview = await acme.call('POST', `${path}/preview`, { zone_id: zone.id })
    expect(preview.body.blocked).toMatchObject([{ code: 'replaces_template' }])
    const rejected = await acme.call('POST', `${path}/apply`, { zone_id: zone.id })
    expect([rejected.status, rejected.body.code]).toEqual([409, 'plan_blocked'])
    expect(rejected.body.reasons[0].rrsets).toEqual([
      { name: '@', type: 'A' },
      { name: 'www', type: 'CNAME' },
    ])
    const allow = { allow: ['replaces_template'] }
    expect((await acme.call('POST', `${path}/apply`, { zone_id: zone.id, ...allow })).status).toBe(422)
    await audited()
    await applyTemplate(acme, other.id, zone, { ...allow, note: 'The shop moves.' })
    const entry = (await acme.call('GET', '/v1/audit-events?limit=1')).body.data[0]
    expect([entry.action, entry.reason]).toEqual(['dns.template.apply', 'The shop moves.'])
    expect(JSON.stringify(entry)).toContain('replaces_template')
    expect((await acme.call('GET', `/v1/dns/template-bindings/${binding.id}`)).body.state).toBe('modified')
    // Records of `once` bindings are like any other records.
    expect((await acme.call('POST', `/v1/dns/template-bindings/${binding.id}/preview`, {})).body.blocked).toEqual([])
  })

  test('doesn’t change locked records unless allowed', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    await createRecord(acme, zone, { type: 'A', name: 'www', content: '192.0.2.99', locked: true })
    const template = await createTemplate(
      acme,
      templateOf([{ type: 'A', name: 'www', content: '192.0.2.1', on_conflict: 'replace' }]),
    )
    const apply = (more: object) => acme.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: zone.id, ...more })
    const blocked = await apply({})
    expect([blocked.status, blocked.body.reasons.map((one: any) => one.code)]).toEqual([409, ['locked']])
    expect(await recordsOf(acme, zone)).toEqual(['www 3600 A 192.0.2.99'])
    expect((await apply({ allow: ['locked'], note: 'It moved.' })).status).toBe(201)
    expect(await recordsOf(acme, zone)).toEqual(['www 3600 A 192.0.2.1'])
  })

  test('is in the history with its note, and reverting it marks the binding as modified', async () => {
    const { acme, settle } = await world()
    const zone = await createZone(acme)
    const binding = await applyTemplate(acme, (await createTemplate(acme)).id, zone, {
      host: 'shop',
      variables: siteAddress,
      note: 'The new server.',
    })
    const [last] = (await acme.call('GET', `/v1/dns/zones/${zone.id}/history`)).body.data
    expect(last).toMatchObject({ origin: 'template', note: 'The new server.' })
    const plan = (await acme.call('POST', `/v1/dns/zones/${zone.id}/revert`, { version: 1, note: 'Back.' })).body
    const done = await acme.call('POST', `/v1/dns/zones/${zone.id}/apply`, { plan_id: plan.id, hash: plan.hash })
    expect([done.status, done.body.detail]).toEqual([202, undefined])
    await settle()
    expect(await recordsOf(acme, zone)).toEqual([])
    expect((await acme.call('GET', `/v1/dns/template-bindings/${binding.id}`)).body.state).toBe('modified')
  })

  test('can be linked to a place only once', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const template = await createTemplate(acme)
    await applyTemplate(acme, template.id, zone, { variables: siteAddress, mode: 'linked' })
    const again = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      variables: siteAddress,
      mode: 'linked',
    })
    expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
    await applyTemplate(acme, template.id, zone, { variables: siteAddress, mode: 'once' })
    expect((await acme.call('DELETE', `/v1/dns/templates/${template.id}`)).status).toBe(409)
  })
})
