import type { ChainedEntry } from '../../core/audit-chain'
import { chainedEntry } from '../../core/audit-chain'
import { instant } from '../../core/clock'
import type { FoundEntry } from './chain-walk'
import type { Checkpoint } from './checkpoint'

/** A row of `audit_entries` as the database returns it, without the drizzle schema. */
export type EntryRow = Record<
  'id' | 'workspace_id' | 'action' | 'outcome' | 'actor_type' | 'actor_id' | 'actor' | 'target_id' | 'targets' | 'context',
  string
> &
  Record<'changes' | 'reason', string | null> &
  Record<'seq' | 'occurred_at', unknown> &
  Record<'prev_hash' | 'hash' | 'mac', Uint8Array | null>

export function foundEntry(row: EntryRow): FoundEntry {
  const entry = chainedEntry({
    id: row.id,
    seq: Number(row.seq),
    occurredAt: Number(row.occurred_at),
    workspaceId: row.workspace_id,
    action: row.action,
    outcome: row.outcome as ChainedEntry['outcome'],
    actor: parsed(row.actor),
    targets: parsed(row.targets),
    context: parsed(row.context),
    changes: row.changes === null ? null : parsed(row.changes),
    reason: row.reason,
  })
  return {
    entry,
    prevHash: hex(row.prev_hash),
    hash: hex(row.hash),
    mac: hex(row.mac),
    columnsAgree:
      row.actor_type === entry.actor?.type &&
      row.actor_id === entry.actor?.id &&
      row.target_id === (entry.targets?.[0]?.id ?? ''),
  }
}

/** Invalid JSON is kept as text, which then doesn't match the hash. */
function parsed(text: string): never {
  try {
    return JSON.parse(text) as never
  } catch {
    return text as never
  }
}

/** A row of `audit_checkpoints` as the database returns it, without the drizzle schema. */
export type CheckpointRow = Record<'chain' | 'head' | 'key_id' | 'signature', string> &
  Record<'number' | 'seq' | 'count' | 'time', unknown> & { kind: Checkpoint['kind']; prev_checkpoint: string | null }

export const foundCheckpoint = (row: CheckpointRow): Checkpoint => ({
  chain: row.chain,
  kind: row.kind,
  seq: Number(row.seq),
  count: Number(row.count),
  head: row.head,
  time: instant(Number(row.time)),
  prev_checkpoint: row.prev_checkpoint,
  number: Number(row.number),
  key_id: row.key_id,
  signature: row.signature,
})

const hex = (bytes: Uint8Array | null) => (bytes === null ? '' : Buffer.from(bytes).toString('hex'))
