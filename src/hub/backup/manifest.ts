import { Type, type Static } from '@sinclair/typebox'
import { fieldProblems } from '../../core/validate'
import type { LastBackup } from '../../core/last-backup'
import { BackupDamaged, BackupFailed } from './errors'

/** The first file of a backup. */
export const manifestName = 'manifest.json'
export const databaseName = 'bailiwick.db'
export const seriesName = 'series.db'
export const checkpointsName = 'audit-checkpoints.ndjson'
export const tableFile = (table: string): string => `tables/${table}.ndjson`

/** Increased when older versions can no longer read a backup. */
export const backupFormat = 1

const Sum = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })

const ManifestShape = Type.Object({
  format: Type.Literal(backupFormat),
  /** Version of the program that made the backup. */
  version: Type.String(),
  instance_id: Type.String(),
  /** RFC 3339. */
  created_at: Type.String(),
  engine: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
  /** `physical`: the SQLite file. `logical`: the rows of each table, which can be restored into either engine. */
  form: Type.Union([Type.Literal('physical'), Type.Literal('logical')]),
  migrations: Type.Array(Type.Object({ tag: Type.String(), sha256: Sum })),
  /** Fingerprints of the master keys that the data is encrypted with, the current one first. */
  master_keys: Type.Array(Type.String(), { minItems: 1 }),
  /** The checksum covers the rows as NDJSON, in the order of their keys. It is the same on both engines. */
  tables: Type.Array(Type.Object({ name: Type.String({ pattern: '^[a-z][a-z0-9_]*$' }), rows: Count, sha256: Sum })),
  /** Last number and hash of each chain of the audit log. */
  audit_heads: Type.Array(Type.Object({ chain: Type.String(), seq: Count, hash: Type.String() })),
  /** Schema version of the check results; null if the backup doesn't contain them. */
  series_version: Type.Union([Type.Integer(), Type.Null()]),
  files: Type.Array(Type.Object({ name: Type.String(), bytes: Count, sha256: Sum })),
})

/** Describes a backup. */
export type Manifest = Static<typeof ManifestShape>

/** @throws BackupFailed for a newer format, BackupDamaged */
export function parseManifest(file: string, text: string): Manifest {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    throw new BackupDamaged(file, 'its manifest is not JSON')
  }
  const { format, version } = (found ?? {}) as { format?: unknown; version?: unknown }
  if (typeof format === 'number' && format > backupFormat)
    throw new BackupFailed(
      `${file} has format ${format}, which this version can't read. Use version ${String(version)} or newer.`,
    )
  const [problem] = fieldProblems(ManifestShape, found)
  if (problem)
    throw new BackupDamaged(file, `its manifest is invalid: ${problem.pointer.slice(1)} ${problem.detail.replace(/\.$/, '')}`)
  const manifest = found as Manifest
  const inconsistency = inconsistencyOf(manifest)
  if (inconsistency) throw new BackupDamaged(file, `its manifest is invalid: ${inconsistency}`)
  return manifest
}

/** What the shape doesn't check. */
function inconsistencyOf({ created_at, form, series_version, files }: Manifest): string | null {
  if (Number.isNaN(Date.parse(created_at))) return 'created_at is not a time'
  const isListed = (name: string) => files.some(one => one.name === name)
  const needed = [
    checkpointsName,
    ...(form === 'physical' ? [databaseName] : []),
    ...(series_version === null ? [] : [seriesName]),
  ]
  const missing = needed.find(name => !isListed(name))
  if (missing) return `it doesn't list ${missing}`
  return series_version === null && isListed(seriesName) ? `it lists ${seriesName} without its version` : null
}

/** What the installation remembers of a backup. */
export const lastBackupOf = ({ created_at, form, series_version }: Manifest, bytes: number): LastBackup => ({
  created_at,
  form,
  bytes,
  with_series: series_version !== null,
})
