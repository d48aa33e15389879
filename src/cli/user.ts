import { InvalidArgumentError, Option, type Command } from 'commander'
import { roles, type Role } from '../access/tables'
import type { User } from '../features/people/users'
import type { Hub } from '../core/hub'
import { Failure } from './failure'
import { byOperator, withHub, withNewHub, workspaceIdOf } from './operator'
import { readPassword } from './password'
import { readConfig, withData, type SettingFlags } from './settings'

interface NewUserFlags extends SettingFlags {
  email: string
  name: string
  role: Role
  workspace?: string
  operator?: boolean
  passwordFile?: string
}

export function addUser(program: Command): void {
  const user = program
    .command('user')
    .description('Manage users')
    .addHelpText(
      'after',
      `
Passwords are read from --password-file, from standard input, or from a prompt. They can't be passed as an argument.

Examples:
  bailiwick user create --email ada@example.com --name Ada --role owner --operator
  bailiwick user set-password ada@example.com --password-file /run/secrets/ada
  bailiwick user reset-link ada@example.com
  bailiwick user reset-second-factor ada@example.com
  bailiwick user list`,
    )

  withData(user.command('create').description('Create a user in a workspace'))
    .requiredOption('--email <address>', 'Email address for signing in', parseEmail)
    .requiredOption('--name <name>', 'Name of the user', parseName)
    .addOption(new Option('--role <role>', 'Role in the workspace').choices(roles).default('member'))
    .option('--workspace <id or name>', 'Workspace to join (default: the workspace of the operator)')
    .option('--operator', 'Let the user administer the installation: plans, workspaces, network policies')
    .option('--password-file <file>', 'File with the password on its first line')
    .addHelpText(
      'after',
      '\nExamples:\n  bailiwick user create --email ada@example.com --name Ada --role owner --operator\n  pass show ada | bailiwick user create --email ada@example.com --name Ada',
    )
    .action(async (flags: NewUserFlags) => {
      const password = await readPassword(flags.passwordFile)
      await withNewHub(readConfig(flags), flags.workspace, async hub => {
        const { addUser: add } = await import('../features/people/users')
        const workspaceId = await workspaceIdOf(hub, flags.workspace)
        const created = await add(
          hub,
          'account.user.create',
          { ...flags, password, workspaceId, isOperator: flags.operator ?? false },
          byOperator,
        )
        console.log(created.id)
      })
    })

  withData(user.command('list').description('List users'))
    .addHelpText(
      'after',
      '\nPrints one user per line, with tab-separated columns: email address, name, and roles.\n\nExamples:\n  bailiwick user list --data /var/lib/bailiwick',
    )
    .action(async (flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { listUsers } = await import('../features/people/user-view')
        const users = await listUsers(hub)
        for (const one of users) {
          const workspaceRoles = one.workspaces.map(workspace => `${workspace.name}:${workspace.role}`).join(' ')
          const status = [...(one.operator ? ['operator'] : []), ...(one.disabled ? ['disabled'] : [])].join(' ')
          console.log([one.email, one.name, workspaceRoles, status].join('\t').trimEnd())
        }
        // On standard error: standard output is for programs that read the users.
        if (users.length === 0) console.error('No users. Create one with bailiwick user create.')
      })
    })

  withData(
    user.command('set-password').description('Set the password of a user, and sign the user out everywhere').argument('<email>'),
  )
    .option('--password-file <file>', 'File with the password on its first line')
    .addHelpText('after', '\nExamples:\n  bailiwick user set-password ada@example.com')
    .action(async (email: string, flags: SettingFlags & { passwordFile?: string }) => {
      const password = await readPassword(flags.passwordFile)
      await withHub(readConfig(flags), async hub => {
        const { setPassword } = await import('../features/people/users')
        await setPassword(hub, await userOf(hub, email), password, byOperator)
        console.log(`Changed the password of ${email} and revoked all sessions.`)
      })
    })

  withData(user.command('reset-link').description('Create a password reset link for a user').argument('<email>'))
    .addHelpText(
      'after',
      '\nThe link is valid for one hour and can be used once.\n\nExamples:\n  bailiwick user reset-link ada@example.com',
    )
    .action(async (email: string, flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { createResetLink } = await import('../features/people/password-resets/password-resets')
        console.log(await createResetLink(hub, await userOf(hub, email), byOperator))
      })
    })

  withData(
    user
      .command('reset-second-factor')
      .description('Remove the one-time codes and passkeys of a user, and sign the user out everywhere')
      .argument('<email>'),
  )
    .addHelpText('after', '\nExamples:\n  bailiwick user reset-second-factor ada@example.com')
    .action(async (email: string, flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { resetFactors } = await import('../features/people/second-factors/second-factors')
        await resetFactors(hub, await userOf(hub, email), byOperator)
        console.log(`Reset the two-factor authentication of ${email} and revoked all sessions.`)
      })
    })

  withData(user.command('disable').description('Disable a user, and sign the user out everywhere').argument('<email>'))
    .option('--force', 'Disable the user even if this is the last owner of a workspace, or the last operator, who can sign in')
    .addHelpText(
      'after',
      '\nExamples:\n  bailiwick user disable ada@example.com\n  bailiwick user disable ada@example.com --force',
    )
    .action(async (email: string, flags: SettingFlags & { force?: boolean }) => {
      await withHub(readConfig(flags), async hub => {
        const { setDisabled } = await import('../features/people/users')
        const found = await userOf(hub, email)
        await warnOfLast(hub, found, flags.force ?? false)
        await setDisabled(hub, found, true, byOperator)
        console.log(`Disabled ${email}.`)
      })
    })

  withData(user.command('enable').description('Enable a disabled user').argument('<email>'))
    .addHelpText('after', '\nExamples:\n  bailiwick user enable ada@example.com')
    .action(async (email: string, flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { setDisabled } = await import('../features/people/users')
        await setDisabled(hub, await userOf(hub, email), false, byOperator)
        console.log(`Enabled ${email}.`)
      })
    })
}

/** @throws Failure without --force, if no other owner of a workspace, or no other operator, can sign in */
async function warnOfLast(hub: Hub, user: User, force: boolean): Promise<void> {
  const { isLastOperator, workspacesWithSoleOwner } = await import('../features/people/members/last-owner')
  const owned = (await workspacesWithSoleOwner(hub.read, user.id)).join(', ')
  const warnings = [
    ...(owned === ''
      ? []
      : [
          {
            problem: `${user.email} is the last owner who can sign in to these workspaces: ${owned}.`,
            advice: 'Make another member an owner first.',
          },
        ]),
    ...((await isLastOperator(hub.read, user.id))
      ? [
          {
            problem: `${user.email} is the last operator who can sign in.`,
            advice: 'Create another one first with bailiwick user create --operator.',
          },
        ]
      : []),
  ]
  if (warnings.length === 0) return
  if (!force)
    throw new Failure(
      [...warnings.map(({ problem, advice }) => `${problem} ${advice}`), 'Use --force to disable the user anyway.'].join('\n'),
    )
  for (const { problem } of warnings) console.error(`Warning: ${problem}`)
}

async function userOf(hub: Hub, email: string): Promise<User> {
  const { findUser } = await import('../features/people/users')
  const found = await findUser(hub.read, email)
  if (!found) throw new Failure(`No user has the email address ${email}.`)
  return found
}

function parseEmail(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text) || text.length > 254) throw new InvalidArgumentError('It must be an email address.')
  return text
}

function parseName(text: string): string {
  if (text.trim() === '' || text.length > 100) throw new InvalidArgumentError('It must have 1 to 100 characters.')
  return text
}
