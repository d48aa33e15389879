import { createHash, generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { elementAt } from '../../src/core/x509/der'
import type { MadeCertificate } from './make-certificates'

/** A Certificate Transparency log (RFC 6962) on this machine, as far as monitors read it. */
export interface CtLog extends AsyncDisposable {
  /** A list of logs with this one, as JSON (version 3 of the schema of Google’s list). */
  list: string
  /** Adds a certificate with its issuer. */
  add(certificate: MadeCertificate, issuer: MadeCertificate): void
  /** Adds a precertificate with its issuer. @param plain the same certificate, with neither the poison nor SCTs */
  addPrecertificate(precertificate: MadeCertificate, plain: MadeCertificate, issuer: MadeCertificate): void
}

interface Entry {
  leaf: Buffer
  extra: Buffer
}

/** Starts an empty log. */
export function startCtLog(): CtLog {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const entries: Entry[] = []
  const head = () => {
    const timestamp = Date.now()
    const root = treeHash(entries.map(one => one.leaf))
    // Version 1, signature type tree_hash.
    const signature = sign(
      'sha256',
      Buffer.concat([uint(1, 0), uint(1, 1), uint(8, timestamp), uint(8, entries.length), root]),
      privateKey,
    )
    return {
      ...{ tree_size: entries.length, timestamp, sha256_root_hash: root.toString('base64') },
      // SHA-256 with ECDSA.
      tree_head_signature: Buffer.concat([Buffer.from([4, 3]), vector(2, signature)]).toString('base64'),
    }
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/ct/v1/get-sth') return Response.json(head())
      if (pathname !== '/ct/v1/get-entries') return new Response(null, { status: 404 })
      const some = entries.slice(Number(searchParams.get('start')), Number(searchParams.get('end')) + 1)
      return Response.json({
        entries: some.map(one => ({ leaf_input: one.leaf.toString('base64'), extra_data: one.extra.toString('base64') })),
      })
    },
  })
  // MerkleTreeLeaf of a TimestampedEntry, without extensions.
  const leaf = (type: number, content: Buffer) =>
    Buffer.concat([uint(1, 0), uint(1, 0), uint(8, Date.now()), uint(2, type), content, uint(2, 0)])
  const chain = ({ der }: MadeCertificate) => vector(3, vector(3, der))
  const log = {
    ...{ description: 'Test log', url: `http://127.0.0.1:${server.port}/`, mmd: 86_400 },
    ...{ key: spki.toString('base64'), log_id: sha256(spki).toString('base64') },
    state: { usable: { timestamp: '2026-01-01T00:00:00Z' } },
  }
  const operators = [{ name: 'Test', email: ['log@example.test'], logs: [log] }]
  return {
    list: JSON.stringify({ version: '1', log_list_timestamp: '2026-01-01T00:00:00Z', operators }),
    add: ({ der }, issuer) => void entries.push({ leaf: leaf(0, vector(3, der)), extra: chain(issuer) }),
    addPrecertificate(precertificate, plain, issuer) {
      const content = Buffer.concat([sha256(spkiOf(issuer)), vector(3, tbsOf(plain.der))])
      entries.push({ leaf: leaf(1, content), extra: Buffer.concat([vector(3, precertificate.der), chain(issuer)]) })
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** A number of some bytes, and a value with its length before it (RFC 5246 section 4.3). */
const uint = (bytes: number, value: number): Buffer => Buffer.from(value.toString(16).padStart(bytes * 2, '0'), 'hex')
const vector = (bytes: number, value: Uint8Array): Buffer => Buffer.concat([uint(bytes, value.length), value])

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

/** Merkle tree hash (RFC 6962 section 2.1). */
function treeHash(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return sha256(uint(1, 0), leaves[0]!)
  let size = 1
  while (size * 2 < leaves.length) size *= 2
  return sha256(uint(1, 1), treeHash(leaves.slice(0, size)), treeHash(leaves.slice(size)))
}

/** TBSCertificate: the first element of a certificate. */
const tbsOf = (der: Uint8Array): Uint8Array => firstOf(elementAt(der, 0, der.length).content)

const spkiOf = ({ der }: MadeCertificate): Uint8Array =>
  new X509Certificate(der).publicKey.export({ type: 'spki', format: 'der' })
const firstOf = (content: Uint8Array): Uint8Array => elementAt(content, 0, content.length).bytes
