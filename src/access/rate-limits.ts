import { rateLimitKey } from '../core/net/address'
import { normalizeEmail } from './email-address'

/** A limit that a request counts against. */
export interface Bucket {
  /** Name of the policy in headers and in `violated-policies`: printable ASCII, from a small fixed set. */
  name: string
  /** What is counted: a token id, a workspace id or a client address. */
  key: string
  /** Requests per window, which may be sent in one burst; 0 refuses all, null means no limit. */
  quota: number | null
  /** Seconds in which a used-up quota is gradually restored. */
  windowSeconds: number
}

/** The outcome of a rate limit check, with the headers for the client. */
export interface RateVerdict {
  allowed: boolean
  /** `RateLimit-Policy`, e.g. `"token";q=600;w=60`; empty if nothing is limited, in which case it is not sent. */
  policyHeader: string
  /** `RateLimit`, e.g. `"token";r=599;t=1`, the bucket with the fewest remaining requests first; empty likewise. */
  limitHeader: string
  /** `Retry-After`: whole seconds until the same request would pass; 0 if allowed. At least the `t` of an exhausted bucket. */
  retryAfterSeconds: number
  /** Names of the buckets that refused the request. */
  violated: readonly string[]
}

/**
 * Rate limits by the generic cell rate algorithm (ITU-T I.371, in its leaky-bucket form), reported in the header fields of
 * draft-ietf-httpapi-ratelimit-headers-10. A quota may be used in one burst and is restored evenly over its window, so there is
 * no window boundary at which it could be used twice. `r` is the number of requests that may be sent now; `t` the seconds until
 * the quota is fully restored or, if nothing remains, until the next request passes. Counts are kept in memory: a restart resets
 * them, and each hub counts separately.
 */
export class RateLimiter {
  readonly #tables = new Map<string, MeterTable>()
  readonly #live: Meter[] = []

  /** @param maxKeys how many keys are kept for each bucket name, about 200 bytes each. */
  constructor(readonly maxKeys: number = 100_000) {}

  /**
   * Counts a request against all buckets, or against none if one of them refuses it. Times are milliseconds on any clock; a clock
   * that is set back costs no quota.
   * @param cost how many requests it counts as; capped at the quota
   */
  take(buckets: readonly Bucket[], nowMs: number, cost = 1): RateVerdict {
    return this.#settle(buckets, nowMs, cost)
  }

  /** Counts a request that is sent in any case. If that exceeds a quota, later requests wait until the excess is restored, too. */
  owe(buckets: readonly Bucket[], nowMs: number): void {
    for (const { name, key, quota, windowSeconds } of buckets)
      if (quota !== null) this.#tableOf(name).meterOf(key, quota, windowSeconds, nowMs).used++
  }

  /** Refunds a request counted by `take` that turned out to be free, such as a 304. Returns the state afterwards. */
  refund(buckets: readonly Bucket[], nowMs: number): RateVerdict {
    return this.#settle(buckets, nowMs, -1)
  }

  /** What `take` would return now, without counting. */
  peek(buckets: readonly Bucket[], nowMs: number): RateVerdict {
    return this.#settle(buckets, nowMs, 0)
  }

  /** How much of a bucket is used, and when it is fully restored; null if it has no limit. */
  usage(bucket: Bucket, nowMs: number): { used: number; fullAtMs: number } | null {
    if (bucket.quota === null) return null
    const meter = this.#tableOf(bucket.name).meterOf(bucket.key, bucket.quota, bucket.windowSeconds, nowMs)
    return { used: bucket.quota - meter.remaining(), fullAtMs: meter.fullAtMs() }
  }

