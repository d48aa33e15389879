import type { RecordResult } from '../../core/change-result'
import type { AuditActor, AuditTarget } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'

declare module '../../core/hub' {
  interface Hub {
    /** The rules of firewalls, which links of dynamic IP sources add addresses to. */
    firewallRules: FirewallRules
  }
}

/** A rule that a link refers to. */
interface LinkedRule {
  direction: 'inbound' | 'outbound'
  /** Whether it has a list of source addresses. */
  hasSources: boolean
}

/** A change of the source addresses of a rule. */
interface SourceChange {
  workspaceId: string
  firewallId: string
  ruleId: string
  /** Networks in CIDR notation. */
  add: string[]
  remove: string[]
}

/** What a rule lists for a dynamic IP source. */
interface NamedEntries {
  workspaceId: string
  firewallId: string
  ruleId: string
  sourceId: string
  /** `dip_…`, `dip_…/prefix6`, both, or none. */
  entries: string[]
  by: AuditActor
}

/** What the firewalls do for dynamic IP sources. All calls only use the database; jobs change the firewalls. */
export interface FirewallRules {
  /** Finds a rule of a firewall of the workspace; null if there is none. */
  find(read: Reader, workspaceId: string, firewallId: string, ruleId: string): Promise<LinkedRule | null>
  /**
   * Changes the source addresses of a rule in the caller’s transaction. Removing one that is not there does nothing.
   * @returns null if the rule is gone
   */
  stageSources(tx: Tx, hub: Hub, change: SourceChange): Promise<StagedSources | null>
  /**
   * Makes the entries of a rule that name a dynamic IP source exactly these. Does nothing if the rule is gone.
   */
  nameSource(tx: Tx, hub: Hub, change: NamedEntries): Promise<StagedSources['effects']>
}

interface StagedSources {
  /** The firewall, for the audit log. */
  firewall: AuditTarget
  /** The networks that were not in the rule before. */
  added: string[]
  /** Whether the firewall has the change already. */
  isApplied: boolean
  effects: Pick<RecordResult<unknown>, 'audits' | 'events' | 'jobs' | 'notices' | 'wakeTopics'>
}
