import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { AddressFacts, ProtocolVersion } from '../../src/checks/tls-probe/facts'
import { startTlsServers } from '../support/starttls-servers'
import { javaServers, openSslServer, serverKeys, type ServerKeys } from '../support/tls-servers'
import { scanLocal } from '../support/tls-scan'
import type { ServerProcess } from '../support/server-process'

// Suites as found by Debian's sslscan, on servers of OpenSSL and Java. It does not know versions before TLS 1.0.

const all = ['-cipher', 'ALL:@SECLEVEL=0']
const openSslServers: [name: string, key: 'rsa' | 'ec', ...options: string[]][] = [
  ['only ECDHE', 'rsa', '-tls1_2', '-cipher', 'ECDHE+AESGCM:ECDHE+CHACHA20'],
  ['modern', 'ec', '-min_protocol', 'TLSv1.2', '-cipher', 'ECDHE+AESGCM:ECDHE+CHACHA20', '-status_file', 'OCSP_RESPONSE'],
  ['everything', 'rsa', '-min_protocol', 'TLSv1', ...all],
  ['no forward secrecy', 'rsa', '-tls1_2', '-cipher', 'AES256-GCM-SHA384:AES128-GCM-SHA256', '-serverpref'],
  ['only CBC', 'rsa', '-tls1_2', '-cipher', 'ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA256'],
  ['anonymous', 'rsa', '-tls1_2', '-cipher', 'ADH-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:@SECLEVEL=0'],
  ['no encryption', 'rsa', '-tls1_2', '-cipher', 'ECDHE-RSA-AES256-GCM-SHA384:NULL-SHA256:@SECLEVEL=0'],
  ['only TLS 1.3', 'rsa', '-tls1_3', '-ciphersuites', 'TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256:TLS_AES_128_GCM_SHA256'],
  ['only TLS 1.1', 'rsa', '-tls1_1', ...all],
  ['weak prime', 'rsa', '-tls1_2', '-cipher', 'DHE-RSA-AES256-GCM-SHA384:@SECLEVEL=0', '-dhparam', 'WEAK_PRIME'],
  ['one curve', 'ec', '-min_protocol', 'TLSv1.2', '-groups', 'P-384'],
]
const gcm = 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'
const javaSettings: [name: string, protocols: string, suites: string][] = [
  ['3DES', 'TLSv1.2', `${gcm},TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA`],
  ['RC4', 'TLSv1,TLSv1.1,TLSv1.2', `${gcm},TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,SSL_RSA_WITH_RC4_128_SHA`],
  ['only SSLv3', 'SSLv3', 'SSL_RSA_WITH_RC4_128_SHA,TLS_RSA_WITH_AES_128_CBC_SHA'],
  ['export and DES', 'TLSv1,TLSv1.2', `${gcm},SSL_RSA_EXPORT_WITH_RC4_40_MD5,SSL_RSA_WITH_DES_CBC_SHA`],
  ['SSLv3 to TLS 1.3', 'SSLv3,TLSv1,TLSv1.2,TLSv1.3', `TLS_AES_256_GCM_SHA384,${gcm},TLS_RSA_WITH_AES_128_CBC_SHA`],
  ['everything', 'SSLv3,TLSv1,TLSv1.1,TLSv1.2,TLSv1.3', 'all'],
]

const startTls = ['smtp', 'imap', 'pop3', 'sieve', 'ldap', 'mysql', 'xmpp', 'postgres'] as const

