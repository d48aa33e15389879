import { resolve } from 'node:path'
import type { Command } from 'commander'
import { instant } from '../core/clock'
import { pluralize } from '../core/pluralize'
import type { Manifest } from '../hub/backup/manifest'
import { readConfig, withData, type SettingFlags } from './settings'

interface BackupFlags extends SettingFlags {
  to?: string
  logical?: boolean
  withSeries?: boolean
}
interface FromFlags extends SettingFlags {
  from?: string
}
interface RestoreFlags extends FromFlags {
  releaseDeliveries?: boolean
}

export function addBackup(program: Command): void {
  const backup = withData(program.command('backup').description('Back up the database, while the hub is running'))
    .option('--to <dir>', 'Folder for the backup (default: DATA/backups)')
    .option('--logical', 'Store rows instead of a copy of the SQLite file, to restore into either database engine')
    .option('--with-series', 'Include check results and latencies')
    .addHelpText(
      'after',
      `
Writes one file, bailiwick-<installation>-<time>.tar.zst. On PostgreSQL, backups are always logical.
A backup never contains the master key. Store your key file separately: a backup can't be restored without it.

Examples:
  bailiwick backup --data /var/lib/bailiwick --to /mnt/backups
  bailiwick backup --logical --with-series
  bailiwick backup list --from /mnt/backups
  bailiwick backup verify /mnt/backups/bailiwick-1f3a9c2e-2026-11-21T02-00-00-000Z.tar.zst`,
    )
    .action(async (flags: BackupFlags) => await create(flags))
  // Options that the parent command has too, such as --data, are passed to the parent.
  withFrom(withData(backup.command('list').description('List the backups in a folder'))).action(
    async (_: FromFlags, command: Command) => {
      refuseOptionsOfBackup(command)
      await list(command.optsWithGlobals())
    },
  )
  withData(backup.command('verify').description('Verify that a backup is complete and intact'))
    .argument('<file>', 'The backup')
    .addHelpText(
      'after',
      `
Restores the backup into a temporary folder and checks its checksums, its structure, and its audit log. Set TMPDIR to choose where.
With the master key, it also checks who wrote the audit log. The exit code is 1 if the backup can't be restored.

Examples:
  bailiwick backup verify /mnt/backups/bailiwick-1f3a9c2e-2026-11-21T02-00-00-000Z.tar.zst`,
    )
    .action(async (file: string, _: SettingFlags, command: Command) => {
      refuseOptionsOfBackup(command)
      await verify(resolve(file), command.optsWithGlobals())
    })
}

/** The parent command accepts its options after a subcommand too, where they would have no effect. */
function refuseOptionsOfBackup(command: Command): void {
  const { to, logical, withSeries } = command.optsWithGlobals<BackupFlags>()
  const option = to !== undefined ? '--to' : logical ? '--logical' : withSeries ? '--with-series' : null
  if (option) command.error(`error: '${option}' is an option for creating a backup${option === '--to' ? '. Use --from' : ''}`)
}

export function addRestore(program: Command): void {
  withFrom(
    withData(
      program.command('restore').description('Restore a backup into an empty data folder or an empty PostgreSQL database'),
    ),
  )
    .argument('<file>', "The backup, or 'latest' for the newest one in the folder of --from")
    .option('--release-deliveries', 'Send waiting webhook deliveries, which are held by default')
    .addHelpText(
      'after',
      `
Copy your key file to the data folder first: DATA/master.key, or the path in BAILIWICK_MASTER_KEY_FILE.
A logical backup can be restored into either database engine. An older backup is migrated to this version.
All changes made since the backup are lost, and users have to sign in again. Webhook deliveries that were waiting are held, because
most were probably sent since. Use --release-deliveries if the hub hasn't run since the backup.
If a restore is interrupted, run it again.

Examples:
  bailiwick restore /mnt/backups/bailiwick-1f3a9c2e-2026-11-21T02-00-00-000Z.tar.zst --data /var/lib/bailiwick
  bailiwick restore latest --from /mnt/backups --data /var/lib/bailiwick
  BAILIWICK_DATABASE_URL=postgres://bailiwick@db/bailiwick BAILIWICK_MASTER_KEY_FILE=/etc/bailiwick/key bailiwick restore latest --from /mnt/backups`,
    )
    .action(async (file: string, flags: RestoreFlags) => await restore(file, flags))
}

