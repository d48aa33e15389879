import { canonicalJson } from './canonical-json'
import { instant } from './clock'
import { hmacSha256, sha256 } from './crypto'
import type { AuditActor, AuditChanges, AuditContext, AuditTarget } from './db/tables'
import type { KeyRing } from './secrets'

/** An audit event as the API returns it and as it is hashed: the hash chain uses its canonical JSON (RFC 8785). */
export interface ChainedEntry {
  id: string
  seq: number
  /** RFC 3339. */
  occurred_at: string
  /** Identifies the chain; empty for the chain of the installation. */
  workspace_id: string
  action: string
  outcome: 'success' | 'failure' | 'denied'
  actor: AuditActor
  targets: AuditTarget[]
  context: AuditContext & { client_request_id: string | null }
  changes: AuditChanges | null
  reason: string | null
}

/** Converts a row of `audit_entries`. */
export const chainedEntry = (row: {
  id: string
  seq: number
  /** Milliseconds UTC. */
  occurredAt: number
  workspaceId: string
  action: string
  outcome: ChainedEntry['outcome']
  actor: AuditActor
  targets: AuditTarget[]
  context: AuditContext
  changes: AuditChanges | null
  reason: string | null
}): ChainedEntry => ({
  id: row.id,
  seq: row.seq,
  occurred_at: instant(row.occurredAt),
  workspace_id: row.workspaceId,
  action: row.action,
  outcome: row.outcome,
  actor: row.actor,
  targets: row.targets,
  context: { ...row.context, client_request_id: row.context.client_request_id ?? null },
  changes: row.changes,
  reason: row.reason,
})

/** Name of the counter with the last sequence number and hash of a chain. */
export const auditCounter = (workspaceId: string): string => `audit:${workspaceId}`

/** The previous hash of the first event of a chain: 32 zero bytes. */
export const genesis: Uint8Array = new Uint8Array(32)

/** `SHA-256(prev_hash || canonical event)`: 32 bytes, unique to the event and its position in the chain. */
export const entryHash = (prevHash: Uint8Array, entry: ChainedEntry): Uint8Array =>
  sha256(Buffer.concat([prevHash, Buffer.from(canonicalJson(entry), 'utf8')]))

/** The purpose for deriving the key of `mac` from the installation key. */
export const macPurpose = 'audit-mac'

/** MAC of the hash of an event. Someone who rewrites events and all following hashes can't forge it without the master key. */
export const entryMac = (key: Uint8Array, hash: Uint8Array): Uint8Array => hmacSha256(key, hash)

/** The MAC key, derived once per key ring. */
export function macKeyOf(keys: KeyRing): Uint8Array {
  let key = macKeys.get(keys)
  if (!key) macKeys.set(keys, (key = keys.derive(macPurpose)))
  return key
}

const macKeys = new WeakMap<KeyRing, Uint8Array>()
