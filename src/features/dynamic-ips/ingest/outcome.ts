/** The result for one host that a client named. */
export interface HostOutcome {
  /** As the client named it, or the full name of the host of the source. */
  name: string
  result: 'changed' | 'unchanged' | 'failed' | 'nohost' | 'notfqdn'
  problem: { code: string; detail: string } | null
  ipv4: string | null
  ipv6: string | null
}

/** The outcome of a call, which each dialect turns into its own response. */
export type Outcome =
  | {
      kind: 'reported'
      changed: boolean
      ipv4: string | null
      ipv6: string | null
      prefix6: string | null
      /** The addresses of the families that the client reported. */
      shown: { ipv4: string | null; ipv6: string | null }
      /** In the order of the client. Their addresses are those of the families that it reported. */
      hosts: HostOutcome[]
      verbose: boolean
    }
  /** The credentials, or how and from where they were sent. */
  | { kind: 'unauthorized'; detail: string }
  /** A mistake in the request or in the configuration. */
  | { kind: 'refused'; code: RefusalCode; detail: string }
  /** Something temporary. */
  | { kind: 'later'; retryAfterSeconds: number; detail: string; isRateLimit: boolean }

export type RefusalCode = 'numhost' | 'nohost' | 'notfqdn' | 'dnserr'
export type ReportedOutcome = Extract<Outcome, { kind: 'reported' }>

export interface Answer {
  status: number
  body: string
  headers: Record<string, string>
}

/** A temporary failure. */
export const later = (detail: string, retryAfterSeconds: number, isRateLimit = false): Outcome => ({
  kind: 'later',
  detail,
  retryAfterSeconds,
  isRateLimit,
})

const plainText = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

export const plainAnswer = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body,
  headers: { ...plainText, ...headers },
})

/** Basic is what routers send. */
export const challenge = { 'WWW-Authenticate': 'Basic realm="dynamic-ip"' }

/** The addresses of a host, as clients expect them. */
export const addressesOf = ({ ipv4, ipv6 }: { ipv4: string | null; ipv6: string | null }): string =>
  [ipv4, ipv6].filter(one => one !== null).join(',')
