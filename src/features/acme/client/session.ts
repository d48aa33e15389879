import type { Client, Order } from 'acme-client'
import type { Challenge } from 'acme-client/types/rfc8555'
import type { AdapterContext } from '../../../adapters/context'
import { AdapterError } from '../../../adapters/failure'
import { jsonOf, nextLink, requestJson, retryAfterOf, type JsonResponse } from '../../../adapters/json-http'
import { acmeErrorOf, acmeResponseError, type AcmeFailure } from './acme-error'
import { authorizationOf, orderOf, type AcmeAuthorization, type AcmeOrder } from './orders'
import { withLibrary } from './library'

/** Account at a certificate authority, and how to reach it. */
export interface AcmeAccess {
  directoryUrl: string
  /** PEM certificates to trust instead of the public CAs. */
  ca: string | null
  /** PEM of the private key of the account. */
  accountKey: string
  /** Null before it is registered. */
  accountUrl: string | null
}

/** What a certificate authority tells about itself (RFC 8555 section 7.1.1). */
interface AcmeDirectory {
  termsUrl: string | null
  website: string | null
  needsExternalAccount: boolean
  /** Names by which CAA records permit the authority; empty if it doesn’t report it. */
  caaIdentities: string[]
  /** Names of profiles, such as `shortlived`; empty if there are none. */
  profiles: string[]
  /** Address for renewal information (RFC 9773); null without. */
  renewalInfoUrl: string | null
}

const limits = { maxBodyBytes: 262_144, totalMs: 30_000 }
const maxListed = 100
/** Orders of an account that are read to find one. */
const maxSearched = 200
/** Pages of the list of orders that are read. */
const maxPages = 200
/** Requests to a server at the same time. */
const atOnce = 4

/** Reads a directory. @throws AdapterError `invalid_response` if the URL is not an ACME directory */
export async function readDirectory(
  context: AdapterContext,
  { directoryUrl, ca }: Pick<AcmeAccess, 'directoryUrl' | 'ca'>,
): Promise<AcmeDirectory> {
  const response = await requestJson(context, { url: directoryUrl, ...(ca !== null && { ca }) }, limits)
  const { status } = response
  if (status >= 300 && status < 400)
    throw new AdapterError(
      'invalid_response',
      `The server redirected the request (${status}). Enter the URL of the directory itself.`,
    )
  if (status !== 200)
    throw acmeResponseError(response, context, { text: response.text.slice(0, 200), credentials: 'request', secrets: [] })
  const found = jsonOf(response) as Record<string, unknown> | null
  if (!['newNonce', 'newAccount', 'newOrder', 'revokeCert'].every(name => isHttps(found?.[name])))
    throw new AdapterError('invalid_response', 'The response is not an ACME directory (RFC 8555 section 7.1.1).')
  const meta = (typeof found!.meta === 'object' && found!.meta !== null ? found!.meta : {}) as Record<string, unknown>
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 2000) : null)
  const { caaIdentities, profiles } = meta
  return {
    termsUrl: text(meta.termsOfService),
    website: text(meta.website),
    needsExternalAccount: meta.externalAccountRequired === true,
    caaIdentities: Array.isArray(caaIdentities)
      ? caaIdentities.slice(0, maxListed).flatMap(one => (typeof one === 'string' ? [one.toLowerCase()] : []))
      : [],
    profiles: typeof profiles === 'object' && profiles !== null ? Object.keys(profiles).slice(0, maxListed) : [],
    renewalInfoUrl: isHttps(found!.renewalInfo) ? found!.renewalInfo : null,
  }
}

/**
 * Reads when the authority suggests renewing a certificate (RFC 9773 section 4).
 * @param id identifies the certificate
 * @returns times in ms UTC
 * @throws AdapterError
 */
