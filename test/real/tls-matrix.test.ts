import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { AddressFacts, ProtocolVersion } from '../../src/checks/tls-probe/facts'
import { parseCertificate, parsedOrNull, trustStore } from '../../src/core/x509/chain'
import { readChain } from '../../src/features/tls-endpoints/grades/chain-facts'
import { gradeOf, type GradeLetter } from '../../src/features/tls-endpoints/grades/grade'
import { oldTlsServer, type OldTls } from '../support/old-tls-server'
import { matrixCertificates, type MatrixCertificates } from '../support/tls-matrix'
import { scanLocal } from '../support/tls-scan'
import { javaServers, openSslServer } from '../support/tls-servers'

// Servers of OpenSSL, Java, and Bun, and scripted ones for what these can’t do, with the suites and grades that a scan finds. The suites are
// compared with Debian’s sslscan, which does not know versions before TLS 1.0. Where testssl 3.3 gives another grade, the comment names the
// rule of the SSL Labs guide that decides.

type Expected = [grade: GradeLetter, score: number, rules: string]

const level0 = (ciphers: string) => ['-cipher', `${ciphers}:@SECLEVEL=0`]
const aead = 'ECDHE+AESGCM:ECDHE+CHACHA20'
const current = ['-min_protocol', 'TLSv1.2', ...level0(aead), '-groups', 'X25519:P-256:P-384']

