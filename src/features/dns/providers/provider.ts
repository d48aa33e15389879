import type { TsigKey } from '../../../dns/tsig'
import type { AdapterContext } from '../../../adapters/context'
import type { AccountCheck, AdapterKind, Pace } from '../../../adapters/adapter'
import { AdapterError } from '../../../adapters/failure'

export type { AdapterContext }

/** Provider-specific options of an rrset. Absent fields are left unchanged at the provider. */
export interface RrsetOptions {
  /** Whether the provider proxies HTTP traffic (Cloudflare). */
  proxied?: boolean
}

/** Types that can be proxied (Cloudflare, Proxy status). At Cloudflare an ALIAS is a CNAME. */
export const proxiableTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS'])

/** An rrset as exchanged with providers. */
export interface ProviderRrset {
  /** Name within the zone, in lower case A-labels; `@` is the apex. */
  name: string
  /** Mnemonic or `TYPEnnn`. */
  type: string
  /** Seconds. */
  ttl: number
  /** Rdata in wire form without compression, one for each record; at least one. */
  values: Uint8Array[]
  options?: RrsetOptions
}

/** A zone at a provider. */
export interface ProviderZone {
  /** In lower case A-labels, without the trailing dot. */
  name: string
  /** Id at the provider; null if it identifies zones by name. */
  ref: string | null
}

/** Content of a zone at a provider at one moment, without the SOA and records created by DNSSEC signing. */
export interface Snapshot {
  rrsets: ProviderRrset[]
  /** What exists there and is not a plain rrset. Shown, never changed: nothing is sent for its name and type. */
  foreign?: ForeignEntry[]
  /** A number that changes with the zone, such as the SOA serial, if the provider reports one. */
  serial?: number
  /** Lowest TTL that the provider allows in this zone, if zones differ. */
  minTtl?: number
}

/** Something at a provider that is not a plain rrset, such as an alias to a load balancer. Several can have the same name and type. */
export interface ForeignEntry {
  /** Name within the zone, as in {@link ProviderRrset}. */
  name: string
  /** Mnemonic, also one that only the provider has. */
  type: string
  /** What it is, for people. */
  detail: string
}

/** A step of a plan: changes an rrset from how it was read to how it should be. */
export interface Op {
  action: 'create' | 'update' | 'delete'
  name: string
  type: string
  /** As read from the provider; null if it didn't exist. If possible, the provider verifies that it is unchanged. */
  before: ProviderRrset | null
  /** Null to delete it. */
  after: ProviderRrset | null
}

/**
 * Outcome of a step. `done`: confirmed by the provider. `refused`: rejected by the provider, not applied.
 * `stale`: the rrset had changed since it was read, not applied. `unknown`: no response, may be applied:
 * it has to be read again. `skipped`: not attempted, because another step failed.
 */
export interface OpResult {
  name: string
  type: string
  outcome: 'done' | 'refused' | 'stale' | 'unknown' | 'skipped'
  /** Message of the provider. */
  detail?: string
  /** Milliseconds until a retry, if the step was skipped because the provider limits requests; null if it doesn't report it. */
  retryAfterMs?: number | null
}

export const resultOf = ({ name, type }: Pick<Op, 'name' | 'type'>, outcome: OpResult['outcome'], detail?: string): OpResult => ({
  name,
  type,
  outcome,
  ...(detail !== undefined && { detail }),
})

/** Result of a step that was not sent because of an error. */
export const skippedBy = (op: Pick<Op, 'name' | 'type'>, { failure, message, retryAfterMs }: ProviderError): OpResult => ({
  ...resultOf(op, 'skipped', message),
  ...(failure === 'throttled' && { retryAfterMs }),
})

/** Capabilities of a provider, used for planning. */
export interface Caps {
  /** What a single change replaces. */
  unit: 'rrset' | 'record' | 'zone'
  /** Scope within which changes are atomic. */
  atomic: 'zone' | 'batch' | 'none'
  /** How concurrent changes are protected from being overwritten. */
  cas: 'prerequisite' | 'exact' | 'serial' | 'none'
  /** Types that are not supported. */
  unsupported: ReadonlySet<string>
  /** Seconds; other TTLs are changed to the nearest allowed one. A zone can have its own minimum. `auto` is the value for an automatic TTL. */
  ttl: { min: number; max: number; auto?: number }
  /** Maximum number of steps in a batch. Smaller if each step takes long: the hub stores its progress between batches. */
  batchOps: number
  /** Maximum number of values in an rrset; absent if there is no limit. */
  recordsMax?: number
  /** Whether the provider splits TXT strings differently, so that only the joined text can be compared. */
  rechunksTxt: boolean
  alias: 'native' | 'expand' | 'none'
  /** Whether NS records at the apex can be edited, only read, or are hidden. */
  apexNs: 'rw' | 'ro' | 'hidden'
  /** Rate at which requests are sent; absent if there is no limit. */
  pace?: Pace | undefined
}

/** An rrset that a provider doesn't support, found before anything is sent. */
export interface UnsupportedRrset {
  name: string
  type: string
  detail: string
}

/** An opened DNS provider. All calls throw {@link ProviderError}. A zone is used by only one caller at a time. */
export interface DnsProvider {
  readonly caps: Caps
  /** Checks that the provider can be reached and accepts the credentials, without changing anything. */
  check(): Promise<AccountCheck>
  /** Lists zones; absent if not supported. */
  listZones?(): Promise<ProviderZone[]>
  /** Finds a zone by name; null if it doesn't exist. */
  findZone(name: string): Promise<ProviderZone | null>
  /** Creates an empty zone; absent if not supported. */
  createZone?(name: string, nameservers: readonly string[]): Promise<ProviderZone>
  /** Reads the complete zone; never returns a part of it. @throws ProviderError `incomplete` */
  read(zone: ProviderZone): Promise<Snapshot>
  /** Reads only the serial, if that is cheaper: an unchanged serial means an unchanged zone. */
  readSerial?(zone: ProviderZone): Promise<number>
  /** Finds what the provider would refuse, without contacting it. */
  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[]
  /**
   * Applies steps in order, atomically as far as `caps.atomic` promises.
   * @returns a result for each step; throws only if nothing was sent
   */
  apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]>
}

/** Reasons why a call to a provider failed. */
export const providerFailures = [
  'unreachable',
  'timeout',
  'unauthorized',
  'zone_not_found',
  'throttled',
  'refused',
  'incomplete',
  'invalid_response',
] as const
export type ProviderFailure = (typeof providerFailures)[number]

/** A failed call to a provider. */
export const ProviderError = AdapterError<ProviderFailure>
export type ProviderError = AdapterError<ProviderFailure>

/** A kind of DNS provider, with its settings. */
export interface ProviderKind<S = any> extends AdapterKind {
  /** Maximum capabilities; those of an opened provider may be lower. */
  caps: Caps
  /** Minimum time between two polls, if it should be longer than the setting of the hub. */
  pollSeconds?: number
  validate?(settings: S): void
  /** Keys that its servers sign NOTIFY messages with (RFC 1996); absent if they send none. */
  notifyKeys?(settings: S): TsigKey[]
  open(settings: S, around: AdapterContext): DnsProvider
}
