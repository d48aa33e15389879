import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DigitalOceanDomain } from '../../../../test/support/digitalocean-domain'
import { anyFields } from '../../../../test/support/dns-values'
import { rdataOfFields, rdataOfTxt, textOf, txtValue } from '../../../dns/rdata'
import { canonicalRdata } from '../../../dns/rdata-names'
import { bodyOf, recordsOfRows, unsupportedAtDigitalOcean } from './digitalocean-records'

const known = (type: string, rdata: Uint8Array) =>
  textOf(type, canonicalRdata(type, type === 'TXT' ? rdataOfTxt(txtValue(rdata)) : rdata))

test.each(['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'])('any supported %s is returned as it was sent', type => {
  let count = 0
  fc.assert(
    fc.property(anyFields[type]!, fields => {
      const rdata = rdataOfFields(type, fields, null)
      const rrset = { name: 'x', type, ttl: 300, values: [rdata] }
      if (unsupportedAtDigitalOcean(rrset).length > 0) return
      count++
      const row = new DigitalOceanDomain('example.com').create(bodyOf(rrset, rdata))
      const [record] = recordsOfRows([{ ...row }], 'example.com')
      expect(known(type, record!.rdata)).toBe(known(type, rdata))
    }),
    { numRuns: 300 },
  )
  expect(count).toBeGreaterThan(0)
})
