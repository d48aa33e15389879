import { rateLimitKey } from '../core/net/address'
import { loginOf } from './logins'

/** One limit a request is counted against. */
export interface Bucket {
  /** What the policy is called in the headers and in `violated-policies`: printable ASCII, from a small fixed set. */
  name: string
  /** Who is counted: a token id, a workspace id, a client address. */
  key: string
  /** Requests per window, which may also come all at once; 0 refuses all, null is no limit. */
  quota: number | null
  /** Seconds in which a spent quota comes back, bit by bit. */
  windowSeconds: number
}

/** What to tell a client about its limits. */
export interface RateVerdict {
  allowed: boolean
  /** `RateLimit-Policy`, e.g. `"token";q=600;w=60`; empty when nothing is limited, and then not to be sent. */
  policyHeader: string
  /** `RateLimit`, e.g. `"token";r=599;t=1`, the bucket with the fewest requests left first; empty likewise. */
  limitHeader: string
  /** `Retry-After`: whole seconds until the same request would pass; 0 when allowed. Never less than a `t` that ran out. */
  retryAfterSeconds: number
  /** Names of the buckets that refused. */
  violated: readonly string[]
}

/**
 * Rate limits by the generic cell rate algorithm (ITU-T I.371, in its leaky-bucket form), told in the header fields of
 * draft-ietf-httpapi-ratelimit-headers-10. A quota may be spent in one burst and flows back evenly over its window, so
 * there is no window edge at which it could be spent twice. `r` is what may be sent at once; `t` the seconds until the
 * whole quota is back, or, when nothing is left, until the next request passes.
 * Counts live in memory: a restart forgets them, and each hub counts for itself.
 */
export class RateLimiter {
  readonly #tables = new Map<string, MeterTable>()
  readonly #live: Meter[] = []

  /** @param maxKeys how many keys are remembered for each bucket name, about 200 bytes each. */
  constructor(readonly maxKeys: number = 100_000) {}

  /**
   * Counts one request against all buckets, or against none when one of them refuses it.
   * Times are milliseconds on any clock; one that goes back takes nothing from anybody.
   * @param cost as how many requests it counts; what is more than a whole quota counts as the quota
   */
  take(buckets: readonly Bucket[], nowMs: number, cost = 1): RateVerdict {
    return this.#settle(buckets, nowMs, cost)
  }

  /** Takes back one request counted by `take`: one that turned out free, such as a 304. Tells the state after. */
  giveBack(buckets: readonly Bucket[], nowMs: number): RateVerdict {
    return this.#settle(buckets, nowMs, -1)
  }

  /** What `take` would answer now, with nothing counted. */
  peek(buckets: readonly Bucket[], nowMs: number): RateVerdict {
    return this.#settle(buckets, nowMs, 0)
  }

  /** How much of one bucket is used, and when all of it is back; null where nothing is limited. */
  usage(bucket: Bucket, nowMs: number): { used: number; wholeAtMs: number } | null {
    if (bucket.quota === null) return null
    const meter = this.#tableOf(bucket.name).meterOf(bucket.key, bucket.quota, bucket.windowSeconds, nowMs)
    return { used: bucket.quota - meter.left(), wholeAtMs: meter.wholeAtMs() }
  }

  /** Forgets every key whose quota is whole again. Not needed for the memory bound; frees what a rush left behind. */
  sweep(nowMs: number): void {
    for (const table of this.#tables.values()) table.sweep(nowMs)
  }

  /** How many keys are remembered. */
  get size(): number {
    let size = 0
    for (const table of this.#tables.values()) size += table.size
    return size
  }

  #settle(buckets: readonly Bucket[], nowMs: number, cost: number): RateVerdict {
    const live = this.#live
    live.length = 0
    let allowed = true
    for (const bucket of buckets) {
      if (bucket.quota === null) continue
      const meter = this.#tableOf(bucket.name).meterOf(bucket.key, bucket.quota, bucket.windowSeconds, nowMs)
      if (cost >= 0 && meter.left() < meter.needed(cost)) allowed = false
      live.push(meter)
    }
    let retryAfterSeconds = 0
    let violated: string[] | null = null
    let policyHeader = ''
    for (const meter of live) {
      policyHeader += policyHeader === '' ? meter.policy : `, ${meter.policy}`
      if (allowed) meter.used = Math.max(0, meter.used + Math.min(cost, meter.quota))
      else if (meter.left() < meter.needed(cost)) {
        violated = violated ?? []
        violated.push(meter.name)
        retryAfterSeconds = Math.max(retryAfterSeconds, meter.seconds(meter.needed(cost)))
      }
    }
    return { allowed, policyHeader, limitHeader: limitHeader(live), retryAfterSeconds, violated: violated ?? none }
  }

  #tableOf(name: string): MeterTable {
    let table = this.#tables.get(name)
    if (!table) {
      table = new MeterTable(name, this.maxKeys)
      this.#tables.set(name, table)
    }
    return table
  }
}