/** Certificates `rsa` and `ec` are self-signed, but trusted. */
const openSslCases: [name: string, certificate: string, options: string[], ...Expected][] = [
  ['TLS 1.2 and 1.3', 'good', current, 'A+', 96, ''],
  // testssl: 96. Guide: DH groups below 4096 bits give 90 points, and this server accepts ffdhe2048 like all of OpenSSL 3.
  ['modern', 'ec', ['-min_protocol', 'TLSv1.2', '-cipher', aead, '-status_file', 'OCSP_RESPONSE'], 'A+', 93, ''],
  ['P-384', 'P-384', current, 'A+', 96, ''],
  ['Ed25519', 'Ed25519', current, 'A+', 96, ''],
  ['RSA 4096', 'RSA 4096', current, 'A+', 96, ''],
  ['RSA and ECDSA', 'rsa', [...current, '-dcert', 'ec.pem', '-dkey', 'ec.key'], 'A+', 93, ''],
  [
    'only 256 bits',
    'good',
    ['-tls1_3', '-ciphersuites', 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256', '-groups', 'X25519'],
    'A+',
    100,
    '',
  ],
  [
    'only TLS 1.3',
    'rsa',
    ['-tls1_3', '-ciphersuites', 'TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256:TLS_AES_128_GCM_SHA256'],
    'A+',
    89,
    '',
  ],
  ['a wildcard', 'wildcard', current, 'A+', 96, ''],
  ['one curve', 'ec', ['-min_protocol', 'TLSv1.2', '-groups', 'P-384'], 'A+', 96, ''],
  ['only ECDHE', 'rsa', ['-tls1_2', '-cipher', aead], 'A-', 93, 'no_tls13'],
  ['DHE with 2048 bits', 'rsa', ['-tls1_2', ...level0('DHE+AESGCM')], 'A-', 93, 'no_tls13'],
  // testssl: A- with 97. Guide: keys and parameters below 2048 bits give 80 points, and B at most.
  [
    'DHE with 1024 bits',
    'rsa',
    ['-tls1_2', ...level0('DHE-RSA-AES256-GCM-SHA384'), '-dhparam', 'WEAK_PRIME'],
    'B',
    94,
    'weak_key_exchange no_tls13',
  ],
  ['RSA 1024', 'RSA 1024', current, 'B', 90, 'weak_key_exchange'],
  ['RSA 512', 'RSA 512', ['-tls1_2', ...level0('ECDHE-RSA-AES256-GCM-SHA384')], 'F', 82, 'insecure_key_exchange no_tls13'],
  [
    'no forward secrecy',
    'rsa',
    ['-tls1_2', '-cipher', 'AES256-GCM-SHA384:AES128-GCM-SHA256', '-serverpref'],
    'B',
    93,
    'no_forward_secrecy no_tls13',
  ],
  // testssl: A-. Guide: servers without AEAD suites get B at most.
  ['only CBC', 'rsa', ['-tls1_2', '-cipher', 'ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA256'], 'B', 93, 'no_aead no_tls13'],
  // testssl: A- with 97. Guide: anonymous key exchange gives 0 points, and F.
  [
    'anonymous',
    'rsa',
    ['-tls1_2', ...level0('ADH-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384')],
    'F',
    0,
    'anonymous_cipher no_tls13',
  ],
  ['no encryption', 'rsa', ['-tls1_2', ...level0('ECDHE-RSA-AES256-GCM-SHA384:NULL-SHA256')], 'F', 0, 'null_cipher no_tls13'],
  ['TLS 1.0 to 1.3', 'rsa', ['-min_protocol', 'TLSv1', ...level0('ECDHE+AESGCM:ECDHE+AES')], 'B', 91, 'tls10 tls11'],
  ['TLS 1.1 to 1.3', 'rsa', ['-min_protocol', 'TLSv1.1', ...level0('ECDHE+AESGCM:ECDHE+AES')], 'B', 92, 'tls11'],
  ['everything', 'rsa', ['-min_protocol', 'TLSv1', ...level0('ALL')], 'F', 0, 'anonymous_cipher tls10 tls11 weak_key_exchange'],
  ['only TLS 1.1', 'rsa', ['-tls1_1', ...level0('ECDHE+AES')], 'C', 91, 'no_tls12 tls11 no_aead no_tls13'],
  ['only TLS 1.0', 'rsa', ['-tls1', ...level0('AES128-SHA')], 'C', 86, 'no_tls12 tls10 no_forward_secrecy no_aead no_tls13'],
  ['an expired certificate', 'expired', current, 'T', 0, 'expired'],
  ['a certificate of tomorrow', 'not yet valid', current, 'T', 0, 'not_yet_valid'],
  ['a certificate for another name', 'other name', current, 'M', 0, 'name_mismatch'],
  ['an expired certificate for another name', 'other name, expired', current, 'T', 0, 'expired name_mismatch'],
  ['a self-signed certificate', 'self-signed', current, 'T', 0, 'self_signed'],
  ['an unknown authority', 'unknown authority', current, 'T', 0, 'untrusted'],
  ['a SHA-1 signature', 'SHA-1', current, 'T', 0, 'sha1_signature'],
  // Guide: T hides other grades, and no client of today trusts MD5.
  ['an MD5 signature', 'MD5', current, 'T', 0, 'untrusted md5_signature'],
  ['no intermediate certificate', 'incomplete', current, 'B', 96, 'chain_incomplete'],
  ['intermediate certificates in the wrong order', 'misordered', current, 'B', 96, 'chain_misordered'],
  ['certificates that nobody needs', 'superfluous', current, 'A+', 96, ''],
]

const gcm = 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'
/** Protocols and suites of Java, with the RSA key. */
const javaCases: [name: string, protocols: string, suites: string, ...Expected][] = [
  // This server closes connections before it answers HTTP, so that the scan is not complete.
  ['TLS 1.2 and 1.3', 'TLSv1.2,TLSv1.3', `TLS_AES_128_GCM_SHA256,${gcm}`, 'A', 93, ''],
  // testssl with OpenSSL 3 does not see 3DES: A-. Guide: blocks of 64 bits with TLS 1.1 or later give C at most, 112 bits 20 points.
  ['3DES', 'TLSv1.2', `${gcm},TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA`, 'C', 81, 'short_blocks no_tls13'],
  ['3DES with TLS 1.0', 'TLSv1', 'SSL_RSA_WITH_3DES_EDE_CBC_SHA', 'C', 62, 'no_tls12 tls10 no_forward_secrecy no_aead no_tls13'],
  // testssl: B. Guide: RC4 with TLS 1.1 or later gives C at most.
  [
    'RC4',
    'TLSv1,TLSv1.1,TLSv1.2',
    `${gcm},TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,SSL_RSA_WITH_RC4_128_SHA`,
    'C',
    91,
    'rc4_modern tls10 tls11 no_tls13',
  ],
  ['RC4 with TLS 1.0', 'TLSv1', 'TLS_ECDHE_RSA_WITH_RC4_128_SHA', 'C', 86, 'no_tls12 tls10 no_aead rc4 no_tls13'],
  [
    'only SSLv3',
    'SSLv3',
    'SSL_RSA_WITH_RC4_128_SHA,TLS_RSA_WITH_AES_128_CBC_SHA',
    'F',
    83,
    'ssl3_best no_tls12 poodle no_forward_secrecy no_aead rc4 no_tls13',
  ],
  [
    'SSLv3 without CBC',
    'SSLv3,TLSv1.2,TLSv1.3',
    `TLS_AES_128_GCM_SHA256,${gcm},SSL_RSA_WITH_RC4_128_SHA`,
    'C',
    90,
    'rc4_modern ssl3',
  ],
  [
    'SSLv3 to TLS 1.3',
    'SSLv3,TLSv1,TLSv1.2,TLSv1.3',
    `TLS_AES_256_GCM_SHA384,${gcm},TLS_RSA_WITH_AES_128_CBC_SHA`,
    'C',
    90,
    'poodle ssl3 tls10',
  ],
  [
    'export and DES',
    'TLSv1,TLSv1.2',
    `${gcm},SSL_RSA_EXPORT_WITH_RC4_40_MD5,SSL_RSA_WITH_DES_CBC_SHA`,
    'F',
    64,
    'export_cipher weak_cipher insecure_key_exchange tls10 rc4 no_tls13',
  ],
  ['DES with TLS 1.1', 'TLSv1.1,TLSv1.2', `${gcm},SSL_RSA_WITH_DES_CBC_SHA`, 'F', 80, 'weak_cipher short_blocks tls11 no_tls13'],
  ['no encryption', 'TLSv1.2', `${gcm},TLS_RSA_WITH_NULL_SHA256`, 'F', 0, 'null_cipher no_tls13'],
  ['anonymous', 'TLSv1.2', `${gcm},TLS_DH_anon_WITH_AES_128_GCM_SHA256`, 'F', 0, 'anonymous_cipher no_tls13'],
  [
    'everything',
    'SSLv3,TLSv1,TLSv1.1,TLSv1.2,TLSv1.3',
    'all',
    'F',
    0,
    'null_cipher anonymous_cipher export_cipher weak_cipher insecure_key_exchange poodle rc4_modern short_blocks ssl3 tls10 tls11',
  ],
]

/** The `Strict-Transport-Security` header of servers of Bun with HTTP. */
const httpCases: [name: string, hsts: string | null, ...Expected][] = [
  ['HSTS for a year', 'max-age=31536000', 'A+', 96, ''],
  ['HSTS for 90 days', 'max-age=7776000', 'A-', 96, 'short_hsts'],
  ['no HSTS', null, 'A-', 96, 'no_hsts'],
]

const rsaAead = [0xc030, 0xc02f]
/** Suites by version. What these servers offer is scripted, so that sslscan can’t connect. */
const scriptedCases: [name: string, old: OldTls, ...Expected][] = [
  ['SSL 2.0', { versions: { 0x0303: rsaAead }, ssl2: true }, 'F', 0, 'ssl2 export_cipher insecure_key_exchange rc4 no_tls13'],
  ['compression', { versions: { 0x0303: rsaAead }, compresses: true }, 'C', 93, 'compression no_tls13'],
  [
    'no secure renegotiation',
    { versions: { 0x0303: rsaAead }, renegotiates: false },
    'A-',
    93,
    'no_tls13 insecure_renegotiation',
  ],
  ['DHE with 768 bits', { versions: { 0x0303: [0x9f] }, primeBytes: 96 }, 'F', 82, 'insecure_key_exchange no_tls13'],
  ['DHE with 256 bits', { versions: { 0x0303: [0x9f] }, primeBytes: 32 }, 'F', 76, 'insecure_key_exchange no_tls13'],
  ['a curve with 160 bits', { versions: { 0x0303: rsaAead }, group: 0x10 }, 'B', 90, 'weak_key_exchange no_tls13'],
  ['DES with TLS 1.2', { versions: { 0x0303: [0xc02f, 0x0009] } }, 'F', 77, 'weak_cipher short_blocks no_tls13'],
  ['RC4 alone with SSL 3.0', { versions: { 0x0300: [0x0005], 0x0303: rsaAead } }, 'B', 90, 'ssl3 rc4 no_tls13'],
]

interface Server {
  name: string
  /** Null until it is started. */
  port: number | null
  expected: Expected
  isKnownToSslscan: boolean
}
const serverOf = (kind: string, name: string, expected: Expected, isKnownToSslscan = true): Server => ({
  ...{ name: `${kind}: ${name}`, port: null, expected, isKnownToSslscan },
})
const openSsl = openSslCases.map(([name, , , ...expected]) => serverOf('OpenSSL', name, expected))
const java = javaCases.map(([name, , , ...expected]) => serverOf('Java', name, expected))
const http = httpCases.map(([name, , ...expected]) => serverOf('HTTP', name, expected))
const scripted = scriptedCases.map(([name, , ...expected]) => serverOf('Scripted', name, expected, false))
const servers = [...openSsl, ...java, ...http, ...scripted]

let certificates: MatrixCertificates
const running: { stop(): unknown }[] = []
beforeAll(async () => {
  certificates = await matrixCertificates(Date.now())
  const { keys } = certificates
  const started = async (of: Server[], starting: Promise<{ ports: number[]; stop(): unknown }>) => {
    const one = await starting
    running.push(one)
    of.forEach((server, at) => (server.port = one.ports[at]!))
  }
  const files: Record<string, string> = {
    ...{ 'ec.pem': keys.file('ec', 'pem'), 'ec.key': keys.file('ec', 'key') },
    ...{ WEAK_PRIME: keys.weakPrime, OCSP_RESPONSE: keys.ocspResponse },
  }
  await Promise.all([
    started(
      java,
      javaServers(
        keys,
        javaCases.map(([, protocols, suites]) => [protocols, suites]),
      ),
    ),
    ...openSslCases.map(([, certificate, options], at) =>
      started(
        [openSsl[at]!],
        openSslServer([...certificates.options(certificate), ...options.map(option => files[option] ?? option)]),
      ),
    ),
    ...scriptedCases.map(async ([, old], at) => {
      const server = await oldTlsServer(certificates.chain('rsa'), old)
      running.push(server)
      scripted[at]!.port = server.port
    }),
    ...httpCases.map(async ([, hsts], at) => {
      const headers: Record<string, string> = hsts === null ? {} : { 'strict-transport-security': hsts }
      const server = Bun.serve({
        ...{ hostname: '127.0.0.1', port: 0, tls: certificates.tls('good') },
        fetch: () => new Response('', { headers }),
      })
      running.push({ stop: () => server.stop(true) })
      http[at]!.port = server.port!
    }),
  ])
  startScans()
})
afterAll(async () => {
  await Promise.all(running.map(one => one.stop()))
  certificates?.[Symbol.dispose]()
})

/** `1.2 c030` for each suite that sslscan finds. */
async function foundBySslscan(port: number): Promise<string[]> {
  const without = ['check-certificate', 'compression', 'fallback', 'groups', 'heartbleed', 'renegotiation', 'cipher-details']
  const run = Bun.spawn(['sslscan', '--xml=-', ...without.map(one => `--no-${one}`), '--sni-name=a.test', `127.0.0.1:${port}`], {
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const ciphers = (await new Response(run.stdout).text()).matchAll(
    /<cipher [^>]*sslversion="TLSv([\d.]+)"[^>]* id="0x([\dA-F]+)"/g,
  )
  return [...ciphers].map(([, version, id]) => `${version} ${id!.toLowerCase()}`).sort()
}

const foundHere = ({ versions }: AddressFacts): string[] =>
  (['1.0', '1.1', '1.2', '1.3'] as const)
    .flatMap(version => {
      const one = versions[version]
      return one.status === 'offered' ? one.suites.map(({ id }) => `${version} ${id.toString(16).padStart(4, '0')}`) : []
    })
    .sort()

const parsed = (pem: string) =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)/g)].map(([, base64]) => parseCertificate(Buffer.from(base64!, 'base64')))

