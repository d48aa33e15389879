import { keyTypes } from '../../core/x509/private-key'
import {
  isCommandOf,
  maxCommandBytes,
  maxCommandLifeMs,
  permissionFor,
  type AgentCommand,
  type CommandName,
  type SignedCommand,
} from '../../wire/agent-command'
import { isProfileName, type AgentPermission } from '../../wire/agent-permissions'
import { isVersion, maxAgentBytes } from '../../wire/agent-version'
import { maxClockSkewMs } from '../../wire/request-signature'
import { parsePublicKey } from '../../wire/signed'
import { CommandRefused } from './command-refused'

/** What a command is checked against. */
export interface CommandRules {
  /** As in `publicKeyText`. */
  hubKey: string
  agentId: string
  /** Current time of the hub (ms UTC). */
  now: number
  /** Whether a command with this ID was received before. */
  wasSeen: (id: string) => boolean
  /** Commands that were issued earlier are refused (ms UTC). By default, only those that expired. */
  notBefore?: number
  /** What the owner of the server allows. @throws Error with a sentence if that is not known */
  allow: () => readonly AgentPermission[]
}

/** Checks a command: its signature, for whom it is, whether it is still valid, whether it is new, and whether it is allowed. @throws CommandRefused */
export function checkCommand(
  signed: SignedCommand,
  { hubKey, agentId, now, wasSeen, notBefore = 0, allow }: CommandRules,
): AgentCommand {
  if (Buffer.byteLength(signed.payload) > maxCommandBytes) throw new CommandRefused('The command is too large.')
  const key = parsePublicKey(hubKey)
  if (!key || !isCommandOf(key, signed)) throw new CommandRefused('The command was not signed by the hub.')
  const command = readCommand(signed.payload)
  if (!command) throw new CommandRefused('The command has an unknown form.')
  if (command.agent_id !== agentId) throw new CommandRefused(`The command is for the agent ${command.agent_id}.`)
  const { issued_at: issuedAt, expires_at: expiresAt } = command
  if (expiresAt - issuedAt > maxCommandLifeMs) throw new CommandRefused('The command is valid for too long.', command)
  if (issuedAt > now + maxClockSkewMs) throw new CommandRefused('The command was issued in the future.', command)
  if (now >= expiresAt)
    throw new CommandRefused(`The command expired ${Math.ceil((now - expiresAt) / 1000)} seconds ago.`, command, 'expired')
  if (wasSeen(command.id)) throw new CommandRefused('The command was received before.', command, 'repeated')
  if (issuedAt < notBefore)
    throw new CommandRefused('The command was issued long before another one that was received already.', command)
  if (!isValid(command)) throw new CommandRefused('The command has invalid parameters.', command)
  const permission = permissionFor(command)
  if (!allowed(allow, command).includes(permission))
    throw new CommandRefused(`The owner of the server doesn’t allow ${permission}.`, command)
  return command
}

function allowed(allow: CommandRules['allow'], command: AgentCommand): readonly AgentPermission[] {
  try {
    return allow()
  } catch (error) {
    throw new CommandRefused((error as Error).message, command)
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isDigest = (value: unknown) => isText(value) && /^[0-9a-f]{64}$/.test(value)
const isCount = (value: unknown, min: number, max: number) =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max

/** Whether the parameters of each command are valid: they are used as root. */
const validParams: Record<CommandName, (params: Record<string, unknown>) => boolean> = {
  collect: () => true,
  shutdown: () => true,
  reboot: () => true,
  restart_unit: ({ unit }) => isText(unit) && /^[A-Za-z0-9][A-Za-z0-9@_.:\\-]{0,199}$/.test(unit),
  wake: ({ mac, broadcast, port }) =>
    isText(mac) && /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(mac) && isText(broadcast) && isCount(port, 1, 65_535),
  firewall_apply: ({ ruleset, digest, revert_after_seconds: seconds }) =>
    isText(ruleset) && isDigest(digest) && isCount(seconds, 1, 3600),
  firewall_confirm: ({ digest }) => isDigest(digest),
  update: ({ version, sha256, size, path }) =>
    isVersion(version) &&
    isDigest(sha256) &&
    isCount(size, 1, maxAgentBytes) &&
    isText(path) &&
    /^\/download\/agent\/linux-[a-z0-9-]{1,30}$/.test(path),
  certificate_csr: ({ names, key_type, install_profile: profile }) =>
    Array.isArray(names) &&
    isCount(names.length, 1, 100) &&
    names.every(
      name => isText(name) && /^(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,126}$/.test(name) && name.length <= 255,
    ) &&
    (keyTypes as readonly unknown[]).includes(key_type) &&
    isText(profile) &&
    isProfileName(profile),
  certificate_install: ({ chain, fingerprint, install_profile: profile }) =>
    isText(chain) && isDigest(fingerprint) && isText(profile) && isProfileName(profile),
}

const isValid = ({ name, params }: AgentCommand): boolean => validParams[name](params as Record<string, unknown>)

function readCommand(payload: string): AgentCommand | null {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    return null
  }
  const { id, agent_id, name, params, issued_at, expires_at, requested_by } = (value ?? {}) as Record<string, unknown>
  const isRead =
    isText(id) &&
    commandId.test(id) &&
    isText(agent_id) &&
    isText(name) &&
    Object.hasOwn(validParams, name) &&
    isObject(params) &&
    isCount(issued_at, 0, 8.64e15) &&
    isCount(expires_at, 0, 8.64e15) &&
    isObject(requested_by)
  return isRead ? (value as AgentCommand) : null
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** IDs of commands are also names of files. */
export const commandId = /^cmd_[0-9a-z]{26}$/
