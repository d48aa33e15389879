import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BadSetting, masterKeyFile, type Config } from './config'
import { look, schemaState } from './db/schema-state'
import { loadMasterKey } from './master-key'
import { canaryFact } from './secrets'

/** Fingerprint of the master key that a database wants; null where there is no database, or nothing was set up in it yet. */
export async function wantedMasterKey(config: Config): Promise<string | null> {
  if ((await schemaState(config)).applied.length === 0) return null
  const rows = await look(config, async ask =>
    ask ? await ask<{ value: string }>(`select value from instance_facts where name = '${canaryFact}'`) : [],
  )
  return rows[0]?.value.split('.')[0] ?? null
}

/**
 * The master keys to start with. One is made only where nothing was sealed yet: after a restore another key would open nothing.
 * @throws BadSetting when there is none that could be right
 */
export async function masterKeysFor(config: Config): Promise<ReturnType<typeof loadMasterKey>> {
  const file = masterKeyFile(config)
  if (!existsSync(file)) {
    const wanted = await wantedMasterKey(config)
    // Who starts at the same moment makes the key before the database.
    if (wanted !== null && !existsSync(file)) throw new BadSetting(missingKey(config, wanted))
  }
  return loadMasterKey(file, !config.masterKeyFile)
}

/** What to say where a database is there and its master key is not. */
export const missingKey = (config: Config, wanted: string): string =>
  `The master key is missing: there is no file ${masterKeyFile(config)}, and the secrets in the database need the key with fingerprint ${wanted}. ` +
  'Put your copy of it there, mode 0600; a new key would open nothing.'

/** Why a folder cannot hold an installation, as a sentence that says what to do; null when it can, or can be made. */
export function folderFault(folder: string): string | null {
  let there = folder
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there)
  if (!statSync(there).isDirectory()) return `${there} is not a folder: choose another with --data.`
  const made = there === folder ? '' : `${folder} cannot be made: `
  if (!mayUse(there, constants.X_OK)) return `${made}${there} cannot be written by this user: run as its owner, or chown it.`
  const file = join(folder, 'bailiwick.db')
  if (existsSync(file) && !mayUse(file)) return `${file} cannot be written by this user: run as its owner, or chown it.`
  return null
}

function mayUse(path: string, more = 0): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | more)
    return true
  } catch {
    return false
  }
}
