import type { AuditContext } from '../core/db/tables'
import { Problem } from '../core/problem'
import type { Caller } from './callers'
import type { Guard } from './guard'

/** 1 to 255 visible ASCII characters (draft-ietf-httpapi-idempotency-key-header). */
const keyPattern = /^[\x21-\x7e]{1,255}$/
const clientIdPattern = /^[\x21-\x7e]{1,128}$/
const maxUserAgentLength = 200

/** The request context stored in the audit log. Values that clients control are validated and truncated. */
export function contextOf(request: Request, id: string, ip: string, caller: Caller | null, guard: Guard): AuditContext {
  const key = request.headers.get('idempotency-key')
  return {
    ip,
    user_agent: request.headers.get('user-agent')?.slice(0, maxUserAgentLength) ?? null,
    request_id: id,
    client_request_id: clientRequestId(request),
    idempotency_key: key !== null && keyPattern.test(key) ? key : null,
    channel: caller?.session ? 'dashboard' : guard === 'ingest' ? 'ingest' : 'api',
  }
}

/** The client's own request id: X-Request-Id of 1 to 128 visible ASCII characters, or null. */
export function clientRequestId(request: Request): string | null {
  const sent = request.headers.get('x-request-id')
  return sent !== null && clientIdPattern.test(sent) ? sent : null
}

/** @throws Problem 400 if the Idempotency-Key is malformed */
export function checkIdempotencyKey(request: Request): void {
  const key = request.headers.get('idempotency-key')
  if (key === null || keyPattern.test(key)) return
  throw new Problem('malformed_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
}
