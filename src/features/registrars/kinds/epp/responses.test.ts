import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RegistrarError } from '../../registrar'
import { ns } from './commands'
import { offersOf } from './offers'
import { registeredDomainOf } from './registered-domain'
import { greetingOf, responseOf } from './responses'

const document = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?><epp xmlns="${ns.epp}">${inner}</epp>`
const response = (data: string, extension: string) =>
  document(
    `<response><result code="1000"><msg>Ok</msg></result><msgQ count="3" id="7"/><resData>${data}</resData><extension>${extension}</extension><trID><clTRID>BW-1</clTRID><svTRID>1</svTRID></trID></response>`,
  )
const greeting = document(
  `<greeting><svID>x</svID><svMenu><version>1.0</version><lang>en</lang><objURI>${ns.domain}</objURI></svMenu></greeting>`,
)
const info = response(
  `<d:infData xmlns:d="${ns.domain}"><d:name>one.com</d:name><d:status s="clientHold"/><d:ns><d:hostAttr><d:hostName>ns1.one.com</d:hostName><d:hostAddr ip="v4">192.0.2.1</d:hostAddr></d:hostAttr></d:ns><d:host>ns1.one.com</d:host><d:clID>me</d:clID><d:crDate>2019-04-02T10:11:12.0Z</d:crDate><d:exDate>2027-04-02T10:11:12.0Z</d:exDate></d:infData>`,
  `<r:infData xmlns:r="${ns.rgp}"><r:rgpStatus s="autoRenewPeriod"/></r:infData><s:infData xmlns:s="${ns.secDns}"><s:dsData><s:keyTag>1</s:keyTag><s:alg>13</s:alg><s:digestType>2</s:digestType><s:digest>ABCD</s:digest></s:dsData></s:infData>`,
)
const check = response(
  `<d:chkData xmlns:d="${ns.domain}"><d:cd><d:name avail="1">one.com</d:name></d:cd></d:chkData>`,
  `<f:chkData xmlns:f="${ns.fee}"><f:currency>USD</f:currency><f:cd avail="true"><f:objID>one.com</f:objID><f:class>standard</f:class><f:command name="create" standard="true"><f:period unit="y">2</f:period><f:fee>10.00</f:fee><f:fee>0.50</f:fee><f:credit>-1.25</f:credit></f:command></f:cd></f:chkData>`,
)
const now = Date.parse('2026-11-21T10:00:00Z')
const readInfo = (text: string) => registeredDomainOf(responseOf(text, 'BW-1', []), 'one.com', true, now)
const readCheck = (text: string) => offersOf(responseOf(text, 'BW-1', []), ['one.com'])

test('prefixes can be any, hosts can be attributes, and fees are added up', () => {
  expect(readInfo(info)).toMatchObject({
    held: {
      status: 'suspended',
      expiresAt: Date.parse('2027-04-02T10:11:12Z'),
      nameservers: ['ns1.one.com'],
      ds: [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'abcd' }],
      eppStatuses: ['client hold', 'auto renew period'],
    },
    registrar: 'me',
    hosts: ['ns1.one.com'],
  })
  expect(responseOf(info, 'BW-1', []).queued).toBe(3)
  expect(readCheck(check)).toMatchObject([
    { available: true, price: { minor: 925, currency: 'USD' }, minYears: 2, premium: false, renewalPrice: null },
  ])
})

test.each(['-10.00', '1e3', '10.001', 'ten', '', '9999999999999.00'])('the fee %p is not a price', fee => {
  expect(readCheck(check.replace('10.00', fee))[0]!.price).toBeNull()
})

test('a damaged response is an error of the registrar, or lacks something', () => {
  const damage = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    text: fc.string({ maxLength: 6 }),
  })
  const readers: [string, (text: string) => unknown][] = [
    [info, readInfo],
    [check, readCheck],
    [greeting, greetingOf],
  ]
  fc.assert(
    fc.property(fc.constantFrom(...readers), fc.array(damage, { minLength: 1, maxLength: 4 }), ([whole, read], damages) => {
      let text = whole
      for (const { at, length, text: inserted } of damages) {
        const start = Math.floor(at * text.length)
        text = text.slice(0, start) + inserted + text.slice(start + length)
      }
      try {
        read(text)
      } catch (error) {
        expect(error).toBeInstanceOf(RegistrarError)
        expect((error as Error).message).not.toContain('\n')
      }
    }),
    { numRuns: 2000 },
  )
})
