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
      /** In the order of the client. */
      hosts: HostOutcome[]
      verbose: boolean
    }
  /** The credentials, or how and from where they were sent. */
  | { kind: 'unauthorized'; detail: string }
  /** Something that a person has to change. */
  | { kind: 'refused'; code: 'numhost' | 'nohost' | 'dnserr'; detail: string }
  /** Something that passes by itself. */
  | { kind: 'later'; retryAfterSeconds: number; detail: string; rateLimited?: boolean }

export interface Answer {
  status: number
  body: string
  headers: Record<string, string>
}

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
