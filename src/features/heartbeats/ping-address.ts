import type { Arrival } from './pings'

/** What a ping address says: whose heartbeat, and what happened. */
export interface PingAddress {
  by: { uuid: string } | { key: string; slug: string }
  kind: Arrival['kind']
  exitStatus: number | null
}

/** An address that is none, in the words of the ping API of Healthchecks (hc/api/urls.py). */
export type BadAddress = 'not found' | 'invalid url format'

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const keyForm = /^[A-Za-z0-9_-]{22}$/
const slugForm = /^[a-z0-9_-]+$/

/** Reads the parts of a ping address behind `/ping/`: `<uuid>`, `<ping-key>/<slug>`, each with `/start`, `/fail`, `/log` or an exit status. */
export function readPingAddress(parts: readonly string[]): PingAddress | BadAddress {
  const [first, second, third] = parts
  if (first !== undefined && uuidForm.test(first)) {
    if (third !== undefined) return 'not found'
    return withAction({ uuid: first }, second)
  }
  if (first === undefined || second === undefined || !keyForm.test(first)) return 'not found'
  if (!slugForm.test(second)) return /^[A-Za-z0-9_-]+$/.test(second) ? 'invalid url format' : 'not found'
  return withAction({ key: first, slug: second }, third)
}

function withAction(by: PingAddress['by'], action: string | undefined): PingAddress | BadAddress {
  if (action === undefined) return { by, kind: 'success', exitStatus: null }
  if (action === 'start' || action === 'fail' || action === 'log') return { by, kind: action, exitStatus: null }
  if (!/^\d{1,10}$/.test(action)) return 'not found'
  const exitStatus = Number(action)
  if (exitStatus > 255) return 'invalid url format'
  return { by, kind: exitStatus === 0 ? 'success' : 'fail', exitStatus }
}

/** A run id in any case, as a UUID; null when there is none, false when it is no UUID. */
export function readRunId(text: string | null): string | null | false {
  if (text === null) return null
  return uuidForm.test(text.toLowerCase()) ? text.toLowerCase() : false
}
