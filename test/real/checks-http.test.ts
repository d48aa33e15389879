import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer as createPlain, connect, type AddressInfo } from 'node:net'
import { createServer } from 'node:https'
import type { Facts } from '../../src/checks/check'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { tls } from '../../src/checks/tls'
import { checkContext } from '../support/check-context'
import { startBlackbox, type Blackbox } from '../support/blackbox'
import { certificateChain, type CertificateChain } from '../support/certificate-chain'
import { freePort } from '../support/free-port'
import { startServer, type ServerProcess } from '../support/server-process'

// HTTP checks of nginx, compared with blackbox_exporter: same targets, same outcomes, same measurements.

const folder = new URL('../fixtures/tls/', import.meta.url).pathname
const fixture = (name: string) => readFileSync(folder + name, 'utf8')
const ca = fixture('ca.pem')
const longBody = 'All is well. '.repeat(200)

/** nginx servers by their configuration; each has its own port. */
const shows = ['plain', 'two-names', 'expired', 'self-signed', 'old', 'client', 'chain'] as const
type Shown = (typeof shows)[number]

let nginx: ServerProcess
let blackbox: Blackbox
let chain: CertificateChain
let refused: number
const port = (shown: Shown) => nginx.ports[shows.indexOf(shown)]!

function configuration(at: string, ports: number[]): string {
  const certificate = (name: string, more = '') => `ssl_certificate ${name}.pem; ssl_certificate_key ${name}.key; ${more}`
  const says: Record<Shown, string> = {
    plain: '',
    'two-names': certificate(`${folder}two-names`),
    expired: certificate(`${folder}expired`),
    'self-signed': certificate(`${folder}self-signed`),
    old: certificate(`${folder}two-names`, 'ssl_protocols TLSv1; ssl_ciphers DEFAULT:@SECLEVEL=0;'),
    client: certificate(`${folder}two-names`, `ssl_verify_client on; ssl_client_certificate ${folder}ca.pem;`),
    chain: certificate(`${at}/chain`),
  }
  const servers = shows.map(
    (shown, place) => `server {
      listen 127.0.0.1:${ports[place]}${shown === 'plain' ? '' : ' ssl http2'};
      ${says[shown]}
      absolute_redirect off; default_type text/plain;
      gzip on; gzip_min_length 1; gzip_types text/plain;
      location = /ok { return 200 "ok"; }
      location = /long { return 200 "${longBody}"; }
      location = /missing { return 404; }
      location = /broken { return 503; }
      location = /once { return 302 /ok; }
      location = /twice { return 307 /once; }
      location = /loop { return 302 /loop; }
      location = /cookie { add_header Set-Cookie "seen=1; Path=/"; return 302 /seen; }
      location = /seen { if ($cookie_seen != 1) { return 403; } return 200 "seen"; }
      location = /secret { auth_basic "here"; auth_basic_user_file ${at}/users; try_files /none =204; }
      location = /post { if ($request_method != POST) { return 405; } return 201 "made"; }
    }`,
  )
  return `daemon off; pid nginx.pid; error_log stderr crit; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 256; }
    http { access_log off; ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(one => `${one}_temp_path ${at}/${one};`).join(' ')}
    ${servers.join('\n')} }`
}

/** Our options, and the equivalent module of the exporter. */
interface Case {
  shown: Shown | 'refused'
  path: string
  options: HttpOptions
  module: object
  up: boolean
  /** Use TLS, whatever the server offers. */
  scheme?: 'https' | 'http'
  host?: string
}

