import type { AuditAction } from './audit-actions'
import type { ChangeResult } from './change-result'
import type { Hub } from './hub'
import type { AuditActor, AuditContext } from './db/tables'
import type { Tx } from './db/transaction'
import type { Permissions } from './permissions'

/** The context of a request: workspace, actor, permissions and conditions. */
export interface Ctx {
  hub: Hub
  workspaceId: string
  /** The session of the request; null for tokens. */
  sessionId: string | null
  actor: AuditActor
  context: AuditContext
  permissions: Permissions
  /** The resources a restricted token has access to; null for the whole workspace. */
  resourceIds: ReadonlySet<string> | null
  /** Whether the caller is an operator and can manage plans, workspaces and the network policy. */
  operator: boolean
  /** Limits of the workspace's plan including overrides. Missing and null mean unlimited. */
  limits: Readonly<Record<string, number | null | undefined>>
  planId: string
  /** The value of If-Match; null without the header. */
  ifMatch: string | null
  /** Set for requests with an Idempotency-Key: `change` stores the response in its transaction. */
  idempotency: Idempotency | null
  /** Set in bulk requests: the change is applied together with the others, and resolves after the commit. */
  join?: (change: PendingChange) => Promise<unknown>
}

/** A change to be applied together with others (core/bulk.ts). */
export interface PendingChange {
  ctx: Ctx
  action: AuditAction
  fn(tx: Tx): Promise<ChangeResult<unknown>>
}

export interface Idempotency {
  method: string
  path: string
  key: string
  /** Converts the result of an operation into the response to store, without secrets. */
  response(result: unknown): StoredResponse
  /** Set when the response is committed. */
  stored: boolean
}

export interface StoredResponse {
  status: number
  body: string
  location: string | null
  etag: string | null
}
