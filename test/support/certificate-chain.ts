import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A server's certificate below an intermediate one. Days count from now. */
export interface CertificateChain {
  /** PEM of leaf and intermediate, as a server sends them. */
  chain: string
  key: string
  /** PEM of the root. */
  root: string
  /** PEM of the root's key under another, older authority, over since yesterday. */
  cross: string
}

/** Makes a chain with openssl, in which the intermediate may end before the leaf. Unnamed: the leaf has but a common name. */
export async function certificateChain(
  name: string,
  days: { intermediate: number; leaf: number; unnamed?: boolean },
): Promise<CertificateChain> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-chain-'))
  const at = (file: string) => join(folder, file)
  try {
    writeFileSync(at('ca.ext'), 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n')
    writeFileSync(at('leaf.ext'), days.unnamed ? 'basicConstraints=CA:FALSE\n' : `subjectAltName=DNS:${name}\n`)
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const asked = (who: string, subject: string) =>
      openssl('req', '-new', ...key, '-keyout', at(`${who}.key`), '-subj', subject, '-out', at(`${who}.csr`))
    const signed = (who: string, by: string, extensions: string, valid: number) =>
      openssl(
        ...['x509', '-req', '-in', at(`${who}.csr`), '-CA', at(`${by}.pem`), '-CAkey', at(`${by}.key`), '-CAcreateserial'],
        ...['-days', String(valid), '-extfile', at(extensions), '-out', at(`${who}.pem`)],
      )
    await asked('root', '/CN=Chain root')
    await openssl(
      ...['x509', '-req', '-in', at('root.csr'), '-signkey', at('root.key'), '-days', '3650'],
      ...['-extfile', at('ca.ext'), '-out', at('root.pem')],
    )
    await asked('intermediate', '/CN=Chain intermediate')
    await signed('intermediate', 'root', 'ca.ext', days.intermediate)
    await asked('older', '/CN=Older root')
    await openssl(
      ...['x509', '-req', '-in', at('older.csr'), '-signkey', at('older.key'), '-days', '3650'],
      ...['-extfile', at('ca.ext'), '-out', at('older.pem')],
    )
    await openssl(
      ...['x509', '-req', '-in', at('root.csr'), '-CA', at('older.pem'), '-CAkey', at('older.key'), '-CAcreateserial'],
      ...['-days', '-1', '-extfile', at('ca.ext'), '-out', at('cross.pem')],
    )
    await asked('leaf', `/CN=${name}`)
    await signed('leaf', 'intermediate', 'leaf.ext', days.leaf)
    const read = (file: string) => readFileSync(at(file), 'utf8')
    const chain = read('leaf.pem') + read('intermediate.pem')
    return { chain, key: read('leaf.key'), root: read('root.pem'), cross: read('cross.pem') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function openssl(...words: string[]): Promise<void> {
  const run = Bun.spawn(['openssl', ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  if ((await run.exited) !== 0) throw new Error(await new Response(run.stderr).text())
}
