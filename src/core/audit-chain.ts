import { canonicalJson } from './canonical-json'
import { instant } from './clock'
import { hmacSha256, sha256 } from './crypto'
import type { AuditActor, AuditChanges, AuditContext, AuditTarget } from './db/tables'
import type { KeyRing } from './secrets'

/** An entry of the audit log as the API shows it and as it is hashed: its canonical text (RFC 8785) goes into the chain. */
export interface ChainedEntry {
  id: string
  seq: number
  /** RFC 3339. */
  occurred_at: string
  /** The chain; empty is that of the installation. */
  workspace_id: string
  action: string
  outcome: 'success' | 'failure' | 'denied'
  actor: AuditActor
  targets: AuditTarget[]
  context: AuditContext & { client_request_id: string | null }
  changes: AuditChanges | null
  reason: string | null
}

/** The entry that a row of `audit_entries` is. */
export const entryOf = (row: {
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

/** The counter that holds the last number and the last hash of a chain. */
export const auditCounter = (workspaceId: string): string => `audit:${workspaceId}`

/** What stands before the first entry of a chain: 32 zero bytes. */
export const genesis: Uint8Array = new Uint8Array(32)

/** `SHA-256(prev_hash || canonical entry)`: 32 bytes that no other entry in no other place has. */
export const entryHash = (prevHash: Uint8Array, entry: ChainedEntry): Uint8Array =>
  sha256(Buffer.concat([prevHash, Buffer.from(canonicalJson(entry), 'utf8')]))

/** The purpose of the key, derived from the installation's key, that `mac` is made with. */
export const macPurpose = 'audit-mac'

/** The keyed tag of an entry's hash: whoever rewrites entries and all hashes after them cannot make it without the master key. */
export const entryMac = (key: Uint8Array, hash: Uint8Array): Uint8Array => hmacSha256(key, hash)

/** The key of the tags, derived once a key ring. */
export function macKeyOf(keys: KeyRing): Uint8Array {
  let key = macKeys.get(keys)
  if (!key) macKeys.set(keys, (key = keys.derive(macPurpose)))
  return key
}

const macKeys = new WeakMap<KeyRing, Uint8Array>()
