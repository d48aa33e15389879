import { describe, expect, test } from 'bun:test'
import {
  siteAddress,
  templateOf,
  templateMade,
  templateApplied,
  recordsOf,
  recordMade,
  pointersAndCodes,
} from '../support/templates'
import { world } from '../support/world'
import { zoneMade } from '../support/zones'

describe('applying a template', () => {
  test('puts its records into the zone as one change, and remembers it', async () => {
    const { acme, audited, happened } = await world()
    const zone = await zoneMade(acme)
    const template = await templateMade(acme)
    await audited()
    await happened()
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
    expect(await happened()).toEqual(['dns.records_changed'])
    const [event] = (await acme.call('GET', '/v1/events?sort=-id&limit=1')).body.data
    expect(event.data.origin).toBe('template')
    const seen = (await acme.call('GET', `/v1/dns/template-bindings/${answer.body.id}`)).body
    expect(seen).toMatchObject({ state: 'current', edits: [] })
  })

  test('is looked at before, and that changes nothing', async () => {
    const { acme, audited } = await world()
    const zone = await zoneMade(acme)
    const template = await templateMade(acme)
    await recordMade(acme, zone, { type: 'A', name: '@', content: '192.0.2.99' })
    await audited()
    const preview = await acme.call('POST', `/v1/dns/templates/${template.id}/preview`, {
      zone_id: zone.id,
      variables: siteAddress,
    })
    expect(preview.status).toBe(200)
    expect(preview.body).toMatchObject({ applicable: false, blocked: [], serial: 2 })
    expect(preview.body.records).toMatchObject([
      { record: 0, outcome: 'conflict', content: '192.0.2.10', others: [{ name: '@', type: 'A', content: '192.0.2.99' }] },
      { record: 1, outcome: 'create', name: 'www', others: [] },
    ])
    const refused = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      variables: siteAddress,
    })
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    expect(refused.body.conflicts.map((one: any) => one.record)).toEqual([0])
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 A 192.0.2.99'])
    expect((await acme.call('GET', '/v1/dns/template-bindings')).body.data).toEqual([])
    expect(await audited()).toEqual([])
  })

  test('skips, replaces or merges where something else is', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    for (const name of ['skip', 'replace', 'merge', 'rival'])
      await recordMade(acme, zone, { type: 'A', name, content: '192.0.2.99', ttl: 60 })
    const a = (name: string) => ({ type: 'A', name, content: '192.0.2.1', ttl: 300, on_conflict: name })
    const template = await templateMade(
      acme,
      templateOf([
        a('skip'),
        a('replace'),
        a('merge'),
        { type: 'CNAME', name: 'rival', content: 'merge', on_conflict: 'replace' },
      ]),
    )
    const { records } = await templateApplied(acme, template.id, zone)
    expect(records.map((one: any) => one.outcome)).toEqual(['skip', 'replace', 'merge', 'replace'])
    expect(await recordsOf(acme, zone)).toEqual([
      'merge 60 A 192.0.2.1',
      'merge 60 A 192.0.2.99',
      'replace 300 A 192.0.2.1',
      'rival 3600 CNAME merge.example.com.',
      'skip 60 A 192.0.2.99',
    ])
  })

  test('joins SPF records into one and leaves other texts alone', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    await recordMade(acme, zone, { type: 'TXT', name: '@', content: 'v=spf1 mx ip4:192.0.2.0/24 ~all' })
    await recordMade(acme, zone, { type: 'TXT', name: '@', content: 'verified=yes' })
    const spf = (term: string) => templateOf([{ type: 'TXT', name: '@', content: `v=spf1 ${term} -all`, on_conflict: 'merge' }])
    const [one, two] = [
      await templateMade(acme, spf('include:one.example MX')),
      await templateMade(acme, spf('include:two.example')),
    ]
    const first = await templateApplied(acme, one.id, zone)
    expect(first).toMatchObject({ created: 0, updated: 1, deleted: 0 })
    await templateApplied(acme, two.id, zone)
    expect(await recordsOf(acme, zone)).toEqual([
      '@ 3600 TXT "v=spf1 mx ip4:192.0.2.0/24 include:one.example include:two.example ~all"',
      '@ 3600 TXT "verified=yes"',
    ])
    expect((await acme.call('GET', `/v1/dns/template-bindings/${first.id}`)).body.state).toBe('current')
    expect((await acme.call('DELETE', `/v1/dns/template-bindings/${first.id}?records=remove`)).status).toBe(204)
    expect(await recordsOf(acme, zone)).toContain('@ 3600 TXT "v=spf1 mx ip4:192.0.2.0/24 include:two.example ~all"')
    const many = await templateMade(acme, spf(Array.from({ length: 10 }, (_, n) => `include:n${n}.example`).join(' ')))
    expect((await templateApplied(acme, many.id, zone)).warnings.map((w: any) => w.rule)).toEqual(['spf_lookups'])
  })

  test('is refused for values that do not fit, by the name of the variable', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const content = '{{ip}} {{six}} {{server_name}} {{text}} {{n}} {{word}}'
    const template = await templateMade(
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
    await templateApplied(acme, template.id, zone, {
      variables: { ip: '192.0.2.1', six: '2001:DB8::1', server_name: 'BÜcher.example.', text: 'abc', n: 7, word: 'yes' },
    })
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 TXT "192.0.2.1 2001:db8::1 xn--bcher-kva.example. abc 7 yes"'])
  })

  test('is refused where the zone would break a rule, also when it is only looked at', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const template = await templateMade(acme, templateOf([{ type: 'MX', name: '@', content: '10 mail' }]))
    await recordMade(acme, zone, { type: 'CNAME', name: 'mail', content: 'mail.example.net' })
    for (const verb of ['preview', 'apply']) {
      const refused = await acme.call('POST', `/v1/dns/templates/${template.id}/${verb}`, { zone_id: zone.id })
      expect([refused.status, pointersAndCodes(refused)]).toEqual([422, ['#/records/0 dns_rule']])
    }
  })

  test('that takes too much is held back until each reason is allowed, with a note', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const template = await templateMade(acme, templateOf([{ type: 'A', name: '*', content: '192.0.2.1' }]))
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

  test('that ends the mail of a zone which has some is refused', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const office = { mx_host: 'example-com.mail.protection.outlook.com' }
    const first = await templateApplied(acme, 'tmpl_builtin_microsoft_365', zone, { variables: office, mode: 'linked' })
    const before = await recordsOf(acme, zone)
    const refused = await acme.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/apply', { zone_id: zone.id, mode: 'linked' })
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    expect(refused.body.conflicts.map((one: any) => [one.type, one.others[0].content])).toEqual([
      ['MX', '0 example-com.mail.protection.outlook.com.'],
      ['TXT', expect.stringContaining('v=spf1 include:')],
    ])
    expect(await recordsOf(acme, zone)).toEqual(before)
    expect((await acme.call('GET', `/v1/dns/template-bindings/${first.id}`)).body.state).toBe('current')
  })

  test('that takes away what another linked one has put there is held back until that is allowed', async () => {
    const { acme, audited } = await world()
    const zone = await zoneMade(acme)
    const first = await templateMade(acme)
    const binding = await templateApplied(acme, first.id, zone, { variables: siteAddress, mode: 'linked' })
    const other = await templateMade(acme, {
      ...templateOf([
        { type: 'A', name: '@', content: '192.0.2.99', on_conflict: 'replace' },
        { type: 'A', name: 'www', content: '192.0.2.99', on_conflict: 'replace' },
      ]),
      name: 'Other',
    })
    const path = `/v1/dns/templates/${other.id}`
    const preview = await acme.call('POST', `${path}/preview`, { zone_id: zone.id })
    expect(preview.body.blocked).toMatchObject([{ code: 'replaces_template' }])
    const refused = await acme.call('POST', `${path}/apply`, { zone_id: zone.id })
    expect([refused.status, refused.body.code]).toEqual([409, 'plan_blocked'])
    expect(refused.body.reasons[0].members).toEqual([
      { name: '@', type: 'A' },
      { name: 'www', type: 'CNAME' },
    ])
    const allow = { allow: ['replaces_template'] }
    expect((await acme.call('POST', `${path}/apply`, { zone_id: zone.id, ...allow })).status).toBe(422)
    await audited()
    await templateApplied(acme, other.id, zone, { ...allow, note: 'The shop moves.' })
    const entry = (await acme.call('GET', '/v1/audit-events?limit=1')).body.data[0]
    expect([entry.action, entry.reason]).toEqual(['dns.template.apply', 'The shop moves.'])
    expect(JSON.stringify(entry)).toContain('replaces_template')
    expect((await acme.call('GET', `/v1/dns/template-bindings/${binding.id}`)).body.state).toBe('edited_away')
    // What was applied once is no more than records that are there.
    expect((await acme.call('POST', `/v1/dns/template-bindings/${binding.id}/preview`, {})).body.blocked).toEqual([])
  })

  test('leaves what is locked as it is, unless that is allowed', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    await recordMade(acme, zone, { type: 'A', name: 'www', content: '192.0.2.99', locked: true })
    const template = await templateMade(
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

  test('is in the history of the zone, with its note, and what undoes it edits the binding away', async () => {
    const { acme, settle } = await world()
    const zone = await zoneMade(acme)
    const binding = await templateApplied(acme, (await templateMade(acme)).id, zone, {
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
    expect((await acme.call('GET', `/v1/dns/template-bindings/${binding.id}`)).body.state).toBe('edited_away')
  })

  test('is linked to a place once', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const template = await templateMade(acme)
    await templateApplied(acme, template.id, zone, { variables: siteAddress, mode: 'linked' })
    const again = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      variables: siteAddress,
      mode: 'linked',
    })
    expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
    await templateApplied(acme, template.id, zone, { variables: siteAddress, mode: 'once' })
    expect((await acme.call('DELETE', `/v1/dns/templates/${template.id}`)).status).toBe(409)
  })
})
