import { createPrivateKey } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, linkSync, mkdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, createServer as createTlsServer } from 'node:tls'
import { collectCertificates, storeForAgent, type CollectedCertificates } from '../../src/agent/certificates/collect'
import { startTls } from '../../src/agent/certificates/start-tls'
import { createKey, installCertificate } from '../../src/agent/root/certificates'
import { Root } from '../../src/agent/sample/root'
import { parseCsr } from '../../src/features/acme/managed-certificates/csr'
import { AgentCertificates } from '../../src/wire/agent-certificates'
import { certificateLimits, maxReportBytes } from '../../src/wire/agent-limits'
import { AgentHub } from '../support/agent-hub'
import { MachineFiles } from '../support/machine-files'
import { ownCertificate, type OwnCertificate } from '../support/own-certificate'

// The certificates that the program finds, in folders and on ports of a test.

const dayMs = 86_400_000
const now = Date.now()
let machine: MachineFiles
beforeEach(() => {
  machine = new MachineFiles()
  machine.write({ 'etc/passwd': `owner:x:${process.getuid!()}:0::/root:/bin/sh\nnone:x:4242:4242::/nonexistent:/bin/false\n` })
})
afterEach(() => machine[Symbol.dispose]())

const issued = (name: string, more: Partial<Parameters<typeof ownCertificate>[0]> = {}): OwnCertificate =>
  ownCertificate({ names: [name], from: now - dayMs, until: now + 89 * dayMs, ...more })

async function collect(own: readonly string[] | null = [], withoutTls: string[] = []): Promise<CollectedCertificates> {
  const found = await collectCertificates({
    ...{ root: new Root(machine.folder), own, resultFile: join(machine.folder, 'result.json'), withoutTls: new Set(withoutTls) },
    now: Date.now(),
  })
  expect([...Value.Errors(AgentCertificates, found.certificates)].map(one => `${one.path} ${one.message}`)).toEqual([])
  return found
}
const files = async (own: readonly string[] = []) => (await collect(own)).certificates.files

test('files of certbot are found through their links, with the key and the services that use them', async () => {
  const shop = issued('shop.example.com')
  const live = 'etc/letsencrypt/live/shop.example.com'
  machine.write({
    'etc/letsencrypt/archive/shop.example.com/fullchain1.pem': shop.pem,
    'etc/letsencrypt/archive/shop.example.com/privkey1.pem': shop.key,
    [`${live}/fullchain.pem`]: '→ ../../archive/shop.example.com/fullchain1.pem',
    [`${live}/privkey.pem`]: '→ ../../archive/shop.example.com/privkey1.pem',
    'etc/nginx/sites-available/shop': `
      server { # comment {
        server_name shop.example.com www.shop.example.com;
        ssl_certificate "/${live}/fullchain.pem"; ssl_certificate_key /${live}/privkey.pem;
      }`,
    'etc/nginx/sites-enabled/shop': '→ ../sites-available/shop',
    'etc/nginx/nginx.conf': 'http { ssl_certificate $variable; }',
  })
  chmodSync(join(machine.folder, 'etc/letsencrypt/archive/shop.example.com/privkey1.pem'), 0o600)
  utimesSync(join(machine.folder, 'etc/letsencrypt/archive/shop.example.com/fullchain1.pem'), 1_795_000_000, 1_795_000_000)
  chmodSync(join(machine.folder, 'etc/letsencrypt/archive/shop.example.com/fullchain1.pem'), 0o644)
  const owner = 'owner'
  expect(await files()).toEqual([
    {
      ...{ path: `/${live}/fullchain.pem`, kind: 'certbot', chain: [shop.sha256], modified_at: 1_795_000_000_000, mode: '0644' },
      ...{ owner, references: ['nginx: shop.example.com', 'nginx: www.shop.example.com'], error: null },
      key: { path: `/${live}/privkey.pem`, mode: '0600', owner, matches: true },
    },
  ])
  machine.write({ 'etc/letsencrypt/archive/shop.example.com/privkey1.pem': issued('other.example.com').key })
  expect(await files()).toMatchObject([{ key: { matches: false } }])
  machine.write({ 'etc/letsencrypt/archive/shop.example.com/privkey1.pem': 'no key' })
  expect(await files()).toMatchObject([{ key: { matches: null } }])
})

