import type { AccountCheck } from '../../../../adapters/adapter'
import { parseFingerprint } from '../../../../core/net/fingerprint'
import type { Settings } from '../../../../core/sealed-settings'
import { CloudError, type AdapterContext } from '../cloud'
import { createClientCertificate } from './client-certificate'
import { IncusClient, objectOf } from './client'
import type { IncusSettings } from './settings'
import { decodeTrustToken, type TrustToken } from './trust-token'

/** Tokens list all addresses of a server, also those of its bridges. */
const maxAddresses = 16
const maxAddressMs = 5000
// The job that joins has a lease.
const maxTotalMs = 30_000

/**
 * Exchanges a trust token for a client certificate, in two steps: the first creates the certificate, and the second lets the server trust
 * it. The token works only once, so the certificate must be stored before it is sent: then a lost response does no harm.
 * @throws CloudError
 */
export async function joinIncus(settings: IncusSettings, around: AdapterContext): Promise<Settings | null> {
  const { trust_token, client_certificate, client_key, url, fingerprint } = settings
  if (trust_token === undefined) return null
  const token = readToken(trust_token, around)
  const isForOther = fingerprint === undefined || parseFingerprint(fingerprint) !== token.fingerprint
  if (client_certificate === undefined || client_key === undefined || url === undefined || isForOther) {
    const { certificate, key } = await createClientCertificate('bailiwick', around.clock.now() - clockSkewMs)
    const found = await reachableUrl(settings, token, around)
    return { client_certificate: certificate, client_key: key, url: found, fingerprint: token.fingerprint }
  }
  const access = accessOf(settings, token)
  const client = new IncusClient({ ...access, url, clientCertificate: { cert: client_certificate, key: client_key } }, around)
  if (!(await isTrusted(client))) await trust(client, token, trust_token)
  return { trust_token: null }
}

/** Checks a trust token that has not been used yet, without using it. @throws CloudError */
export async function checkTrustToken(settings: IncusSettings, around: AdapterContext): Promise<AccountCheck> {
  const url = await reachableUrl(settings, readToken(settings.trust_token!, around), around)
  return { detail: `${url} can be reached. The trust token will be used when the account is saved.`, warnings: [] }
}

/** @throws CloudError if the token can’t be used anymore */
function readToken(text: string, around: AdapterContext): TrustToken {
  const token = decodeTrustToken(text)
  if (!token) throw new CloudError('unauthorized', 'The trust token can’t be read.')
  if (token.expiresAt !== null && token.expiresAt <= around.clock.now()) throw refused('has expired')
  return token
}

const accessOf = ({ project = 'default', trust_token }: IncusSettings, { fingerprint, secret }: TrustToken) => ({
  project,
  pin: fingerprint,
  secrets: [trust_token!, secret],
})

/** Clocks can differ. */
const clockSkewMs = 3_600_000

function urlsOf({ addresses }: TrustToken, { url }: IncusSettings): string[] {
  const listed = addresses.slice(0, maxAddresses).map(address => `https://${address}`)
  return [...new Set([...(url === undefined ? [] : [url.replace(/\/+$/, '')]), ...listed.filter(one => URL.canParse(one))])]
}

/** The first URL at which the server answers with the certificate of the token. */
async function reachableUrl(settings: IncusSettings, token: TrustToken, around: AdapterContext): Promise<string> {
  const failures: string[] = []
  const deadline = around.clock.now() + maxTotalMs
  for (const url of urlsOf(token, settings)) {
    const totalMs = Math.min(maxAddressMs, deadline - around.clock.now())
    if (totalMs <= 0) break
    try {
      await new IncusClient({ ...accessOf(settings, token), url, totalMs }, around).get('')
      return url
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      failures.push(`${url}: ${error.message}`)
    }
  }
  throw new CloudError(
    'unreachable',
    failures.length === 0
      ? 'The trust token contains no addresses. Enter the URL of the server.'
      : `The server can’t be reached. If it has another address, enter its URL. ${failures.join(' ')}`,
  )
}

/** Adds the client certificate to those that the server trusts. */
async function trust(client: IncusClient, { clientName }: TrustToken, token: string): Promise<void> {
  const request = { type: 'client', name: clientName }
  try {
    try {
      await client.send('POST', '/certificates', { ...request, trust_token: token })
    } catch (error) {
      if (!isRefusal(error)) throw error
      // LXD before 5.13 expects it in another field. A refused request doesn’t use up the token.
      await client.send('POST', '/certificates', { ...request, password: token })
    }
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    // The server may have processed a request whose response was lost.
    if (await isTrusted(client)) return
    if (isRefusal(error)) throw refused('is unknown, expired, or was used before')
    throw new CloudError(
      error.failure,
      `The trust token may have been used up, because its response was lost. If the next attempt is rejected, create a new token. ${error.message}`,
      error.retryAfterMs,
    )
  }
}

const isRefusal = (error: unknown): boolean => error instanceof CloudError && error.failure === 'unauthorized'

async function isTrusted(client: IncusClient): Promise<boolean> {
  try {
    return objectOf(await client.get('')).auth === 'trusted'
  } catch (error) {
    if (error instanceof CloudError) return false
    throw error
  }
}

const refused = (what: string) =>
  new CloudError(
    'unauthorized',
    `The trust token ${what}. A token works only once: create a new one with \`incus config trust add bailiwick\` (LXD: \`lxc config trust add --name bailiwick\`).`,
  )
