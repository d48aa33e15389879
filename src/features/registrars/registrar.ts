import type { AccountCheck, AdapterKind, Pace } from '../../adapters/adapter'
import type { AdapterContext } from '../../adapters/context'
import { AdapterError } from '../../adapters/failure'
import type { Money } from '../../core/money'

export type { AdapterContext }

/**
 * What can be done through the API of a registrar, beyond reading. `nameservers`, `glue` (host records), `dnssec` (DS records), `contacts`,
 * `lock`, `privacy`, and `auto_renew` are settings of a domain; `auth_code` reads the code for a transfer to another registrar.
 */
export const registrarCapabilities = [
  'register',
  'renew',
  'restore',
  'transfer_in',
  'auth_code',
  'nameservers',
  'glue',
  'dnssec',
  'contacts',
  'lock',
  'privacy',
  'auto_renew',
] as const
type RegistrarCapability = (typeof registrarCapabilities)[number]

/** What is known about a kind of registrar, used to validate orders and to decide how they are settled. */
export interface RegistrarCaps {
  /** The most that an account can do. A domain can lack some, see {@link Held.capabilities}. */
  capabilities: readonly RegistrarCapability[]
  /** ISO 4217 code of all prices; null if accounts differ, see {@link RegistrarCheck.currency}. */
  currency: string | null
  /** Names in one call of {@link Registrar.offers}. */
  checkBatch: number
  /** Rate at which requests are sent; absent if there is no limit. */
  pace?: Pace
  /** Rate of calls of {@link Registrar.offers}, if it is lower. */
  checkPace?: Pace
  /**
   * Which orders the registrar carries out only once if they are sent again with the same key: then a lost response can be asked for
   * again. Other lost orders are settled by reading.
   */
  replays: 'all' | 'register' | 'none'
  /** How the registrar protects from paying more than was quoted: it wants the exact price, the highest accepted price, or it doesn’t. */
  priceGuard: 'exact' | 'maximum' | 'none'
  /** Whether responses to orders include what was charged. */
  tellsCharge: boolean
  /** Whether domains can be registered the moment they drop. `forbidden`: the terms of the registrar don’t allow it. */
  catching: 'allowed' | 'forbidden' | 'unsupported'
}

/** Statuses of domains that registrars report. `unknown`: a word that this version doesn’t know. */
export const heldStatuses = [
  'pending_registration',
  'pending_transfer',
  'active',
  'suspended',
  'expired',
  'redemption',
  'pending_delete',
  'unknown',
] as const
export type HeldStatus = (typeof heldStatuses)[number]

/** A DS record of a domain (RFC 4034 section 5). */
export interface DsRecord {
  keyTag: number
  algorithm: number
  digestType: number
  /** Hexadecimal, in lowercase. */
  digest: string
}

/** A host record: addresses of a name server below the domain, published by the registry. */
export interface GlueHost {
  /** A-labels in lowercase without a trailing dot. */
  name: string
  /** IPv4 and IPv6 addresses in canonical form. */
  addresses: string[]
}

/** A domain as a registrar reports it. Null: the registrar doesn’t report it, at least not in this response. */
export interface Held {
  /** A-labels in lowercase without a trailing dot. */
  name: string
  status: HeldStatus
  /** Statuses in the words of RDAP (RFC 8056), see registry/statuses.ts. */
  eppStatuses: string[] | null
  /** ms UTC */
  registeredAt: number | null
  /** When the paid registration ends (ms UTC). */
  expiresAt: number | null
  autoRenew: boolean | null
  /** Whether transfers to another registrar are prohibited. */
  locked: boolean | null
  /** Whether the data of the registrant is hidden. */
  privacy: boolean | null
  /** A-labels in lowercase without a trailing dot. */
  nameservers: string[] | null
  ds: DsRecord[] | null
  glue: GlueHost[] | null
  /** Price of a renewal for one year. */
  renewalPrice: Money | null
  /** What can be done to this domain, if that is less than {@link RegistrarCaps.capabilities}. */
  capabilities: readonly RegistrarCapability[] | null
}

/** What a name costs at a registrar. */
export interface Offer {
  name: string
  /** Whether this account could register it now; null if the registrar doesn’t report it. */
  available: boolean | null
  /** Why it can’t be registered here, as a sentence; null if it can be, or if the registrar doesn’t report it. */
  reason: string | null
  /** Of a registration for {@link minYears}; the following prices are for one year, and null if they are not known. */
  price: Money | null
  renewalPrice: Money | null
  restorePrice: Money | null
  transferPrice: Money | null
  premium: boolean
  /** Shortest registration in years. */
  minYears: number
}

