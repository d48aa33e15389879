import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../../core/canonical-json'
import { sha256Hex } from '../../core/crypto'

/** The signed content of a checkpoint. */
export interface Statement {
  /** Workspace of the chain; empty for the chain of the installation. */
  chain: string
  /** `checkpoint`: the chain reached `seq`. `boundary`: entries up to `seq` may be deleted; the next one links to `head`. */
  kind: 'checkpoint' | 'boundary'
  seq: number
  /** Number of stored entries at that time, up to `seq`. */
  count: number
  /** Hash of the entry `seq`: 64 hexadecimal digits. */
  head: string
  /** RFC 3339. */
  time: string
  /** SHA-256 of the previous canonical statement of the chain; null for the first. */
  prev_checkpoint: string | null
}

/** A checkpoint as stored in the table and, one per line, in the file. */
export interface Checkpoint extends Statement {
  /** Without gaps across all chains of the installation. */
  number: number
  /** ID of the signing key. */
  key_id: string
  /** Ed25519 (RFC 8032) over the canonical statement (RFC 8785), base64url. */
  signature: string
}

/** Purpose of the checkpoint signing key, which is derived from the installation's key. */
export const checkpointPurpose = 'audit-checkpoint'

export const publicKeyOf = (key: KeyObject): KeyObject => createPublicKey(key)

/** ID of a public key: the start of the SHA-256 of its SubjectPublicKeyInfo. */
const keyIdOf = (publicKey: KeyObject): string =>
  sha256Hex(publicKey.export({ format: 'der', type: 'spki' }) as Buffer).slice(0, 16)

export const publicKeyPem = (publicKey: KeyObject): string => publicKey.export({ format: 'pem', type: 'spki' }) as string

/**
 * Reads all public keys of a PEM text.
 * @throws Error if there is none, or if one is not an Ed25519 key
 */
export function readPublicKeys(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? []
  if (blocks.length === 0) throw new Error('No public key in PEM format found.')
  return blocks.map(block => {
    const key = createPublicKey(block)
    if (key.asymmetricKeyType !== 'ed25519') throw new Error(`Expected an ed25519 key, found ${key.asymmetricKeyType}.`)
    return key
  })
}

/** Signs a statement. */
export function signStatement(key: KeyObject, statement: Statement): { keyId: string; signature: string } {
  const signature = sign(null, Buffer.from(canonicalJson(statement)), key)
  return { keyId: keyIdOf(publicKeyOf(key)), signature: signature.toString('base64url') }
}

/** Whether one of the keys signed the checkpoint. */
export function isSigned(checkpoint: Checkpoint, keys: readonly KeyObject[]): boolean {
  const text = Buffer.from(canonicalJson(statementOf(checkpoint)))
  const signature = Buffer.from(checkpoint.signature, 'base64url')
  return keys.some(key => verify(null, text, key, signature))
}

/** The `prev_checkpoint` of the next checkpoint of the chain. */
export const statementHash = (statement: Statement): string => sha256Hex(canonicalJson(statementOf(statement)))

function statementOf({ chain, kind, seq, count, head, time, prev_checkpoint }: Statement): Statement {
  return { chain, kind, seq, count, head, time, prev_checkpoint }
}

/** A checkpoint as a line of a file, without the line break. */
export const checkpointLine = (checkpoint: Checkpoint): string =>
  canonicalJson({
    ...statementOf(checkpoint),
    number: checkpoint.number,
    key_id: checkpoint.key_id,
    signature: checkpoint.signature,
  })

/**
 * Reads the checkpoints of a file. An incomplete last line is ignored.
 * @throws Error with the number of the first invalid line
 */
export function readCheckpoints(text: string): Checkpoint[] {
  const lines = text.split('\n')
  // Text after the last line break was not completely written.
  lines.pop()
  return lines.filter(Boolean).map((line, index) => {
    const found = parsed(line)
    if (!isCheckpoint(found)) throw new Error(`Line ${index + 1} is not a checkpoint.`)
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
