import type { Command } from 'commander'
import { numbered, isOrAre, wasOrWere } from '../core/numbered'
import { instant } from '../core/clock'
import { masterKeyFile } from '../core/config'
import { keyBounds } from '../core/key-use'
import { loadMasterKey } from '../core/master-key'
import { keyFingerprint } from '../core/secrets'
import type { EndWith } from '.'
import { byOperator, withHub, workspaceIdOf } from './operator'
import { readConfig, withData, type SettingFlags } from './settings'
import { readSpan } from './span'

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

// Longer than any read of a row and its key that belongs to it.
const graceMs = 2000
const defaultWaitMs = 600_000

export function addKeys(program: Command, endWith: EndWith): void {
  const keys = program
    .command('keys')
    .description('Look at, verify and renew the keys that seal secrets.')
    .addHelpText(
      'after',
      `
All of them work while hubs run. With --plan a rotation only tells what it would do. One that was interrupted goes on when it is run again.

Examples:
  bailiwick keys status
  bailiwick keys rotate-master --plan
  bailiwick keys rotate-data --workspace default`,
    )
  withData(
    keys.command('status').description('List master keys, data keys with age and values, and the hubs with their key.'),
  ).action(async (flags: SettingFlags) => await status(flags))
  withData(keys.command('verify').description('Open every data key and every sealed value, and count them.'))
    .addHelpText('after', '\nExit code 2 when anything does not open.')
    .action(async (flags: SettingFlags) => endWith(await verify(flags)))
  withPlan(keys.command('rotate-master').description('Put a new master key in the place of the old.'))
    .option('--new-key-file <file>', 'file with the new key, 32 bytes in base64 or hex (default: a random key)')
    .option('--wait <span>', 'how long hubs may take to read the new key file, such as 30m (default: 10m)', readSpan)
    .addHelpText(
      'after',
      `
Writes the new key before the old one into the key file, waits until every running hub has read it, wraps every data key with it,
then deletes the old one from the file. Hubs on other machines have key files of their own: while this waits, put both lines there.
Backups that were made before need the old key: keep it as long as them.

Examples:
  bailiwick keys rotate-master --data /var/lib/bailiwick`,
    )
    .action(async (flags: MasterFlags) => await rotateMaster(flags))
  withPlan(keys.command('rotate-data').description('Give workspaces a new data key and seal every value anew under it.'))
    .option('--workspace <id or name>', 'only this workspace (default: all)')
    .addHelpText(
      'after',
      `
Deletes the keys before it once nothing is sealed under them.

Examples:
  bailiwick keys rotate-data
  bailiwick keys rotate-data --workspace default --plan`,
    )
    .action(async (flags: DataFlags) => await rotateData(flags))
}

const withPlan = (command: Command): Command => withData(command).option('--plan', 'only tell what would be done')

const tell = (line: string) => console.log(line)

async function status(flags: SettingFlags): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const { keyStanding } = await import('../hub/keys/standing')
    const found = await keyStanding(hub)
    const file = masterKeyFile(hub.config)
    const { key, previous } = loadMasterKey(file, false)
    const wraps = (id: string) => (id === found.wrappingKeyId ? ', wraps new data keys' : '')
    tell(`Master keys in ${file}`)
    tell(`  ${keyFingerprint(key)}  current${wraps(keyFingerprint(key))}`)
    if (previous) tell(`  ${keyFingerprint(previous)}  previous${wraps(keyFingerprint(previous))}`)
    tell('Data keys')
    for (const one of found.dataKeys) {
      const days = Math.floor((hub.clock.now() - one.createdAt) / 86_400_000)
      const of = one.workspaceId || 'the installation'
      const used = one.workspaceId ? `, at most ${one.encryptions} of ${keyBounds.encryptions} encryptions` : ''
      tell(
        `  ${one.id}  of ${of}, wrapped by ${one.masterKeyId}, ${numbered(days, 'days')} old, ${numbered(one.values, 'values')}${used}`,
      )
    }
    for (const [id, values] of found.orphans)
      tell(`  ${id}  is missing, ${numbered(values, 'values')} ${wasOrWere(values)} sealed under it`)
    tell('Hubs')
    for (const one of found.hubs) tell(`  ${one.id}  on ${one.host} has ${one.masterKeyId}, seen ${instant(one.seenAt)}`)
    if (found.hubs.length === 0) tell('  none runs')
  })
}

/** Returns the exit code. */
async function verify(flags: SettingFlags): Promise<number> {
  return await withHub(readConfig(flags), async hub => {
    const { verifyKeys } = await import('../hub/keys/verify')
    const found = await verifyKeys(hub, byOperator)
    for (const { column, keyId, values } of found.counts)
      tell(`${column}  ${keyId}  ${numbered(values, 'values')} ${values === 1 ? 'opens' : 'open'}`)
    for (const line of found.failures) console.error(line)
    tell(
      `${numbered(found.dataKeys, 'data keys')} and ${numbered(found.values, 'values')} open; ${found.failures.length === 1 ? '1 does' : `${found.failures.length} do`} not.`,
    )
    return found.failures.length === 0 ? 0 : 2
  })
}

async function rotateMaster(flags: MasterFlags): Promise<void> {
  const newKey = flags.newKeyFile === undefined ? undefined : loadMasterKey(flags.newKeyFile, false).key
  await withHub(readConfig(flags), async hub => {
    const rotation = await import('../hub/keys/rotate-master')
    if (flags.plan) {
      const { file, steps, toRewrap, hubs } = await rotation.masterRotation(hub, newKey)
      const says = {
        'new key': `Would write ${newKey ? `the key ${keyFingerprint(newKey)}` : 'a new key'} before the one in ${file}.`,
        adopt: `Would wait until the hubs that run have read it: ${hubs.map(one => `${one.host} (${one.id})`).join(', ') || 'none'}.`,
        rewrap: `Would wrap ${numbered(toRewrap, 'data keys')} with it.`,
        'drop previous': `Would delete the old key from ${file}.`,
      }
      for (const step of steps) tell(says[step])
      return
    }
    const id = await rotation.rotateMaster(hub, { by: byOperator, newKey, waitMs: flags.wait ?? defaultWaitMs, tell })
    tell(`The master key is ${id}. Copy ${masterKeyFile(hub.config)} to a safe place; backups made before need the old key.`)
  })
}

async function rotateData(flags: DataFlags): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const workspaceId = flags.workspace === undefined ? undefined : await workspaceIdOf(hub, flags.workspace)
    const rotation = await import('../hub/keys/rotate-data')
    if (flags.plan) {
      const { startedAt, workspaces, values, keys } = await rotation.dataRotation(hub, workspaceId)
      if (startedAt !== null) tell(`A rotation that began at ${instant(startedAt)} would go on.`)
      tell(
        `Would seal ${numbered(values, 'values')} of ${numbered(workspaces, 'workspaces')} under new keys and delete ${numbered(keys, 'keys')}.`,
      )
      return
    }
    const done = await rotation.rotateData(hub, { by: byOperator, workspaceId, graceMs, tell })
    tell(
      `${numbered(done.values, 'values')} of ${numbered(done.workspaces, 'workspaces')} ${isOrAre(done.values)} sealed anew; ${numbered(done.keys, 'keys')} ${wasOrWere(done.keys)} deleted.`,
    )
  })
}
