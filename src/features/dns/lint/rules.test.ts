import { describe, expect, test } from 'bun:test'
import { readZoneFile } from '../../../dns/zone-file'
import { runInSlices } from '../../../core/time-slices'
import type { PublishedRrset, PublishedZone } from '../publish/published-zones'
import { lintRules, lintSteps } from './rules'

const validZone = '@ NS ns1\n@ NS ns2.example.net.\nns1 A 192.0.2.53\n'

function zoneOf(text: string): PublishedZone {
  const rrsets = new Map<string, PublishedRrset>()
  for (const { name, type, ttl, rdata } of readZoneFile(`$TTL 3600\n${text}`, { origin: 'example.com.' })) {
    const rrset = rrsets.get(`${name} ${type}`) ?? { name, type, ttl, rdata: [] }
    rrsets.set(`${name} ${type}`, { ...rrset, rdata: [...rrset.rdata, rdata] })
  }
  const soa = { ttl: 3600, rdata: new Uint8Array(), minimum: 300 }
  return { id: 'zone_1', workspaceId: 'ws_1', name: 'example.com.', serial: 1, soa, rrsets: [...rrsets.values()] }
}

const found = async (text: string) =>
  (await runInSlices(lintSteps(zoneOf(text), { initial: [], privateZones: [] }))).map(
    one => `${one.rule} ${one.name} ${one.type}`,
  )

describe('lint reports', () => {
  const cases: [lines: string, ...findings: string[]][] = [
    [''],
    ['www 29 A 192.0.2.1', 'ttl_too_low www A'],
    ['www 604801 A 192.0.2.1', 'ttl_too_high www A'],
    ['www 30 A 192.0.2.1\nx 604800 A 192.0.2.1'],
    ['child NS ns.child', 'missing_glue child NS'],
    ['child NS ns.child\nns.child A 192.0.2.1\nchild DS 1 13 2 ' + 'ab'.repeat(32)],
    ['child NS ns.example.net.\nwww.child A 192.0.2.1', 'occluded www.child A'],
    ['child NS ns.example.net.\nchild TXT x', 'occluded child TXT'],
    ['child NS gone', 'missing_address child NS'],
    ['x MX 1 gone\n_dmarc TXT v=DMARC1', 'dangling_target x MX'],
    ['x MX 1 text\ntext TXT x', 'missing_address x MX'],
    ['x MX 1 wild.dev\n*.dev A 192.0.2.1'],
    ['x CNAME gone', 'dangling_target x CNAME'],
    ['x CNAME a.b\nc.b A 192.0.2.1\n* A 192.0.2.1', 'dangling_target x CNAME'],
    ['x CNAME a.d\nd DNAME example.net.'],
    ['x CNAME a.child\nchild NS ns.example.net.'],
    ['x A 10.0.0.1\ny AAAA fd00::1\nz A 127.0.0.1', 'private_address x A', 'private_address y AAAA', 'private_address z A'],
    ['@ TXT "v=spf1 -all"\n@ TXT "v=spf1 mx -all"', 'multiple_spf_records @ TXT'],
    [`@ TXT "v=spf1 ${'include:a.example.net '.repeat(11)}-all"`, 'spf_too_many_lookups @ TXT'],
    [`@ TXT "v=spf1 ${'include:a.example.net '.repeat(10)}ip4:192.0.2.1 -all"`],
    ['@ TXT "v=spf1 +all"', 'spf_allows_all @ TXT'],
    ['_dmarc TXT v=DMARC1\n_dmarc TXT "v=DMARC1; p=none"', 'multiple_dmarc_records _dmarc TXT'],
    ['@ MX 1 mail\nmail A 192.0.2.1', 'missing_dmarc @ MX'],
    ['@ MX 0 .'],
  ]
  test.each(cases)('%p', async (lines, ...findings) => {
    expect(await found(validZone + lines)).toEqual(findings)
  })

  test('a single name server', async () => {
    expect(await found('@ NS ns1\nns1 A 192.0.2.53')).toEqual(['single_name_server @ NS'])
  })

  test('every rule in at least one of the cases above', () => {
    const seen = new Set(cases.flatMap(([, ...findings]) => findings.map(one => one.split(' ')[0]!)))
    expect([...seen, 'single_name_server'].sort()).toEqual(Object.keys(lintRules).sort())
  })
})