const withFrom = (command: Command): Command => command.option('--from <dir>', 'Folder with backups (default: DATA/backups)')

const report = (line: string) => console.error(line)

async function create({ to, logical = false, withSeries = false, ...flags }: BackupFlags): Promise<void> {
  const config = readConfig(flags)
  const { createBackup } = await import('../hub/backup/create')
  const { backupFolder } = await import('../hub/backup/folder')
  const startedAt = performance.now()
  const folder = to === undefined ? backupFolder(config) : resolve(to)
  const { file, bytes, manifest } = await createBackup(config, { folder, logical, withSeries, report })
  console.log(file)
  console.log(`${contentOf(manifest)}, ${sizeOf(bytes)}, in ${secondsSince(startedAt)}`)
}

async function list({ from, ...flags }: FromFlags): Promise<void> {
  const config = readConfig(flags)
  const { backupFolder, listBackups } = await import('../hub/backup/folder')
  const folder = from === undefined ? backupFolder(config) : resolve(from)
  const found = await listBackups(folder)
  if (found.length === 0) {
    console.log(`There are no backups in ${folder}.`)
    return
  }
  const rows = found.map(({ file, bytes, manifest, problem }) =>
    manifest
      ? [instant(Date.parse(manifest.created_at)), engineOf(manifest), formOf(manifest), sizeOf(bytes), manifest.version, file]
      : ['unreadable', '', '', '', '', problem!],
  )
  printTable(['TIME', 'ENGINE', 'FORM', 'SIZE', 'VERSION', 'FILE'], rows)
}

async function verify(file: string, flags: SettingFlags): Promise<void> {
  const config = readConfig(flags)
  const { verifyBackup } = await import('../hub/backup/verify')
  const { manifest, auditEntries, hasMasterKey } = await verifyBackup(config, file, report)
  console.log(`${file} is intact.`)
  console.log(`Made at ${manifest.created_at} by Bailiwick ${manifest.version}: ${contentOf(manifest)}.`)
  console.log(`${pluralize(auditEntries, 'audit events')} verified${hasMasterKey ? '' : ', without the master key'}.`)
  console.log(`Requires the master key with the fingerprint ${manifest.master_keys.join(' and ')}.`)
}

async function restore(file: string, { from, releaseDeliveries = false, ...flags }: RestoreFlags): Promise<void> {
  const config = readConfig(flags)
  const { restoreBackup } = await import('../hub/backup/restore')
  const { backupFolder, latestBackup } = await import('../hub/backup/folder')
  const startedAt = performance.now()
  const path = file === 'latest' ? latestBackup(from === undefined ? backupFolder(config) : resolve(from)) : resolve(file)
  const manifest = await restoreBackup(config, { file: path, releaseDeliveries, report })
  const target = config.databaseUrl ? 'the database of BAILIWICK_DATABASE_URL' : config.data
  console.log(`Restored ${path} into ${target} in ${secondsSince(startedAt)}.`)
  console.log(`Made at ${manifest.created_at} by Bailiwick ${manifest.version}: ${contentOf(manifest)}.`)
  if (!releaseDeliveries)
    console.log('Webhook deliveries that were waiting are held. Resend them if they were not delivered since.')
  console.log('Start the hub with bailiwick serve.')
}

function contentOf(manifest: Manifest): string {
  const rows = manifest.tables.reduce((sum, one) => sum + one.rows, 0)
  const series = manifest.series_version === null ? '' : ', with check results'
  return `${engineOf(manifest)}, ${formOf(manifest)}, ${pluralize(manifest.tables.length, 'tables')}, ${pluralize(rows, 'rows')}${series}`
}

const engineOf = ({ engine }: Manifest): string => (engine === 'sqlite' ? 'SQLite' : 'PostgreSQL')
const formOf = ({ form }: Manifest): string => form

const secondsSince = (startedAt: number): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function printTable(head: string[], rows: string[][]): void {
  const widths = head.map((_, n) => Math.max(...[head, ...rows].map(row => row[n]!.length)))
  for (const row of [head, ...rows])
    console.log(
      row
        .map((cell, n) => cell.padEnd(widths[n]!))
        .join('  ')
        .trimEnd(),
    )
}
