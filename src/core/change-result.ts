import type { AuditAction } from './audit-actions'
import type { AuditActor, AuditContext, AuditTarget } from './db/tables'
import type { EventData, EventKind } from './event-kinds'
import type { JobDraft } from './jobs/draft'
import type { NoticeDraft } from './notices'

/** An event to publish: a row in `events`, and a job for each subscriber. */
export interface EventDraft<K extends EventKind = EventKind> {
  workspaceId: string
  kind: K
  resource: { type: string; id: string }
  data: EventData<K>
  /** Milliseconds UTC; defaults to the time of the change. */
  occurredAt?: number
}

/** An action for the audit log. `before` and `after` are the resource as the API returns it. */
export interface AuditDraft {
  workspaceId: string
  action: AuditAction
  outcome?: 'success' | 'failure' | 'denied'
  actor: AuditActor
  context: AuditContext
  targets: AuditTarget[]
  before?: object | null
  after?: object | null
  reason?: string | null
}

/** What a change did, for `change` to record. */
export interface ChangeResult<T> {
  /** The result of the operation; the response body of a POST. */
  result: T
  target: AuditTarget | AuditTarget[]
  before?: object | null
  after?: object | null
  reason?: string | null
  /** The update changed nothing, so the version stays the same and nothing is logged. */
  unchanged?: boolean
  /** Additional audit events, for side effects on other resources. */
  audits?: AuditDraft[]
  events?: EventDraft[]
  jobs?: JobDraft[]
  notices?: NoticeDraft[]
  /** Topics to wake after the commit, in addition to the event feeds. */
  wakeTopics?: string[]
}

/** What background work did: any number of audit events, of any workspace. */
export interface RecordResult<T> extends Consequences {
  result: T
}

/** What follows from a part of a change. */
export interface Consequences {
  audits?: AuditDraft[]
  events?: EventDraft[]
  jobs?: JobDraft[]
  notices?: NoticeDraft[]
  wakeTopics?: string[]
}
