import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A server certificate issued by an intermediate. Days count from now. */
export interface CertificateChain {
  /** PEM of the leaf and the intermediate, as a server sends them. */
  chain: string
  key: string
  /** PEM of the root. */
  root: string
  /** PEM of the root's key cross-signed by an older CA, expired since yesterday. */
  cross: string
}

/** Creates a chain with openssl; the intermediate may expire before the leaf. `unnamed`: the leaf only has a common name. */
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
    const createRequest = (who: string, subject: string) =>
      openssl('req', '-new', ...key, '-keyout', at(`${who}.key`), '-subj', subject, '-out', at(`${who}.csr`))
    const sign = (who: string, by: string, extensions: string, valid: number) =>
      openssl(
        ...['x509', '-req', '-in', at(`${who}.csr`), '-CA', at(`${by}.pem`), '-CAkey', at(`${by}.key`), '-CAcreateserial'],
        ...['-days', String(valid), '-extfile', at(extensions), '-out', at(`${who}.pem`)],
      )
    await createRequest('root', '/CN=Chain root')
    await openssl(
      ...['x509', '-req', '-in', at('root.csr'), '-signkey', at('root.key'), '-days', '3650'],
      ...['-extfile', at('ca.ext'), '-out', at('root.pem')],
    )
    await createRequest('intermediate', '/CN=Chain intermediate')
    await sign('intermediate', 'root', 'ca.ext', days.intermediate)
    await createRequest('older', '/CN=Older root')
    await openssl(
      ...['x509', '-req', '-in', at('older.csr'), '-signkey', at('older.key'), '-days', '3650'],
      ...['-extfile', at('ca.ext'), '-out', at('older.pem')],
    )
    await openssl(
      ...['x509', '-req', '-in', at('root.csr'), '-CA', at('older.pem'), '-CAkey', at('older.key'), '-CAcreateserial'],
      ...['-days', '-1', '-extfile', at('ca.ext'), '-out', at('cross.pem')],
    )
    await createRequest('leaf', `/CN=${name}`)
    await sign('leaf', 'intermediate', 'leaf.ext', days.leaf)
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