export async function readRenewalWindow(
  context: AdapterContext,
  { ca }: Pick<AcmeAccess, 'ca'>,
  renewalInfoUrl: string,
  id: string,
): Promise<{ start: number; end: number; retryAfterMs: number | null }> {
  const url = `${renewalInfoUrl.replace(/\/$/, '')}/${id}`
  const response = await requestJson(context, { url, ...(ca !== null && { ca }) }, limits)
  if (response.status !== 200)
    throw acmeResponseError(response, context, { text: response.text.slice(0, 200), credentials: 'request', secrets: [] })
  const { suggestedWindow } = (jsonOf(response) ?? {}) as { suggestedWindow?: { start?: unknown; end?: unknown } }
  const [start, end] = [suggestedWindow?.start, suggestedWindow?.end].map(one => Date.parse(String(one)))
  if (!Number.isFinite(start) || !Number.isFinite(end) || end! < start!)
    throw new AdapterError('invalid_response', 'The renewal information has no valid window (RFC 9773 section 4.2).')
  return { start: start!, end: end!, retryAfterMs: retryAfterOf(response, context) }
}

const isHttps = (value: unknown): value is string => typeof value === 'string' && value.startsWith('https://')

/** Runs calls to an ACME server with an account. @throws AdapterError */
export async function withAcme<T>(
  context: AdapterContext,
  access: AcmeAccess,
  run: (session: AcmeSession) => Promise<T>,
  externalAccountBinding?: { kid: string; hmacKey: string },
): Promise<T> {
  return await withLibrary(context, access.ca, async (library, last) => {
    const client = new library.Client({
      directoryUrl: access.directoryUrl,
      accountKey: access.accountKey,
      ...(access.accountUrl !== null && { accountUrl: access.accountUrl }),
      ...(externalAccountBinding && { externalAccountBinding }),
    })
    return await run(new AcmeSession(client, context, last))
  })
}

/** State of an account at the certificate authority. */
interface AcmeAccountState {
  status: string
  contact: string[]
}

/** Calls to an ACME server. All throw AdapterError. */
export class AcmeSession {
  constructor(
    private readonly client: Client,
    private readonly context: AdapterContext,
    private readonly last: () => JsonResponse | null,
  ) {}

  /** Registers the account, or finds the one that the key already has. Returns its URL. */
  async register(contactEmail: string | null, termsAgreed: boolean): Promise<string> {
    return await this.call(async () => {
      await this.client.createAccount({ termsOfServiceAgreed: termsAgreed, contact: contactOf(contactEmail) })
      return this.client.getAccountUrl()
    })
  }

  async account(): Promise<AcmeAccountState> {
    return accountState(await this.call(() => this.client.updateAccount({})))
  }

  async setContact(contactEmail: string | null): Promise<void> {
    await this.call(() => this.client.updateAccount({ contact: contactOf(contactEmail) }))
  }

  /** Deactivates the account forever. */
  async deactivate(): Promise<void> {
    const { status } = accountState(await this.call(() => this.client.updateAccount({ status: 'deactivated' })))
    if (status !== 'deactivated')
      throw new AdapterError('invalid_response', `The certificate authority reports the account as ${status}.`, null, true)
  }

  /** Creates an order. @param names DNS names, also with a wildcard */
  async createOrder(names: readonly string[], options: { profile: string | null; replaces: string | null }): Promise<AcmeOrder> {
    const { profile, replaces } = options
    const created = await this.call(() =>
      this.client.createOrder({
        identifiers: names.map(value => ({ type: 'dns', value })),
        ...(profile !== null && { profile }),
        ...(replaces !== null && { replaces }),
      }),
    )
    return orderOf(created)
  }

  /**
   * Finds an order that was created without its URL being stored: open, for exactly these names, and not one of `known`. Finds none if
   * the authority doesn’t list the orders of the account (RFC 8555 section 7.1.2.1). Of these, Boulder (Let’s Encrypt) returns the same
   * open order if it is requested again. At others, an order can be left behind, which expires without a certificate.
   */
  async findOrder(
    { names, profile }: { names: readonly string[]; profile: string | null },
    known: ReadonlySet<string>,
  ): Promise<AcmeOrder | null> {
    const wanted = names.toSorted().join()
    const unknown = (await this.listOrders()).filter(url => !known.has(url))
    // Authorities list the latest order last, as far as known.
    for (const url of unknown.slice(-maxSearched).toReversed()) {
      const found = await this.order(url).catch(nullIfRefused)
      if (found?.status !== 'pending' && found?.status !== 'ready') continue
      const isSameProfile = profile === null || found.profile === null || found.profile === profile
      if (isSameProfile && found.names.toSorted().join() === wanted) return found
    }
    return null
  }

