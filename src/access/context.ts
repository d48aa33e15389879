import type { AuditContext } from '../core/db/tables'
import { Problem } from '../core/problem'
import type { Caller } from './callers'
import type { Guard } from './route'

/** 1 to 255 visible ASCII characters (draft-ietf-httpapi-idempotency-key-header). */
const keyForm = /^[\x21-\x7e]{1,255}$/
const clientIdForm = /^[\x21-\x7e]{1,128}$/
const longestAgent = 200

/** What the audit log remembers of how a request came about. What its client may write at will is kept in due form and length. */
export function contextOf(request: Request, id: string, ip: string, caller: Caller | null, guard: Guard): AuditContext {
  const key = request.headers.get('idempotency-key')
  return {
    ip,
    user_agent: request.headers.get('user-agent')?.slice(0, longestAgent) ?? null,
    request_id: id,
    client_request_id: clientRequestId(request),
    idempotency_key: key !== null && keyForm.test(key) ? key : null,
    channel: caller?.session ? 'dashboard' : guard === 'ingest' ? 'ingest' : 'api',
  }
}

/** What the client calls the request: its X-Request-Id of 1 to 128 visible ASCII characters, or null. */
export function clientRequestId(request: Request): string | null {
  const sent = request.headers.get('x-request-id')
  return sent !== null && clientIdForm.test(sent) ? sent : null
}

/** @throws Problem 400 for an Idempotency-Key of wrong form */
export function checkKeyForm(request: Request): void {
  const key = request.headers.get('idempotency-key')
  if (key === null || keyForm.test(key)) return
  throw new Problem('malformed_request', 'Idempotency-Key: it must be 1 to 255 visible ASCII characters.')
}
