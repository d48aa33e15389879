import { afterAll, expect, spyOn, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate, type MadeCertificate } from '../../../test/support/make-certificates'
import { parseCertificate, trustStore, verifyChain, type Certificate } from './chain'
import { splitUpload } from './upload'

const now = Date.parse('2026-11-27T12:00:00Z')
const expired = { notBefore: new Date('2020-01-01T00:00:00Z'), notAfter: new Date('2026-01-01T00:00:00Z') }
const authority = { isCa: true }

// Root → intermediate → leaf. The key of the root is also certified by an older CA, twice: once expired.
const root = await makeCertificate({ subject: 'CN=Root', ...authority })
const older = await makeCertificate({ subject: 'CN=Older', ...authority })
const cross = await makeCertificate({ subject: 'CN=Root', issuer: older, keysOf: root, ...authority })
const expiredCross = await makeCertificate({ subject: 'CN=Root', issuer: older, keysOf: root, ...authority, ...expired })
const expiredRoot = await makeCertificate({ subject: 'CN=Root', keysOf: root, ...authority, ...expired })
const middle = await makeCertificate({ subject: 'CN=Middle', issuer: root, ...authority, pathLength: 0 })
const issuing = await makeCertificate({ subject: 'CN=Issuing', issuer: middle, ...authority })
const impostor = await makeCertificate({ subject: 'CN=Middle', ...authority })
const plain = await makeCertificate({ subject: 'CN=Plain', issuer: root })
const leaf = await makeCertificate({ names: ['a.test'], issuer: middle })
const notAfter = new Date('2026-06-01T00:00:00Z')
const expiredLeaf = await makeCertificate({ names: ['a.test'], issuer: middle, notAfter })
const tooDeep = await makeCertificate({ names: ['a.test'], issuer: issuing })
const byPlain = await makeCertificate({ names: ['a.test'], issuer: plain })
const alone = await makeCertificate({ names: ['alone.test'] })

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Whether `openssl verify` finds the first certificate trusted, at a time when it is valid. */
function opensslTrusts([first, ...rest]: readonly MadeCertificate[], roots: readonly MadeCertificate[], at: number): boolean {
  const file = (name: string, certificates: readonly MadeCertificate[]) => {
    writeFileSync(join(folder, name), certificates.map(one => one.pem).join(''))
    return join(folder, name)
  }
  const more = rest.length > 0 ? ['-untrusted', file('untrusted', rest)] : []
  const trusted = roots.length > 0 ? ['-CAfile', file('roots', roots)] : ['-no-CAfile']
  const options = ['-attime', String(at / 1000), '-no-CApath', '-no-CAstore', ...trusted, ...more]
  return Bun.spawnSync(['openssl', 'verify', ...options, file('leaf', [first!])], { stdout: 'ignore', stderr: 'ignore' }).success
}

const parsed = (made: readonly MadeCertificate[]) => made.map(one => parseCertificate(one.der))

interface Case {
  sent: MadeCertificate[]
  roots?: MadeCertificate[]
  known?: MadeCertificate[]
  trust?: string
  path?: MadeCertificate[]
  isIncomplete?: boolean
  isMisordered?: boolean
  superfluous?: number
  opensslFails?: true
}
const cases: Record<string, Case> = {
  complete: { sent: [leaf, middle] },
  'with the root': { sent: [leaf, middle, root], superfluous: 1 },
  'without the intermediate': { sent: [leaf], trust: 'untrusted', path: [leaf], isIncomplete: true },
  'without the intermediate, which is known': { sent: [leaf], known: [middle], isIncomplete: true },
  // OpenSSL takes the first certificate with the name, and only then checks its signature. Browsers try others.
  'with another certificate of the intermediate’s name': { sent: [leaf, impostor, middle], superfluous: 1, opensslFails: true },
  'the intermediate twice': { sent: [leaf, middle, middle], superfluous: 1 },
  'of another CA': { sent: [leaf, impostor], trust: 'untrusted', path: [leaf], isIncomplete: true, superfluous: 1 },
  'of a root that is not trusted': {
    sent: [leaf, middle],
    roots: [],
    trust: 'untrusted',
    path: [leaf, middle],
    isIncomplete: true,
  },
  'of a root that is sent, but not trusted': { sent: [leaf, middle, root], roots: [older], trust: 'untrusted', superfluous: 1 },
  'cross-signed, and the new root is trusted': { sent: [leaf, middle, cross], superfluous: 1 },
  'cross-signed, and the older root is trusted': {
    sent: [leaf, middle, cross],
    roots: [older],
    path: [leaf, middle, cross, older],
  },
  'cross-signed by an expired certificate, and the new root is trusted': { sent: [leaf, middle, expiredCross], superfluous: 1 },
  'cross-signed by an expired certificate, and the older root is trusted': {
    ...{ sent: [leaf, middle, expiredCross], roots: [older], trust: 'untrusted', path: [leaf, middle] },
    ...{ isIncomplete: true, superfluous: 1 },
  },
  'cross-signed twice, once expired': {
    ...{ sent: [leaf, middle, expiredCross, cross], roots: [older], path: [leaf, middle, cross, older], superfluous: 1 },
  },
  'of an expired root': {
    ...{ sent: [leaf, middle], roots: [expiredRoot], trust: 'untrusted', path: [leaf, middle], isIncomplete: true },
  },
  'of an expired root and the new one': { sent: [leaf, middle], roots: [expiredRoot, root] },
  'by a certificate that is no CA': {
    sent: [byPlain, plain],
    trust: 'untrusted',
    path: [byPlain],
    isIncomplete: true,
    superfluous: 1,
  },
  'more levels than allowed': {
    ...{ sent: [tooDeep, issuing, middle], trust: 'untrusted', path: [tooDeep, issuing], isIncomplete: true, superfluous: 1 },
  },
  'self-signed': { sent: [alone], trust: 'self_signed', path: [alone] },
  'self-signed and trusted': { sent: [alone], roots: [alone], path: [alone] },
  'the root itself': { sent: [root], path: [root] },
  'expired, with a chain that has not': { sent: [expiredLeaf, middle] },
}

