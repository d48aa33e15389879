import type { TSchema } from '@sinclair/typebox'
import type { AuditChanges, AuditContext } from './db/tables'
import type { Declared } from './declared'

/** The name of an audit action. Undeclared actions don’t compile. */
export type AuditAction = Declared['auditAction']

type Channel = AuditContext['channel']
type AuditOutcome = 'success' | 'failure' | 'denied'

/** An action that can appear in the audit log, as listed in the catalog. */
export interface AuditActionEntry<A extends string = string> {
  action: A
  /**
   * Two capital letters for the area and three digits. With a letter for the outcome, it is the code of an event. Never change
   * it, and never reuse it for another action.
   */
  number: string
  description: string
  /** Sentences by outcome, with the placeholder `{actor}` and the types of targets, such as `{monitor}`. */
  sentences: Readonly<Record<AuditOutcome, string>>
  /** Where the action can come from. A denied action has the channel of its request. */
  channels: readonly Channel[]
  /** Types of the affected resources; empty if events of the action have no target. */
  targets: readonly string[]
  /**
   * Fields that may appear in the changes of an event: those of the response of an operation with this action, and additional
   * ones. Null if events of the action have no changes.
   */
  changes: { responseOf: string | null; fields: Readonly<Record<string, TSchema>> } | null
  /** Changes for the example event. */
  example: AuditChanges | null
}

/** Channels of requests from API clients and from the dashboard. */
export const requestChannels: readonly Channel[] = ['api', 'dashboard']

/**
 * What a feature declares of an action: everything that doesn’t follow from the registry. Channels are those of requests by default,
 * and the target is the resource whose prefix the action has.
 */
export interface AuditActionDraft extends Partial<Omit<AuditActionEntry, 'action' | 'changes' | 'sentences'>> {
  /**
   * What the actor did, as a verb phrase with the types of targets: `rotate the ping URL of {heartbeat}`. By default, the verb of the
   * action and its first target.
   */
  phrase?: string
  /** The sentence of something that nobody did: `{monitor} went down`. */
  sentence?: string
  /** `response`: the fields of the response of its own operation; `of`: those of another action’s operation. */
  changes?: 'response' | { of?: string; fields?: Readonly<Record<string, TSchema>> }
}

/** The actions of a feature, by their names. */
export type AuditActionDrafts = Readonly<Record<string, AuditActionDraft>>
