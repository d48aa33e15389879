import { InvalidArgumentError, Option, type Command } from 'commander'
import { permissions, type Permission } from '../core/permissions'
import { withNewHub, workspaceIdOf } from './operator'
import { readConfig, withData, type SettingFlags } from './settings'
import { readSpan } from './span'

interface TokenFlags extends SettingFlags {
  name: string
  full?: boolean
  readOnly?: boolean
  permission?: Permission[]
  workspace?: string
  /** Milliseconds. */
  expiresIn?: number
}

export function addToken(program: Command): void {
  const token = program
    .command('token')
    .description('Make API tokens.')
    .addHelpText(
      'after',
      `
Examples:
  bailiwick token create --name admin --full`,
    )
  withData(token.command('create').description('Make an API token and print it alone on standard output.'))
    .requiredOption('--name <name>', 'label of the token', readName)
    .addOption(new Option('--full', 'may do everything').conflicts(['readOnly', 'permission']))
    .addOption(new Option('--read-only', 'may read everything and change nothing').conflicts(['full', 'permission']))
    .addOption(
      new Option('--permission <permission...>', 'may do this, such as dns.write; write includes read')
        .argParser(readPermission)
        .conflicts(['full', 'readOnly']),
    )
    .option('--workspace <id or name>', 'workspace it belongs to (default: the operator’s)')
    .option('--expires-in <span>', 'how long it works, such as 90d, 12h or 30m (default: until revoked)', readSpan)
    .addHelpText(
      'after',
      `
Works while the hub runs, and on an empty folder, where it makes the operator's workspace first.

Examples:
  TOKEN=$(bailiwick token create --name ci --permission dns.write monitoring.read --data /var/lib/bailiwick)
  bailiwick token create --name dashboards --read-only --expires-in 90d`,
    )
    .action(async (flags: TokenFlags, command: Command) => {
      if (!flags.full && !flags.readOnly && !flags.permission?.length) {
        command.error('error: say what the token may do: --full, --read-only, or --permission with at least one permission')
      }
      console.log(await create(flags))
    })
}

async function create(flags: TokenFlags): Promise<string> {
  return await withNewHub(readConfig(flags), flags.workspace, async hub => {
    const { createTokenAsOperator } = await import('../access/tokens')
    return await createTokenAsOperator(hub, {
      workspaceId: await workspaceIdOf(hub, flags.workspace),
      name: flags.name,
      mode: flags.full ? 'full' : flags.readOnly ? 'read_only' : 'scoped',
      permissions: [...new Set(flags.permission ?? [])],
      expiresAt: flags.expiresIn === undefined ? null : hub.clock.now() + flags.expiresIn,
    })
  })
}

function readName(text: string): string {
  if (text.trim() === '' || text.length > 100) throw new InvalidArgumentError('It must have 1 to 100 characters.')
  return text
}

function readPermission(text: string, earlier: Permission[] | undefined): Permission[] {
  const named = text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)
  for (const one of named) {
    if (!permissions.includes(one as Permission)) throw new InvalidArgumentError(`It must be one of ${permissions.join(', ')}.`)
  }
  return [...(earlier ?? []), ...(named as Permission[])]
}
