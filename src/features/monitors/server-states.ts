import type { ServerUsage } from '../../checks/check'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'

declare module '../../core/hub' {
  interface Hub {
    /** The servers, which monitors of the type `server` follow. */
    serverStates: ServerStates
  }
}

/** Whether a server is up. */
export interface ServerState {
  workspaceId: string
  health: 'up' | 'down' | 'unknown'
  /** A sentence. */
  reason: string
}

/** The last sign of life of a server from its agent. */
export interface AgentSign {
  /** `stopped`: it announced that its server shuts down or restarts. */
  state: 'reporting' | 'silent' | 'stopped'
  /** When it last reported (ms UTC). */
  heardAt: number
  /** When it counts as silent unless it reports before, or since when it does (ms UTC). */
  silentAt: number
}

/** What the servers tell monitors. Ids of servers that don’t exist are left out. */
export interface ServerStates {
  /** The name of a server of the workspace; null if there is none. @param lock keeps the server until the transaction ends */
  nameOf(read: Reader, workspaceId: string, id: string, lock?: 'lock'): Promise<string | null>
  healthsOf(read: Reader, ids: readonly string[]): Promise<Map<string, ServerState>>
  /**
   * The last signs of life from the agents of servers. Left out if there is no agent, it has not called since it was approved, or only the
   * agent was stopped.
   */
  signsOf(read: Reader, ids: readonly string[]): Promise<Map<string, AgentSign>>
  /**
   * What servers used in the last minutes, and what their agents reported, by the sources of conditions. Names of what a number counts are
   * in `<source> names`.
   * @param filling servers whose `DISK_HOURS_LEFT` is needed. It is read from the metrics of a day
   */
  usageOf(hub: Hub, ids: readonly string[], filling: ReadonlySet<string>): Promise<Map<string, ServerUsage>>
}
