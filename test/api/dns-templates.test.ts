import { describe, expect, test } from 'bun:test'
import {
  siteTemplate,
  siteAddress,
  templateOf,
  createTemplate,
  applyTemplate,
  recordsOf,
  pointersAndCodes,
} from '../support/templates'
import { world } from '../support/world'
import { createZone } from '../support/zones'

describe('templates', () => {
  test('can be created, updated, listed with built-in ones, and deleted; each update creates a version', async () => {
    const { acme, audited } = await world()
    const one = await createTemplate(acme)
    expect(one).toMatchObject({ name: 'Website', description: '', builtin: false, version: 1, content_version: 1 })
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
      [1, 'Website', 2],
    ])
    const all = (await acme.call('GET', '/v1/dns/templates?include=total')).body
    expect(all.pagination.total).toBe(8)
    expect(all.data.filter((t: any) => !t.builtin).map((t: any) => t.id)).toEqual([one.id])
    expect((await acme.call('DELETE', path)).status).toBe(204)
    expect((await acme.call('GET', path)).status).toBe(404)
    expect(await audited()).toEqual(['dns.template.create', 'dns.template.update', 'dns.template.update', 'dns.template.delete'])
  })

  test('are listed with pagination, sorting and search', async () => {
    const { acme } = await world()
    for (const name of ['b', 'a', 'c']) await createTemplate(acme, { ...siteTemplate, name: `Own ${name}` })
    const names: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: any = (await acme.call('GET', `/v1/dns/templates?limit=3&sort=name&cursor=${cursor}`.replace(/&cursor=$/, '')))
        .body
      names.push(...page.data.map((one: any) => one.name))
      cursor = page.pagination.next_cursor
    }
    expect(names).toEqual([...names].sort())
    expect(names.length).toBe(10)
    const own = (await acme.call('GET', '/v1/dns/templates?origin=custom&sort=-name')).body.data
    expect(own.map((one: any) => one.name)).toEqual(['Own c', 'Own b', 'Own a'])
    expect((await acme.call('GET', '/v1/dns/templates?q=b%20OWN')).body.data.map((one: any) => one.name)).toEqual(['Own b'])
    expect((await acme.call('GET', '/v1/dns/templates?cursor=x')).status).toBe(400)
  })

  test.each([
    [{ records: [] }, ['#/records too_few']],
    [templateOf([{ type: 'A', name: '@', content: '{{other}}' }]), ['#/records/0/content unknown_variable']],
    [templateOf([{ type: 'A', name: '@', content: '{{server.ipv4}}' }]), ['#/records/0/content unknown_variable']],
    [templateOf([{ type: 'A', name: '@', content: '{{other' }]), ['#/records/0/content placeholder']],
    [templateOf([{ type: 'A', name: '@', content: '192.0.2.1' }], [{ name: 'idle', type: 'ip' }]), ['#/variables/0 unused']],
    [templateOf([{ type: 'A', name: '@' }]), ['#/records/0/content required']],
    [templateOf([{ type: 'A', name: '@', content: '192.0.2.1', fields: {} }]), ['#/records/0/content not_allowed']],
    [templateOf([{ type: 'SOA', name: '@', content: 'x' }]), ['#/records/0/type dns_rule']],
    [templateOf([{ type: 'A', name: '@', content: '192.0.2.300' }]), ['#/records/0/content dns_rule']],
    [templateOf([{ type: 'A', name: '@', content: '{{a}}' }], [{ name: 'a', type: 'ipv6' }]), ['#/records/0/content dns_rule']],
    [
      templateOf([{ type: 'A', name: '{{a}}', content: '192.0.2.1' }], [{ name: 'a', type: 'int', default: 'x' }]),
      ['#/variables/0/default invalid_value'],
    ],
    [
      templateOf([{ type: 'TXT', name: '@', content: '{{a}}' }], [{ name: 'a', type: 'string', pattern: '(?=a)' }]),
      ['#/variables/0/pattern pattern'],
    ],
    [
      templateOf([{ type: 'TXT', name: '@', content: '{{a}}' }], [{ name: 'a', type: 'enum' }]),
      ['#/variables/0/values required'],
    ],
    [
      templateOf([{ type: 'TXT', name: '@', content: '{{zone}}' }], [{ name: 'zone', type: 'host' }]),
      ['#/variables/0/name reserved'],
    ],
    [templateOf([{ type: 'CNAME', name: 'a', content: 'b', on_conflict: 'merge' }]), ['#/records/0/on_conflict not_allowed']],
    [
      templateOf([{ type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p=none', on_conflict: 'merge' }]),
      ['#/records/0/on_conflict not_allowed'],
    ],
    [
      templateOf([
        { type: 'A', name: 'a', content: '192.0.2.1', ttl: 60 },
        { type: 'A', name: 'a', content: '192.0.2.2', ttl: 61 },
      ]),
      ['#/records/1/ttl dns_rule'],
    ],
  ])('with %j are refused', async (input, expected) => {
    const { acme } = await world()
    const rejected = await acme.call('POST', '/v1/dns/templates', { name: 'One', ...input })
    expect([rejected.status, pointersAndCodes(rejected)]).toEqual([422, expected])
    expect((await acme.call('GET', '/v1/dns/templates?origin=custom')).body.data).toEqual([])
  })

  test('that are built in can’t be edited, and all can be applied', async () => {
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
      const zone = await createZone(acme, `${id.slice('tmpl_builtin_'.length).replaceAll('_', '-')}.example`)
      const { records } = await applyTemplate(acme, id, zone, { variables: values[id] ?? {}, mode: 'linked' })
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

  test('that are built in accept hostnames with and without a trailing dot', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
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

  test('are limited to 200, also when created concurrently', async () => {
    const { acme } = await world()
    for (let at = 0; at < 198; at += 33)
      await Promise.all(Array.from({ length: 33 }, (_, n) => createTemplate(acme, { ...siteTemplate, name: `t${at + n}` })))
    const last = await Promise.all(Array.from({ length: 6 }, () => acme.call('POST', '/v1/dns/templates', siteTemplate)))
    expect(last.map(one => one.status).sort()).toEqual([201, 201, 409, 409, 409, 409])
  })

  test('of other workspaces are not visible', async () => {
    const { acme, rival } = await world()
    const template = await createTemplate(acme)
    const [own, theirs] = [await createZone(acme), await createZone(rival, 'rival.example')]
    const binding = await applyTemplate(acme, template.id, own, { variables: siteAddress })
    expect(
      (await rival.call('POST', `/v1/dns/templates/${template.id}/apply`, { zone_id: theirs.id, variables: siteAddress })).status,
    ).toBe(404)
    const builtin = { zone_id: own.id, variables: {} }
    expect((await rival.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/apply', builtin)).status).toBe(404)
    expect((await rival.call('POST', '/v1/dns/templates/tmpl_builtin_no_mail/preview', builtin)).status).toBe(404)
    for (const path of [`/v1/dns/templates/${template.id}`, `/v1/dns/template-bindings/${binding.id}`])
      expect((await rival.call('GET', path)).status).toBe(404)
    expect((await rival.call('GET', '/v1/dns/template-bindings')).body.data).toEqual([])
  })
})
