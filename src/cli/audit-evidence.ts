import { readFileSync } from 'node:fs'
import { codeOf } from '../core/audit-actions'
import type { ChainedEntry } from '../core/audit-chain'
import { auditCounter, entryOf } from '../core/audit-chain'
import type { Config } from '../core/config'
import { look, type Rows } from '../core/db/schema-state'
import { instanceKeyId, type DataKeyRow } from '../core/secrets'
import type { Checkpoint } from '../features/audit/checkpoint'
import { instant } from '../core/clock'
import type { FoundEntry } from '../features/audit/chain-walk'
import { Failure } from './failure'
import { noInstallation } from './operator'

/** What one chain was found to hold. */
export interface FoundChain {
  chain: string
  entries: FoundEntry[]
  /** The last number that the hub counted; null for an export, which does not have it. */
  counted: number | null
}

/** Every chain of a database with its checkpoints, as they are at one moment. */
export async function evidenceOfDatabase(
  config: Config,
  check: (chain: FoundChain, checkpoints: Checkpoint[]) => void,
  fromFile: readonly Checkpoint[],
): Promise<void> {
  await look(
    config,
    async rows => {
      if (!rows) throw new Failure(noInstallation(config))
      const checkpoints = (await rows<CheckpointRow>('select * from audit_checkpoints order by number')).map(checkpointOf)
      const counters = await rows<{ name: string; value: unknown }>(
        `select name, value from counters where name like '${auditCounter('')}%'`,
      )
      const counted = new Map(counters.map(one => [one.name.slice(auditCounter('').length), Number(one.value)]))
      const written = await rows<{ workspace_id: string }>('select distinct workspace_id from audit_entries')
      const chains = new Set([
        ...written.map(one => one.workspace_id),
        ...counted.keys(),
        ...[...checkpoints, ...fromFile].map(one => one.chain),
      ])
      for (const chain of [...chains].sort())
        check({ chain, entries: await entriesOf(rows, chain), counted: counted.get(chain) ?? 0 }, checkpoints)
    },
    'moment',
  )
}

/** The stored key of the installation, which its signing keys are derived from. */
export async function installationKeyRow(config: Config): Promise<Omit<DataKeyRow, 'createdAt'>> {
  return await look(config, async rows => {
    type Found = Record<'id' | 'workspace_id' | 'master_key_id' | 'wrapped', string>
    const found = rows ? await rows<Found>(`select * from data_keys where id = '${instanceKeyId}'`) : []
    if (!found[0]) throw new Failure('The database has no key of its own yet: start the hub once.')
    const { id, workspace_id: workspaceId, master_key_id: masterKeyId, wrapped } = found[0]
    return { id, workspaceId, masterKeyId, wrapped }
  })
}

/**
 * The chains of an NDJSON export.
 * @throws Failure for a line that is no entry
 */
export function evidenceOfExport(file: string): FoundChain[] {
  const found = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line, place): FoundEntry => {
      try {
        const {
          prev_hash: prevHash,
          hash,
          mac,
          code,
          ...entry
        } = JSON.parse(line) as ChainedEntry & Record<'prev_hash' | 'hash' | 'mac', string> & { code?: string | null }
        if (typeof entry.workspace_id !== 'string' || !Number.isSafeInteger(entry.seq) || !prevHash || !hash) throw new Error()
        const known = codeOf(entry.action, entry.outcome)
        // The code is beside what is hashed: one that is another action's was put there.
        return { entry, prevHash, hash, mac: mac ?? '', columnsAgree: code == null || known === null || code === known }
      } catch {
        throw new Failure(`Line ${place + 1} of ${file} is not an audit entry with its hashes.`)
      }
    })
  return [...Map.groupBy(found, one => one.entry.workspace_id)].map(([chain, entries]) => ({
    chain,
    entries: entries.toSorted((a, b) => a.entry.seq - b.entry.seq),
    counted: null,
  }))
}

const pageSize = 5_000

async function entriesOf(rows: Rows, chain: string): Promise<FoundEntry[]> {
  const entries: FoundEntry[] = []
  const of = `from audit_entries where workspace_id = '${chain.replaceAll("'", "''")}'`
  for (let page: EntryRow[] = []; ;) {
    page = await rows<EntryRow>(`select * ${of} order by seq, id limit ${pageSize} offset ${entries.length}`)
    entries.push(...page.map(foundOf))
    if (page.length < pageSize) return entries
  }
}

type EntryRow = Record<
  'id' | 'workspace_id' | 'action' | 'outcome' | 'actor_type' | 'actor_id' | 'actor' | 'target_id' | 'targets' | 'context',
  string
> &
  Record<'changes' | 'reason', string | null> &
  Record<'seq' | 'occurred_at', unknown> &
  Record<'prev_hash' | 'hash' | 'mac', Uint8Array | null>

function foundOf(row: EntryRow): FoundEntry {
  const entry = entryOf({
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

/** JSON that someone broke is kept as the text it is: it will not have the hash. */
function parsed(text: string): never {
  try {
    return JSON.parse(text) as never
  } catch {
    return text as never
  }
}

type CheckpointRow = Record<'chain' | 'head' | 'key_id' | 'signature', string> &
  Record<'number' | 'seq' | 'count' | 'time', unknown> & { kind: Checkpoint['kind']; prev_checkpoint: string | null }

const checkpointOf = (row: CheckpointRow): Checkpoint => ({
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
