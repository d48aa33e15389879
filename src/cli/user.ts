import { InvalidArgumentError, Option, type Command } from 'commander'
import { roles, type Role } from '../access/tables'
import type { User } from '../access/users'
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
    .description('Make and change people who sign in.')
    .addHelpText(
      'after',
      `
Passwords are read from --password-file, from standard input, or typed without echo; never from an argument.

Examples:
  bailiwick user create --email ada@example.com --name Ada --role owner --operator
  bailiwick user set-password ada@example.com --password-file /run/secrets/ada
  bailiwick user reset-link ada@example.com
  bailiwick user reset-second-factor ada@example.com
  bailiwick user list`,
    )

  withData(user.command('create').description('Add a person to a workspace.'))
    .requiredOption('--email <address>', 'their login', readEmail)
    .requiredOption('--name <name>', 'their name', readName)
    .addOption(new Option('--role <role>', 'what they may do in the workspace').choices(roles).default('member'))
    .option('--workspace <id or name>', 'workspace they join (default: the operator’s)')
    .option('--operator', 'they run this installation: plans, workspaces, network policy')
    .option('--password-file <file>', 'file with the password on its first line')
    .addHelpText(
      'after',
      '\nExamples:\n  bailiwick user create --email ada@example.com --name Ada --role owner --operator\n  pass show ada | bailiwick user create --email ada@example.com --name Ada',
    )
    .action(async (flags: NewUserFlags) => {
      const password = await readPassword(flags.passwordFile)
      await withNewHub(readConfig(flags), flags.workspace, async hub => {
        const { addUser: add } = await import('../access/users')
        const workspaceId = await workspaceIdOf(hub, flags.workspace)
        const made = await add(
          hub,
          'account.user.create',
          { ...flags, password, workspaceId, isOperator: flags.operator ?? false },
          byOperator,
        )
        console.log(made.id)
      })
    })

  withData(user.command('list').description('Print every person, one a line: e-mail, name, roles.'))
    .addHelpText('after', '\nExamples:\n  bailiwick user list --data /var/lib/bailiwick')
    .action(async (flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { listUsers } = await import('../access/user-list')
        for (const one of await listUsers(hub)) {
          const of = one.workspaces.map(workspace => `${workspace.name}:${workspace.role}`).join(' ')
          const marks = [...(one.operator ? ['operator'] : []), ...(one.disabled ? ['disabled'] : [])].join(' ')
          console.log([one.email, one.name, of, marks].join('\t').trimEnd())
        }
      })
    })

  withData(
    user.command('set-password').description('Set a new password and end every session of the person.').argument('<email>'),
  )
    .option('--password-file <file>', 'file with the password on its first line')
    .addHelpText('after', '\nExamples:\n  bailiwick user set-password ada@example.com')
    .action(async (email: string, flags: SettingFlags & { passwordFile?: string }) => {
      const password = await readPassword(flags.passwordFile)
      await withHub(readConfig(flags), async hub => {
        const { setPassword } = await import('../access/users')
        await setPassword(hub, await userOf(hub, email), password, byOperator)
        console.log(`The password of ${email} is set; their sessions have ended.`)
      })
    })

  withData(
    user
      .command('reset-link')
      .description('Print a link by which a person sets a new password, once, within an hour.')
      .argument('<email>'),
  )
    .addHelpText('after', '\nExamples:\n  bailiwick user reset-link ada@example.com')
    .action(async (email: string, flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { makeResetLink } = await import('../access/password-resets')
        console.log(await makeResetLink(hub, await userOf(hub, email), byOperator))
      })
    })

  withData(
    user
      .command('reset-second-factor')
      .description('Take away one-time codes and passkeys of a person who lost them, and end every session of theirs.')
      .argument('<email>'),
  )
    .addHelpText('after', '\nExamples:\n  bailiwick user reset-second-factor ada@example.com')
    .action(async (email: string, flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { resetFactors } = await import('../access/reset-factors')
        await resetFactors(hub, await userOf(hub, email), byOperator)
        console.log(`${email} signs in by password alone; their sessions have ended.`)
      })
    })

  withData(user.command('disable').description('Keep a person from signing in; their sessions end at once.').argument('<email>'))
    .option('--force', 'even if a workspace is left without an owner who can sign in, or the installation without an operator')
    .addHelpText(
      'after',
      '\nExamples:\n  bailiwick user disable ada@example.com\n  bailiwick user disable ada@example.com --force',
    )
    .action(async (email: string, flags: SettingFlags & { force?: boolean }) => {
      await withHub(readConfig(flags), async hub => {
        const { setDisabled } = await import('../access/users')
        const found = await userOf(hub, email)
        await warnOfLast(hub, found, flags.force ?? false)
        await setDisabled(hub, found, true, byOperator)
        console.log(`${email} is disabled.`)
      })
    })

  withData(user.command('enable').description('Let a disabled person sign in again.').argument('<email>'))
    .addHelpText('after', '\nExamples:\n  bailiwick user enable ada@example.com')
    .action(async (email: string, flags: SettingFlags) => {
      await withHub(readConfig(flags), async hub => {
        const { setDisabled } = await import('../access/users')
        await setDisabled(hub, await userOf(hub, email), false, byOperator)
        console.log(`${email} is enabled.`)
      })
    })
}

/** @throws Failure without --force when workspaces are left that nobody can manage, or the installation */
async function warnOfLast(hub: Hub, user: User, force: boolean): Promise<void> {
  const { isLastOperator, ownedAlone } = await import('../access/ranks')
  const owned = (await ownedAlone(hub.read, user.id)).join(', ')
  const warnings = [
    ...(owned === '' ? [] : [`${user.email} is the last owner who can sign in of: ${owned}. Make somebody else an owner first`]),
    ...((await isLastOperator(hub.read, user.id))
      ? [`${user.email} is the last operator who can sign in. Make another with bailiwick user create --operator first`]
      : []),
  ]
  if (warnings.length === 0) return
  if (!force) throw new Failure(`${warnings.join('.\n')}, or disable them all the same with --force.`)
  for (const warning of warnings) console.error(`Warning: ${warning.slice(0, warning.indexOf('. Make') + 1)}`)
}

async function userOf(hub: Hub, email: string): Promise<User> {
  const { findUser } = await import('../access/users')
  const found = await findUser(hub.read, email)
  if (!found) throw new Failure(`There is no user with the e-mail ${email}.`)
  return found
}

function readEmail(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text) || text.length > 254) throw new InvalidArgumentError('It must be an e-mail address.')
  return text
}

function readName(text: string): string {
  if (text.trim() === '' || text.length > 100) throw new InvalidArgumentError('It must have 1 to 100 characters.')
  return text
}