/** What the check of an account found. */
export interface RegistrarCheck extends AccountCheck {
  /** ISO 4217 code of prices and balance; null if it is not known. */
  currency: string | null
  /** Prepaid credit; null if the account has none or doesn’t report it. */
  balance: Money | null
}

/** One page of an account. */
export interface HeldPage {
  domains: Held[]
  /** Cursor of the next page; null on the last one. */
  next: string | null
}

/** A person or an organization that a registration is for. Formats are converted by each kind. */
interface RegistrarContact {
  type: 'individual' | 'company' | 'association' | 'public_body'
  firstName: string
  lastName: string
  organization: string
  email: string
  /** E.164, such as `+33123456789`. */
  phone: string
  /** One to three lines. */
  address: string[]
  city: string
  /** Empty if there is none. */
  state: string
  postalCode: string
  /** ISO 3166-1 alpha-2. */
  country: string
  /** What the top-level domain wants in addition, by name. */
  fields: Record<string, string>
}

/** What people do for a domain. Only the registrant is always set. */
interface RegistrarContacts {
  registrant: RegistrarContact
  admin: RegistrarContact | null
  tech: RegistrarContact | null
  billing: RegistrarContact | null
}

/** Fields of every order. */
interface Order {
  /** A-labels in lowercase without a trailing dot. */
  name: string
  years: number
  /** The price that was quoted, and that may be paid. */
  price: Money
}

interface RegisterOrder extends Order {
  /** Null to use the default contact of the account. */
  contacts: RegistrarContacts | null
  /** Empty for the default of the registrar. */
  nameservers: string[]
  autoRenew: boolean
  privacy: boolean
  /** What the top-level domain wants in addition, by name. */
  requirements: Record<string, string>
}

interface RenewOrder extends Order {
  /** When the registration ends before the renewal (ms UTC), so that a repeated order doesn’t renew twice. */
  expiresBefore: number
}

interface RestoreOrder extends Order {
  /** When the registration ended before the restore (ms UTC); null if it is not known. */
  expiresBefore: number | null
}

interface TransferOrder extends Order {
  authCode: string
  contacts: RegistrarContacts | null
}

/** An order of any kind, as far as {@link Registrar.find} needs it. */
interface PlacedOrder {
  kind: 'register' | 'renew' | 'restore' | 'transfer_in'
  name: string
  years: number
  /** When it was sent (ms UTC). */
  sentAt: number
  expiresBefore: number | null
  /** The registrar’s reference, if a response had one. */
  ref: string | null
}

/** The result of an order. `ref` is the registrar’s reference, such as an order number. */
type Placed =
  /** `charged`: as the registrar reports it; null if it doesn’t. `held`: null if the response doesn’t include the domain. */
  | { state: 'done'; held: Held | null; charged: Money | null; ref: string | null }
  /** `detail`: what it waits for; `action_required`: a person has to do something, such as to confirm an e-mail. */
  | { state: 'pending' | 'action_required'; ref: string | null; detail: string }
  /** The registrar refused it, and charges nothing. */
  | { state: 'failed'; reason: string }

/**
 * An opened account at a registrar. All calls throw {@link RegistrarError}; messages never contain secrets, auth codes, or personal data.
 * Methods that the kind doesn’t support are absent. Calls can run at the same time.
 */
