import { InvalidArgumentError, Option, type Command } from 'commander'
import { permissions, type Permission } from '../core/permissions'
import { instant } from '../core/clock'
import { Failure } from './failure'
import { byOperator, withHub, withNewHub, workspaceIdOf } from './operator'
import { readConfig, withData, type SettingFlags } from './settings'
import { parseDuration } from './duration'

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
    .description('Manage API tokens')
    .addHelpText(
      'after',
      `
Examples:
  bailiwick token create --name admin --full
  bailiwick token list
  bailiwick token revoke tok_01jd8f3q7eeb9bv0w0r8c7hq2m`,
    )
  withData(token.command('create').description('Create an API token and print it'))
    .requiredOption('--name <name>', 'Name of the token', parseName)
    .addOption(new Option('--full', 'Full access').conflicts(['readOnly', 'permission']))
    .addOption(new Option('--read-only', 'Read-only access').conflicts(['full', 'permission']))
    .addOption(
      new Option('--permission <permission...>', 'Permissions, such as dns.write (includes dns.read)')
        .argParser(parsePermissions)
        .conflicts(['full', 'readOnly']),
    )
    .option('--workspace <id or name>', 'Workspace of the token (default: the workspace of the operator)')
    .option('--expires-in <duration>', 'Lifetime, such as 90d, 12h, or 30m (default: no expiry)', parseDuration)
    .addHelpText(
      'after',
      `
Choose the access with --full, --read-only, or --permission. You can run this command while the hub is running. If there is no
installation, the command creates one.

Examples:
  TOKEN=$(bailiwick token create --name ci --permission dns.write monitoring.read --data /var/lib/bailiwick)
  bailiwick token create --name dashboards --read-only --expires-in 90d`,
    )
    .action(async (flags: TokenFlags, command: Command) => {
      if (!flags.full && !flags.readOnly && !flags.permission?.length) {
        command.error('error: choose the access of the token with --full, --read-only, or --permission')
      }
      console.log(await create(flags))
    })

  withData(token.command('list').description('List API tokens'))
    .option('--workspace <id or name>', 'Only tokens of this workspace (default: all)')
    .option('--all', 'Include revoked and expired tokens')
    .addHelpText(
      'after',
      `
Prints one token per line, with tab-separated columns: ID, hint, name, workspace, permissions, expiry, last used, and with --all,
whether the token is revoked or expired.

Examples:
  bailiwick token list --data /var/lib/bailiwick
  bailiwick token list --workspace default --all`,
    )
    .action(list)

  withData(token.command('revoke').description('Revoke an API token').argument('<id>', 'ID of the token'))
    .addHelpText('after', '\nExamples:\n  bailiwick token revoke tok_01jd8f3q7eeb9bv0w0r8c7hq2m')
    .action(revoke)
}

async function list(flags: SettingFlags & { workspace?: string; all?: boolean }): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const { allTokens } = await import('../features/tokens/commands')
    const workspaceId = flags.workspace === undefined ? undefined : await workspaceIdOf(hub, flags.workspace)
    let [listed, hidden] = [0, 0]
    for await (const one of allTokens(hub, workspaceId)) {
      const isExpired = one.expiresAt !== null && one.expiresAt <= hub.clock.now()
      const status = one.revokedAt !== null ? 'revoked' : isExpired ? 'expired' : ''
      if (status !== '' && !flags.all) {
        hidden++
        continue
      }
      listed++
      const access = one.mode === 'scoped' ? one.permissions.join(',') : one.mode.replace('_', '-')
      const [expires, lastUsed] = [instant(one.expiresAt) ?? 'never', instant(one.lastUsedAt) ?? 'never']
      const columns = [one.id, one.hint, one.name, one.workspace, access, expires, lastUsed, status]
      // Names must not contain control characters that start a new line or control the terminal.
      console.log(
        columns
          .map(column => column.replaceAll(/\p{Cc}/gu, ' '))
          .join('\t')
          .trimEnd(),
      )
    }
    // On standard error: standard output is for programs that read the tokens.
    if (listed === 0)
      console.error(hidden === 0 ? 'No tokens.' : 'No active tokens. Use --all to list revoked and expired tokens.')
  })
}

async function revoke(id: string, flags: SettingFlags): Promise<void> {
  await withHub(readConfig(flags), async hub => {
    const { revokeTokenAsOperator } = await import('../features/tokens/commands')
    const before = await revokeTokenAsOperator(hub, id, byOperator)
    if (!before) throw new Failure(`No token has the ID ${id}. Run bailiwick token list to list all tokens.`)
    console.log(before.revokedAt === null ? `Revoked token ${before.name}.` : `Token ${before.name} was already revoked.`)
  })
}

async function create(flags: TokenFlags): Promise<string> {
  return await withNewHub(readConfig(flags), flags.workspace, async hub => {
    const { createTokenAsOperator } = await import('../features/tokens/commands')
    return await createTokenAsOperator(hub, {
      workspaceId: await workspaceIdOf(hub, flags.workspace),
      name: flags.name,
      mode: flags.full ? 'full' : flags.readOnly ? 'read_only' : 'scoped',
      permissions: [...new Set(flags.permission ?? [])],
      expiresAt: flags.expiresIn === undefined ? null : hub.clock.now() + flags.expiresIn,
    })
  })
}

function parseName(text: string): string {
  if (text.trim() === '' || text.length > 100) throw new InvalidArgumentError('It must have 1 to 100 characters.')
  return text
}

function parsePermissions(text: string, previous: Permission[] | undefined): Permission[] {
  const names = text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)
  for (const one of names) {
    if (!permissions.includes(one as Permission)) throw new InvalidArgumentError(`It must be one of ${permissions.join(', ')}.`)
  }
  return [...(previous ?? []), ...(names as Permission[])]
}
