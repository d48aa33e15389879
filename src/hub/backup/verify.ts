import { existsSync, readFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entryHash, entryMac, genesis, macPurpose } from '../../core/audit-chain'
import { masterKeyFile, type Config } from '../../core/config'
import { withReadOnlyDatabase, type Rows, type Scan } from '../../core/db/schema-state'
import { loadMasterKey } from '../../core/master-key'
import { DecryptionFailed, derivedKey, instanceKeyId } from '../../core/secrets'
import { foundCheckpoint, foundEntry, type CheckpointRow, type EntryRow } from '../../features/audit/chain-rows'
import { readCheckpoints, type Checkpoint } from '../../features/audit/checkpoint'
import { readManifest } from './archive'
import { BackupDamaged, explainFullDisk } from './errors'
import { checkVersion, loadIntoFolder } from './load'
import { checkpointsName, type Manifest } from './manifest'
import { Progress } from './progress'
import { withTemporaryFolder } from './temporary'

/** A verified backup. */
interface VerifiedBackup {
  manifest: Manifest
  auditEntries: number
  /** Whether the master key was available, so that the MACs of the audit log were checked too. */
  hasMasterKey: boolean
}

/**
 * Verifies a backup by restoring it into a temporary SQLite database: checksums, structure, and the audit log.
 * @throws BackupFailed
 */
export async function verifyBackup(config: Config, file: string, report: (line: string) => void): Promise<VerifiedBackup> {
  const manifest = await readManifest(file)
  checkVersion(file, manifest)
  const create = () => mkdtempSync(join(tmpdir(), 'bailiwick-verify-'))
  try {
    return await withTemporaryFolder(create, async folder => {
      await loadIntoFolder(file, manifest, folder, new Progress(report))
      return await withReadOnlyDatabase({ ...config, databaseUrl: null, data: folder }, async (rows, scan) => {
        const macKey = await readMacKey(config, rows!)
        const audit = new AuditCheck(await evidenceIn(rows!, join(folder, checkpointsName)), macKey)
        const problem = (await audit.run(scan)) ?? audit.compare(manifest.audit_heads)
        if (problem) throw new BackupDamaged(file, problem)
        return { manifest, auditEntries: audit.entries, hasMasterKey: macKey !== null }
      })
    })
  } catch (error) {
    throw explainFullDisk(error, tmpdir(), 'Free up space, or choose another folder for temporary files with TMPDIR.')
  }
}

/** The key for the MACs of the audit log; null without the master key of the backup. */
async function readMacKey(config: Config, rows: Rows): Promise<Uint8Array | null> {
  const file = masterKeyFile(config)
  if (!existsSync(file)) return null
  const { key, previous } = loadMasterKey(file, false)
  type Found = Record<'id' | 'workspace_id' | 'master_key_id' | 'wrapped', string>
  const [row] = await rows<Found>(`select * from data_keys where id = '${instanceKeyId}'`)
  if (!row) return null
  const { id, workspace_id: workspaceId, master_key_id: masterKeyId, wrapped } = row
  try {
    return derivedKey({ current: key, previous }, { id, workspaceId, masterKeyId, wrapped }, macPurpose)
  } catch (error) {
    if (error instanceof DecryptionFailed) return null
    throw error
  }
}

/** The checkpoints in the database and in the file, which must agree with the log. */
async function evidenceIn(rows: Rows, file: string): Promise<Checkpoint[]> {
  const stored = (await rows<CheckpointRow>('select * from audit_checkpoints order by number')).map(foundCheckpoint)
  return [...stored, ...readCheckpoints(readFileSync(file, 'utf8'))]
}

interface Head {
  seq: number
  hash: string
}

/** Follows the hash chains of an audit log, entry by entry. */
class AuditCheck {
  entries = 0
  private readonly boundaries = new Map<string, Head>()
  private readonly confirmed = new Map<string, Map<number, string>>()
  private readonly ends = new Map<string, Head>()

  constructor(
    checkpoints: readonly Checkpoint[],
    private readonly macKey: Uint8Array | null,
  ) {
    for (const { chain, kind, seq, head } of checkpoints) {
      const known = this.confirmed.get(chain) ?? new Map<number, string>()
      this.confirmed.set(chain, known.set(seq, head))
      if (kind === 'boundary' && seq > (this.boundaries.get(chain)?.seq ?? 0)) this.boundaries.set(chain, { seq, hash: head })
    }
  }

  /** @returns the first problem, or null */
  async run(scan: Scan): Promise<string | null> {
    for await (const batch of scan<EntryRow>('select * from audit_entries order by workspace_id, seq')) {
      for (const row of batch) {
        const problem = this.follow(row)
        if (problem) return problem
      }
    }
    return null
  }

  /** Compares the ends of the chains with those in a manifest. @returns the first problem, or null */
  compare(heads: Manifest['audit_heads']): string | null {
    for (const { chain, seq, hash } of heads) {
      const end = this.endOf(chain)
      if (end.seq !== seq || end.hash !== hash) return `the audit log ${nameOf(chain)} ends at entry ${end.seq} instead of ${seq}`
    }
    for (const [chain, known] of this.confirmed) {
      const last = Math.max(...known.keys())
      if (last > this.endOf(chain).seq) return `the audit log ${nameOf(chain)} ends before the signed checkpoint at entry ${last}`
    }
    return null
  }

  private follow(row: EntryRow): string | null {
    const { entry, prevHash, hash, mac, columnsAgree } = foundEntry(row)
    const { workspace_id: chain, seq } = entry
    // Entries up to the boundary are being deleted.
    if (seq <= (this.boundaries.get(chain)?.seq ?? 0)) return null
    const end = this.endOf(chain)
    const where = `entry ${seq} of the audit log ${nameOf(chain)}`
    if (seq !== end.seq + 1) return `${where} doesn't follow entry ${end.seq}`
    if (prevHash !== end.hash || hex(entryHash(Buffer.from(prevHash, 'hex'), entry)) !== hash || !columnsAgree)
      return `${where} doesn't match its hash`
    if (this.macKey && hex(entryMac(this.macKey, Buffer.from(hash, 'hex'))) !== mac) return `${where} was not written by the hub`
    const signed = this.confirmed.get(chain)?.get(seq)
    if (signed !== undefined && signed !== hash) return `${where} doesn't match its signed checkpoint`
    this.ends.set(chain, { seq, hash })
    this.entries++
    return null
  }

  private endOf(chain: string): Head {
    return this.ends.get(chain) ?? this.boundaries.get(chain) ?? { seq: 0, hash: hex(genesis) }
  }
}

const nameOf = (chain: string): string => (chain === '' ? 'of the installation' : `of ${chain}`)
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
