import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startServer, type ServerProcess } from './server-process'

/** Keys and certificates of TLS servers for a.test, as files. */
export interface ServerKeys extends Disposable {
  /** PEM files by kind of key, each with the suffix `.pem` and `.key`. */
  file(kind: 'rsa' | 'ec', suffix: 'pem' | 'key'): string
  /** Parameters for DHE with a prime of 1024 bits. */
  weakPrime: string
  /** An OCSP response, DER. */
  ocspResponse: string
  /** A PKCS 12 file with the RSA key; its password is `changeme`. */
  keyStore: string
}

export async function serverKeys(): Promise<ServerKeys> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-tls-keys-'))
  const at = (name: string) => join(folder, name)
  const create = (kind: string, ...key: string[]) =>
    openssl(
      ...['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=a.test', '-addext', 'subjectAltName=DNS:a.test', '-newkey'],
      ...[...key, '-keyout', at(`${kind}.key`), '-out', at(`${kind}.pem`)],
    )
  await Promise.all([
    create('rsa', 'rsa:2048'),
    create('ec', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'),
    Bun.write(at('weak.pem'), weakParameters()),
  ])
  await openssl(
    'pkcs12',
    '-export',
    '-in',
    at('rsa.pem'),
    '-inkey',
    at('rsa.key'),
    '-out',
    at('store.p12'),
    '-passout',
    'pass:changeme',
  )
  const responder = ['-CA', at('ec.pem'), '-rsigner', at('ec.pem'), '-rkey', at('ec.key')]
  await openssl('ocsp', '-issuer', at('ec.pem'), '-cert', at('ec.pem'), '-no_nonce', '-reqout', at('request.der'))
  await Bun.write(at('index'), '')
  await openssl('ocsp', '-index', at('index'), ...responder, '-reqin', at('request.der'), '-respout', at('response.der'))
  return {
    file: (kind, suffix) => at(`${kind}.${suffix}`),
    weakPrime: at('weak.pem'),
    ocspResponse: at('response.der'),
    keyStore: at('store.p12'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const weakPrime =
  'ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74' +
  '020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437' +
  '4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed' +
  'ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff'

/** The second group of RFC 2409, in PEM. */
function weakParameters(): string {
  const prime = Buffer.from(weakPrime, 'hex')
  const content = Buffer.concat([Buffer.from([0x02, 0x81, prime.length + 1, 0]), prime, Buffer.from([0x02, 1, 2])])
  const der = Buffer.concat([Buffer.from([0x30, 0x81, content.length]), content])
  return `-----BEGIN DH PARAMETERS-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END DH PARAMETERS-----\n`
}

/** Starts `openssl s_server`, which ends each connection after the first line. */
export const openSslServer = (options: readonly string[]): Promise<ServerProcess> =>
  startServer(1, (_, [port]) => ({
    command: ['openssl', 's_server', '-accept', `127.0.0.1:${port}`, '-rev', '-quiet', ...options],
    files: {},
  }))

/** Starts servers of JSSE, all in one process. @param servers protocols and suites, with commas */
export const javaServers = (keys: ServerKeys, servers: readonly (readonly [protocols: string, suites: string])[]) =>
  startServer(servers.length, (_, ports) => ({
    command: [
      ...[
        'java',
        '-Xshare:auto',
        '-Xmx64m',
        '-XX:TieredStopAtLevel=1',
        resolve('test/real/tls-servers/OldTls.java'),
        keys.keyStore,
      ],
      ...servers.flatMap(([protocols, suites], at) => [String(ports[at]), protocols, suites]),
    ],
    files: {},
  }))

/** The suites of a cipher string by their IANA names, as OpenSSL lists them. @param options such as `-tls1_2` */
export async function suitesOfOpenSsl(ciphers: string, ...options: string[]): Promise<string[]> {
  const lines = (await openssl('ciphers', '-s', '-stdname', ...options, ciphers)).trim().split('\n')
  return lines.map(line => line.split(' ')[0]!)
}

export async function openssl(...words: string[]): Promise<string> {
  const run = Bun.spawn(['openssl', ...words], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  if ((await run.exited) !== 0) throw new Error(errors)
  return output
}