  /** URLs of the orders of the account; empty if the authority doesn’t list them. */
  private async listOrders(): Promise<string[]> {
    const { orders } = (await this.call(() => this.client.updateAccount({}))) as { orders?: unknown }
    const urls: string[] = []
    let url = typeof orders === 'string' ? orders : null
    for (let pages = 0; url !== null && pages < maxPages; pages++) {
      const page: unknown = await this.call(() => this.client.getOrder({ url } as Order)).catch(nullIfRefused)
      // The response of step-ca is the array itself.
      const listed = Array.isArray(page) ? page : (page as { orders?: unknown } | null)?.orders
      if (!Array.isArray(listed)) break
      urls.push(...listed.map(String))
      const next = nextLink(this.last()!)
      url = next === null ? null : (URL.parse(next, url)?.href ?? null)
    }
    return urls
  }

  async order(url: string): Promise<AcmeOrder> {
    return orderOf(await this.call(() => this.client.getOrder({ url } as Order)))
  }

  /** Reads the authorizations of an order, with their DNS-01 challenges. */
  async authorizations({ authorizations }: AcmeOrder): Promise<AcmeAuthorization[]> {
    const found: AcmeAuthorization[] = []
    for (let at = 0; at < authorizations.length; at += atOnce)
      found.push(...(await Promise.all(authorizations.slice(at, at + atOnce).map(url => this.authorization(url)))))
    return found
  }

  private async authorization(url: string): Promise<AcmeAuthorization> {
    const [found] = await this.call(() => this.client.getAuthorizations({ authorizations: [url] } as unknown as Order))
    return await authorizationOf(url, found, challenge => this.client.getChallengeKeyAuthorization(challenge as Challenge))
  }

  /** Asks the server to look for the answer to a challenge. */
  async completeChallenge(url: string): Promise<void> {
    await this.call(() => this.client.completeChallenge({ url } as Challenge))
  }

  /** Sends the certificate request of an order that is ready. @param csr PEM */
  async finalize({ url, finalizeUrl }: AcmeOrder, csr: string): Promise<AcmeOrder> {
    return orderOf(await this.call(() => this.client.finalizeOrder({ url, finalize: finalizeUrl } as Order, csr)))
  }

  /** Reads the certificate of a valid order, followed by its issuers (PEM). */
  async certificate({ certificateUrl }: AcmeOrder): Promise<string> {
    return await this.call(() => this.client.getCertificate({ status: 'valid', certificate: certificateUrl } as Order))
  }

  /** @param reason of RFC 5280 section 5.3.1 */
  async revoke(certificate: string, reason: number): Promise<void> {
    await this.call(() => this.client.revokeCertificate(certificate, { reason }))
  }

  /** `Retry-After` of the last response, in ms; null if absent. */
  retryAfterMs(): number | null {
    const last = this.last()
    return last && retryAfterOf(last, this.context)
  }

  /** Converts errors of the library. */
  private async call<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      throw acmeErrorOf(error, this.last(), this.context) satisfies AdapterError<AcmeFailure>
    }
  }
}

/**
 * Without an answer of the authority, such as with an error page, it is not known whether there is an order, so that none may be
 * created. Its errors, and an order that doesn’t follow RFC 8555, are answers.
 */
function nullIfRefused(error: unknown): null {
  const isAnswer = error instanceof AdapterError && error.ambiguous !== true
  if (isAnswer && ['refused', 'invalid_response', 'unauthorized'].includes(error.failure)) return null
  throw error
}

/** Contact URLs of an account. */
export const contactOf = (email: string | null): string[] => (email === null ? [] : [`mailto:${email}`])

function accountState(value: unknown): AcmeAccountState {
  const { status, contact } = (value ?? {}) as Record<string, unknown>
  if (typeof status !== 'string')
    throw new AdapterError('invalid_response', 'The ACME server sent an account without a status.', null, true)
  return { status, contact: Array.isArray(contact) ? contact.filter(one => typeof one === 'string').slice(0, maxListed) : [] }
}
