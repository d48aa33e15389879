import type { TObject } from '@sinclair/typebox'
import type { NetworkPolicy, VettedHost } from '../core/net/egress'
import type { Resolver } from '../core/net/resolvers'

/** Types of checks that ask something on the network. A group asks nobody: its state is made of its members'. */
export const checkTypeNames = ['http', 'tcp', 'icmp', 'dns', 'tls', 'smtp', 'imap', 'pop3', 'ssh', 'websocket'] as const
export type CheckTypeName = (typeof checkTypeNames)[number]

/** What kept a check from its answer, or what was wrong with the answer. */
export const checkErrorKinds = [
  'dns',
  'refused',
  'unreachable',
  'timeout',
  'closed',
  'tls',
  'certificate',
  'protocol',
  'status',
  'content',
  'redirects',
  'condition',
  'blocked_address',
  'unsupported',
  'internal',
] as const
export type CheckErrorKind = (typeof checkErrorKinds)[number]

/** `message` is one line for people: what was expected and what came. It holds no secret. */
export interface CheckError {
  kind: CheckErrorKind
  message: string
}

/** How long each part took, in milliseconds with a fraction; null for a part that was not reached or does not exist. */
export interface Phases {
  /** Looking the name up; 0 when the answer was at hand. */
  dns: number | null
  /** TCP connection. */
  connect: number | null
  /** TLS handshake. */
  tls: number | null
  /** From the request, or the connection where the server speaks first, to the first octet of the answer. */
  first_byte: number | null
  /** From the beginning to the end. */
  total: number | null
}

/** A certificate that a server showed, as X.509 tells it (RFC 5280). */
export interface CertificateFacts {
  /** Lower-case hexadecimal SHA-256 of its DER form. */
  sha256: string
  subject: string
  issuer: string
  serial: string
  /** Names and addresses it is for (subjectAltName). */
  names: string[]
  /** Milliseconds UTC. */
  not_before: number
  not_after: number
  /** The end of validity that comes first among the certificates that the server sent (ms UTC). */
  chain_not_after: number
}

/** Everything a check saw, for conditions and as evidence. What a type does not know is null. */
export interface Facts {
  /** Whether a connection came about, or an answer where there are no connections. */
  connected: boolean
  /** What is wrong by the options of the type alone, before any condition; null when nothing is. */
  error: CheckError | null
  phases: Phases
  /** The address that was asked. */
  address: string | null
  /** Status code: of HTTP, SMTP and what else has one. */
  status: number | null
  /** Header fields by lower-case name, several of one name joined by `, `. */
  headers: Record<string, string> | null
  /** The answer's body or banner as text, cut at the limit of what is read. */
  body: string | null
  /** `version` as in `1.3`. */
  tls: { version: string; cipher: string; certificate: CertificateFacts | null } | null
  dns: { rcode: string; answers: string[] } | null
  /** What was sent, without secrets: the final URL, the question, the command. One line. */
  request: string | null
}

/** Facts with nothing in them yet. */
export const noFacts = (): Facts => ({
  connected: false,
  error: null,
  phases: { dns: null, connect: null, tls: null, first_byte: null, total: null },
  address: null,
  status: null,
  headers: null,
  body: null,
  tls: null,
  dns: null,
  request: null,
})

/** What a running check may use. Everything else, the network above all, it reaches through this. */
export interface Around {
  /**
   * Looks a host up and lets it pass only where the monitor's network policy does. Dial the address it gives, and show the name
   * in SNI and Host alone. To be called anew for each connection, redirects included.
   * @throws EgressRefused
   */
  vet(host: string, port: number, family?: 4 | 6): Promise<VettedHost>
  /** Name servers that this hub looks names up with, in their order. They are vetted like any other before they are asked. */
  resolvers(): readonly Resolver[]
  /** Monotonic milliseconds with a fraction, for phases. */
  now(): number
  /** Milliseconds UTC, for what certificates and cookies say. */
  wallNow(): number
  /** Aborts when the time of the check is up. A check then ends at once, with what it knows, as `timeout`. */
  signal: AbortSignal
}

