import { createHash } from 'node:crypto'
import { withAttempt, type Attempt } from '../attempt'
import type { CheckContext } from '../check'
import { CheckFailed } from '../connect-failure'
import { bareHost } from '../host-port'
import { connectTcp, connectTls } from '../connect'
import { readUpTo } from './body'
import { sendHttp1 } from './http1'
import type { HttpAuth } from './options'

type OAuth = Extract<HttpAuth, { type: 'oauth2' }>

/** Cached tokens by the credentials they were requested with, shared between checks. */
const tokens = new Map<string, { token: string; until: number }>()
const maxTokens = 5000
/** Tokens are not used shortly before they expire: they could expire on the way. */
const expiryMarginMs = 10_000
const maxResponseBytes = 65_536

/**
 * Returns an access token for client credentials (RFC 6749 section 4.4), cached until it expires. Redirects are not followed.
 * @param ca PEM certificates to trust instead of the public CAs
 * @throws CheckFailed with a message that names the token request
 */
export async function accessToken(auth: OAuth, ca: string | undefined, context: CheckContext): Promise<string> {
  const key = keyOf(auth, ca)
  const known = tokens.get(key)
  if (known && known.until > context.wallNow()) return known.token
  try {
    const { token, seconds } = await withAttempt(context, attempt => fetchToken(attempt, auth, ca))
    tokens.delete(key)
    for (const oldest of tokens.keys()) {
      if (tokens.size < maxTokens) break
      tokens.delete(oldest)
    }
    if (seconds !== null) tokens.set(key, { token, until: context.wallNow() + seconds * 1000 - expiryMarginMs })
    return token
  } catch (error) {
    if (error instanceof CheckFailed) throw new CheckFailed(error.kind, `OAuth 2.0 token: ${error.message}`)
    throw error
  }
}

/** Drops a token that the target rejected. Returns whether it was cached. */
export const forgetToken = (auth: OAuth, ca: string | undefined): boolean => tokens.delete(keyOf(auth, ca))

const keyOf = (auth: OAuth, ca: string | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([auth.token_url, auth.client_id, auth.client_secret, auth.scope, auth.audience, auth.client_auth, ca]))
    .digest('base64')

async function fetchToken(
  attempt: Attempt,
  auth: OAuth,
  ca: string | undefined,
): Promise<{ token: string; seconds: number | null }> {
  const url = new URL(auth.token_url)
  const secure = url.protocol === 'https:'
  const port = Number(url.port || (secure ? 443 : 80))
  const host = url.hostname
  const settings = { name: bareHost(host), verify: true, ...(ca !== undefined && { ca }) }
  const socket = secure ? await connectTls(attempt, host, port, settings) : await connectTcp(attempt, host, port)
  const byHeader = (auth.client_auth ?? 'header') === 'header'
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(auth.scope !== undefined && { scope: auth.scope }),
    ...(auth.audience !== undefined && { audience: auth.audience }),
    ...(!byHeader && { client_id: auth.client_id, client_secret: auth.client_secret }),
  })
  const response = await sendHttp1(attempt, socket, {
    method: 'POST',
    url,
    headers: {
      Host: url.host,
      Accept: 'application/json',
      'Content-Type': 'application/x-www-form-urlencoded',
      ...(byHeader && { Authorization: basicOf(auth.client_id, auth.client_secret) }),
    },
    body: Buffer.from(form.toString()),
  })
  if (response.status !== 200) throw new CheckFailed('status', `HTTP ${response.status}, expected 200`)
  const { octets } = await attempt.within(readUpTo(response.body, maxResponseBytes), 'the end of the response')
  return tokenOf(octets.toString())
}

/** Both parts are form-encoded first (RFC 6749 section 2.3.1). */
const basicOf = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`

const formEncoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2)

/** A token without a lifetime is used once (section 5.1 allows omitting it). */
function tokenOf(text: string): { token: string; seconds: number | null } {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    parsed = null
  }
  const { access_token: token, expires_in: seconds } = (parsed ?? {}) as { access_token?: unknown; expires_in?: unknown }
  if (typeof token !== 'string' || !/^[\x20-\x7e]{1,16384}$/.test(token))
    throw new CheckFailed('content', 'the response contains no access token')
  const lifetime = Number(seconds)
  return { token, seconds: Number.isFinite(lifetime) && lifetime > 0 ? Math.min(lifetime, 86_400) : null }
}
