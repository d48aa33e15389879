import { describe, expect, test } from 'bun:test'
import { callerWith, world, type Caller } from '../support/world'
import { zoneMade } from '../support/zones'

const site = {
  name: 'Web site',
  variables: [{ name: 'address', type: 'ip' }],
  records: [
    { type: 'A', name: '@', content: '{{address}}', ttl: 300 },
    { type: 'CNAME', name: 'www', content: '{{fqdn}}.' },
  ],
}
const address = { address: '192.0.2.10' }

const made = async (caller: Caller, input: object = site): Promise<any> => {
  const answer = await caller.call('POST', '/v1/dns/templates', input)
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer.body
}
const of = (records: object[], variables: object[] = []) => ({ name: 'One', variables, records })
const applied = async (caller: Caller, templateId: string, zone: any, more: object = {}): Promise<any> => {
  const answer = await caller.call('POST', `/v1/dns/templates/${templateId}/apply`, { zone_id: zone.id, ...more })
  expect([answer.status, answer.body?.detail]).toEqual([201, undefined])
  return answer.body
}
/** `name type content` of the records of a zone but for NS and glue. */
const recordsOf = async (caller: Caller, zone: any): Promise<string[]> => {
  const { data } = (await caller.call('GET', `/v1/dns/zones/${zone.id}/records?limit=100`)).body
  return data
    .filter((one: any) => one.type !== 'NS' && one.name !== 'ns1')
    .map((one: any) => `${one.name} ${one.ttl} ${one.type} ${one.content}`)
    .sort()
}
const record = async (caller: Caller, zone: any, input: object): Promise<any> =>
  (await caller.call('POST', `/v1/dns/zones/${zone.id}/records`, input)).body
const problems = (answer: { body: any }) => answer.body.errors?.map((one: any) => `${one.pointer} ${one.code}`)

