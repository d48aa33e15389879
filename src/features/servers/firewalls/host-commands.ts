import type { RecordResult } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'

declare module '../../../core/hub' {
  interface Hub {
    /** Sends commands to agents that enforce firewalls; null if there is no way to send them. */
    hostCommands: HostCommands | null
  }
}

/** A rule set for a host. */
export interface HostRuleset {
  agentId: string
  /** Input of `nft -f`. */
  ruleset: string
  /** SHA-256 of the rule set in hexadecimal. */
  digest: string
  /**
   * The host restores the rule set that was confirmed last after this time, or none if there is none, unless this one is confirmed. It
   * needs neither hub nor agent for it.
   */
  revertAfterSeconds: number
}

/**
 * Commands to agents, as steps of a transaction: a command is sent once the transaction is committed. Sending the same command twice must
 * have no effect. What hosts do is reported to `recordHostFirewall`.
 */
export interface HostCommands {
  apply(tx: Tx, hub: Hub, ruleset: HostRuleset): Promise<CommandEffects>
  /** Keeps a rule set for good, also when the host restarts. */
  confirm(tx: Tx, hub: Hub, ruleset: Pick<HostRuleset, 'agentId' | 'digest'>): Promise<CommandEffects>
}

type CommandEffects = Pick<RecordResult<unknown>, 'jobs' | 'wakeTopics'>
