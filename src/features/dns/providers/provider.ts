import type { TObject } from '@sinclair/typebox'
import type { TsigKey } from '../../../core/dns/tsig'
import type { Surroundings } from '../../../core/net/surroundings'
import { toldLine } from '../../../core/told-line'

export type { Surroundings }

/** What a provider knows of an rrset beyond DNS. Absent members are left as they are at the provider. */
export interface RrsetOptions {
  /** Whether the provider answers with addresses of its own and passes HTTP on (Cloudflare). */
  proxied?: boolean
}

/** Types that lead to a server that a provider can stand before (Cloudflare, Proxy status); ALIAS since at Cloudflare it is a CNAME. */
export const proxiableTypes: ReadonlySet<string> = new Set(['A', 'AAAA', 'CNAME', 'ALIAS'])

/** An rrset as the hub and providers tell each other of it. */
export interface ProviderRrset {
  /** Below the zone, in lower case A-labels; `@` is the apex. */
  name: string
  /** Mnemonic or `TYPEnnn`. */
  type: string
  /** Seconds. */
  ttl: number
  /** Rdata in wire form with whole names, one for each record; at least one. */
  values: Uint8Array[]
  options?: RrsetOptions
}

/** A zone as a provider knows it. */
export interface ProviderZone {
  /** In A-labels and lower case, without the dot at the end. */
  name: string
  /** The provider's own id of it; null where it knows zones by name. */
  ref: string | null
}

/** All that a provider has of a zone at one moment, but for the SOA and what signing makes (RRSIG, NSEC, NSEC3, NSEC3PARAM, and DNSKEY, CDS and CDNSKEY of the provider's own). */
export interface Snapshot {
  rrsets: ProviderRrset[]
  /** Of the SOA, where the provider tells. */
  serial?: number
}

/** One step of a plan: what an rrset was when it was read, and what it is to be. */
export interface Op {
  action: 'create' | 'update' | 'delete'
  name: string
  type: string
  /** As read from the provider; null when there was none. What is there now must equal it, where the provider can tell. */
  before: ProviderRrset | null
  /** Null when there is to be none. */
  after: ProviderRrset | null
}

/**
 * What became of a step. `done`: the provider confirmed it. `refused`: the provider did not take it and nothing of it happened.
 * `stale`: what was there was not what was read, so nothing of it happened. `unknown`: no answer came, so it may have happened:
 * it has to be read again. `left`: not tried, since something before it failed.
 */
export interface OpResult {
  name: string
  type: string
  outcome: 'done' | 'refused' | 'stale' | 'unknown' | 'left'
  /** What the provider said, for people. */
  detail?: string
}

/** What a provider can do, for the core to plan by. */
export interface Caps {
  /** What one change replaces. */
  unit: 'rrset' | 'record' | 'zone'
  /** How much of a plan happens as one, or not at all. */
  atomic: 'zone' | 'batch' | 'none'
  /** How the provider can be kept from overwriting what changed since it was read. */
  cas: 'prerequisite' | 'exact' | 'serial' | 'none'
  /** Types that cannot be kept there. */
  unsupported: ReadonlySet<string>
  /** Seconds; a TTL outside is brought to the nearest that is allowed. `auto` stands for a TTL that the provider chooses. */
  ttl: { min: number; max: number; auto?: number }
  /** Steps in one batch at most. */
  batchOps: number
  /** Whether strings of TXT are cut anew, so that only the joined text can be compared. */
  rechunksTxt: boolean
  alias: 'native' | 'expand' | 'none'
  /** Whether the NS at the apex can be edited, only read, or are not shown. */
  apexNs: 'rw' | 'ro' | 'hidden'
}

/** Something about an rrset that this provider does not take, found before anything is sent. */
export interface Unfit {
  name: string
  type: string
  detail: string
}

/** What a look at a provider found. */
export interface ProviderCheck {
  /** Server and version, account, or what else tells a person that this is the right one. */
  detail: string
  /** What will not work though it can be reached, such as missing permissions. */
  warnings: string[]
}

/** Where a zone is kept, by one protocol. All calls fail with {@link ProviderError}. One zone is worked on by one caller at a time. */
export interface DnsProvider {
  readonly caps: Caps
  /** Whether it can be reached with these settings. Changes nothing. */
  check(): Promise<ProviderCheck>
  /** Its zones; absent where there is no way to ask. */
  listZones?(): Promise<ProviderZone[]>
  /** Finds a zone by name. @returns null when it has none of that name */
  findZone(name: string): Promise<ProviderZone | null>
  /** Makes an empty zone; absent where that cannot be asked for. */
  createZone?(name: string, nameservers: readonly string[]): Promise<ProviderZone>
  /** Everything in the zone, or an error: never a part of it (@throws ProviderError `incomplete`). */
  read(zone: ProviderZone): Promise<Snapshot>
  /** The serial alone, where that costs less than reading: an unchanged one means an unchanged zone. */
  readSerial?(zone: ProviderZone): Promise<number>
  /** Steps that it would refuse. Asks nobody. */
  unfit(rrset: ProviderRrset): Unfit[]
  /**
   * Carries out steps in their order, as far as `caps.atomic` promises together.
   * @returns a result for each step; throws only when nothing at all was sent
   */
  apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]>
}

/** Why a provider could not be asked. */
export const providerFailures = [
  'unreachable',
  'timeout',
  'unauthorized',
  'zone_not_found',
  'throttled',
  'refused',
  'incomplete',
  'invalid_answer',
] as const
export type ProviderFailure = (typeof providerFailures)[number]

/** A provider that did not do what it was asked; the message is one line for people and holds no secret. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  constructor(
    readonly failure: ProviderFailure,
    message: string,
    /** Milliseconds after which it may be asked again, where the provider told. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(toldLine(message))
  }
}

/** A protocol by which zones are kept elsewhere, and what a person has to tell for it. */
export interface ProviderKind<S = any> {
  /** As the API names it, such as `powerdns`. */
  kind: string
  /** For people, such as `PowerDNS Authoritative Server`. */
  title: string
  /** Members of `settings`; those in `secrets` are sealed and never shown. */
  settings: TObject
  secrets: readonly string[]
  /** Settings that say where secrets go: with another value of one, secrets have to be given again. */
  destination: readonly string[]
  /** What it can do whatever the settings; those of an opened provider may be less. */
  caps: Caps
  /** What the schema cannot say of the settings. @throws Problem 422 below `#/settings` */
  refuse?(settings: S): void
  /** Keys with which its servers sign what they tell of changes (RFC 1996); absent where they tell of none. */
  notifyKeys?(settings: S): TsigKey[]
  open(settings: S, around: Surroundings): DnsProvider
}