test('the directives of web and mail servers are read', async () => {
  const names = ['apache', 'haproxy', 'postfix', 'dovecot', 'exim', 'folder']
  for (const name of names) machine.write({ [`opt/tls/${name}.pem`]: issued(`${name}.example.com`).pem })
  machine.write({
    'etc/apache2/sites-enabled/a.conf':
      '<VirtualHost *:443>\n ServerName apache.example.com\n ServerAlias *.apache.example.com\n SSLCertificateFile "/opt/tls/apache.pem"\n</VirtualHost>\n',
    'etc/haproxy/haproxy.cfg': 'frontend a\n  bind :443 ssl crt /opt/tls/haproxy.pem crt /opt/folder/ alpn h2\n',
    'opt/folder/a.pem': issued('folder.example.com').pem,
    'opt/tls/snippet.pem': issued('snippet.example.com').pem,
    'etc/nginx/snippets/tls.conf': 'ssl_certificate /opt/tls/snippet.pem;\n',
    'etc/postfix/main.cf':
      'myhostname = mail.example.com\nsmtpd_tls_cert_file =\n  /opt/tls/postfix.pem\n#smtpd_tls_key_file = /none\n',
    'etc/dovecot/conf.d/10-ssl.conf': 'ssl_cert = </opt/tls/dovecot.pem\n',
    'etc/exim4/exim4.conf.localmacros': 'MAIN_TLS_CERTIFICATE = /opt/tls/exim.pem\n',
  })
  expect((await files()).map(({ path, kind, references }) => [path, kind, ...references]).sort()).toEqual([
    ['/opt/folder/a.pem', 'haproxy', 'haproxy'],
    ['/opt/tls/apache.pem', 'apache', 'apache: *.apache.example.com', 'apache: apache.example.com'],
    ['/opt/tls/dovecot.pem', 'dovecot', 'dovecot'],
    ['/opt/tls/exim.pem', 'exim', 'exim'],
    ['/opt/tls/haproxy.pem', 'haproxy', 'haproxy'],
    ['/opt/tls/postfix.pem', 'postfix', 'postfix: mail.example.com'],
    ['/opt/tls/snippet.pem', 'nginx', 'nginx'],
  ])
})

test('folders of other programs, own patterns, and files with several certificates are read', async () => {
  const [acme, traefik, mine] = [issued('acme.example.com'), issued('traefik.example.com'), issued('mine.example.com')]
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const stored = [{ domain: { main: 'traefik.example.com' }, certificate: base64(traefik.pem), key: base64(traefik.key) }]
  const intermediate = issued('CA')
  machine.write({
    'root/.acme.sh/acme.example.com_ecc/fullchain.cer': acme.pem + intermediate.pem,
    'root/.acme.sh/acme.example.com_ecc/acme.example.com.key': acme.key,
    'etc/traefik/acme.json': JSON.stringify({ letsencrypt: { Certificates: stored }, other: null }),
    'srv/app/cert.pem': mine.key + mine.pem,
    'srv/.hidden/cert.pem': mine.pem,
  })
  expect(await files(['srv/*/cert.pem', 'srv/missing.pem'])).toMatchObject([
    { path: '/etc/traefik/acme.json#traefik.example.com', kind: 'traefik', chain: [traefik.sha256], key: { matches: true } },
    { kind: 'acme_sh', chain: [acme.sha256, intermediate.sha256], key: { matches: true } },
    { path: '/srv/app/cert.pem', kind: 'configured', key: { path: '/srv/app/cert.pem', matches: true } },
    { path: '/srv/missing.pem', chain: [], error: 'The file does not exist.' },
  ])
})