/**
 * The bucket for credentials that were sent and wrong: to be taken from after the check failed, never before, so that
 * an address which guesses cannot shut out a valid token behind the same address.
 */
export function failedCredentials(address: string, perMinute = 30): Bucket {
  return { name: 'failed-credentials', key: rateLimitKey(address), quota: perMinute, windowSeconds: 60 }
}

/**
 * The bucket for wrong passwords of one login, whatever the addresses they come from. Logins that do not exist have theirs too,
 * so that being asked to wait tells nothing.
 */
export function failedLogins(email: string, perMinute = 30): Bucket {
  return { name: 'failed-logins', key: loginOf(email), quota: perMinute, windowSeconds: 60 }
}

/**
 * The bucket for wrong one-time and recovery codes of one user. Of a million codes three are right at a time: ten tries in a quarter
 * of an hour take eight months to find one as likely as not.
 */
export function failedCodes(userId: string): Bucket {
  return { name: 'failed-codes', key: userId, quota: 10, windowSeconds: 900 }
}

/** The bucket for requests that carry no credentials at all. */
export function noCredentials(address: string, perMinute = 300): Bucket {
  return { name: 'no-credentials', key: rateLimitKey(address), quota: perMinute, windowSeconds: 60 }
}

/** The bucket for requests with one token. */
export function tokenRequests(tokenId: string, perMinute: number | null): Bucket {
  return { name: 'token', key: tokenId, quota: perMinute, windowSeconds: 60 }
}

/** The bucket for requests with all tokens of a workspace. */
export function workspaceRequests(workspaceId: string, perHour: number | null): Bucket {
  return { name: 'workspace', key: workspaceId, quota: perHour, windowSeconds: 3600 }
}

/** The bucket for reports of leaked tokens, which anyone may send. */
export function tokenReports(address: string): Bucket {
  return { name: 'token-reports', key: rateLimitKey(address), quota: 10, windowSeconds: 60 }
}

/** The bucket for invitations that a workspace makes or renews. */
export function invitationsMade(workspaceId: string): Bucket {
  return { name: 'invitations', key: workspaceId, quota: 100, windowSeconds: 3600 }
}

/** The buckets for people who sign themselves up: from one address, and from all of them together. */
export function signUps(address: string): Bucket[] {
  return [
    { name: 'sign-ups', key: rateLimitKey(address), quota: 5, windowSeconds: 3600 },
    { name: 'all-sign-ups', key: '', quota: 200, windowSeconds: 3600 },
  ]
}

/** The buckets for people who ask for a new password: from one address, and from all of them together. */
export function resetsAsked(address: string): Bucket[] {
  return [
    { name: 'password-resets', key: rateLimitKey(address), quota: 10, windowSeconds: 3600 },
    { name: 'all-password-resets', key: '', quota: 500, windowSeconds: 3600 },
  ]
}

/** The bucket for links to a new password that are mailed to one login. */
export function resetsOfLogin(email: string): Bucket {
  return { name: 'password-resets-of-login', key: loginOf(email), quota: 5, windowSeconds: 3600 }
}

const none: readonly string[] = Object.freeze([])

/** The meters in order of requests left, fewest first; of equals the one that waits longest. Reorders its argument. */
function limitHeader(meters: Meter[]): string {
  if (meters.length > 1) meters.sort((a, b) => a.left() - b.left() || b.seconds() - a.seconds())
  let header = ''
  for (const meter of meters) {
    header += `${header === '' ? '' : ', '}"${meter.name}";r=${meter.left()};t=${meter.seconds()}`
  }
  return header
}

/** How much of one key's quota is used. */
class Meter {
  /** Requests counted and not yet flowed back: a fraction, as it flows back evenly. */
  used = 0
  policy = ''
  #intervalMs = 0