describe('templates', () => {
  test('are made, edited, listed with those of the program, and deleted; each edit is a version', async () => {
    const { acme, audited } = await world()
    const one = await made(acme)
    expect(one).toMatchObject({ name: 'Web site', description: '', builtin: false, version: 1, content_version: 1 })
    const path = `/v1/dns/templates/${one.id}`
    const named = await acme.call('PATCH', path, { name: 'Shop' }, { 'if-match': '"1"' })
    expect(named.body).toMatchObject({ name: 'Shop', version: 2, content_version: 1 })
    expect((await acme.call('PATCH', path, { name: 'Shop' })).body.version).toBe(2)
    const records = [{ type: 'A', name: '@', content: '{{address}}', ttl: 600 }]
    expect((await acme.call('PATCH', path, { records })).body).toMatchObject({ version: 3, content_version: 3 })
    expect((await acme.call('PATCH', path, { name: 'x' }, { 'if-match': '"2"' })).status).toBe(412)
    const versions = (await acme.call('GET', `${path}/versions`)).body.data
    expect(versions.map((v: any) => [v.version, v.name, v.records.length])).toEqual([
      [3, 'Shop', 1],
      [2, 'Shop', 2],
      [1, 'Web site', 2],
    ])
    const all = (await acme.call('GET', '/v1/dns/templates?include=total')).body
    expect(all.pagination.total).toBe(8)
    expect(all.data.filter((t: any) => !t.builtin).map((t: any) => t.id)).toEqual([one.id])
    expect((await acme.call('DELETE', path)).status).toBe(204)
    expect((await acme.call('GET', path)).status).toBe(404)
    expect(await audited()).toEqual(['dns.template.create', 'dns.template.update', 'dns.template.update', 'dns.template.delete'])
  })

  test('are listed page by page, sorted and searched', async () => {
    const { acme } = await world()
    for (const name of ['b', 'a', 'c']) await made(acme, { ...site, name: `Own ${name}` })
    const names: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: any = (await acme.call('GET', `/v1/dns/templates?limit=3&sort=name&cursor=${cursor}`.replace(/&cursor=$/, '')))
        .body
      names.push(...page.data.map((one: any) => one.name))
      cursor = page.pagination.next_cursor
    }
    expect(names).toEqual([...names].sort())
    expect(names.length).toBe(10)
    const own = (await acme.call('GET', '/v1/dns/templates?origin=own&sort=-name')).body.data
    expect(own.map((one: any) => one.name)).toEqual(['Own c', 'Own b', 'Own a'])
    expect((await acme.call('GET', '/v1/dns/templates?q=OWN%20b')).body.data.map((one: any) => one.name)).toEqual(['Own b'])
    expect((await acme.call('GET', '/v1/dns/templates?cursor=x')).status).toBe(400)
  })

  test.each([
    [{ records: [] }, ['#/records too_few']],
    [of([{ type: 'A', name: '@', content: '{{other}}' }]), ['#/records/0/content unknown_variable']],
    [of([{ type: 'A', name: '@', content: '{{server.ipv4}}' }]), ['#/records/0/content unknown_variable']],
    [of([{ type: 'A', name: '@', content: '{{other' }]), ['#/records/0/content placeholder']],
    [of([{ type: 'A', name: '@', content: '192.0.2.1' }], [{ name: 'idle', type: 'ip' }]), ['#/variables/0 unused']],
    [of([{ type: 'A', name: '@' }]), ['#/records/0/content required']],
    [of([{ type: 'A', name: '@', content: '192.0.2.1', fields: {} }]), ['#/records/0/content not_allowed']],
    [of([{ type: 'SOA', name: '@', content: 'x' }]), ['#/records/0/type dns_rule']],
    [of([{ type: 'A', name: '@', content: '192.0.2.300' }]), ['#/records/0/content dns_rule']],
    [of([{ type: 'A', name: '@', content: '{{a}}' }], [{ name: 'a', type: 'ipv6' }]), ['#/records/0/content dns_rule']],
    [
      of([{ type: 'A', name: '{{a}}', content: '192.0.2.1' }], [{ name: 'a', type: 'int', default: 'x' }]),
      ['#/variables/0/default invalid_value'],
    ],
    [
      of([{ type: 'TXT', name: '@', content: '{{a}}' }], [{ name: 'a', type: 'string', pattern: '(a+)+' }]),
      ['#/variables/0/pattern pattern'],
    ],
    [of([{ type: 'TXT', name: '@', content: '{{a}}' }], [{ name: 'a', type: 'enum' }]), ['#/variables/0/values required']],
    [of([{ type: 'TXT', name: '@', content: '{{zone}}' }], [{ name: 'zone', type: 'host' }]), ['#/variables/0/name reserved']],
    [of([{ type: 'CNAME', name: 'a', content: 'b', on_conflict: 'merge' }]), ['#/records/0/on_conflict not_allowed']],
    [
      of([{ type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none', on_conflict: 'merge' }]),
      ['#/records/0/on_conflict not_allowed'],
    ],
    [
      of([
        { type: 'A', name: 'a', content: '192.0.2.1', ttl: 60 },
        { type: 'A', name: 'a', content: '192.0.2.2', ttl: 61 },
      ]),
      ['#/records/1/ttl dns_rule'],
    ],
  ])('with %j are refused', async (input, expected) => {
    const { acme } = await world()
    const refused = await acme.call('POST', '/v1/dns/templates', { name: 'One', ...input })
    expect([refused.status, problems(refused)]).toEqual([422, expected])
    expect((await acme.call('GET', '/v1/dns/templates?origin=own')).body.data).toEqual([])
  })

  test('of the program are not edited, and each can be applied', async () => {
    const { acme } = await world()
    const { data } = (await acme.call('GET', '/v1/dns/templates?origin=builtin')).body
    const values: Record<string, object> = {
      tmpl_builtin_mail: { mail_host: 'mail.example.net', reports: 'dmarc@example.com' },
      tmpl_builtin_microsoft_365: {
        mx_host: 'example-com.mail.protection.outlook.com',
        verification: 'MS=ms12345678',
        dkim_1: 'selector1-example-com._domainkey.contoso.onmicrosoft.com',
        device_enrollment: 'yes',
      },
      tmpl_builtin_google_workspace: { dkim_key: `v=DKIM1; k=rsa; p=${'A'.repeat(390)}` },
      tmpl_builtin_acme_delegation: { target: 'acme.example.net' },
      tmpl_builtin_caa: { contact: 'mailto:security@example.com' },
      tmpl_builtin_mta_sts: { policy_id: '20261121T1', policy_host: 'mta-sts.example.net', reports: 'tls@example.com' },
    }
    for (const { id, name } of data) {
      expect((await acme.call('PATCH', `/v1/dns/templates/${id}`, { name: 'x' })).status).toBe(409)
      const zone = await zoneMade(acme, `${id.slice('tmpl_builtin_'.length).replaceAll('_', '-')}.example`)
      const { records } = await applied(acme, id, zone, { variables: values[id] ?? {}, mode: 'linked' })
      expect([name, records.map((one: any) => one.outcome)]).toEqual([name, records.map(() => 'create')])
    }
    const zone = (await acme.call('GET', '/v1/dns/zones?name=microsoft-365.example')).body.data[0]
    expect(await recordsOf(acme, zone)).toEqual([
      '@ 3600 MX 0 example-com.mail.protection.outlook.com.',
      '@ 3600 TXT "MS=ms12345678"',
      '@ 3600 TXT "v=spf1 include:spf.protection.outlook.com -all"',
      'autodiscover 3600 CNAME autodiscover.outlook.com.',
      'enterpriseenrollment 3600 CNAME enterpriseenrollment-s.manage.microsoft.com.',
      'enterpriseregistration 3600 CNAME enterpriseregistration.windows.net.',
      'selector1._domainkey 3600 CNAME selector1-example-com._domainkey.contoso.onmicrosoft.com.',
    ])
  })

  test('of the program take names of hosts with a dot at the end and without', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const applied = async (word: string, host: string, variables: object) =>
      (await acme.call('POST', `/v1/dns/templates/tmpl_builtin_${word}/apply`, { zone_id: zone.id, host, variables })).body
        .records
    for (const [host, dot] of [
      ['with', '.'],
      ['without', ''],
    ] as const) {
      const target = `acme.example.net${dot}`
      expect(await applied('acme_delegation', host, { target })).toMatchObject([{ content: 'acme.example.net.' }])
      const sts = { policy_id: '1', policy_host: `sts.example.net${dot}`, reports: 'tls@example.com' }
      expect((await applied('mta_sts', host, sts))[1]).toMatchObject({ type: 'CNAME', content: 'sts.example.net.' })
    }
  })

  test('are as many as 200, also where several are made at once', async () => {
    const { acme } = await world()
    for (let at = 0; at < 198; at += 33)
      await Promise.all(Array.from({ length: 33 }, (_, n) => made(acme, { ...site, name: `t${at + n}` })))
    const last = await Promise.all(Array.from({ length: 6 }, () => acme.call('POST', '/v1/dns/templates', site)))
    expect(last.map(one => one.status).sort()).toEqual([201, 201, 409, 409, 409, 409])
  })

  test('of others are not there', async () => {
    const { acme, rival } = await world()
    const template = await made(acme)
    const [own, theirs] = [await zoneMade(acme), await zoneMade(rival, 'rival.example')]
    const binding = await applied(acme, template.id, own, { variables: address })
    expect(
      (await rival.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: theirs.id, variables: address })).status,
    ).toBe(404)
    const builtin = { zone_id: own.id, variables: {} }
    expect((await rival.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/apply', builtin)).status).toBe(404)
    expect((await rival.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/preview', builtin)).status).toBe(404)
    for (const path of [`/v1/dns/templates/${template.id}`, `/v1/dns/template-bindings/${binding.id}`])
      expect((await rival.call('GET', path)).status).toBe(404)
    expect((await rival.call('GET', '/v1/dns/template-bindings')).body.data).toEqual([])
  })
})

describe('applying a template', () => {
  test('puts its records into the zone as one change, and remembers it', async () => {
    const { acme, audited, happened } = await world()
    const zone = await zoneMade(acme)
    const template = await made(acme)
    await audited()
    await happened()
    const answer = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      host: 'shop',
      variables: address,
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
      variables: address,
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
    const template = await made(acme)
    await record(acme, zone, { type: 'A', name: '@', content: '192.0.2.99' })
    await audited()
    const preview = await acme.call('POST', `/v1/dns/templates/${template.id}/preview`, { zone_id: zone.id, variables: address })
    expect(preview.status).toBe(200)
    expect(preview.body).toMatchObject({ applicable: false, blocked: [], serial: 2 })
    expect(preview.body.records).toMatchObject([
      { record: 0, outcome: 'conflict', content: '192.0.2.10', others: [{ name: '@', type: 'A', content: '192.0.2.99' }] },
      { record: 1, outcome: 'create', name: 'www', others: [] },
    ])
    const refused = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: zone.id, variables: address })
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
      await record(acme, zone, { type: 'A', name, content: '192.0.2.99', ttl: 60 })
    const a = (name: string) => ({ type: 'A', name, content: '192.0.2.1', ttl: 300, on_conflict: name })
    const template = await made(
      acme,
      of([a('skip'), a('replace'), a('merge'), { type: 'CNAME', name: 'rival', content: 'merge', on_conflict: 'replace' }]),
    )
    const { records } = await applied(acme, template.id, zone)
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
    await record(acme, zone, { type: 'TXT', name: '@', content: 'v=spf1 mx ip4:192.0.2.0/24 ~all' })
    await record(acme, zone, { type: 'TXT', name: '@', content: 'verified=yes' })
    const spf = (term: string) => of([{ type: 'TXT', name: '@', content: `v=spf1 ${term} -all`, on_conflict: 'merge' }])
    const [one, two] = [await made(acme, spf('include:one.example MX')), await made(acme, spf('include:two.example'))]
    const first = await applied(acme, one.id, zone)
    expect(first).toMatchObject({ created: 0, updated: 1, deleted: 0 })
    await applied(acme, two.id, zone)
    expect(await recordsOf(acme, zone)).toEqual([
      '@ 3600 TXT "v=spf1 mx ip4:192.0.2.0/24 include:one.example include:two.example ~all"',
      '@ 3600 TXT "verified=yes"',
    ])
    expect((await acme.call('GET', `/v1/dns/template-bindings/${first.id}`)).body.state).toBe('current')
    expect((await acme.call('DELETE', `/v1/dns/template-bindings/${first.id}?records=remove`)).status).toBe(204)
    expect(await recordsOf(acme, zone)).toContain('@ 3600 TXT "v=spf1 mx ip4:192.0.2.0/24 include:two.example ~all"')
    const many = await made(acme, spf(Array.from({ length: 10 }, (_, n) => `include:n${n}.example`).join(' ')))
    expect((await applied(acme, many.id, zone)).warnings.map((w: any) => w.rule)).toEqual(['spf_lookups'])
  })

  test('is refused for values that do not fit, by the name of the variable', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const content = '{{ip}} {{six}} {{server_name}} {{text}} {{n}} {{word}}'
    const template = await made(
      acme,
      of(
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
    expect([wrong.status, problems(wrong)]).toEqual([
      422,
      [
        '#/variables/other unknown',
        ...['ip', 'six', 'server_name', 'text', 'n', 'word'].map(name => `#/variables/${name} invalid_value`),
      ],
    ])
    expect(problems(await apply({}))).toContain('#/variables/word required')
    await applied(acme, template.id, zone, {
      variables: { ip: '192.0.2.1', six: '2001:DB8::1', server_name: 'BÜcher.example.', text: 'abc', n: 7, word: 'yes' },
    })
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 TXT "192.0.2.1 2001:db8::1 xn--bcher-kva.example. abc 7 yes"'])
  })

  test('is refused where the zone would break a rule, also when it is only looked at', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const template = await made(acme, of([{ type: 'MX', name: '@', content: '10 mail' }]))
    await record(acme, zone, { type: 'CNAME', name: 'mail', content: 'mail.example.net' })
    for (const verb of ['preview', 'apply']) {
      const refused = await acme.call('POST', `/v1/dns/templates/${template.id}/${verb}`, { zone_id: zone.id })
      expect([refused.status, problems(refused)]).toEqual([422, ['#/records/0 dns_rule']])
    }
  })

  test('that takes too much is held back until each reason is allowed, with a note', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const template = await made(acme, of([{ type: 'A', name: '*', content: '192.0.2.1' }]))
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
    const first = await applied(acme, 'tmpl_builtin_microsoft_365', zone, { variables: office, mode: 'linked' })
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
    const first = await made(acme)
    const binding = await applied(acme, first.id, zone, { variables: address, mode: 'linked' })
    const other = await made(acme, {
      ...of([
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
    await applied(acme, other.id, zone, { ...allow, note: 'The shop moves.' })
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
    await record(acme, zone, { type: 'A', name: 'www', content: '192.0.2.99', locked: true })
    const template = await made(acme, of([{ type: 'A', name: 'www', content: '192.0.2.1', on_conflict: 'replace' }]))
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
    const binding = await applied(acme, (await made(acme)).id, zone, {
      host: 'shop',
      variables: address,
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
    const template = await made(acme)
    await applied(acme, template.id, zone, { variables: address, mode: 'linked' })
    const again = await acme.call('POST', `/v1/dns/templates/${template.id}/apply`, {
      zone_id: zone.id,
      variables: address,
      mode: 'linked',
    })
    expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
    await applied(acme, template.id, zone, { variables: address, mode: 'once' })
    expect((await acme.call('DELETE', `/v1/dns/templates/${template.id}`)).status).toBe(409)
  })
})

describe('a binding', () => {
  const bound = async (more: object = {}) => {
    const w = await world()
    const zone = await zoneMade(w.acme)
    const template = await made(w.acme, site)
    const binding = await applied(w.acme, template.id, zone, { variables: address, mode: 'linked', ...more })
    const path = `/v1/dns/template-bindings/${binding.id}`
    const state = async () => (await w.acme.call('GET', path)).body
    return { ...w, zone, template, path, state }
  }

  test('is outdated once its template is edited, and brought to it when it is applied', async () => {
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

  test('that was applied once is not', async () => {
    const { acme, template, state } = await bound({ mode: 'once' })
    await acme.call('PATCH', `/v1/dns/templates/${template.id}`, {
      records: [{ type: 'A', name: '@', content: '{{address}}', ttl: 9 }],
    })
    expect((await state()).state).toBe('current')
  })

  test('gets other values, which change the zone when it is applied', async () => {
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

  test('keeps the values that are not given, and forgets those whose variable is gone', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const text = (name: string, fallback?: string) => ({ name, type: 'string', ...(fallback && { default: fallback }) })
    const template = await made(
      acme,
      of([{ type: 'TXT', name: '@', content: '{{a}} {{b}} {{c}}' }], [text('a'), text('b', 'y'), text('c')]),
    )
    const binding = await applied(acme, template.id, zone, { mode: 'linked', variables: { a: '1', b: '2', c: '3' } })
    const path = `/v1/dns/template-bindings/${binding.id}`
    expect((await acme.call('PATCH', path, { variables: { a: '4', b: null } })).body.variables).toEqual({ a: '4', c: '3' })
    expect(problems(await acme.call('PATCH', path, { variables: { c: null } }))).toEqual(['#/variables/c required'])
    expect((await acme.call('POST', `${path}/apply`, {})).status).toBe(200)
    expect(await recordsOf(acme, zone)).toEqual(['@ 3600 TXT "4 y 3"'])
    const records = [{ type: 'TXT', name: '@', content: '{{a}}' }]
    await acme.call('PATCH', `/v1/dns/templates/${template.id}`, { variables: [text('a')], records })
    expect((await acme.call('POST', `${path}/apply`, {})).body).toMatchObject({ variables: { a: '4' }, state: 'current' })
    expect((await acme.call('GET', path)).body.rrsets).toEqual([
      { name: '@', type: 'TXT', ttl: null, essential: true, values: ['"4"'], spf_terms: [] },
    ])
  })

  test('is edited away when its records are, tells how, and is restored', async () => {
    const { acme, zone, path, state } = await bound()
    const { data } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?source=template`)).body
    const [a, www] = ['A', 'CNAME'].map(type => data.find((one: any) => one.type === type))
    await acme.call('PATCH', `/v1/dns/records/${a.id}`, { ttl: 60, content: '192.0.2.99' })
    await acme.call('DELETE', `/v1/dns/records/${www.id}`)
    const edited = await state()
    expect(edited.state).toBe('edited_away')
    const edits = edited.edits.sort((x: any, y: any) => (x.name < y.name ? -1 : 1))
    expect(edits).toEqual([
      {
        name: '@',
        type: 'A',
        kind: 'changed',
        essential: true,
        missing: ['192.0.2.10'],
        extra: ['192.0.2.99'],
        ttl: { expected: 300, found: 60 },
      },
      { name: 'www', type: 'CNAME', kind: 'missing', essential: true, missing: ['example.com.'], extra: [], ttl: null },
    ])
    for (const [query, count] of [
      ['edited_away', 1],
      ['current,outdated', 0],
    ] as const)
      expect((await acme.call('GET', `/v1/dns/template-bindings?state=${query}&include=total`)).body.pagination.total).toBe(count)
    await acme.call('POST', `${path}/apply`, {})
    expect(await state()).toMatchObject({ state: 'current', edits: [] })
    expect(await recordsOf(acme, zone)).toEqual(['@ 300 A 192.0.2.10', 'www 3600 CNAME example.com.'])
  })

  test('is as it was when an edit is taken back by hand', async () => {
    const { acme, zone, state } = await bound()
    const { id } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=A&name=@`)).body.data[0]
    await acme.call('PATCH', `/v1/dns/records/${id}`, { ttl: 60 })
    expect((await state()).state).toBe('edited_away')
    await acme.call('PATCH', `/v1/dns/records/${id}`, { ttl: 300 })
    expect((await state()).state).toBe('current')
  })

  test('lets what is not essential be edited', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const dmarc = { type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none', essential: false }
    const template = await made(acme, of([dmarc]))
    const binding = await applied(acme, template.id, zone, { mode: 'linked' })
    const { id } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=TXT`)).body.data[0]
    await acme.call('PATCH', `/v1/dns/records/${id}`, { content: 'v=DMARC1; p=reject' })
    const path = `/v1/dns/template-bindings/${binding.id}`
    expect((await acme.call('GET', path)).body).toMatchObject({ state: 'current', edits: [{ essential: false }] })
    expect((await acme.call('POST', `${path}/apply`, {})).body.records).toMatchObject([{ outcome: 'left' }])
    expect(await recordsOf(acme, zone)).toEqual(['_dmarc 3600 TXT "v=DMARC1; p=reject"'])
  })

  test('restores a text of which a name has one, whatever its template does where others are', async () => {
    const { acme } = await world()
    for (const on_conflict of ['fail', 'skip']) {
      const zone = await zoneMade(acme, `${on_conflict}.example`)
      const template = await made(acme, of([{ type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none', on_conflict }]))
      const binding = await applied(acme, template.id, zone, { mode: 'linked' })
      const { id } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=TXT`)).body.data[0]
      await acme.call('PATCH', `/v1/dns/records/${id}`, { content: 'v=DMARC1; p=reject' })
      await record(acme, zone, { type: 'TXT', name: '_dmarc', content: 'something else' })
      const path = `/v1/dns/template-bindings/${binding.id}`
      expect((await acme.call('GET', path)).body.state).toBe('edited_away')
      expect((await acme.call('POST', `${path}/apply`, {})).body).toMatchObject({
        state: 'current',
        records: [{ outcome: 'replace' }],
      })
      expect(await recordsOf(acme, zone)).toEqual(['_dmarc 3600 TXT "something else"', '_dmarc 3600 TXT "v=DMARC1; p=none"'])
    }
  })

  test('leaves its records behind, or takes those that nobody edited', async () => {
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

  test('leaves what was there before it, and what another binding has too', async () => {
    const { acme } = await world()
    const zone = await zoneMade(acme)
    const a = (name: string, content: string) => ({ type: 'A', name, content, on_conflict: 'merge' })
    await record(acme, zone, { type: 'A', name: 'old', content: '192.0.2.1' })
    const one = await made(acme, of([a('old', '192.0.2.1'), a('both', '192.0.2.2'), a('own', '192.0.2.3')]))
    const two = await made(acme, of([a('both', '192.0.2.2')]))
    const binding = await applied(acme, one.id, zone)
    await applied(acme, two.id, zone)
    await acme.call('DELETE', `/v1/dns/template-bindings/${binding.id}?records=remove`)
    expect(await recordsOf(acme, zone)).toEqual(['both 3600 A 192.0.2.2', 'old 3600 A 192.0.2.1'])
  })

  test('goes with its zone, and is seen by a token that is narrowed to the zone', async () => {
    const { acme, zone, path, app } = await bound()
    const other = await zoneMade(acme, 'other.example')
    const token = async (id: string) =>
      callerWith(
        app,
        acme.workspaceId,
        (await acme.call('POST', '/v1/tokens', { name: 'n', mode: 'full', resource_ids: [id] })).body.token,
      )
    const [own, stranger] = [await token(zone.id), await token(other.id)]
    expect((await own.call('GET', path)).status).toBe(200)
    expect((await own.call('GET', `/v1/dns/zones/${zone.id}/template-bindings`)).body.data.length).toBe(1)
    expect((await stranger.call('GET', path)).status).toBe(404)
    expect((await stranger.call('GET', '/v1/dns/template-bindings')).body.data).toEqual([])
    await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
    expect((await acme.call('GET', path)).status).toBe(404)
  })
})
