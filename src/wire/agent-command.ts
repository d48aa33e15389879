import { sign, verify, type KeyObject } from 'node:crypto'
import type { KeyType } from '../core/x509/private-key'
import { profilePermission, type AgentPermission } from './agent-permissions'

/** Commands that a hub sends to agents. They are signed, expire, and are run at most once. */

/** The parameters of each command. */
export interface CommandParams {
  /** Collect and send everything now. */
  collect: Record<string, never>
  shutdown: Record<string, never>
  reboot: Record<string, never>
  restart_unit: { unit: string }
  /** Send a Wake-on-LAN packet to another machine of the same network. */
  wake: { mac: string; broadcast: string; port: number }
  /** Use a rule set of nftables, and restore the previous one after this time unless it is confirmed. */
  firewall_apply: { ruleset: string; digest: string; revert_after_seconds: number }
  firewall_confirm: { digest: string }
  /** Install a version of the agent that is newer. `path`: where it is downloaded from the hub. `sha256` in hexadecimal. */
  update: { version: string; sha256: string; size: number; path: string }
  /** Create a private key, which stays on the server, and return a certificate request for it as PEM. */
  certificate_csr: { names: string[]; key_type: KeyType; install_profile: string }
  /** Install a certificate for such a key. `chain`: PEM of it and its issuers. `fingerprint`: SHA-256 of it in hexadecimal. */
  certificate_install: { chain: string; fingerprint: string; install_profile: string }
}

export type CommandName = keyof CommandParams

/** A command to one agent. */
export type AgentCommand = {
  [Name in CommandName]: {
    id: string
    agent_id: string
    name: Name
    params: CommandParams[Name]
    /** Times in ms UTC. A command is never run after it expires. */
    issued_at: number
    expires_at: number
    /** Who asked for it, for the log on the server. */
    requested_by: { type: string; id: string | null; name: string | null }
  }
}[CommandName]

/** A command as it is sent. */
export interface SignedCommand {
  /** The command as JSON. Its octets are what is signed. */
  payload: string
  /** Ed25519 signature (RFC 8032) in base64. */
  signature: string
}

/** A command expires after at most this time. */
export const maxCommandLifeMs = 600_000
/** A command as JSON has at most this many bytes. */
export const maxCommandBytes = 512 * 1024
/** The output of a command has at most this many bytes. */
export const maxOutputBytes = 16 * 1024

/**
 * `refused`: the server does not allow it, or it was not valid. `expired`: it was not run, because it arrived too late, or because another
 * certificate is being installed with the same profile.
 */
export const commandOutcomes = ['done', 'refused', 'failed', 'expired'] as const
type CommandOutcome = (typeof commandOutcomes)[number]

/** The result of a command. */
export interface CommandResult {
  command_id: string
  outcome: CommandOutcome
  /** A sentence: why it was refused or failed. */
  detail: string | null
  output: string | null
}

/** What the owner of a server must have allowed for a command. */
export function permissionFor(command: Pick<AgentCommand, 'name' | 'params'>): AgentPermission {
  switch (command.name) {
    case 'collect':
      return 'collect'
    case 'shutdown':
    case 'reboot':
      return 'reboot'
    case 'restart_unit':
      return `restart:${(command.params as CommandParams['restart_unit']).unit}`
    case 'wake':
      return 'wake'
    case 'firewall_apply':
    case 'firewall_confirm':
      return 'firewall'
    case 'update':
      return 'update'
    case 'certificate_csr':
    case 'certificate_install':
      return profilePermission((command.params as CommandParams['certificate_csr']).install_profile)
  }
}

export function signCommand(key: KeyObject, command: AgentCommand): SignedCommand {
  const payload = JSON.stringify(command)
  return { payload, signature: sign(null, Buffer.from(payload), key).toString('base64') }
}

/** Whether a command comes from the hub with this key. It may still be expired, for another agent, or a repeated one. */
export function isCommandOf(key: KeyObject, { payload, signature }: SignedCommand): boolean {
  const bytes = Buffer.from(signature, 'base64')
  return bytes.length === 64 && verify(null, Buffer.from(payload), key, bytes)
}
