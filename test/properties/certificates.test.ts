import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { rootCertificates } from 'node:tls'
import { makeCertificate } from '../support/make-certificates'
import { revocationList } from '../support/revocation-list'
import { parseCertificate } from '../../src/core/x509/chain'
import { DerError } from '../../src/core/x509/der'
import { readCrl } from '../../src/core/x509/crl'
import { x509Facts } from '../../src/core/x509/facts'
import { splitUpload, UploadError } from '../../src/core/x509/upload'

// To run more: `BAILIWICK_TEST_FUZZ_INPUTS=10000000 bun test --timeout 7200000 test/properties/certificates.test.ts`.
const inputs = Number(process.env.BAILIWICK_TEST_FUZZ_INPUTS ?? 20_000)

test('parsers of certificates throw nothing but their own errors, and keep nothing', async () => {
  const made = await makeCertificate({ names: ['a.test', '192.0.2.1'], isCa: true, pathLength: 1 })
  const seeds = [made.der, ...rootCertificates.slice(0, 20).map(pem => splitUpload(Buffer.from(pem))[0]!)]
  fuzz(seeds, (input, count, random) => {
    const parse = count % 4 === 0 ? splitUpload : count % 4 === 1 ? parseCertificate : x509Facts
    parse(count % 16 === 0 ? pemOf('CERTIFICATE', input, random) : input)
  })
})

test('so do those of revocation lists', async () => {
  const issuer = await makeCertificate({ subject: 'CN=CA', isCa: true })
  const days = { from: new Date('2026-11-27T00:00:00Z'), until: new Date('2026-12-04T00:00:00Z') }
  const extensions = ['issuingDistributionPoint=critical,@point', '[point]', 'fullname=URI:http://crl.test/1', 'onlyuser=TRUE']
  const revoked = [{ serial: '1234abcd', reason: 'keyCompromise' }, { serial: '05' }, { serial: '7f'.repeat(20) }]
  const seeds = [await revocationList(issuer, { ...days, revoked }), await revocationList(issuer, { ...days, extensions })]
  fuzz(seeds, (input, count, random) => {
    const steps = readCrl(count % 16 === 0 ? pemOf('X509 CRL', input, random) : input)
    for (let step = steps.next(), more = 0; !step.done; step = steps.next())
      if (++more > 100) throw new Error('A list of a few hundred bytes takes more than 100 steps.')
  })
})

/** Parses inputs that are made from seeds by a few changes. */
function fuzz(
  seeds: readonly Uint8Array[],
  parse: (input: Uint8Array, count: number, random: (below: number) => number) => void,
): void {
  const random = numbers(20261127)
  let accepted = 0
  let refused = 0
  const before = usedMemory()
  for (let count = 0; count < inputs; count++) {
    const input = mutated(seeds[random(seeds.length)]!, random)
    try {
      parse(input, count, random)
      accepted++
    } catch (error) {
      if (!(error instanceof DerError || error instanceof UploadError)) throw error
      refused++
    }
  }
  const after = usedMemory()
  expect(accepted + refused).toBe(inputs)
  expect(accepted).toBeGreaterThan(inputs / 100)
  expect(refused).toBeGreaterThan(inputs / 10)
  expect(after - before).toBeLessThan(64 * 1024 ** 2)
}

/** Memory in use (bytes). The memory of the process also grows with other tests. */
function usedMemory(): number {
  Bun.gc(true)
  return heapStats().heapSize
}

/** A few changes: bytes and lengths overwritten, parts removed, repeated, or replaced by random ones. */
function mutated(seed: Uint8Array, random: (below: number) => number): Uint8Array {
  let bytes = Buffer.from(seed)
  for (let change = random(4) + 1; change > 0 && bytes.length > 0; change--) {
    const at = random(bytes.length)
    const kind = random(6)
    if (kind === 0) bytes[at] = random(256)
    else if (kind === 1) bytes[at]! ^= 1 << random(8)
    else if (kind === 2) bytes = bytes.subarray(0, at)
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(random(at + 1))])
    else if (kind === 4) bytes.writeUInt8([0x80, 0x84, 0xff, 0x00, 0x30, 0x1f][random(6)]!, at)
    else for (let more = at; more < Math.min(bytes.length, at + 8); more++) bytes[more] = random(256)
  }
  return bytes
}

function pemOf(label: string, der: Uint8Array, random: (below: number) => number): Uint8Array {
  const text = `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`
  return mutated(Buffer.from(text.repeat(random(3) + 1)), random)
}

/** Reproducible random numbers (xorshift32). */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