test.each(Object.entries(cases))('%s', async (_, one) => {
  const { sent, roots = [root], known = [] } = one
  const certificates = parsed(sent) as [Certificate, ...Certificate[]]
  const verdict = await verifyChain(certificates, { roots: trustStore(parsed(roots)), known: parsed(known), now })
  const path = verdict.path.map(cert => cert.sha256)
  expect({ ...verdict, path }).toEqual({
    trust: (one.trust ?? 'private') as 'private',
    path: parsed(one.path ?? [sent[0]!, middle, root]).map(cert => cert.sha256),
    isIncomplete: one.isIncomplete ?? false,
    isMisordered: one.isMisordered ?? false,
    superfluous: one.superfluous ?? 0,
  })
  const at = Math.min(now, certificates[0].facts.notAfter - 1000)
  expect(verdict.trust === 'private' && !one.opensslFails).toBe(opensslTrusts([...sent, ...known], roots, at))
})

test('the order in which a chain was sent is checked', async () => {
  const upper = await makeCertificate({ subject: 'CN=Upper', issuer: root, ...authority })
  const lower = await makeCertificate({ subject: 'CN=Lower', issuer: upper, ...authority })
  const deep = await makeCertificate({ names: ['a.test'], issuer: lower })
  const [a, b, c] = parsed([deep, lower, upper]) as [Certificate, Certificate, Certificate]
  const verdict = async (...sent: [Certificate, ...Certificate[]]) => {
    const { trust, isMisordered } = await verifyChain(sent, { roots: trustStore(parsed([root])), now })
    return [trust, isMisordered]
  }
  expect([await verdict(a, b, c), await verdict(a, c, b)]).toEqual([
    ['private', false],
    ['private', true],
  ])
})

test('the roots of the runtime are trusted publicly, and the clock does not matter for an expired certificate', async () => {
  for (const pem of rootCertificates) {
    const one = parseCertificate(splitUpload(new TextEncoder().encode(pem))[0]!)
    expect(await verifyChain([one], { now })).toEqual({
      trust: 'public',
      path: [one],
      isIncomplete: false,
      isMisordered: false,
      superfluous: 0,
    })
  }
})

test('few signatures are verified for chains with many candidates for each issuer, and each once', async () => {
  const same = (issuer?: MadeCertificate) => makeCertificate({ subject: 'CN=Same', issuer, keysOf: issuer, ...authority })
  const first = await same()
  const many = parsed(await Promise.all(Array.from({ length: 200 }, () => same(first))))
  const verify = spyOn(X509Certificate.prototype, 'verify')
  try {
    const verdict = await verifyChain(many as [Certificate, ...Certificate[]], { now })
    expect([verdict.trust, verdict.superfluous > 0]).toEqual(['self_signed', true])
    const once = verify.mock.calls.length
    // Its issuers, and whether it and the end of the path are signed by themselves.
    expect(once).toBeWithin(20, 23)
    const budget = { left: 5 }
    await verifyChain(many as [Certificate, ...Certificate[]], { now, budget })
    expect([budget.left, verify.mock.calls.length - once]).toEqual([0, 5])
    for (let turn = 0; turn < 30; turn++) await verifyChain(many as [Certificate, ...Certificate[]], { now })
    const all = verify.mock.calls.length
    await verifyChain(many as [Certificate, ...Certificate[]], { now })
    expect(verify.mock.calls.length).toBe(all)
  } finally {
    verify.mockRestore()
  }
})

test('a signature that was verified before needs no budget', async () => {
  const one = parsed([await makeCertificate({ names: ['budget.test'], issuer: middle }), middle]) as [Certificate, Certificate]
  const trustWith = async (left: number) =>
    (await verifyChain(one, { roots: trustStore(parsed([root])), budget: { left }, now })).trust
  expect([await trustWith(0), await trustWith(2), await trustWith(0)]).toEqual(['untrusted', 'private', 'private'])
})