test('what is no certificate does no harm', async () => {
  const shop = issued('shop.example.com')
  const folder = join(machine.folder, 'srv/certs')
  machine.write({ 'srv/certs/good.pem': shop.pem, 'srv/certs/key.pem': shop.key, 'srv/outside.pem': issued('outside').pem })
  machine.write({ 'srv/certs/link.pem': '→ ../outside.pem', 'srv/certs/loop.pem': '→ loop.pem', 'srv/certs/gone.pem': '→ none' })
  machine.write({ 'srv/certs/device.pem': '→ /dev/zero', 'srv/certs/damaged.pem': shop.pem.replace(/[A-Z]/g, 'A') })
  machine.write({ 'srv/certs/bundle.pem': shop.pem.repeat(certificateLimits.chain + 1) })
  expect(Bun.spawnSync(['mkfifo', join(folder, 'fifo.pem')]).success).toBe(true)
  writeFileSync(join(folder, 'large.pem'), '')
  truncateSync(join(folder, 'large.pem'), 2 * 2 ** 30)
  mkdirSync(join(folder, 'folder.pem'))
  const found = await collect(['srv/certs/*.pem'])
  expect(found.certificates.files.map(({ path, error, chain }) => [path, error, chain.length])).toEqual([
    ['/srv/certs/device.pem', 'It is a link to a file outside of its folder, which is not followed.', 0],
    ['/srv/certs/fifo.pem', 'It is not a regular file.', 0],
    ['/srv/certs/good.pem', null, 1],
    ['/srv/certs/large.pem', 'It is larger than 1 MiB.', 0],
    ['/srv/certs/link.pem', 'It is a link to a file outside of its folder, which is not followed.', 0],
    ['/srv/certs/loop.pem', 'It can’t be read: ELOOP.', 0],
  ])
})

test('a folder with 10,000 files is not read as a whole, and only as many certificates are reported as fit into a report', async () => {
  const folder = 'etc/haproxy/certs'
  machine.write({ [`${folder}/a.pem`]: 'nothing' })
  for (let at = 0; at < 10_000; at++) linkSync(join(machine.folder, folder, 'a.pem'), join(machine.folder, folder, `${at}.pem`))
  expect(await files()).toMatchObject([
    { path: `/${folder}`, error: 'It has more than 2000 files. Only the first ones are read.' },
  ])
  machine.remove(folder)
  const many = Array.from({ length: 501 }, (_, at) => [`${folder}/${at}.pem`, issued(`n${at}.example.com`).pem])
  machine.write(Object.fromEntries(many))
  const { certificates, problems } = await collect()
  expect(certificates.files.length).toBe(certificateLimits.files)
  expect(problems).toEqual([`Only ${certificateLimits.files} files with certificates are reported.`])
  expect(Bun.gzipSync(JSON.stringify(certificates)).length).toBeLessThan(maxReportBytes.compressed * 0.75)
  machine.remove(folder)
  const sizes = Array.from({ length: 60 }, (_, at) => [`${folder}/${at}.pem`, issued('a', { padding: 12_000 }).pem])
  machine.write(Object.fromEntries(sizes))
  const large = await collect()
  expect(large.problems).toEqual(['Not all certificates are reported, because there are too many.'])
  expect(Bun.gzipSync(JSON.stringify(large.certificates)).length).toBeLessThan(maxReportBytes.compressed * 0.75)
}, 180_000)

test('what root has read is used while it is recent, and nothing is looked for if the owner of the server doesn’t want it', async () => {
  const shop = issued('shop.example.com')
  machine.write({ 'srv/cert.pem': shop.pem + shop.key })
  const result = join(machine.folder, 'result.json')
  storeForAgent(new Root(machine.folder), ['srv/cert.pem'], result)
  expect(await Bun.file(result).text()).not.toContain('PRIVATE KEY')
  machine.remove('srv')
  expect(await files(['srv/cert.pem'])).toMatchObject([{ chain: [shop.sha256], key: { matches: true } }])
  const old = (Date.now() - 8 * 3_600_000) / 1000
  utimesSync(result, old, old)
  expect(await files(['srv/cert.pem'])).toMatchObject([{ error: 'The file does not exist.' }])
  expect(await collect(null)).toEqual({
    certificates: { files: [], served: [], certificates: [] },
    ...{ problems: [], without_tls: [] },
  })
})