export interface Registrar {
  readonly caps: RegistrarCaps
  /** Checks that the registrar can be reached and accepts the credentials, without changing anything. */
  check(): Promise<RegistrarCheck>
  /**
   * Reads one page of all domains in the account.
   * @param cursor null for the first page, else {@link HeldPage.next}
   * @throws RegistrarError `incomplete` for a page with missing domains
   */
  list(cursor: string | null): Promise<HeldPage>
  /** Reads one domain; null only if the registrar says that it is not in this account. */
  read(name: string): Promise<Held | null>
  /** Reads what names cost: at most {@link RegistrarCaps.checkBatch}. Returns one offer for each name, in the same order. */
  offers(names: readonly string[]): Promise<Offer[]>
  /**
   * Places an order once: it is never repeated within the call, unless nothing was sent.
   * @param key identifies the order; sent again with the same key, kinds that replay return the first response
   * @throws RegistrarError; unless `sent` is false, the order may have been carried out, except after a failure with which the registrar refused it
   */
  register?(order: RegisterOrder, key: string): Promise<Placed>
  renew?(order: RenewOrder, key: string): Promise<Placed>
  restore?(order: RestoreOrder, key: string): Promise<Placed>
  transferIn?(order: TransferOrder, key: string): Promise<Placed>
  /** Looks how far a pending order is. @param ref see {@link Placed} */
  progress?(ref: string): Promise<Placed>
  /** Finds the result of an order whose response was lost, by reading; null if there is no trace of it. */
  find?(order: PlacedOrder): Promise<Placed | null>
  setNameservers?(name: string, nameservers: readonly string[]): Promise<void>
  /** Makes the host records exactly so. */
  setGlue?(name: string, hosts: readonly GlueHost[]): Promise<void>
  /** Makes the DS records exactly so. */
  setDs?(name: string, records: readonly DsRecord[]): Promise<void>
  setContacts?(name: string, contacts: Partial<RegistrarContacts>): Promise<void>
  setLock?(name: string, locked: boolean): Promise<void>
  setPrivacy?(name: string, privacy: boolean): Promise<void>
  setAutoRenew?(name: string, autoRenew: boolean): Promise<void>
  /** Reads the code for a transfer to another registrar, or has a new one created. `expiresAt`: ms UTC; null if it is not known. */
  authCode?(name: string): Promise<{ authCode: string; expiresAt: number | null }>
  /** Reads messages of the registrar, such as EPP `poll`, and confirms them. Returns the names they are about. */
  poll?(): Promise<string[]>
  /** Ends connections that stay open between calls. */
  close?(): Promise<void>
}

/** Reasons why a call to a registrar failed. */
export const registrarFailures = [
  'unreachable',
  'timeout',
  'unauthorized',
  'throttled',
  // The registrar refused it, for a reason that none of the others names.
  'refused',
  // The name can’t be registered.
  'unavailable',
  // The price differs from the one that was sent.
  'price_changed',
  // The credit of the account is too low, or a payment was refused.
  'funds',
  'not_transferable',
  // The auth code for a transfer is wrong.
  'auth_code',
  // The domain is not in this account.
  'not_found',
  'unsupported',
  // The response ends early, or a list lacks rows.
  'incomplete',
  'invalid_response',
] as const
export type RegistrarFailure = (typeof registrarFailures)[number]

/** Failures after which the registrar has changed nothing, because it refused the request. */
const decided: ReadonlySet<RegistrarFailure> = new Set([
  'unauthorized',
  'throttled',
  'refused',
  'unavailable',
  'price_changed',
  'funds',
  'not_transferable',
  'auth_code',
  'not_found',
  'unsupported',
])

/** A failed call to a registrar. The message is a single line without secrets. */
export class RegistrarError extends AdapterError<RegistrarFailure> {
  /** Whether the request may have reached the registrar. Only what was not sent is retried without asking. */
  readonly sent: boolean
  /** Error code of the registrar, such as `INSUFFICIENT_FUNDS` or `2302`. */
  readonly vendorCode: string | null

  constructor(
    failure: RegistrarFailure,
    message: string,
    {
      sent = true,
      retryAfterMs = null,
      vendorCode = null,
    }: { sent?: boolean; retryAfterMs?: number | null; vendorCode?: string | null } = {},
  ) {
    super(failure, message, retryAfterMs, sent && !decided.has(failure))
    this.sent = sent
    this.vendorCode = vendorCode
  }
}

/** What kinds of registrars have access to. */
export interface RegistrarContext extends AdapterContext {
  /**
   * Names of the domains that are tracked with this account, in alphabetical order, for kinds whose registrar can’t list them. Absent for
   * an account that isn’t saved yet.
   * @param after the last name of the previous page; null for the first one
   */
  trackedNames?(after: string | null, count: number): Promise<string[]>
}

/** A kind of registrar, with its settings. */
export interface RegistrarKind<S = any> extends AdapterKind {
  caps: RegistrarCaps
  /** Numbers at IANA of the registrars that names of such accounts can have at the registry; absent if accounts differ. */
  ianaIds?: readonly number[]
  open(settings: S, around: RegistrarContext): Registrar
}
