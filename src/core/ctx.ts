import type { Joining } from './change'
import type { Hub } from './hub'
import type { AuditActor, AuditContext } from './db/tables'
import type { Permissions } from './permissions'

/** Everything a verb may know of the request it serves: whose workspace, who asks, and under which conditions. */
export interface Ctx {
  hub: Hub
  workspaceId: string
  /** The dashboard session of the request, or null for tokens. */
  sessionId: string | null
  actor: AuditActor
  context: AuditContext
  permissions: Permissions
  /** The only resources that a narrowed token reaches; null is all of the workspace. */
  resourceIds: ReadonlySet<string> | null
  /** Operator powers: plans, workspaces, network policy. */
  operator: boolean
  /** Limits of the workspace's plan with its overrides; a missing or null one is no limit. */
  limits: Readonly<Record<string, number | null | undefined>>
  planId: string
  /** The version named by If-Match, `*`, or null when the header was not sent. */
  ifMatch: string | null
  /** Set while a request with an Idempotency-Key runs: the door stores its answer with the change. */
  idempotency: Idempotency | null
  /** Set where the verb is one of a bulk: its change joins those of the others, and is resolved once they are committed. */
  join?: (change: Joining) => Promise<unknown>
}

export interface Idempotency {
  method: string
  path: string
  key: string
  /** Turns a verb's result into the answer to keep, with secrets left out. */
  answer(result: unknown): StoredAnswer
  /** Set by the door once the answer is committed. */
  stored: boolean
}

export interface StoredAnswer {
  status: number
  body: string
  location: string | null
  etag: string | null
}
