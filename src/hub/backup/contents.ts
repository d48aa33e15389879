import { createHash } from 'node:crypto'
import { linesOf, type Lines } from '../../core/db/backup/lines'
import { backupTables, type BackupTable } from '../../core/db/backup/tables'
import type { Rows, Scan } from '../../core/db/schema-state'
import { auditCounter } from '../../core/audit-chain'
import { canaryFact } from '../../core/secrets'
import type { Manifest } from './manifest'
import type { Progress } from './progress'

/** What a manifest says about the content of a database. */
export type Facts = Pick<Manifest, 'instance_id' | 'migrations' | 'master_keys' | 'audit_heads'>

/** Reads the facts of a database. Null if nothing was set up in it yet. */
export async function readFacts(rows: Rows): Promise<Facts | null> {
  const facts = await rows<{ name: string; value: string }>('select name, value from instance_facts')
  const fact = (name: string) => facts.find(one => one.name === name)?.value
  const canary = fact(canaryFact)?.split('.')[0]
  const instanceId = fact('instance_id')
  if (canary === undefined || instanceId === undefined) return null
  const wrapping = await rows<{ id: string }>('select distinct master_key_id as id from data_keys order by master_key_id')
  const prefix = auditCounter('')
  const heads = await rows<{ name: string; value: unknown; head: Uint8Array | null }>(
    `select name, value, head from counters where name like '${prefix}%' order by name`,
  )
  return {
    instance_id: instanceId,
    migrations: await rows<{ tag: string; sha256: string }>('select tag, hash as sha256 from _migrations order by tag'),
    master_keys: [canary, ...wrapping.map(one => one.id).filter(id => id !== canary)],
    audit_heads: heads.map(one => ({
      chain: one.name.slice(prefix.length),
      seq: Number(one.value),
      hash: one.head === null ? '' : Buffer.from(one.head).toString('hex'),
    })),
  }
}

/** Reads a whole table. @returns its number of rows and their checksum @param use receives all rows */
export async function readTable(
  scan: Scan,
  table: BackupTable,
  progress: Progress,
  use: (lines: Lines) => Promise<void> = async () => {},
): Promise<Manifest['tables'][number]> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const lines of linesOf(scan, table)) {
    hash.update(lines.text)
    rows += lines.rows
    await use(lines)
    progress.note(() => `Reading ${table.name}: ${rows} rows`)
  }
  return { name: table.name, rows, sha256: hash.digest('hex') }
}

/** The tables of a backup, parents before their children. */
export const tablesOf = (manifest: Pick<Manifest, 'migrations'>): BackupTable[] =>
  backupTables(manifest.migrations.map(one => one.tag))

/** Compares a database with a manifest. @returns the first difference, or null */
export async function differenceFrom(manifest: Manifest, scan: Scan, progress: Progress): Promise<string | null> {
  for (const table of tablesOf(manifest)) {
    const expected = manifest.tables.find(one => one.name === table.name)
    if (!expected) return `the manifest has no table ${table.name}`
    const found = await readTable(scan, table, progress)
    if (found.rows !== expected.rows) return `${table.name} has ${found.rows} rows, but the manifest says ${expected.rows}`
    if (found.sha256 !== expected.sha256) return `the checksum of ${table.name} doesn't match`
  }
  return null
}
