import type { Command } from 'commander'
import { pluralize, isOrAre } from '../core/pluralize'
import { instant } from '../core/clock'
import { masterKeyFile } from '../core/config'
import { keyLimits } from '../core/key-use'
import { loadMasterKey } from '../core/master-key'
import { keyFingerprint } from '../core/secrets'
import type { EndWith } from './failure'
import { byOperator, withHub, workspaceIdOf } from './operator'
import { readConfig, withData, type SettingFlags } from './settings'
import { parseDuration } from './duration'

interface PlanFlags extends SettingFlags {
  plan?: boolean
}
interface MasterFlags extends PlanFlags {
  newKeyFile?: string
  /** Milliseconds. */
  wait?: number
}
interface DataFlags extends PlanFlags {
  workspace?: string
}

// Longer than it takes to read a row and then its key.
const graceMs = 2000
const defaultWaitMs = 600_000

export function addKeys(program: Command, endWith: EndWith): void {
  const keys = program
    .command('keys')
    .description('Manage the keys that encrypt secrets')
    .addHelpText(
      'after',
      `
You can run these commands while hubs are running. If a rotation is interrupted, run it again to continue.

Examples:
  bailiwick keys status
  bailiwick keys rotate-master --plan
  bailiwick keys rotate-data --workspace default`,
    )
  withData(
    keys
      .command('status')
      .description(
        'List the master keys, the data keys with their age and number of encrypted values, and the master key of each hub',
      ),
  ).action(async (flags: SettingFlags) => await status(flags))
  withData(keys.command('verify').description('Verify that all data keys and secrets can be decrypted'))
    .addHelpText('after', '\nThe exit code is 4 if anything cannot be decrypted.')
    .action(async (flags: SettingFlags) => endWith(await verify(flags)))
  withPlan(keys.command('rotate-master').description('Replace the master key'))
    .option('--new-key-file <file>', 'File with the new key, 32 bytes in base64 or hex (default: a random key)')
    .option('--wait <duration>', 'How long to wait for hubs to load the new key, such as 30m (default: 10m)', parseDuration)
    .addHelpText(
      'after',
      `
Adds the new key to the key file, waits until all running hubs have loaded it, re-encrypts all data keys with it, and removes the
old key from the file. If hubs run on other machines, copy both lines of the key file to them while this command waits.
Keep the old key as long as you keep backups that were made with it.

Examples:
  bailiwick keys rotate-master --data /var/lib/bailiwick`,
    )
    .action(async (flags: MasterFlags) => await rotateMaster(flags))
  withPlan(keys.command('rotate-data').description('Replace the data keys of workspaces and re-encrypt all secrets'))
    .option('--workspace <id or name>', 'Only this workspace (default: all)')
    .addHelpText(
      'after',
      `
The old keys are deleted when they are no longer used.

Examples:
  bailiwick keys rotate-data
  bailiwick keys rotate-data --workspace default --plan`,
    )
    .action(async (flags: DataFlags) => await rotateData(flags))
}

const withPlan = (command: Command): Command =>
  withData(command).option('--plan', 'Show what would be done without changing anything')

const print = (line: string) => console.log(line)

async function status(flags: SettingFlags): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const { keyStatus } = await import('../hub/keys/key-status')
    const found = await keyStatus(hub)
    const file = masterKeyFile(hub.config)
    const { key, previous } = loadMasterKey(file, false)
    const wraps = (id: string) => (id === found.wrappingKeyId ? ', encrypts new data keys' : '')
    print(`Master keys in ${file}`)
    print(`  ${keyFingerprint(key)}  current${wraps(keyFingerprint(key))}`)
    if (previous) print(`  ${keyFingerprint(previous)}  previous${wraps(keyFingerprint(previous))}`)
    print('Data keys')
    for (const one of found.dataKeys) {
      const days = Math.floor((hub.clock.now() - one.createdAt) / 86_400_000)
      const owner = one.workspaceId || 'installation'
      const usage = one.workspaceId ? `, ${one.encryptions} of at most ${keyLimits.encryptions} encryptions` : ''
      print(
        `  ${one.id}  ${owner}, encrypted with ${one.masterKeyId}, ${pluralize(days, 'days')} old, ${pluralize(one.values, 'values')}${usage}`,
      )
    }
    if (found.dataKeys.length === 0) print('  none')
    for (const [id, values] of found.orphans)
      print(`  ${id}  missing, but ${pluralize(values, 'values')} ${isOrAre(values)} encrypted with it`)
    print('Hubs')
    for (const one of found.hubs) print(`  ${one.id}  on ${one.host} uses ${one.masterKeyId}, last seen ${instant(one.seenAt)}`)
    if (found.hubs.length === 0) print('  none running')
  })
}

/** @returns the exit code */
async function verify(flags: SettingFlags): Promise<number> {
  return await withHub(readConfig(flags), async hub => {
    const { verifyKeys } = await import('../hub/keys/verify')
    const found = await verifyKeys(hub, byOperator)
    for (const { column, keyId, values } of found.counts) print(`${column}  ${keyId}  ${pluralize(values, 'values')} decrypted`)
    for (const line of found.failures) console.error(line)
    print(
      `${pluralize(found.dataKeys, 'data keys')} and ${pluralize(found.values, 'values')} decrypted, ${found.failures.length} failed.`,
    )
    return found.failures.length === 0 ? 0 : 4
  })
}

async function rotateMaster(flags: MasterFlags): Promise<void> {
  const newKey = flags.newKeyFile === undefined ? undefined : loadMasterKey(flags.newKeyFile, false).key
  await withHub(readConfig(flags), async hub => {
    const rotation = await import('../hub/keys/rotate-master')
    if (flags.plan) {
      const { file, steps, toRewrap, hubs } = await rotation.masterRotation(hub, newKey)
      const descriptions = {
        'new key': `Would add ${newKey ? `the key ${keyFingerprint(newKey)}` : 'a new key'} to ${file}.`,
        adopt: `Would wait until all running hubs have loaded the new key: ${hubs.map(one => `${one.host} (${one.id})`).join(', ') || 'none'}.`,
        rewrap: `Would re-encrypt ${pluralize(toRewrap, 'data keys')} with the new key.`,
        'drop previous': `Would remove the old key from ${file}.`,
      }
      for (const step of steps) print(descriptions[step])
      return
    }
    const id = await rotation.rotateMaster(hub, { by: byOperator, newKey, waitMs: flags.wait ?? defaultWaitMs, report: print })
    print(
      `The master key is now ${id}. Back up ${masterKeyFile(hub.config)}, and keep the old key as long as you keep backups made with it.`,
    )
  })
}

async function rotateData(flags: DataFlags): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const workspaceId = flags.workspace === undefined ? undefined : await workspaceIdOf(hub, flags.workspace)
    const rotation = await import('../hub/keys/rotate-data')
    if (flags.plan) {
      const { startedAt, workspaces, values, keys } = await rotation.dataRotation(hub, workspaceId)
      if (startedAt !== null) print(`Would continue the rotation that was started at ${instant(startedAt)}.`)
      print(
        `Would re-encrypt ${pluralize(values, 'values')} of ${pluralize(workspaces, 'workspaces')} with new keys and delete ${pluralize(keys, 'old keys')}.`,
      )
      return
    }
    const done = await rotation.rotateData(hub, { by: byOperator, workspaceId, graceMs, report: print })
    print(
      `Re-encrypted ${pluralize(done.values, 'values')} of ${pluralize(done.workspaces, 'workspaces')}, deleted ${pluralize(done.keys, 'old keys')}.`,
    )
  })
}
