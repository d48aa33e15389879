import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { InvalidSetting, masterKeyFile, type Config } from './config'
import { withReadOnlyDatabase, schemaState } from './db/schema-state'
import { loadMasterKey } from './master-key'
import { canaryFact } from './secrets'

/** Fingerprint of the master key that the database requires; null if there is no database or it is still empty. */
export async function requiredMasterKeyId(config: Config): Promise<string | null> {
  if ((await schemaState(config)).applied.length === 0) return null
  const rows = await withReadOnlyDatabase(config, async query =>
    query ? await query<{ value: string }>(`select value from instance_facts where name = '${canaryFact}'`) : [],
  )
  return rows[0]?.value.split('.')[0] ?? null
}

/**
 * Loads the master keys. Creates one only if nothing was encrypted yet: after a restore, a new key could not decrypt anything.
 * @throws InvalidSetting if the required key is missing
 */
export async function loadOrCreateMasterKeys(config: Config): Promise<ReturnType<typeof loadMasterKey>> {
  const file = masterKeyFile(config)
  if (!existsSync(file)) {
    const keyId = await requiredMasterKeyId(config)
    // Another process starting at the same time creates the key before the database.
    if (keyId !== null && !existsSync(file)) throw new InvalidSetting(missingKeyMessage(config, keyId))
  }
  return loadMasterKey(file, !config.masterKeyFile)
}

/** The error for a database whose master key is missing. */
export const missingKeyMessage = (config: Config, keyId: string): string =>
  `The master key is missing: ${masterKeyFile(config)} does not exist, and the secrets in the database are encrypted with the key with fingerprint ${keyId}. ` +
  'Restore your copy of the key file with mode 0600. A new key cannot decrypt existing secrets.'

/** Folder within a data folder that a restore loads a backup into. */
export const restoringFolder = 'restoring'

/** Whether a restore into a data folder was interrupted before it put the database into place. */
export const isRestoreInterrupted = (folder: string): boolean =>
  existsSync(join(folder, restoringFolder)) && !existsSync(join(folder, 'bailiwick.db'))

/** Why a folder can't be used as data folder and how to fix it; null if it can be used or created. */
export function folderProblem(folder: string): string | null {
  let existing = folder
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  if (!statSync(existing).isDirectory()) return `${existing} is not a folder. Choose another one with --data.`
  const prefix = existing === folder ? '' : `${folder} cannot be created: `
  if (!isWritable(existing, constants.X_OK))
    return `${prefix}${existing} is not writable by this user. Run as its owner, or change its owner.`
  if (isRestoreInterrupted(folder))
    return `A restore into ${folder} was interrupted. Run bailiwick restore again, or delete ${join(folder, restoringFolder)} to start without data.`
  const file = join(folder, 'bailiwick.db')
  if (existsSync(file) && !isWritable(file)) return `${file} is not writable by this user. Run as its owner, or change its owner.`
  return null
}

function isWritable(path: string, extraMode = 0): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | extraMode)
    return true
  } catch {
    return false
  }
}
