import { Type } from '@sinclair/typebox'
import type { AccountCheck } from '../../../../adapters/adapter'
import { destination, secret, settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { maxKdfRounds, readSshKey, type SshKeyFault } from '../../../../checks/ssh/ssh-key'
import { oneLine } from '../../../../core/one-line'
import { invalid, type FieldProblem } from '../../../../core/problem'
import { grouped, Line, Prose } from '../../../../core/shapes'
import {
  CloudError,
  type AdapterContext,
  type Controller,
  type ControllerCommand,
  type ControllerKind,
  type Operation,
  type Polled,
  type Started,
} from '../controller'
import { hostProblems, hostSetting, portSetting } from '../host-settings'
import { inSshSession, openSocket, type Ran, type SshAccess } from './session'

const form = settingsForm({
  host: hostSetting('Hostname or IP address of the server.'),
  user: Line({ minLength: 1, maxLength: 256, description: 'Name of the user to sign in as.', examples: ['bailiwick'] }),
  private_key: Type.Optional(
    Prose({
      ...secret,
      maxLength: 65_536,
      description: 'Private key without a passphrase, as written by `ssh-keygen`. Set either this or `password`.',
    }),
  ),
  password: Type.Optional(
    Line({ ...secret, minLength: 1, maxLength: 1024, description: 'Password of the user. Set either this or `private_key`.' }),
  ),
  host_key: Type.Optional(
    Type.String({
      ...destination,
      pattern: '^SHA256:[A-Za-z0-9+/]{43}$',
      'x-rule': 'must be a fingerprint as printed by `ssh-keygen -l`: `SHA256:` and 43 Base64 characters.',
      description:
        'Fingerprint of the server’s host key. Without it, Bailiwick does not sign in, and the check reports the fingerprint that the server presents.',
      examples: ['SHA256:LMaDLmkhQK58emNvEQLRLwD8eNWCXcwSl8BWeUWZ5OU'],
    }),
  ),
  ...grouped('Connection', {
    port: portSetting(22, 'TCP port.'),
    sudo: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to run commands with `sudo`, for users other than root.' }),
    ),
  }),
})
type SshSettings = SettingsOf<typeof form>

/** The commands that are run. They take no input from anywhere. */
const commands = { shutdown: 'shutdown -h now', reboot: 'shutdown -r now' } as const
type SshVerb = keyof typeof commands

/** Shuts down and restarts a server through its SSH server. */
export const ssh: ControllerKind<SshSettings> = {
  kind: 'ssh',
  title: 'SSH',
  ...form,
  verbs: Object.keys(commands) as SshVerb[],
  readsPower: false,
  validate(settings) {
    const problems = [...hostProblems(settings), ...credentialProblems(settings)]
    if (problems.length > 0) throw invalid(problems)
  },
  open: (settings, around) => new Ssh(settings, around),
}

class Ssh implements Controller {
  readonly #access: SshAccess
  readonly #prefix: string

  constructor(
    settings: SshSettings,
    private readonly around: AdapterContext,
  ) {
    const { host, port = 22, user, password, host_key: hostKey } = settings
    this.#access = { host, port, user, password, key: keyOf(settings), hostKey }
    this.#prefix = settings.sudo ? 'sudo -n ' : ''
  }

  async check(): Promise<AccountCheck> {
    return await inSshSession(this.around, this.#access, async run => {
      const system = await run('uname -sr')
      return {
        detail: (isDone(system) && oneLine(system.stdout, maxShown)) || 'SSH',
        warnings: await this.#missingRights(run),
      }
    })
  }

  async start(command: ControllerCommand): Promise<Started> {
    const { verb } = command
    if (verb !== 'shutdown' && verb !== 'reboot')
      throw new CloudError(
        'refused',
        `SSH does not support ${verb}. It supports ${Object.keys(commands).join(', ')}.`,
        null,
        false,
      )
    await inSshSession(this.around, this.#access, async run => this.#accepted(await run(this.#prefix + commands[verb])))
    if (command.verb !== 'shutdown') return { state: 'done' }
    return { state: 'running', operation: { until: this.around.clock.now() + command.timeoutSeconds * 1000 } }
  }

  /** A server has shut down when it no longer accepts connections. */
  async poll(operation: Operation): Promise<Polled> {
    if (!(await this.#isListening())) return { state: 'done' }
    if (typeof operation.until === 'number' && this.around.clock.now() < operation.until)
      return { state: 'running', operation, detail: 'Waiting for the server to shut down.' }
    throw new CloudError('timeout', 'The server still accepts SSH connections. It should be off by now.', null, false)
  }

  async #isListening(): Promise<boolean> {
    try {
      const socket = await openSocket(this.around, this.#access.host, this.#access.port)
      socket.destroy()
      return true
    } catch (error) {
      if (error instanceof CloudError) return false
      throw error
    }
  }

  async #missingRights(run: (command: string) => Promise<Ran>): Promise<string[]> {
    const { user } = this.#access
    if (this.#prefix === '') {
      const isRoot = (await run('id -u')).stdout.trim() === '0'
      return isRoot ? [] : [`The user "${user}" is not root. Set sudo, and allow the commands in the sudoers file.`]
    }
    // Lists whether a command is allowed, without running it.
    for (const command of Object.values(commands)) if (!isDone(await run(`sudo -n -l ${command}`))) return [sudoRule(user)]
    return []
  }

  /** @throws CloudError `refused` */
  #accepted({ code, stdout, stderr }: Ran): void {
    // Without an exit status, the server was faster than its response.
    if (code === null || code === 0) return
    const text = oneLine(stderr || stdout, maxShown)
    const hint = this.#prefix && code === 1 ? ` ${sudoRule(this.#access.user)}` : ''
    throw new CloudError('refused', `The command failed with exit status ${code}: ${text || 'no output'}.${hint}`, null, false)
  }
}

const maxShown = 200

const isDone = ({ code }: Ran): boolean => code === 0

const sudoRule = (user: string): string =>
  `sudo does not let "${user}" run "shutdown" without a password. Add a line to the sudoers file: ${user} ALL=(root) NOPASSWD: /usr/sbin/shutdown`

function keyOf({ private_key }: SshSettings): SshAccess['key'] {
  const key = private_key === undefined ? null : readSshKey(private_key)
  if (typeof key === 'string') throw new CloudError('refused', `The private key ${keyRules[key]}`, null, false)
  return key
}

const keyRules: Record<SshKeyFault, string> = {
  unreadable: 'must be an SSH private key, as written by `ssh-keygen`.',
  locked: 'must not have a passphrase. Remove it with `ssh-keygen -p`, or create a key for Bailiwick.',
  slow: `must have at most ${maxKdfRounds} rounds of its key derivation function.`,
}

function credentialProblems({ password, private_key }: SshSettings): FieldProblem[] {
  const wrong = (code: string, detail: string): FieldProblem[] => [{ pointer: '#/settings/private_key', code, detail }]
  if (password === undefined && private_key === undefined) return wrong('required', 'is required without a password.')
  if (private_key === undefined) return []
  if (password !== undefined) return wrong('conflict', 'must not be set together with a password.')
  const key = readSshKey(private_key)
  return typeof key === 'string' ? wrong('format', keyRules[key]) : []
}
