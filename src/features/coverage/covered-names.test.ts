import { expect, test } from 'bun:test'
import { coveredNames } from './covered-names'
import type { KnownCertificate } from '../certificates/known'

const now = Date.UTC(2027, 0, 10)
const dayMs = 86_400_000
const certificate = (id: string, names: string[], more: Partial<KnownCertificate> = {}): KnownCertificate => ({
  ...{ id, commonName: '', names: new Set(names), issuer: '', keyType: 'ec', notBefore: 0, notAfter: now + dayMs },
  ...{ trust: 'public', lineageId: id, revokedAt: null, revokedIssuer: null },
  ...{ supersededBy: null, inUse: true, autoRenewing: false },
  ...{ renewalDueAt: now, sources: ['endpoint'], findings: [] },
  ...more,
})
function of(name: string, certificates: KnownCertificate[]) {
  const expected = new Map([[name, { name, zoneId: 'zone_1', because: ['record'] as const, places: [] }]])
  const steps = coveredNames(expected, certificates, [{ id: 'tls_1', host: '192.0.2.1', servername: name }], now)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value[0]!
  }
}

test('a name has the valid certificate that covers it, its own before a wildcard', () => {
  const wildcard = certificate('wild', ['*.a.test'], { notAfter: now + 2 * dayMs })
  expect(of('www.a.test', [wildcard])).toMatchObject({ covered: 'wildcard', certificateId: 'wild', endpointIds: ['tls_1'] })
  const own = certificate('own', ['www.a.test'])
  expect(of('www.a.test', [wildcard, own])).toMatchObject({ covered: 'full', certificateId: 'own', validUntil: now + dayMs })
  expect(of('x.www.a.test', [wildcard, own])).toMatchObject({ covered: 'none', certificateId: null, validUntil: null })
})

test.each([
  { notAfter: now },
  { notBefore: now + 1 },
  { revokedAt: 1 },
  { trust: 'untrusted' },
  { trust: 'self_signed' },
] as const)('one with %p covers nothing', more =>
  expect(of('a.test', [certificate('one', ['a.test'], more)]).covered).toBe('none'),
)

test('one in use is preferred, then the one that ends last', () => {
  const used = certificate('used', ['a.test'])
  const spare = certificate('spare', ['a.test'], { inUse: false, notAfter: now + 9 * dayMs })
  const later = certificate('later', ['a.test'], { notAfter: now + 3 * dayMs })
  expect(of('a.test', [used, spare]).certificateId).toBe('used')
  expect(of('a.test', [later, used, spare]).certificateId).toBe('later')
})
