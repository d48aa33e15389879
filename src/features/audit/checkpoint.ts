import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json'
import { sha256Hex } from '../../core/crypto'

/** What a checkpoint says, in the form that is signed. */
export interface Statement {
  /** The workspace whose chain it is; empty is that of the installation. */
  chain: string
  /** `checkpoint`: the chain is this far. `boundary`: entries up to `seq` may be deleted; what is kept links to `head`. */
  kind: 'checkpoint' | 'boundary'
  seq: number
  /** Entries that were kept at that time, up to `seq`. */
  count: number
  /** Hash of the entry `seq`: 64 hexadecimal digits. */
  head: string
  /** RFC 3339. */
  time: string
  /** SHA-256 of the canonical statement before it in the same chain; null in the first. */
  prev_checkpoint: string | null
}

/** A checkpoint as it stands in the table and, a line each, in the file. */
export interface Checkpoint extends Statement {
  /** Gapless over all chains of the installation. */
  number: number
  /** Which key signed it. */
  key_id: string
  /** Ed25519 (RFC 8032) over the canonical statement (RFC 8785), base64url. */
  signature: string
}

/** The purpose of the key, derived from the installation's key, that signs checkpoints. */
export const checkpointPurpose = 'audit-checkpoint'

/** The private key of a 32-byte seed. */
export function signingKey(seed: Uint8Array): KeyObject {
  // The PKCS #8 form of RFC 8410 section 7: a fixed head, then the seed.
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

export const publicKeyOf = (key: KeyObject): KeyObject => createPublicKey(key)

/** Short name of a public key: the start of the SHA-256 of its SubjectPublicKeyInfo. */
export const keyIdOf = (publicKey: KeyObject): string =>
  sha256Hex(publicKey.export({ format: 'der', type: 'spki' }) as Buffer).slice(0, 16)

export const publicKeyPem = (publicKey: KeyObject): string => publicKey.export({ format: 'pem', type: 'spki' }) as string

/**
 * Every public key of a PEM text.
 * @throws Error when there is none, or one that is no Ed25519 key
 */
export function readPublicKeys(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? []
  if (blocks.length === 0) throw new Error('There is no public key in PEM form.')
  return blocks.map(block => {
    const key = createPublicKey(block)
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(`It holds a key of type ${key.asymmetricKeyType}, not ed25519.`)
    return key
  })
}

/** Signs a statement. */
export function signStatement(key: KeyObject, statement: Statement): { keyId: string; signature: string } {
  const signature = sign(null, Buffer.from(canonicalJson(statement)), key)
  return { keyId: keyIdOf(publicKeyOf(key)), signature: signature.toString('base64url') }
}

/** Whether one of the keys signed what the checkpoint says. */
export function isSigned(checkpoint: Checkpoint, keys: readonly KeyObject[]): boolean {
  const text = Buffer.from(canonicalJson(statementOf(checkpoint)))
  const signature = Buffer.from(checkpoint.signature, 'base64url')
  return keys.some(key => verify(null, text, key, signature))
}

/** What the next checkpoint of the chain names as `prev_checkpoint`. */
export const statementHash = (statement: Statement): string => sha256Hex(canonicalJson(statementOf(statement)))

function statementOf({ chain, kind, seq, count, head, time, prev_checkpoint }: Statement): Statement {
  return { chain, kind, seq, count, head, time, prev_checkpoint }
}

/** The line that stands for a checkpoint in a file, without its end. */
export const checkpointLine = (checkpoint: Checkpoint): string =>
  canonicalJson({
    ...statementOf(checkpoint),
    number: checkpoint.number,
    key_id: checkpoint.key_id,
    signature: checkpoint.signature,
  })

/**
 * The checkpoints of a file.
 * @throws Error that names the first line that is none; a last line that was cut off by a power cut is left out
 */
export function readCheckpoints(text: string): Checkpoint[] {
  const lines = text.split('\n')
  // What stands behind the last line end was not written to its end.
  lines.pop()
  return lines.filter(Boolean).map((line, place) => {
    const found = parsed(line)
    if (!isCheckpoint(found)) throw new Error(`Line ${place + 1} is not a checkpoint.`)
    return found
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  const one = (value ?? {}) as Record<keyof Checkpoint, unknown>
  return (
    [one.chain, one.head, one.time, one.key_id, one.signature].every(member => typeof member === 'string') &&
    [one.seq, one.count, one.number].every(Number.isSafeInteger) &&
    (one.kind === 'checkpoint' || one.kind === 'boundary') &&
    (one.prev_checkpoint === null || typeof one.prev_checkpoint === 'string')
  )
}