/** The grade of a scan, as the hub gives it. */
async function gradeFrom(facts: AddressFacts): Promise<Expected> {
  const options = { roots: trustStore(parsed(certificates.roots)), known: parsed(certificates.known), now: facts.scanned_at }
  const chains = await Promise.all(
    facts.chains.map(one => readChain(one.certificates.map(parsedOrNull), one.versions, 'a.test', options)),
  )
  const { grade, score, reasons } = gradeOf(
    facts,
    chains.flatMap(one => (one ? [one.facts] : [])),
  )
  return [grade, score, reasons.map(one => one.rule).join(' ')]
}

interface Scanned {
  facts: AddressFacts
  /** Null if sslscan can’t connect. */
  bySslscan: string[] | null
}
const scans = new Map<string, Promise<Scanned>>()

/** Scans all servers, some at once. Each is scanned twice, one after the other: OpenSSL’s server has one connection at a time. */
function startScans(): void {
  const slots = Array.from({ length: 4 }, () => Promise.resolve())
  servers.forEach(({ name, port, isKnownToSslscan }, at) => {
    const scanned = slots[at % slots.length]!.then(async () => {
      const facts = await scanLocal(port!)
      return { facts, bySslscan: isKnownToSslscan ? await foundBySslscan(port!) : null }
    })
    scans.set(name, scanned)
    slots[at % slots.length] = scanned.then(
      () => {},
      () => {},
    )
  })
}

