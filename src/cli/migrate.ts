import type { Command } from 'commander'
import { sqliteFile, type Config } from '../core/config'
import { schemaState } from '../core/db/schema-state'
import { openPostgres, openSqlite } from '../core/db/store'
import { Failure, type EndWith } from './failure'
import { readConfig, withData, type SettingFlags } from './settings'

export function addMigrate(program: Command, endWith: EndWith): void {
  withData(program.command('migrate').description('Apply database migrations'))
    .option('--status', 'List applied and pending migrations without applying any')
    .addHelpText(
      'after',
      `
bailiwick serve also applies migrations when it starts. With --status, the exit code is 1 if migrations are pending.

Examples:
  bailiwick migrate --data /var/lib/bailiwick
  bailiwick migrate --status`,
    )
    .action(async (flags: SettingFlags & { status?: boolean }) => {
      const config = readConfig(flags)
      if (flags.status) endWith(await printStatus(config))
      else await migrate(config)
    })
}

async function printStatus(config: Config): Promise<number> {
  const { applied, pending, incompatible } = await schemaState(config)
  for (const tag of applied) console.log(`applied  ${tag}`)
  for (const tag of pending) console.log(`pending  ${tag}`)
  if (incompatible) throw new Failure(incompatible)
  return pending.length === 0 ? 0 : 1
}

async function migrate(config: Config): Promise<void> {
  const { pending } = await schemaState(config)
  const store = config.databaseUrl ? await openPostgres(config.databaseUrl) : await openSqlite(sqliteFile(config))
  await store.close()
  for (const tag of pending) console.log(`applied  ${tag}`)
  console.log('The database is up to date.')
}
