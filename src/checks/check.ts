import type { TObject } from '@sinclair/typebox'
import type { NetworkPolicy, Purpose, VettedHost } from '../core/net/egress'
import type { Resolver } from '../core/net/resolvers'

/** Types of checks that reach a target over the network. Groups are not listed: their status comes from their members. */
export const checkTypeNames = ['http', 'tcp', 'icmp', 'dns', 'tls', 'smtp', 'imap', 'pop3', 'ssh', 'websocket'] as const
export type CheckTypeName = (typeof checkTypeNames)[number]

/** Why a check failed. */
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

/** `message` is one line for people: what was expected and what happened instead. Contains no secrets. */
export interface CheckError {
  kind: CheckErrorKind
  message: string
}

/** Duration of each phase in fractional milliseconds; null if the phase was not reached or does not apply. */
interface Phases {
  /** DNS lookup; 0 when the answer was cached. */
  dns: number | null
  /** TCP connect. */
  connect: number | null
  /** TLS handshake. */
  tls: number | null
  /** From the request, or from the connection if the server speaks first, to the first byte of the response. */
  first_byte: number | null
  /** From start to end. */
  total: number | null
}

/** A certificate presented by a server (X.509, RFC 5280). */
export interface CertificateFacts {
  /** Lowercase hexadecimal SHA-256 of its DER form. */
  sha256: string
  subject: string
  issuer: string
  serial: string
  /** DNS names and IP addresses in subjectAltName. */
  names: string[]
  /** Milliseconds UTC. */
  not_before: number
  not_after: number
  /** The earliest expiry in the chain (ms UTC). */
  chain_not_after: number
}

/** Everything a check observed, for conditions and evidence. Null where a type has no such value. */
export interface Facts {
  /** Whether a connection was established, or for connectionless protocols, whether a response arrived. */
  connected: boolean
  /** The failure found by the type's own rules, before conditions; null if there is none. */
  error: CheckError | null
  phases: Phases
  /** The IP address that was contacted. */
  address: string | null
  /** Status code of HTTP, SMTP and other protocols that have one. */
  status: number | null
  /** Header fields by lowercase name; repeated fields are joined with `, `. */
  headers: Record<string, string> | null
  /** Response body or banner as text, cut at the read limit. */
  body: string | null
  /** `version` is written like `1.3`. */
  tls: { version: string; cipher: string; certificate: CertificateFacts | null } | null
  dns: { rcode: string; answers: string[] } | null
  /** What is known about a server, by source (`CPU_PERCENT`), and for each device by source and device (`DISK_PERCENT /data`). */
  usage: ServerUsage | null
  /** What was sent, without secrets, on one line: the final URL, the query, the command. */
  request: string | null
}

export type ServerUsage = Readonly<Record<string, number | string | boolean>>

/** Facts before anything was observed. */
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
  usage: null,
  request: null,
})

/** What a running check may use. Checks reach everything else, the network above all, only through this. */
export interface CheckContext {
  /**
   * Resolves a host and applies the network policy. Connect to the returned address and use the name only in SNI and Host.
   * Call it again for each connection, including redirects.
   */
  vet(host: string, port: number, family?: 4 | 6, purpose?: Purpose): Promise<VettedHost>
  /** Name servers this hub resolves names with, in order. They are vetted like any other target before they are queried. */
  resolvers(): readonly Resolver[]
  /** Monotonic fractional milliseconds, for phases. */
  now(): number
  /** Milliseconds UTC, for certificate and cookie validity. */
  wallNow(): number
  /** Aborts when the time limit is reached. The check then ends at once with `timeout` and the facts so far. */
  signal: AbortSignal
}

/** A type of check. To add one, add its file and register it in index.ts. */
export interface CheckType<O extends object = Record<string, unknown>> {
  name: CheckTypeName
  /** Display name. */
  title: string
  /** What a check does and when it fails, in two or three sentences. */
  description: string
  /** What `target` must be, with an example; shown in the documentation and in forms. */
  targetDescription: string
  /** Schema of `options`. Every option has a description, and a `default` where there is one. */
  options: TObject
  /**
   * Secret members of `options` as JSON pointers (`/auth/password`; `/headers/*` for every member of an object). They are
   * encrypted at rest and never returned.
   */
  secrets: readonly string[]
  /**
   * Members of `options` that, like the target, decide where secrets are sent or which server is trusted, as JSON pointers. Changing
   * one requires secrets to be entered again.
   */
  destination?: readonly string[]
  /** Sources that conditions may use with this type: `STATUS`, `BODY`, … */
  sources: readonly ConditionSource[]
  /**
   * Validates a target and returns its canonical form.
   * @throws InvalidCheckInput
   */
  target(text: string): string
  /** Validates what the schema of options cannot express. @throws InvalidCheckInput naming the option */
  validate?(options: O, target: string): void
  /**
   * Runs the check once. Never throws for network failures: those become `error` in the facts. Ends shortly after `context.signal`
   * aborts and leaves no connection open.
   */
  run(target: string, options: O, context: CheckContext): Promise<Facts>
}

