import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate, type MadeCertificate } from './make-certificates'
import { openssl, serverKeys } from './tls-servers'

/** Certificates of servers, as files. */
export interface MatrixCertificates extends Disposable {
  /** Options of `openssl s_server` for a certificate and what it sends along. */
  options(name: string): string[]
  /** PEM of what a server sends, and of its key. */
  tls(name: string): { cert: string; key: string }
  /** What a server sends, DER. */
  chain(name: string): Uint8Array[]
  /** Self-signed certificates with RSA keys, which are trusted. */
  keys: Awaited<ReturnType<typeof serverKeys>>
  /** PEM of what clients trust. */
  roots: string
  /** PEM of intermediate certificates that clients know although servers don’t send them. */
  known: string
}

const day = 86_400_000

/** Creates certificates for a.test, good ones and bad ones. @param now ms UTC */
export async function matrixCertificates(now: number): Promise<MatrixCertificates> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-tls-matrix-'))
  const at = (file: string) => join(folder, file)
  const chains = new Map<string, { leaf: string; key: string; others: MadeCertificate[] }>()
  const [keys, root, stranger] = await Promise.all([
    serverKeys(),
    makeCertificate({ subject: 'CN=Matrix root', isCa: true }),
    makeCertificate({ subject: 'CN=Unknown root', isCa: true }),
  ])
  const between = await makeCertificate({ subject: 'CN=Matrix intermediate', isCa: true, issuer: root })
  const second = await makeCertificate({ subject: 'CN=Matrix second intermediate', isCa: true, issuer: between })
  const names = ['a.test']
  const add = async (name: string, options: Parameters<typeof makeCertificate>[0], others: MadeCertificate[]) => {
    const { pem, keyPem } = await makeCertificate({ names, issuer: between, ...options })
    chains.set(name, { leaf: pem, key: keyPem, others })
  }
  const past = new Date(now - 10 * day)
  await Promise.all([
    add('good', {}, [between]),
    add('expired', { notBefore: past, notAfter: new Date(now - day) }, [between]),
    add('not yet valid', { notBefore: new Date(now + day), notAfter: new Date(now + 10 * day) }, [between]),
    add('other name', { names: ['b.test', '*.a.test'] }, [between]),
    add('other name, expired', { names: ['b.test'], notBefore: past, notAfter: new Date(now - day) }, [between]),
    add('wildcard', { names: ['*.test'] }, [between]),
    add('self-signed', { issuer: undefined }, []),
    add('unknown authority', { issuer: stranger }, []),
    add('incomplete', {}, []),
    add('misordered', { issuer: second }, [between, second]),
    add('superfluous', {}, [between, stranger]),
  ])

  writeFileSync(at('names'), 'subjectAltName=DNS:a.test\n')
  writeFileSync(at('between.pem'), between.pem)
  writeFileSync(at('between.key'), between.keyPem)
  const sign = async (name: string, key: string[], ca: { cert: string; key: string }, hash: string) => {
    const file = at(name.replaceAll(' ', '-'))
    await openssl(
      'req',
      '-new',
      '-nodes',
      '-newkey',
      ...key,
      '-keyout',
      `${file}.key`,
      '-subj',
      '/CN=a.test',
      '-out',
      `${file}.csr`,
    )
    const serial = String(1 + chains.size)
    await openssl(
      ...['x509', '-req', '-in', `${file}.csr`, '-CA', ca.cert, '-CAkey', ca.key, '-set_serial', serial, `-${hash}`],
      ...['-days', '2', '-extfile', at('names'), '-out', `${file}.pem`],
    )
    const [leaf, keyPem] = await Promise.all([Bun.file(`${file}.pem`).text(), Bun.file(`${file}.key`).text()])
    chains.set(name, { leaf, key: keyPem, others: ca.cert === at('between.pem') ? [between] : [] })
  }
  const elliptic = (curve: string) => ['ec', '-pkeyopt', `ec_paramgen_curve:${curve}`]
  const ca = { cert: at('between.pem'), key: at('between.key') }
  await Promise.all([
    sign('RSA 512', ['rsa:512'], ca, 'sha256'),
    sign('RSA 1024', ['rsa:1024'], ca, 'sha256'),
    sign('RSA 4096', ['rsa:4096'], ca, 'sha256'),
    sign('P-384', elliptic('P-384'), ca, 'sha384'),
    sign('Ed25519', ['ed25519'], ca, 'sha256'),
    sign('SHA-1', elliptic('P-256'), ca, 'sha1'),
    sign('MD5', ['rsa:2048'], { cert: keys.file('rsa', 'pem'), key: keys.file('rsa', 'key') }, 'md5'),
  ])

  const selfSigned = async (kind: 'rsa' | 'ec') => {
    const [leaf, key] = await Promise.all([Bun.file(keys.file(kind, 'pem')).text(), Bun.file(keys.file(kind, 'key')).text()])
    chains.set(kind, { leaf, key, others: [] })
  }
  await Promise.all([selfSigned('rsa'), selfSigned('ec')])

  const pem = (list: MadeCertificate[]) => list.map(one => one.pem).join('')
  for (const [name, { leaf, key, others }] of chains) {
    writeFileSync(at(`${name}.pem`), leaf)
    writeFileSync(at(`${name}.key`), key)
    writeFileSync(at(`${name}.chain`), pem(others))
  }
  const found = (name: string) => chains.get(name)!
  return {
    keys,
    options: name => [
      ...['-cert', at(`${name}.pem`), '-key', at(`${name}.key`)],
      ...(found(name).others.length > 0 ? ['-cert_chain', at(`${name}.chain`)] : []),
    ],
    tls: name => ({ cert: found(name).leaf + pem(found(name).others), key: found(name).key }),
    chain: name => [
      Buffer.from(found(name).leaf.replaceAll(/-----[^-]+-----/g, ''), 'base64'),
      ...found(name).others.map(one => one.der),
    ],
    roots: root.pem + found('rsa').leaf + found('ec').leaf,
    known: between.pem,
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true })
      keys[Symbol.dispose]()
    },
  }
}