const trusting = { server_name: 'a.test', ca_file: `${folder}ca.pem` }
const blind = { tls_config: { insecure_skip_verify: true } }
const cases: Record<string, Case> = {
  'a response with 200': { shown: 'plain', path: '/ok', options: {}, module: {}, up: true },
  'a response with 404': { shown: 'plain', path: '/missing', options: {}, module: {}, up: false },
  'an accepted response with 404': {
    shown: 'plain',
    path: '/missing',
    options: { accepted_status_codes: ['404'] },
    module: { valid_status_codes: [404] },
    up: true,
  },
  'a response with 503': { shown: 'plain', path: '/broken', options: {}, module: {}, up: false },
  'a redirect': { shown: 'plain', path: '/once', options: {}, module: {}, up: true },
  'two redirects': { shown: 'plain', path: '/twice', options: {}, module: {}, up: true },
  'a redirect that is not followed': {
    shown: 'plain',
    path: '/once',
    options: { follow_redirects: false },
    module: { follow_redirects: false },
    up: false,
  },
  'endless redirects': { shown: 'plain', path: '/loop', options: {}, module: {}, up: false },
  'a cookie on the way': { shown: 'plain', path: '/cookie', options: {}, module: {}, up: true },
  'a gzip body': {
    shown: 'plain',
    path: '/long',
    options: { compression: 'gzip' },
    module: { compression: 'gzip', headers: { 'Accept-Encoding': 'gzip' }, fail_if_body_not_matches_regexp: ['^All is well'] },
    up: true,
  },
  'a POST': {
    shown: 'plain',
    path: '/post',
    options: { method: 'POST', body: 'a=1', body_encoding: 'form' },
    module: { method: 'POST', body: 'a=1' },
    up: true,
  },
  'a GET where POST is required': { shown: 'plain', path: '/post', options: {}, module: {}, up: false },
  'valid credentials': {
    shown: 'plain',
    path: '/secret',
    options: { auth: { type: 'basic', username: 'probe', password: 'changeme' } },
    module: { basic_auth: { username: 'probe', password: 'changeme' } },
    up: true,
  },
  'wrong credentials': {
    shown: 'plain',
    path: '/secret',
    options: { auth: { type: 'basic', username: 'probe', password: 'other' } },
    module: { basic_auth: { username: 'probe', password: 'other' } },
    up: false,
  },
  'no TLS where it is required': {
    shown: 'plain',
    path: '/ok',
    options: { tls: 'required' },
    module: { fail_if_not_ssl: true },
    up: false,
  },
  'an expected header': {
    shown: 'plain',
    path: '/ok',
    options: { expected_headers: { 'Content-Type': 'text/*' } },
    module: { fail_if_header_not_matches: [{ header: 'Content-Type', regexp: '^text/' }] },
    up: true,
  },
  'an unexpected header': {
    shown: 'plain',
    path: '/ok',
    options: { expected_headers: { 'Content-Type': '*json' } },
    module: { fail_if_header_not_matches: [{ header: 'Content-Type', regexp: 'json$' }] },
    up: false,
  },
  'a closed port': { shown: 'refused', path: '/', options: {}, module: {}, up: false },
  'TLS on a port without TLS': { shown: 'plain', path: '/ok', scheme: 'https', options: {}, module: {}, up: false },
  'a trusted certificate': { shown: 'two-names', path: '/ok', options: { ca }, module: { tls_config: trusting }, up: true },
  'a certificate from an unknown authority': {
    shown: 'two-names',
    path: '/ok',
    options: {},
    module: { tls_config: { server_name: 'a.test' } },
    up: false,
  },
  'a certificate for another name': {
    shown: 'two-names',
    path: '/ok',
    host: 'proxy.test',
    options: { ca },
    module: { tls_config: { ...trusting, server_name: 'proxy.test' } },
    up: false,
  },
  'the same, unverified': {
    shown: 'two-names',
    path: '/ok',
    host: 'proxy.test',
    options: { verify_tls: false },
    module: blind,
    up: true,
  },
  'an expired certificate': { shown: 'expired', path: '/ok', options: { ca }, module: { tls_config: trusting }, up: false },
  'an expired certificate, unverified': {
    shown: 'expired',
    path: '/ok',
    options: { verify_tls: false },
    module: blind,
    up: true,
  },
  'a self-signed certificate': {
    shown: 'self-signed',
    path: '/ok',
    options: {},
    module: { tls_config: { server_name: 'a.test' } },
    up: false,
  },
  'a self-signed certificate, unverified': {
    shown: 'self-signed',
    path: '/ok',
    options: { verify_tls: false },
    module: blind,
    up: true,
  },
  'TLS where it is forbidden': {
    shown: 'two-names',
    path: '/ok',
    options: { ca, tls: 'forbidden' },
    module: { tls_config: trusting, fail_if_ssl: true },
    up: false,
  },
  'a server with TLS 1.0 only': { shown: 'old', path: '/ok', options: { ca }, module: { tls_config: trusting }, up: false },
  'no client certificate': { shown: 'client', path: '/ok', options: { ca }, module: { tls_config: trusting }, up: false },
  'a client certificate': {
    shown: 'client',
    path: '/ok',
    options: { ca, client_certificate: { cert: fixture('client.pem'), key: fixture('client.key') } },
    module: { tls_config: { ...trusting, cert_file: `${folder}client.pem`, key_file: `${folder}client.key` } },
    up: true,
  },
  'an intermediate certificate that expires first': {
    shown: 'chain',
    path: '/ok',
    options: { verify_tls: false },
    module: blind,
    up: true,
  },
}
const names = Object.keys(cases)

