import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MadeCertificate } from './make-certificates'

interface Options {
  /** Serial numbers in hexadecimal, with what follows in the index of openssl: a time, and a reason after a comma. */
  revoked?: readonly { serial: string; at?: Date; reason?: string }[]
  from: Date
  until: Date
  /** Lines of the section with the extensions of the list, as in `x509v3_config`. */
  extensions?: readonly string[]
  form?: 'DER' | 'PEM'
  digest?: string
  /** Options of the signature, as `-sigopt` of openssl. */
  signature?: readonly string[]
}

/** Creates a certificate revocation list with `openssl ca -gencrl`. */
export async function revocationList(
  issuer: MadeCertificate,
  { revoked = [], from, until, extensions = [], form = 'DER', digest = 'sha256', signature = [] }: Options,
): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-crl-'))
  const at = (file: string) => join(folder, file)
  try {
    const lines = revoked.map(({ serial, at = from, reason }) => {
      const why = reason === undefined ? '' : `,${reason}`
      return `R\t301231235959Z\t${utcTime(at)}${why}\t${serial.toUpperCase()}\tunknown\t/CN=x\n`
    })
    writeFileSync(at('index.txt'), lines.join(''))
    writeFileSync(at('number'), '01\n')
    writeFileSync(at('ca.pem'), issuer.pem)
    writeFileSync(at('ca.key'), issuer.keyPem)
    const own = ['[ca]', 'default_ca=own', '[own]', `database=${at('index.txt')}`, `crlnumber=${at('number')}`]
    const sections = ['crl_extensions=list', '[list]', ...extensions]
    writeFileSync(at('openssl.cnf'), [...own, `default_md=${digest}`, ...sections, ''].join('\n'))
    await openssl(
      ...['ca', '-config', at('openssl.cnf'), '-gencrl', '-cert', at('ca.pem'), '-keyfile', at('ca.key')],
      ...['-crl_lastupdate', utcTime(from), '-crl_nextupdate', utcTime(until), '-out', at('crl.pem')],
      ...signature.flatMap(one => ['-sigopt', one]),
    )
    await openssl('crl', '-in', at('crl.pem'), '-outform', form, '-out', at('crl'))
    return new Uint8Array(readFileSync(at('crl')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `261127041100Z` */
const utcTime = (date: Date): string =>
  date
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, '')
    .slice(2)

async function openssl(...words: string[]): Promise<void> {
  const run = Bun.spawn(['openssl', ...words], { stdout: 'ignore', stderr: 'pipe' })
  const text = await new Response(run.stderr).text()
  if ((await run.exited) !== 0) throw new Error(`openssl ${words[0]} failed: ${text}`)
}
