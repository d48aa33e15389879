import type { IncomingPing } from './pings'

/** A parsed ping URL: which heartbeat, and what is reported. */
export interface PingUrl {
  target: { uuid: string } | { key: string; slug: string }
  kind: IncomingPing['kind']
  exitStatus: number | null
}

/** Why a URL is invalid, as the ping API of Healthchecks words it (hc/api/urls.py). */
type InvalidPingUrl = 'not found' | 'invalid url format'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const keyPattern = /^[A-Za-z0-9_-]{22}$/
const slugPattern = /^[a-z0-9_-]+$/

/** Parses the path of a ping URL after `/ping/`: `<uuid>` or `<ping-key>/<slug>`, then `/start`, `/fail`, `/log`, or an exit status. */
export function parsePingUrl(parts: readonly string[]): PingUrl | InvalidPingUrl {
  const [first, second, third] = parts
  if (first !== undefined && uuidPattern.test(first)) {
    if (third !== undefined) return 'not found'
    return withAction({ uuid: first }, second)
  }
  if (first === undefined || second === undefined || !keyPattern.test(first)) return 'not found'
  if (!slugPattern.test(second)) return /^[A-Za-z0-9_-]+$/.test(second) ? 'invalid url format' : 'not found'
  return withAction({ key: first, slug: second }, third)
}

function withAction(target: PingUrl['target'], action: string | undefined): PingUrl | InvalidPingUrl {
  if (action === undefined) return { target, kind: 'success', exitStatus: null }
  if (action === 'start' || action === 'fail' || action === 'log') return { target, kind: action, exitStatus: null }
  if (!/^\d{1,10}$/.test(action)) return 'not found'
  const exitStatus = Number(action)
  if (exitStatus > 255) return 'invalid url format'
  return { target, kind: exitStatus === 0 ? 'success' : 'fail', exitStatus }
}

/** Normalizes a run ID to lowercase. Null: there is none. False: not a UUID. */
export function parseRunId(text: string | null): string | null | false {
  if (text === null) return null
  return uuidPattern.test(text.toLowerCase()) ? text.toLowerCase() : false
}
