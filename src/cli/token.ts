import { InvalidArgumentError, Option, type Command } from 'commander'
import { permissions, type Permission } from '../core/permissions'
import { instant } from '../core/clock'
import { Failure } from './failure'
import { byOperator, withHub, withNewHub, workspaceIdOf } from './operator'
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
    .description('Make, list and revoke API tokens.')
    .addHelpText(
      'after',
      `
Examples:
  bailiwick token create --name admin --full
  bailiwick token list
  bailiwick token revoke tok_01jd8f3q7eeb9bv0w0r8c7hq2m`,
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

  withData(
    token
      .command('list')
      .description('Print API tokens, one a line: id, hint, name, workspace, what it may do, its end, its last use.'),
  )
    .option('--workspace <id or name>', 'only those of this workspace (default: all)')
    .option('--all', 'also those that were revoked or have ended')
    .addHelpText(
      'after',
      `
The parts of a line are apart by tabs; never is no end, or no use so far.

Examples:
  bailiwick token list --data /var/lib/bailiwick
  bailiwick token list --workspace default --all`,
    )
    .action(list)

  withData(token.command('revoke').description('Revoke an API token: it stops working within a second.').argument('<id>'))
    .addHelpText('after', '\nExamples:\n  bailiwick token revoke tok_01jd8f3q7eeb9bv0w0r8c7hq2m')
    .action(revoke)
}

async function list(flags: SettingFlags & { workspace?: string; all?: boolean }): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const { allTokens } = await import('../access/token-commands')
    const workspaceId = flags.workspace === undefined ? undefined : await workspaceIdOf(hub, flags.workspace)
    for await (const one of allTokens(hub, workspaceId)) {
      const hasEnded = one.expiresAt !== null && one.expiresAt <= hub.clock.now()
      const mark = one.revokedAt !== null ? 'revoked' : hasEnded ? 'ended' : ''
      if (mark !== '' && !flags.all) continue
      const may = one.mode === 'scoped' ? one.permissions.join(',') : one.mode.replace('_', '-')
      const [end, use] = [instant(one.expiresAt) ?? 'never', instant(one.lastUsedAt) ?? 'never']
      // A name that somebody else chose neither begins a line nor moves the cursor.
      const parts = [one.id, one.hint, one.name, one.workspace, may, end, use, mark].map(part => part.replaceAll(/\p{Cc}/gu, ' '))
      console.log(parts.join('\t').trimEnd())
    }
  })
}

async function revoke(id: string, flags: SettingFlags): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const { revokeTokenAsOperator } = await import('../access/token-commands')
    const before = await revokeTokenAsOperator(hub, id, byOperator)
    if (!before) throw new Failure(`There is no token with the id ${id}; bailiwick token list shows them.`)
    console.log(before.revokedAt === null ? `${before.name} is revoked.` : `${before.name} was revoked before.`)
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