  constructor(
    readonly name: string,
    public quota: number,
    public windowSeconds: number,
    public atMs: number,
  ) {
    this.setQuota(quota, windowSeconds)
  }

  /** Keeps what was used, so that a larger plan helps at once and a smaller one does not refund. */
  setQuota(quota: number, windowSeconds: number): void {
    const counts = Number.isSafeInteger(quota) && quota >= 0 && Number.isSafeInteger(windowSeconds) && windowSeconds > 0
    if (!counts) throw new RangeError('A quota and its window in seconds are whole numbers, the window at least 1.')
    this.quota = quota
    this.windowSeconds = windowSeconds
    this.used = Math.min(this.used, quota)
    this.#intervalMs = quota === 0 ? windowSeconds * 1_000 : (windowSeconds * 1_000) / quota
    this.policy = `"${this.name}";q=${quota};w=${windowSeconds}`
  }

  /** Lets the time since the last look flow back. */
  advance(nowMs: number): void {
    if (nowMs > this.atMs) this.used = Math.max(0, this.used - (nowMs - this.atMs) / this.#intervalMs)
    this.atMs = nowMs
  }

  /** Whole requests that may be sent at once. */
  left(): number {
    return Math.floor(this.quota - this.used + rounding)
  }

  /** How many requests must be left for one of this cost to pass. A quota of nothing lets none pass. */
  needed(cost: number): number {
    return Math.max(1, Math.min(cost, this.quota))
  }

  /** The `t` of the header; with more than one request needed, the seconds until so many are left. */
  seconds(needed = 1): number {
    if (this.quota === 0) return this.windowSeconds
    const missing = this.left() >= needed ? this.used : this.used + needed - this.quota
    return Math.ceil((missing * this.#intervalMs) / 1_000 - rounding)
  }

  /** When the whole quota is back and nothing is lost by forgetting this key. */
  wholeAtMs(): number {
    return this.atMs + this.used * this.#intervalMs
  }
}

// Sums of fractions miss a whole number by some 1e-11; a request must not be refused for that.
const rounding = 1e-9

/** The meters of one bucket name; a rush of unknown keys in one table can push out none of another. */
class MeterTable {
  readonly #meters = new Map<string, Meter>()
  #cursor: MapIterator<[string, Meter]> = this.#meters.entries()

  constructor(
    readonly name: string,
    readonly maxKeys: number,
  ) {
    // The characters a structured-field string (RFC 9651 section 3.3.3) takes without escapes.
    if (!/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) throw new TypeError(`"${name}" cannot name a rate limit.`)
  }

  get size(): number {
    return this.#meters.size
  }

  meterOf(key: string, quota: number, windowSeconds: number, nowMs: number): Meter {
    let meter = this.#meters.get(key)
    if (meter) {
      meter.advance(nowMs)
      if (meter.quota !== quota || meter.windowSeconds !== windowSeconds) meter.setQuota(quota, windowSeconds)
      return meter
    }
    this.#makeRoom(nowMs)
    meter = new Meter(this.name, quota, windowSeconds, nowMs)
    this.#meters.set(key, meter)
    return meter
  }

  sweep(nowMs: number): void {
    for (const [key, meter] of this.#meters) if (meter.wholeAtMs() <= nowMs) this.#meters.delete(key)
  }

  /**
   * Each new key looks at a few old ones in turn and drops those that are whole again, so the table never has to be
   * swept in one go. When it is full and none of those looked at is whole, the one nearest to it makes way.
   */
  #makeRoom(nowMs: number): void {
    const full = this.#meters.size >= this.maxKeys
    let nearest: string | null = null
    let nearestAtMs = Infinity
    for (let looked = 0; looked < (full ? 32 : 4); looked++) {
      const entry = this.#next()
      if (!entry) return
      const [key, meter] = entry
      const wholeAtMs = meter.wholeAtMs()
      if (wholeAtMs <= nowMs) this.#meters.delete(key)
      else if (wholeAtMs < nearestAtMs) {
        nearest = key
        nearestAtMs = wholeAtMs
      }
    }
    if (this.#meters.size >= this.maxKeys && nearest !== null) this.#meters.delete(nearest)
  }

  /** The next meter in turn, from the first again after the last; undefined when there is none. */
  #next(): [string, Meter] | undefined {
    const step = this.#cursor.next()
    if (!step.done) return step.value
    this.#cursor = this.#meters.entries()
    const first = this.#cursor.next()
    return first.done ? undefined : first.value
  }
}