test('the key of an install profile belongs to its certificate, wherever it is', async () => {
  const web = issued('web.example.com')
  machine.write({ 'etc/tls/web.pem': web.pem, 'etc/keys/web.key': web.key, 'srv/other.key': web.key })
  const own = ['etc/tls/web.pem']
  const keyAt = async (path: string) => {
    const keys = new Map([[own[0]!, path]])
    const { certificates } = await collectCertificates({
      ...{ root: new Root(machine.folder), own, keys, resultFile: join(machine.folder, 'none'), withoutTls: new Set() },
      now: Date.now(),
    })
    return certificates.files[0]!.key
  }
  expect(await keyAt('etc/keys/web.key')).toMatchObject({ path: '/etc/keys/web.key', matches: true })
  machine.write({ 'etc/keys/link.key': '→ ../../srv/other.key' })
  expect(await keyAt('etc/keys/link.key')).toMatchObject({ path: '/etc/keys/link.key', matches: null })
  expect(await keyAt('etc/keys/gone.key')).toBeNull()
})

test('the program sends no byte of a private key', async () => {
  const all = ['certbot', 'haproxy', 'traefik', 'mine', 'key'].map(name => issued(`${name}.example.com`))
  const [certbot, haproxy, traefik, mine, alone] = all as [OwnCertificate, ...OwnCertificate[]]
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const stored = [{ domain: { main: 'a' }, certificate: base64(traefik!.pem), key: base64(traefik!.key) }]
  machine.write({
    'etc/letsencrypt/live/a/fullchain.pem': certbot.pem,
    'etc/letsencrypt/live/a/privkey.pem': certbot.key,
    'etc/haproxy/certs/a.pem': haproxy!.key + haproxy!.pem,
    'etc/traefik/acme.json': JSON.stringify({ a: { Certificates: stored } }),
    'srv/a.pem': mine!.pem + mine!.key,
    'srv/key.pem': alone!.key,
    'etc/hostname': 'web-1',
  })
  await using hub = new AgentHub(() => Date.now())
  const config = join(machine.folder, 'agent.conf')
  const folders = [`root = ${machine.folder}`, `state_folder = ${machine.folder}/state`, `runtime_folder = ${machine.folder}/run`]
  writeFileSync(config, [`hub = ${hub.url}`, ...folders, 'certificates = /srv/*.pem'].join('\n'))
  // One key of the root half is in a certificate, and another one is not yet.
  const request = { names: ['agent.example.com'], key_type: 'ec-256' as const, install_profile: 'web' }
  const root = { state: `${machine.folder}/state-root` }
  const requests = [await createKey(root, request), await createKey(root, request)]
  const ours = issued('agent.example.com', { spki: Buffer.from(parseCsr(requests[0]!).spki) })
  const [certificate, key] = [join(machine.folder, 'srv/installed.pem'), join(machine.folder, 'srv/installed.key')]
  const profile = { certificate, key, user: '0', group: '0', mode: 0o600, load: null }
  const install = { chain: ours.pem, fingerprint: ours.sha256, install_profile: 'web' }
  expect(await installCertificate(null as never, root, profile, install)).toEqual({ isDone: true, note: null })
  const [waiting] = [...new Bun.Glob('**/*.key').scanSync({ cwd: root.state, absolute: true })]
  const keys = [...all.map(one => one.key), readFileSync(key, 'utf8'), readFileSync(waiting!, 'utf8')]
  const agent = async (...args: string[]) => {
    const run = Bun.spawn([process.execPath, 'src/bin/agent.ts', ...args, '--config', config], { stdout: 'pipe', stderr: 'pipe' })
    expect([await run.exited, await new Response(run.stderr).text()]).toEqual([0, ''])
    return await new Response(run.stdout).text()
  }
  await agent('enrol', '--key', `bw_enrol_${'k'.repeat(36)}`)
  await agent('send-once')
  const [report] = hub.reports
  expect(report!.certificates!.files.map(one => one.key?.matches)).toEqual([true, true, true, true, undefined])
  const printed = await agent('certificates')
  expect(JSON.parse(printed).certificates.files).toEqual(report!.certificates!.files)
  const sent = [...hub.bodies, printed, ...requests].join('\n')
  expect(sent).toContain(mine!.base64)
  expect(sent).toContain(ours.base64)
  expect(sent).not.toContain('PRIVATE KEY')
  for (const key of keys)
    for (const form of formsOf(Buffer.from(createPrivateKey(key).export({ format: 'jwk' }).d!, 'base64url')))
      expect(sent).not.toContain(form)
}, 180_000)