  /** Drops all keys whose quota is fully restored. Not needed to bound memory, but frees it after a burst of keys. */
  sweep(nowMs: number): void {
    for (const table of this.#tables.values()) table.sweep(nowMs)
  }

  /** Number of keys in memory. */
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
      if (cost >= 0 && meter.remaining() < meter.needed(cost)) allowed = false
      live.push(meter)
    }
    let retryAfterSeconds = 0
    let violated: string[] | null = null
    let policyHeader = ''
    for (const meter of live) {
      policyHeader += policyHeader === '' ? meter.policy : `, ${meter.policy}`
      if (allowed) meter.used = Math.max(0, meter.used + Math.min(cost, meter.quota))
      else if (meter.remaining() < meter.needed(cost)) {
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
 * The bucket for wrong credentials. To be taken from after the check failed, never before, so that guessing cannot block a valid
 * token behind the same IP address.
 */
export function failedCredentials(address: string, perMinute = 30): Bucket {
  return { name: 'failed-credentials', key: rateLimitKey(address), quota: perMinute, windowSeconds: 60 }
}

/**
 * The bucket for wrong passwords of one email address from one IP address: a third of what the IP address may try in all. Also
 * exists for unknown email addresses, so that being limited reveals nothing.
 */
export function failedSignIns(address: string, email: string, perMinute = 30): Bucket {
  const key = `${rateLimitKey(address)} ${normalizeEmail(email)}`
  return { name: 'failed-logins', key, quota: Math.ceil(perMinute / 3), windowSeconds: 60 }
}

/**
 * The bucket for wrong passwords of one email address, from any IP address. Above it, attempts are delayed but not refused:
 * otherwise anyone could keep a user from signing in.
 */
export function failedSignInsOfEmail(email: string, perMinute = 30): Bucket {
  return { name: 'failed-logins-per-email', key: normalizeEmail(email), quota: perMinute, windowSeconds: 60 }
}

/**
 * The bucket for wrong passwords of a user from one session, or from one browser with which the user has signed in before.
 * @param device null counts all sessions of the user together
 */
export function failedOnDevice(userId: string, device: string | null, perMinute = 30): Bucket {
  return { name: 'failed-logins-per-device', key: deviceKey(userId, device), quota: perMinute, windowSeconds: 60 }
}

// With the user, because browsers choose their ID.
const deviceKey = (userId: string, device: string | null): string => (device === null ? userId : `${userId} ${device}`)

/**
 * The bucket for wrong one-time and recovery codes of a user. Three of a million codes are valid at a time: with ten attempts per
 * 15 minutes it takes eight months to guess one with a probability of 50 %.
 * @param from a session, or all known browsers, counted separately; null counts all others together
 */
export function failedCodes(userId: string, from: string | null): Bucket {
  return { name: 'failed-codes', key: deviceKey(userId, from), quota: 10, windowSeconds: 900 }
}

/** The bucket for requests without credentials. */
export function noCredentials(address: string, perMinute = 300): Bucket {
  return { name: 'no-credentials', key: rateLimitKey(address), quota: perMinute, windowSeconds: 60 }
}

/**
 * The bucket for parts of agents, which many servers at one address download at the same time when they are updated. A whole agent has
 * about 25 parts.
 * @param perMinute requests without credentials
 */
export function agentParts(address: string, perMinute = 300): Bucket {
  return { name: 'agent-parts', key: rateLimitKey(address), quota: 10 * perMinute, windowSeconds: 60 }
}

/** The bucket for requests with one token. */
export function tokenRequests(tokenId: string, perMinute: number | null): Bucket {
  return { name: 'token', key: tokenId, quota: perMinute, windowSeconds: 60 }
}

/** The bucket for requests with all tokens of a workspace. */
export function workspaceRequests(workspaceId: string, perHour: number | null): Bucket {
  return { name: 'workspace', key: workspaceId, quota: perHour, windowSeconds: 3600 }
}

/** The bucket for reading one calendar feed. */
export function calendarReads(feedId: string): Bucket {
  return { name: 'calendar-feed', key: feedId, quota: 60, windowSeconds: 3600 }
}

/** The bucket for reports of leaked tokens, which anyone can send. */
export function tokenReports(address: string): Bucket {
  return { name: 'token-reports', key: rateLimitKey(address), quota: 10, windowSeconds: 60 }
}

/** The bucket for revocation lists that are downloaded for the certificates of a workspace. One of up to 1 MiB counts once. */
export function revocationLists(workspaceId: string): Bucket {
  return { name: 'revocation-lists', key: workspaceId, quota: 128, windowSeconds: 3600 }
}

/** The bucket for invitations that a workspace creates or renews. */
export function invitationsSent(workspaceId: string): Bucket {
  return { name: 'invitations', key: workspaceId, quota: 100, windowSeconds: 3600 }
}

/** The buckets for sign-ups: per IP address and in total. */
export function signUps(address: string): Bucket[] {
  return [
    { name: 'sign-ups', key: rateLimitKey(address), quota: 5, windowSeconds: 3600 },
    { name: 'all-sign-ups', key: '', quota: 200, windowSeconds: 3600 },
  ]
}

/** The buckets for password reset requests: per IP address and in total. */
export function resetRequests(address: string): Bucket[] {
  return [
    { name: 'password-resets', key: rateLimitKey(address), quota: 10, windowSeconds: 3600 },
    { name: 'all-password-resets', key: '', quota: 500, windowSeconds: 3600 },
  ]
}

/** The bucket for password reset emails to one email address. */
export function resetsPerEmail(email: string): Bucket {
  return { name: 'password-resets-per-email', key: normalizeEmail(email), quota: 5, windowSeconds: 3600 }
}

const none: readonly string[] = Object.freeze([])

/** Sorts the meters by remaining requests, fewest first, then by longest wait. Reorders its argument. */
function limitHeader(meters: Meter[]): string {
  if (meters.length > 1) meters.sort((a, b) => a.remaining() - b.remaining() || b.seconds() - a.seconds())
  let header = ''
  for (const meter of meters) {
    header += `${header === '' ? '' : ', '}"${meter.name}";r=${meter.remaining()};t=${meter.seconds()}`
  }
  return header
}

/** How much of a key's quota is used. */
class Meter {
  /** Requests counted and not yet restored; a fraction, because the quota is restored evenly. */
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

  /** Keeps the used amount, so that a larger plan helps immediately and a smaller one does not refund. */
  setQuota(quota: number, windowSeconds: number): void {
    const counts = Number.isSafeInteger(quota) && quota >= 0 && Number.isSafeInteger(windowSeconds) && windowSeconds > 0
    if (!counts) throw new RangeError('A quota and its window in seconds must be whole numbers, the window at least 1.')
    this.quota = quota
    this.windowSeconds = windowSeconds
    this.used = Math.min(this.used, quota)
    this.#intervalMs = quota === 0 ? windowSeconds * 1_000 : (windowSeconds * 1_000) / quota
    this.policy = `"${this.name}";q=${quota};w=${windowSeconds}`
  }

  /** Restores quota for the time since the last call. */
  advance(nowMs: number): void {
    if (nowMs > this.atMs) this.used = Math.max(0, this.used - (nowMs - this.atMs) / this.#intervalMs)
    this.atMs = nowMs
  }

  /** Whole requests that may be sent now. */
  remaining(): number {
    return Math.floor(this.quota - this.used + rounding)
  }

  /** How many requests must remain for a request of this cost to pass. With a quota of 0, none ever passes. */
  needed(cost: number): number {
    return Math.max(1, Math.min(cost, this.quota))
  }

  /** The `t` of the header or, if more than one request is needed, the seconds until enough remain. */
  seconds(needed = 1): number {
    if (this.quota === 0) return this.windowSeconds
    const missing = this.remaining() >= needed ? this.used : this.used + needed - this.quota
    return Math.ceil((missing * this.#intervalMs) / 1_000 - rounding)
  }

  /** When the quota is fully restored, so that the key can be dropped. */
  fullAtMs(): number {
    return this.atMs + this.used * this.#intervalMs
  }
}

// Sums of fractions can miss a whole number by about 1e-11, which must not refuse a request.
const rounding = 1e-9

/** The meters of one bucket name. A burst of unknown keys in one table cannot evict keys of another. */
class MeterTable {
  readonly #meters = new Map<string, Meter>()
  #cursor: MapIterator<[string, Meter]> = this.#meters.entries()

  constructor(
    readonly name: string,
    readonly maxKeys: number,
  ) {
    // Characters that a structured-field string (RFC 9651 section 3.3.3) allows without escapes.
    if (!/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) throw new TypeError(`"${name}" is not a valid rate limit name.`)
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
    for (const [key, meter] of this.#meters) if (meter.fullAtMs() <= nowMs) this.#meters.delete(key)
  }

  /**
   * Each new key checks a few old ones in turn and drops those that are fully restored, so that the table is never swept at once.
   * If the table is full and all of those are in use, the one closest to it is evicted.
   */
  #makeRoom(nowMs: number): void {
    const full = this.#meters.size >= this.maxKeys
    let nearest: string | null = null
    let nearestAtMs = Infinity
    for (let looked = 0; looked < (full ? 32 : 4); looked++) {
      const entry = this.#next()
      if (!entry) return
      const [key, meter] = entry
      const wholeAtMs = meter.fullAtMs()
      if (wholeAtMs <= nowMs) this.#meters.delete(key)
      else if (wholeAtMs < nearestAtMs) {
        nearest = key
        nearestAtMs = wholeAtMs
      }
    }
    if (this.#meters.size >= this.maxKeys && nearest !== null) this.#meters.delete(nearest)
  }

  /** The next meter, starting over after the last; undefined if there is none. */
  #next(): [string, Meter] | undefined {
    const step = this.#cursor.next()
    if (!step.done) return step.value
    this.#cursor = this.#meters.entries()
    const first = this.#cursor.next()
    return first.done ? undefined : first.value
  }
}