/** An invalid target or option. `pointer` is relative to the monitor: `/target`, `/options/method`. */
export class InvalidCheckInput extends Error {
  override name = 'InvalidCheckInput'
  constructor(
    readonly pointer: string,
    /** Continues the name of the field: `must be an http or https URL.` */
    message: string,
  ) {
    super(message)
  }
}

/** Sources of conditions that are numbers about a server. */
export const serverNumbers = [
  'CPU_PERCENT',
  'MEMORY_PERCENT',
  'SWAP_PERCENT',
  'LOAD_PER_CORE',
  'DISK_PERCENT',
  'DISK_HOURS_LEFT',
  'INODES_PERCENT',
  'IO_FULL_PERCENT',
  'TEMPERATURE',
  'FAILED_UNITS',
  'UNHEALTHY_CONTAINERS',
  'ARRAYS_DEGRADED',
  'CERTIFICATES_NOT_SERVED',
  'SECURITY_UPDATES',
  'CLOCK_OFFSET',
] as const

/** Sources of conditions that are true or false. */
export const truths = ['CONNECTED', 'SMART_FAILING', 'REBOOT_REQUIRED'] as const

/** Sources of conditions about a server. */
export const serverSources = [...serverNumbers, 'SMART_FAILING', 'REBOOT_REQUIRED', 'UNIT', 'CONTAINER', 'PROCESS'] as const

/** Sources of conditions; the first eight are spelled as in Gatus. */
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
  ...serverSources,
] as const
export type ConditionSource = (typeof conditionSources)[number]

/** A monitor as the engine needs it: plain, serializable values. Options include secrets and defaults. */
export interface CheckSpec {
  monitor: string
  /** Revision of the monitor's configuration. Results carry it; results of another revision are ignored. */
  revision: number
  type: CheckTypeName
  target: string
  options: Record<string, unknown>
  interval_ms: number
  /** Interval while a failure or recovery is being confirmed. */
  retry_interval_ms: number
  timeout_ms: number
  /** Consecutive failures before the location is down, and consecutive successes before it is up again. */
  confirm: number
  recover: number
  /** Conditions as text; any that holds makes the result `down` or `degraded`. */
  down_if: string[]
  degraded_if: string[]
  /** Slower responses are degraded. */
  degraded_ms: number | null
  policy: NetworkPolicy
  /** When the registration of the target’s domain ends (ms UTC). Null if it is not known, or if no condition uses it. */
  domain_expires_at: number | null
  /** Last confirmed status of this location, so that retries continue after a restart. */
  confirmed_status: ConfirmedStatus
}

/** From this number of monitors, garbage is collected explicitly: the runtime does not keep up by itself. */
export const largeMonitorCount = 1000

/** Status of a monitor at one location, confirmed by consecutive results. */
export type ConfirmedStatus = 'new' | 'up' | 'down'

export type ResultStatus = 'up' | 'degraded' | 'down'

/** A condition of `down_if` or `degraded_if` that held. */
export interface FailedCondition {
  level: 'down' | 'degraded'
  /** Index in `down_if` or `degraded_if`. */
  index: number
  condition: string
  /** The condition with the observed values, cut to one line. */
  found: string
}

/** Result of one check, sent from the engine to the hub. */
export interface CheckResult {
  monitor: string
  revision: number
  /** Identifies a run that was requested explicitly; null for scheduled runs. */
  nonce: string | null
  /** When it started, and when it was due (ms UTC). */
  at: number
  due_at: number
  status: ResultStatus
  /** Why the status is not `up`; null if it is. */
  error: CheckError | null
  conditions: FailedCondition[]
  code: number | null
  phases: Phases
  address: string | null
  certificate: CertificateFacts | null
  /** What was sent and received; only set if the status is not `up`. */
  evidence: Evidence | null
}

/** What was sent and received. Secrets echoed by the server are redacted. */
export interface Evidence {
  request: string | null
  address: string | null
  status: number | null
  /** At most 100. */
  headers: Record<string, string> | null
  /** At most 4 KiB. */
  body: string | null
  body_truncated: boolean
  tls: { version: string; cipher: string } | null
  dns: { rcode: string; answers: string[] } | null
}
