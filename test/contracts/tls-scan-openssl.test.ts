import { afterAll, beforeAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerProcess } from '../support/server-process'
import { scanLocal, suitesFound } from '../support/tls-scan'
import { openSslServer, serverKeys, suitesOfOpenSsl, type ServerKeys } from '../support/tls-servers'

// The scan finds what OpenSSL says it accepts. More servers are in test/real/tls-matrix.test.ts.

const everything = 'ALL:@SECLEVEL=0'
const cases: [name: string, key: 'rsa' | 'ec', others: RegExp, options: string[], ciphers: string][] = [
  ['everything with RSA', 'rsa', /_(ECDSA|DSS|PSK)_/, ['-min_protocol', 'TLSv1', '-cipher', everything], everything],
  ['everything with EC', 'ec', /_(RSA|DSS|PSK)_/, ['-min_protocol', 'TLSv1', '-cipher', everything, '-serverpref'], everything],
  ['what is modern', 'ec', /_RSA_/, ['-min_protocol', 'TLSv1.2', '-cipher', 'ECDHE+AESGCM'], 'ECDHE+AESGCM'],
]
const versions = { '1.0': '-tls1', '1.1': '-tls1_1', '1.2': '-tls1_2', '1.3': '-tls1_3' }

let keys: ServerKeys
let servers: ServerProcess[] = []
beforeAll(async () => {
  keys = await serverKeys()
  servers = await Promise.all(
    cases.map(([, key, , options]) => openSslServer(['-cert', keys.file(key, 'pem'), '-key', keys.file(key, 'key'), ...options])),
  )
})
afterAll(async () => {
  await Promise.all(servers.map(one => one.stop()))
  keys?.[Symbol.dispose]()
})

test('a chain that contains itself is read as it was sent', async () => {
  const file = (kind: 'rsa' | 'ec') => readFileSync(keys.file(kind, 'pem'), 'utf8')
  const chain = keys.file('rsa', 'pem').replace('rsa.pem', 'circle.pem')
  writeFileSync(chain, file('ec') + file('rsa') + file('ec'))
  const server = await openSslServer(['-cert', keys.file('rsa', 'pem'), '-key', keys.file('rsa', 'key'), '-cert_chain', chain])
  servers.push(server)
  const der = (kind: 'rsa' | 'ec') => new Uint8Array(new X509Certificate(file(kind)).raw)
  const [rsa, ec] = [der('rsa'), der('ec')]
  // The chain is read with node:tls in TLS 1.3, and from the handshake in TLS 1.2.
  expect((await scanLocal(server.ports[0]!)).chains).toEqual([
    { certificates: [rsa, ec, rsa, ec], count: 4, versions: ['1.2', '1.3'], authentications: ['rsa', 'any'] },
  ])
})

test.each(cases)('OpenSSL offers %s', async (name, _, others, __, ciphers) => {
  const facts = await scanLocal(servers[cases.findIndex(one => one[0] === name)]!.ports[0]!)
  const accepted: Record<string, string[]> = {}
  for (const [version, option] of Object.entries(versions)) {
    if (name === 'what is modern' && version < '1.2') continue
    const suites = await suitesOfOpenSsl(ciphers, option)
    accepted[version] = suites.filter(one => version === '1.3' || !others.test(one)).sort()
  }
  expect(suitesFound(facts)).toEqual(accepted)
  expect(facts).toMatchObject({ errors: [], secure_renegotiation: true, compression: false, staple: false, http: null })
  expect(facts.groups.map(one => one.name)).toContain('x25519')
  expect(facts.chains).toHaveLength(1)
  expect<string[]>(facts.chains[0]!.versions.toSorted()).toEqual(Object.keys(accepted))
  expect(facts.versions['1.2']).toMatchObject({ order: name === 'everything with EC' ? 'server' : 'client', complete: true })
})
