import type { TObject } from '@sinclair/typebox'
import type { AuditAction } from '../core/audit-actions'
import type { Permission } from '../core/permissions'

/**
 * Who may call a route: a permission; `signed_in`, any valid credential; `session`, a signed-in user, but no token; `operator`, the
 * operator of the installation; `anyone`, no credential needed; `ingest`, the scoped secret in the path, which the handler checks.
 */
export type Guard = Permission | 'signed_in' | 'session' | 'operator' | 'anyone' | 'ingest'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What an operation of the API requires of its caller. */
export interface Guarded {
  method: Method
  /** Parameters are written as `:id`. */
  path: string
  query?: TObject
  guard: Guard
  /**
   * `<area>.<thing>.<verb>`: the audit action, also if the request is refused. Required for every operation that changes
   * something.
   */
  action?: AuditAction
  /** Open to anyone, but a valid session is used if the request has one. Tokens are ignored. */
  session?: 'optional'
  /** Also served while the workspace is suspended, so that people can still view their profile and switch workspaces. */
  whileSuspended?: boolean
  /** The query may name the workspace as `workspace`, for clients that cannot send Bailiwick-Workspace. */
  workspaceInQuery?: boolean
  /**
   * Which tokens that are restricted to specific resources may call the route: `all`, because it belongs to no
   * workspace; `handler`, the handler decides. By default they can call lists, which are filtered, and paths whose `:id` is one of
   * their resources.
   */
  restrictedTokens?: 'all' | 'handler'
}
