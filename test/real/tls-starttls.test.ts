import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProtocolVersion } from '../../src/checks/tls-probe/facts'
import { startTlsServers } from '../support/starttls-servers'
import { serverKeys, type ServerKeys } from '../support/tls-servers'
import { scanLocal } from '../support/tls-scan'

// The certificate and suites of servers with STARTTLS, as found by OpenSSL’s client.

const startTls = ['smtp', 'imap', 'pop3', 'sieve', 'ldap', 'mysql', 'xmpp', 'postgres'] as const

let keys: ServerKeys
let running: Awaited<ReturnType<typeof startTlsServers>>
beforeAll(async () => {
  keys = await serverKeys()
  running = await startTlsServers(keys)
})
afterAll(async () => {
  await running?.stop()
  keys?.[Symbol.dispose]()
})

test.each(startTls)('STARTTLS: %s', async protocol => {
  const { port } = running.servers.find(one => one.protocol === protocol)!
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