let keys: ServerKeys
let others: Awaited<ReturnType<typeof startTlsServers>>
const running: ServerProcess[] = []
/** Ports by name. */
const ports = new Map<string, number>()
/** What the scans have found, by name. */
const found = new Map<string, AddressFacts>()
beforeAll(async () => {
  keys = await serverKeys()
  const withOthers = startTlsServers(keys)
  const withJava = javaServers(
    keys,
    javaSettings.map(([, protocols, suites]) => [protocols, suites]),
  )
  const servers = await Promise.all(
    openSslServers.map(([, key, ...options]) =>
      openSslServer([
        ...['-cert', keys.file(key, 'pem'), '-key', keys.file(key, 'key')],
        ...options.map(one => (one === 'WEAK_PRIME' ? keys.weakPrime : one === 'OCSP_RESPONSE' ? keys.ocspResponse : one)),
      ]),
    ),
  )
  running.push(...servers, await withJava)
  others = await withOthers
  servers.forEach((one, at) => ports.set(`OpenSSL: ${openSslServers[at]![0]}`, one.ports[0]!))
  javaSettings.forEach(([name], at) => ports.set(`Java: ${name}`, running.at(-1)!.ports[at]!))
})
afterAll(async () => {
  await Promise.all([...running, others].map(one => one?.stop()))
  keys?.[Symbol.dispose]()
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

test.each([...openSslServers.map(([name]) => `OpenSSL: ${name}`), ...javaSettings.map(([name]) => `Java: ${name}`)])(
  '%s',
  async name => {
    const scanned = await scanLocal(ports.get(name)!)
    expect(scanned.speaks_tls).toBe(true)
    found.set(name, scanned)
    expect(foundHere(scanned)).toEqual(await foundBySslscan(ports.get(name)!))
  },
)

test('what sslscan does not tell', () => {
  const of = (name: string, version: ProtocolVersion) => found.get(name)!.versions[version]
  expect(of('Java: only SSLv3', 'ssl3')).toMatchObject({
    order: 'server',
    suites: [{ name: 'TLS_RSA_WITH_RC4_128_SHA' }, { name: 'TLS_RSA_WITH_AES_128_CBC_SHA' }],
  })
  expect(of('Java: everything', 'ssl3')).toMatchObject({ status: 'offered', complete: true })
  expect(of('OpenSSL: weak prime', '1.2')).toMatchObject({ suites: [{ ephemeral: { kind: 'dh', bits: 1024, group: null } }] })
  expect([of('OpenSSL: everything', '1.2'), of('OpenSSL: no forward secrecy', '1.2')]).toMatchObject([
    { order: 'client' },
    { order: 'server' },
  ])
  expect(found.get('OpenSSL: modern')!.staple).toEqual(new Uint8Array(readFileSync(keys.ocspResponse)))
  expect(found.get('OpenSSL: one curve')!.staple).toBe(false)
  expect(found.get('OpenSSL: one curve')!.groups.map(one => one.name)).toEqual(['secp384r1'])
  expect(found.get('OpenSSL: only TLS 1.3')).toMatchObject({ secure_renegotiation: null, compression: null, staple: null })
})

test.each(startTls)('STARTTLS: %s', async protocol => {
  const { port } = others.servers.find(one => one.protocol === protocol)!
  const facts = await scanLocal(port, { protocol })
  expect(facts).toMatchObject({ errors: [], speaks_tls: true, http: null })
  // What OpenSSL's client gets is among what the scan found.
  const run = Bun.spawn(
    [
      'openssl',
      's_client',
      '-connect',
      `127.0.0.1:${port}`,
      '-starttls',
      protocol,
      '-xmpphost',
      'a.test',
      '-servername',
      'a.test',
    ],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  )
  const output = await new Response(run.stdout).text()
  const [, version, suite] = /^New, TLSv([\d.]+), Cipher is (\S+)$/m.exec(output) ?? []
  const ofVersion = facts.versions[version as ProtocolVersion]
  expect(ofVersion.status === 'offered' && ofVersion.suites.map(one => one.name)).toContain(suite!)
  const [, base64] = /-----BEGIN CERTIFICATE-----([^-]+)-----END/.exec(output) ?? []
  expect(facts.chains.map(one => Buffer.from(one.certificates[0]!))).toEqual([Buffer.from(base64!, 'base64')])
})