test.each(servers.map(({ name, expected }) => [name, expected] as const))('%s', async (name, expected) => {
  const { facts, bySslscan } = await scans.get(name)!
  expect(await gradeFrom(facts)).toEqual(expected)
  if (bySslscan) expect(foundHere(facts)).toEqual(bySslscan)
})

test('what sslscan does not tell', async () => {
  const found = new Map(await Promise.all([...scans].map(async ([name, one]) => [name, (await one).facts] as const)))
  const of = (name: string, version: ProtocolVersion) => found.get(name)!.versions[version]
  expect(of('Java: only SSLv3', 'ssl3')).toMatchObject({
    order: 'server',
    suites: [{ name: 'TLS_RSA_WITH_RC4_128_SHA' }, { name: 'TLS_RSA_WITH_AES_128_CBC_SHA' }],
  })
  expect(of('Java: everything', 'ssl3')).toMatchObject({ status: 'offered', complete: true })
  expect(of('OpenSSL: DHE with 1024 bits', '1.2')).toMatchObject({
    suites: [{ ephemeral: { kind: 'dh', bits: 1024, group: null } }],
  })
  expect([of('OpenSSL: everything', '1.2'), of('OpenSSL: no forward secrecy', '1.2')]).toMatchObject([
    { order: 'client' },
    { order: 'server' },
  ])
  expect(found.get('OpenSSL: modern')!.staple).toEqual(new Uint8Array(readFileSync(certificates.keys.ocspResponse)))
  expect(found.get('OpenSSL: one curve')!.staple).toBe(false)
  expect(found.get('OpenSSL: one curve')!.groups.map(one => one.name)).toEqual(['secp384r1'])
  expect(found.get('OpenSSL: only TLS 1.3')).toMatchObject({ secure_renegotiation: null, compression: null, staple: null })
})
