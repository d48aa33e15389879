import { readFileSync } from 'node:fs'
import { codeOf } from '../features/audit-actions'
import { auditCounter, type ChainedEntry } from '../core/audit-chain'
import type { Config } from '../core/config'
import { withReadOnlyDatabase, type Rows } from '../core/db/schema-state'
import { instanceKeyId, type DataKeyRow } from '../core/secrets'
import type { Checkpoint } from '../features/audit/checkpoint'
import { foundCheckpoint, foundEntry, type CheckpointRow, type EntryRow } from '../features/audit/chain-rows'
import type { FoundEntry } from '../features/audit/chain-walk'
import { Failure } from './failure'
import { noInstallation } from './operator'

/** The entries of one hash chain. */
export interface ChainContents {
  chain: string
  entries: FoundEntry[]
  /** The hub's counter of entries; null for an export, which doesn't contain it. */
  counted: number | null
}

/** Reads every chain of a database and its checkpoints, from one snapshot. */
export async function readDatabaseChains(
  config: Config,
  check: (chain: ChainContents, checkpoints: Checkpoint[]) => void,
  fromFile: readonly Checkpoint[],
): Promise<void> {
  await withReadOnlyDatabase(
    config,
    async rows => {
      if (!rows) throw new Failure(noInstallation(config))
      const checkpoints = (await rows<CheckpointRow>('select * from audit_checkpoints order by number')).map(foundCheckpoint)
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
    'snapshot',
  )
}

/** Reads the stored key of the installation, from which its signing keys are derived. */
export async function readInstallationKey(config: Config): Promise<Omit<DataKeyRow, 'createdAt'>> {
  return await withReadOnlyDatabase(config, async rows => {
    type Found = Record<'id' | 'workspace_id' | 'master_key_id' | 'wrapped', string>
    const found = rows ? await rows<Found>(`select * from data_keys where id = '${instanceKeyId}'`) : []
    if (!found[0]) throw new Failure('The database has no installation key yet. Start the hub once to create it.')
    const { id, workspace_id: workspaceId, master_key_id: masterKeyId, wrapped } = found[0]
    return { id, workspaceId, masterKeyId, wrapped }
  })
}

/**
 * Reads the chains of an NDJSON export.
 * @throws Failure for a line that is not an entry
 */
export function readExportChains(file: string): ChainContents[] {
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
        // The code is not hashed: a code of another action was tampered with.
        return { entry, prevHash, hash, mac: mac ?? '', columnsAgree: code == null || known === null || code === known }
      } catch {
        throw new Failure(`${file}, line ${place + 1}: not an entry of the audit log with its hashes.`)
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
    entries.push(...page.map(foundEntry))
    if (page.length < pageSize) return entries
  }
}
