import { expect, test } from 'bun:test'
import type { CertificateDetails } from '../../../checks/certificate-details'
import { newerOnDisk } from './newer-on-disk'

const now = 1000
const details = (more: Partial<CertificateDetails>): CertificateDetails => ({
  ...{ sha256: String(more.not_before), subject: 'CN=a.test', issuer: 'O=CA', issued_by: 'CA', serial: '1', names: ['a.test'] },
  ...{ not_before: 100, not_after: 2000, key: { type: 'ec', bits: 256, spki_sha256: null } },
  ...more,
})
const served = details({ not_before: 100 })
const foundFor = (one: CertificateDetails, files: readonly Partial<CertificateDetails>[]) => {
  const onDisk = files.map((file, at) => ({ path: String(at), certificate: details(file) }))
  const steps = newerOnDisk([one], onDisk, now)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value.get(one.sha256)?.path ?? null
  }
}
const found = (...files: Partial<CertificateDetails>[]) => foundFor(served, files)

test('the newest certificate that replaces the one that is served is found', () => {
  expect(found({ not_before: 100 })).toBeNull()
  expect(found({ not_before: 50 })).toBeNull()
  expect(found({ not_before: 200 }, { not_before: 300 }, { not_before: 250 })).toBe('1')
  expect(found({ not_before: 200, names: ['www.a.test', 'a.test'] })).toBe('0')
})

test('certificates that don’t replace it are not', () => {
  expect(found({ not_before: 200, names: ['b.test'] })).toBeNull()
  expect(found({ not_before: 200, issued_by: 'Other' })).toBeNull()
  expect(found({ not_before: 200, key: { type: 'rsa', bits: 2048, spki_sha256: null } })).toBeNull()
  expect(found({ not_before: 200, not_after: 900 })).toBeNull()
  expect(found({ not_before: now + 1 })).toBeNull()
})

test('certificates without names replace those with the same subject', () => {
  const nameless = details({ not_before: 100, names: [] })
  expect(foundFor(nameless, [{ not_before: 200, names: [] }])).toBe('0')
  expect(foundFor(nameless, [{ not_before: 200, names: [], subject: 'CN=b.test' }])).toBeNull()
})

test('the work for each certificate is limited, however many files and names there are', () => {
  const names = Array.from({ length: 100 }, (_, at) => `n${at}.test`)
  let reads = 0
  const counted = new Proxy([...names, 'missing.test'], {
    get: (target, key) => {
      reads++
      return Reflect.get(target, key)
    },
  })
  const files = Array.from({ length: 500 }, (_, at) => ({ not_before: 200 + at, names }))
  expect(foundFor(details({ not_before: 100, names: counted }), files)).toBeNull()
  expect(reads).toBeLessThan(10_000)
})