beforeAll(async () => {
  chain = await certificateChain('a.test', { intermediate: 20, leaf: 90 })
  nginx = await startServer(shows.length, (at, ports) => ({
    command: ['/usr/sbin/nginx', '-p', at, '-e', 'stderr', '-c', `${at}/nginx.conf`],
    files: {
      'nginx.conf': configuration(at, ports),
      'chain.pem': chain.chain,
      'chain.key': chain.key,
      users: 'probe:{PLAIN}changeme\n',
    },
  }))
  blackbox = await startBlackbox({
    ...Object.fromEntries(names.map((name, place) => [`case_${place}`, cases[name]!.module])),
    blind,
  })
  refused = await freePort()
}, 180_000)
afterAll(async () => {
  await blackbox?.stop()
  await nginx?.stop()
}, 180_000)

const run = (url: string, options: HttpOptions): Promise<Facts> => {
  const target = http.target(url)
  http.validate!(options, target)
  return http.run(target, options, checkContext({ withinMs: 20_000 }))
}
const schemeOf = ({ shown, scheme }: Case) => scheme ?? (shown === 'plain' || shown === 'refused' ? 'http' : 'https')
const portOf = ({ shown }: Case) => (shown === 'refused' ? refused : port(shown))
const ours = (one: Case) => run(`${schemeOf(one)}://${one.host ?? 'a.test'}:${portOf(one)}${one.path}`, one.options)
const theirs = (name: string) =>
  blackbox.probe(
    `case_${names.indexOf(name)}`,
    `${schemeOf(cases[name]!)}://127.0.0.1:${portOf(cases[name]!)}${cases[name]!.path}`,
  )

describe('the outcome agrees with blackbox_exporter', () => {
  test.each(names)('for %s', async name => {
    const one = cases[name]!
    const [facts, metrics] = await Promise.all([ours(one), theirs(name)])
    expect([facts.error === null, facts.error?.message]).toEqual([one.up, one.up ? undefined : expect.any(String)])
    expect(metrics.get('probe_success')).toBe(one.up ? 1 : 0)
    // For endless redirects the exporter also reports the last response; without a response it reports 0.
    expect(metrics.get('probe_http_status_code')).toBe(facts.status ?? 0)
  })

  test('and the body is the one nginx sent', async () => {
    const facts = await run(`http://a.test:${port('plain')}/long`, {})
    expect(facts).toMatchObject({ error: null, body: longBody, headers: { 'content-encoding': 'gzip' } })
  })

  test('and HTTP/2 works like HTTP/1.1', async () => {
    const facts = await run(`https://a.test:${port('two-names')}/twice`, { ca, http_version: '2' })
    expect(facts).toMatchObject({ error: null, status: 200, body: 'ok', tls: { version: '1.2' } })
  })

  test('but old versions of TLS work if allowed', async () => {
    const facts = await run(`https://a.test:${port('old')}/ok`, { ca, tls_min_version: '1.0' })
    expect(facts).toMatchObject({ error: null, status: 200, tls: { version: '1.0' } })
  })
})