/** One type of check. Adding one is its file and its line in index.ts. */
export interface CheckType<O extends object = Record<string, unknown>> {
  name: CheckTypeName
  /** A few words. */
  title: string
  /** What it checks and when it calls that down, in a sentence or two for people. */
  description: string
  /** What its `target` is, with an example: for documents and errors. */
  targetForm: string
  /** The members of `options`, each with a description, and its default as `default`. */
  options: TObject
  /**
   * Members of `options` that are secrets, as JSON pointers below it (`/auth/password`, `/headers/*` for each of an object). They are
   * sealed at rest and never shown.
   */
  secrets: readonly string[]
  /**
   * Members of `options` that, like the target, say where secrets go or who is believed to be there, as JSON pointers: with another
   * value of one, secrets have to be given again. None by default.
   */
  destination?: readonly string[]
  /** What conditions can ask of it: `STATUS`, `BODY`, … */
  sources: readonly ConditionSource[]
  /**
   * Reads a target, in the form in which it is kept.
   * @throws CheckInputRefused naming the rule
   */
  target(text: string): string
  /** What the schema of options cannot say. @throws CheckInputRefused with the member that is wrong */
  refuse?(options: O, target: string): void
  /**
   * Looks once. Never throws for anything that the network does: that is `error` among the facts. It ends within moments of
   * `around.signal`, and leaves no connection behind.
   */
  run(target: string, options: O, around: Around): Promise<Facts>
}

/** A target or an option that a type does not take. `pointer` is below the monitor: `/target`, `/options/method`. */
export class CheckInputRefused extends Error {
  override name = 'CheckInputRefused'
  constructor(
    readonly pointer: string,
    /** Reads as a continuation of the member's name: `must be a URL of the scheme http or https.` */
    message: string,
  ) {
    super(message)
  }
}

/** What a condition can look at; the first eight are spelled as in Gatus. */
export const conditionSources = [
  'CONNECTED',
  'STATUS',
  'RESPONSE_TIME',
  'IP',
  'BODY',
  'CERTIFICATE_EXPIRATION',
  'DOMAIN_EXPIRATION',
  'DNS_RCODE',
  'DNS_ANSWER',
  'HEADER',
  'TLS_VERSION',
  'TTFB',
] as const
export type ConditionSource = (typeof conditionSources)[number]

/** A monitor as the engine needs it: plain values that fit a message, options with their secrets and defaults filled in. */
export interface CheckSpec {
  monitor: string
  /** Of the monitor's configuration. Results carry it: one that was found under another configuration does not vote. */
  revision: number
  type: CheckTypeName
  target: string
  options: Record<string, unknown>
  interval_ms: number
  /** Pace while failures or recoveries are being confirmed. */
  retry_interval_ms: number
  timeout_ms: number
  /** Consecutive bad results that make it down here, and good ones that bring it up. */
  confirm: number
  recover: number
  /** In their text form; any that holds makes the result `down`, or `degraded`. */
  down_if: string[]
  degraded_if: string[]
  /** A slower answer is degraded. */
  degraded_ms: number | null
  policy: NetworkPolicy
  /** How this location stood when it was last heard of: retries go on from there after a restart. */
  settled: Settled
}

/** How one location stands on a monitor: confirmed, not the last result alone. */
export type Settled = 'new' | 'up' | 'down'

export type ResultStatus = 'up' | 'degraded' | 'down'

/** A condition that held against the monitor. */
export interface FailedCondition {
  level: 'down' | 'degraded'
  /** Place in `down_if` or `degraded_if`. */
  index: number
  condition: string
  /** The same with the values that were found, cut to a line. */
  found: string
}

/** What one run of a check came to. Travels from the engine to the hub as it is. */
export interface CheckResult {
  monitor: string
  revision: number
  /** Of the run that was asked for by name, to tell its asker; null for one of the schedule. */
  nonce: string | null
  /** When it began, and when it was due (ms UTC). */
  at: number
  due_at: number
  status: ResultStatus
  /** Why it is not `up`; null when it is. */
  error: CheckError | null
  conditions: FailedCondition[]
  code: number | null
  phases: Phases
  address: string | null
  certificate: CertificateFacts | null
  /** Sent along when the status is not `up`, for people to see what happened. */
  evidence: Evidence | null
}

/** What was asked and what came back. Secrets that were sent are left out wherever they come back. */
export interface Evidence {
  request: string | null
  address: string | null
  status: number | null
  headers: Record<string, string> | null
  /** At most 4 KiB. */
  body: string | null
  body_truncated: boolean
  tls: { version: string; cipher: string } | null
  dns: { rcode: string; answers: string[] } | null
}
