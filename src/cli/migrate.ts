import type { Command } from 'commander'
import { sqliteFile, type Config } from '../core/config'
import { schemaState } from '../core/db/schema-state'
import { openPostgres, openSqlite } from '../core/db/store'
import type { EndWith } from '.'
import { Failure } from './failure'
import { readConfig, withData, type SettingFlags } from './settings'

export function addMigrate(program: Command, endWith: EndWith): void {
  withData(program.command('migrate').description('Bring the database up to this version; serve does so by itself.'))
    .option('--status', 'only tell what is applied and what is missing')
    .addHelpText(
      'after',
      `
Exit code 1 with --status when something is missing.

Examples:
  bailiwick migrate --data /var/lib/bailiwick
  bailiwick migrate --status`,
    )
    .action(async (flags: SettingFlags & { status?: boolean }) => {
      const config = readConfig(flags)
      if (flags.status) endWith(await tellStatus(config))
      else await migrate(config)
    })
}

async function tellStatus(config: Config): Promise<number> {
  const { applied, pending, refused } = await schemaState(config)
  for (const tag of applied) console.log(`applied  ${tag}`)
  for (const tag of pending) console.log(`missing  ${tag}`)
  if (refused) throw new Failure(refused)
  return pending.length === 0 ? 0 : 1
}

async function migrate(config: Config): Promise<void> {
  const { pending } = await schemaState(config)
  const store = config.databaseUrl ? await openPostgres(config.databaseUrl) : await openSqlite(sqliteFile(config))
  await store.close()
  for (const tag of pending) console.log(`applied  ${tag}`)
  console.log('The database is up to date.')
}