test.each(['two-names', 'expired', 'self-signed', 'chain'] as const)(
  'the expiry of the certificate %s agrees with blackbox_exporter, to the second',
  async shown => {
    const metrics = await blackbox.probe('blind', `https://127.0.0.1:${port(shown)}/ok`)
    const end = metrics.get('probe_ssl_earliest_cert_expiry')! * 1000
    const facts = await run(`https://a.test:${port(shown)}/ok`, { verify_tls: false })
    expect(facts.tls!.certificate!.chain_not_after).toBe(end)
    const trusted = shown === 'chain' ? chain.root : ca
    for (const options of [{ verify_tls: false }, { ca: trusted }]) {
      const seen = await tls.run(tls.target(`a.test:${port(shown)}`), options, checkContext())
      expect(seen.tls!.certificate!.chain_not_after).toBe(end)
    }
    // openssl signs one certificate after another: a second may pass in between.
    if (shown === 'chain') expect(Math.abs(facts.tls!.certificate!.not_after - end - 70 * 86_400_000)).toBeLessThanOrEqual(2000)
  },
)

describe('with a server that delays each step', () => {
  // Far canUnshare, so that phases stay distinguishable on a slow machine.
  const delays = { tls: 500, first_byte: 900, rest: 1400 }
  const stops: (() => void)[] = []
  afterAll(() => {
    for (const stop of stops) stop()
  })

  test('each phase takes as long as the server delays it, for us and for blackbox_exporter', async () => {
    const server = createServer({ key: fixture('two-names.key'), cert: fixture('two-names.pem') }, (_, response) => {
      setTimeout(() => {
        response.writeHead(200, { 'content-length': '8' })
        response.write('half')
        setTimeout(() => response.end('rest'), delays.rest)
      }, delays.first_byte)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    // Holds back the client's first packet, which delays the handshake.
    const front = createPlain(socket => {
      const onward = connect((server.address() as AddressInfo).port, '127.0.0.1')
      for (const [one, other] of [[socket, onward] as const, [onward, socket] as const]) {
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
      }
      socket.once('data', hello => {
        socket.pause()
        setTimeout(() => {
          onward.write(hello)
          socket.pipe(onward)
        }, delays.tls)
      })
      onward.pipe(socket)
    })
    await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
    stops.push(
      () => server.close(),
      () => front.close(),
    )
    const { port: at } = front.address() as AddressInfo

    const facts = await run(`https://a.test:${at}/`, { ca })
    expect(facts).toMatchObject({ error: null, body: 'halfrest' })
    const { dns, connect: connected, tls: handshake, first_byte, total } = facts.phases
    const rest = total! - dns! - connected! - handshake! - first_byte!
    const metrics = await blackbox.probe('blind', `https://127.0.0.1:${at}/`)
    const phase = (name: string) => metrics.get(`probe_http_duration_seconds{phase="${name}"}`)! * 1000

    for (const [mine, other, delay] of [
      [handshake!, phase('tls'), delays.tls],
      [first_byte!, phase('processing'), delays.first_byte],
      [rest, phase('transfer'), delays.rest],
    ] as const) {
      // A client that notices the start of a phase late measures too short a phase.
      for (const measured of [mine, other]) expect(measured).toBeGreaterThan(delay * 0.6)
      for (const measured of [mine, other]) expect(measured).toBeLessThan(delay + 2000)
    }
    // These phases were not delayed.
    for (const measured of [dns!, connected!, phase('resolve'), phase('connect')]) expect(measured).toBeLessThan(450)
    expect(metrics.get('probe_duration_seconds')! * 1000).toBeGreaterThan(delays.tls + delays.first_byte + delays.rest - 300)
    expect(total!).toBeGreaterThan(delays.tls + delays.first_byte + delays.rest - 300)
  }, 180_000)
})
