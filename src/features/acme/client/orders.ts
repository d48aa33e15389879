import { AdapterError } from '../../../adapters/failure'
import { problemOf } from './acme-error'

/** An order of a certificate (RFC 8555 section 7.1.3). */
export interface AcmeOrder {
  url: string
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  /** DNS names in lower case. */
  names: string[]
  /** Null if the authority doesn’t report it. */
  profile: string | null
  authorizations: string[]
  finalizeUrl: string
  /** Null unless the order is valid. */
  certificateUrl: string | null
  error: { type: string; detail: string } | null
}

/** Control of a name that an order requires (RFC 8555 section 7.1.4). */
export interface AcmeAuthorization {
  url: string
  /** Without a wildcard. */
  name: string
  status: string
  /** The DNS-01 challenge; null if there is none. */
  challenge: { url: string; status: string; value: string } | null
  error: { type: string; detail: string } | null
}

const orderStates = ['pending', 'ready', 'processing', 'valid', 'invalid'] as const
const maxAuthorizations = 200
const maxUrlLength = 2000

/** Checks what a server sent as an order. @throws AdapterError */
export function orderOf(value: unknown): AcmeOrder {
  const { url, status, identifiers, profile, authorizations, finalize, certificate, error } = (value ?? {}) as Record<
    string,
    unknown
  >
  const state = orderStates.find(one => one === status)
  const isComplete =
    isUrl(url) &&
    state !== undefined &&
    isUrl(finalize) &&
    Array.isArray(identifiers) &&
    Array.isArray(authorizations) &&
    authorizations.length <= maxAuthorizations &&
    authorizations.every(isUrl) &&
    (state !== 'valid' || isUrl(certificate))
  if (!isComplete) throw invalidResponse('an order')
  return {
    ...{ url, status: state, authorizations, finalizeUrl: finalize, error: problemOf(error) },
    certificateUrl: isUrl(certificate) ? certificate : null,
    profile: typeof profile === 'string' ? profile : null,
    names: identifiers.slice(0, maxAuthorizations).map(one => String(one?.value).toLowerCase()),
  }
}

/**
 * Checks what a server sent as an authorization.
 * @param valueOf returns the value of the TXT record that answers a challenge
 * @throws AdapterError
 */
export async function authorizationOf(
  url: string,
  value: unknown,
  valueOf: (challenge: object) => Promise<string>,
): Promise<AcmeAuthorization> {
  const { identifier, status, challenges } = (value ?? {}) as Record<string, any>
  if (typeof identifier?.value !== 'string' || typeof status !== 'string' || !Array.isArray(challenges))
    throw invalidResponse('an authorization')
  const found = challenges.slice(0, maxChallenges).find(one => one?.type === 'dns-01')
  const isUsable = isUrl(found?.url) && typeof found.token === 'string' && /^[\w-]{1,200}$/.test(found.token)
  return {
    url,
    name: identifier.value.toLowerCase(),
    status,
    challenge: isUsable ? { url: found.url, status: String(found.status), value: await valueOf(found) } : null,
    error: challenges.map(one => problemOf(one?.error)).find(one => one !== null) ?? null,
  }
}

const maxChallenges = 20

const isUrl = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('https://') && value.length <= maxUrlLength

const invalidResponse = (what: string) =>
  new AdapterError('invalid_response', `The ACME server sent ${what} that doesn’t follow RFC 8555.`)