/** How secret bytes can be written: in hexadecimal, and in base64 at each position within other bytes. */
const formsOf = (secret: Buffer): string[] => [
  secret.toString('hex'),
  ...[0, 1, 2].map(before =>
    Buffer.concat([Buffer.alloc(before), secret])
      .toString('base64')
      .slice(4, -6),
  ),
]

/** Lets the machine of the test listen on these ports only. */
function listens(...servers: Server[]): void {
  const line = (server: Server, at: number) => {
    const port = (server.address() as { port: number }).port.toString(16).toUpperCase().padStart(4, '0')
    return `   ${at}: 0100007F:${port} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 ${1000 + at} 1 0000000000000000 100 0 0 10 0`
  }
  const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
  machine.write({ 'proc/1/net/tcp': header + servers.map(line).join('\n') + '\n' })
  machine.write({ 'proc/1/ns/net': '→ ' + (new Root('/').link('proc/self/ns/net') ?? '') })
}

const listening = <T extends Server>(server: T): Promise<T> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))

test('ports present certificates for each name, and those without TLS are asked only once', async () => {
  const [main, shop] = [issued('main.example.com'), issued('shop.example.com')]
  machine.write({ 'etc/haproxy/certs/main.pem': main.pem, 'etc/haproxy/certs/shop.pem': shop.pem })
  const web = await listening(
    createTlsServer({
      ...{ cert: main.pem, key: main.key },
      SNICallback: (name, done) =>
        done(null, name === 'shop.example.com' ? createSecureContext({ cert: shop.pem, key: shop.key }) : undefined),
    }),
  )
  web.on('tlsClientError', () => {})
  let connections = 0
  const echo = await listening(
    createServer(socket => {
      connections++
      socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    }),
  )
  // It accepts connections, but never sends anything.
  const silent = await listening(createServer(socket => socket.on('error', () => {})))
  try {
    listens(web, echo, silent)
    const { certificates, without_tls } = await collect()
    const row = {
      address: '127.0.0.1',
      port: (web.address() as { port: number }).port,
      process: null,
      starttls: null,
      error: null,
    }
    expect(certificates.served).toEqual([
      { ...row, sni: null, protocol: '1.3', chain: [main.sha256] },
      { ...row, sni: 'main.example.com', protocol: '1.3', chain: [main.sha256] },
      { ...row, sni: 'shop.example.com', protocol: '1.3', chain: [shop.sha256] },
    ])
    // The one that did not respond may use TLS.
    expect([without_tls, connections]).toEqual([['1001'], 1])
    listens(web, echo)
    expect((await collect([], without_tls)).without_tls).toEqual(['1001'])
    expect(connections).toBe(1)
  } finally {
    for (const server of [web, echo, silent]) server.close()
  }
}, 180_000)

test.each([
  ['smtp', ['220-mail\r\n220 ready\r\n', '250-mail\r\n250 STARTTLS\r\n', '220 go\r\n'], 'EHLO localhost\r\nSTARTTLS\r\n'],
  ['imap', ['* OK ready\r\n', '* CAPABILITY a\r\na OK go\r\n'], 'a STARTTLS\r\n'],
  ['pop3', ['+OK ready\r\n', '+OK go\r\n'], 'STLS\r\n'],
  ['postgres', ['', 'S'], '\0\0\0\b\x04\xd2\x16/'],
] as const)('%s switches to TLS, or not', async (protocol, responses, expected) => {
  for (const agrees of [true, false]) {
    let received = ''
    const waiting: string[] = [...responses]
    const refusal = { smtp: '454 no\r\n', imap: 'a NO no\r\n', pop3: '-ERR no\r\n', postgres: 'N' }[protocol]
    const server = await listening(
      createServer(socket => {
        socket.on('error', () => {}).write(waiting.shift()!)
        socket.on('data', bytes => {
          received += bytes.toString('latin1')
          const response = waiting.shift()!
          socket.write(waiting.length === 0 && !agrees ? refusal : response)
        })
      }),
    )
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
    try {
      const switched = startTls(socket, protocol)
      if (agrees) await switched
      else await expect(switched).rejects.toThrow('The server does not offer TLS.')
      expect(received).toBe(expected)
    } finally {
      socket.destroy()
      server.close()
    }
  }
})
