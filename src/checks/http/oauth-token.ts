import { createHash } from 'node:crypto'
import { withAttempt, type Attempt } from '../attempt'
import type { Around } from '../check'
import { CheckFailed } from '../connect-failure'
import { connectTcp, connectTls } from '../tls-connect'
import { readUpTo } from './body'
import { exchange } from './exchange'
import type { HttpAuth } from './options'

type OAuth = Extract<HttpAuth, { type: 'oauth2' }>

/** Tokens that are good for a while, by what they were asked with. A check in a minute takes the one of the check before. */
const kept = new Map<string, { token: string; until: number }>()
const keptMost = 5000
/** A token is not used in its last moments, since it may end on the way. */
const earlierMs = 10_000
const answerMost = 65_536

/**
 * An access token by client credentials (RFC 6749 section 4.4), kept until it expires. Redirects are not followed.
 * @param ca PEM, in place of the public authorities
 * @throws CheckFailed that says it was the token that could not be had
 */
export async function accessToken(auth: OAuth, ca: string | undefined, around: Around): Promise<string> {
  const key = keyOf(auth, ca)
  const known = kept.get(key)
  if (known && known.until > around.wallNow()) return known.token
  try {
    const { token, seconds } = await withAttempt(around, attempt => asked(attempt, auth, ca))
    kept.delete(key)
    for (const oldest of kept.keys()) {
      if (kept.size < keptMost) break
      kept.delete(oldest)
    }
    if (seconds !== null) kept.set(key, { token, until: around.wallNow() + seconds * 1000 - earlierMs })
    return token
  } catch (error) {
    if (error instanceof CheckFailed) throw new CheckFailed(error.kind, `token of OAuth 2.0: ${error.message}`)
    throw error
  }
}

/** Forgets a token that a target refused. True when it was one that had been kept. */
export const forgetToken = (auth: OAuth, ca: string | undefined): boolean => kept.delete(keyOf(auth, ca))

const keyOf = (auth: OAuth, ca: string | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify([auth.token_url, auth.client_id, auth.client_secret, auth.scope, auth.audience, auth.client_auth, ca]))
    .digest('base64')

async function asked(attempt: Attempt, auth: OAuth, ca: string | undefined): Promise<{ token: string; seconds: number | null }> {
  const url = new URL(auth.token_url)
  const secure = url.protocol === 'https:'
  const port = Number(url.port || (secure ? 443 : 80))
  const host = url.hostname
  const wish = { name: host.replace(/^\[|\]$/g, ''), verify: true, ...(ca !== undefined && { ca }) }
  const socket = secure ? await connectTls(attempt, host, port, wish) : await connectTcp(attempt, host, port)
  const byHeader = (auth.client_auth ?? 'header') === 'header'
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(auth.scope !== undefined && { scope: auth.scope }),
    ...(auth.audience !== undefined && { audience: auth.audience }),
    ...(!byHeader && { client_id: auth.client_id, client_secret: auth.client_secret }),
  })
  const answer = await exchange(attempt, socket, {
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
  if (answer.status !== 200) throw new CheckFailed('status', `HTTP ${answer.status} where 200 is accepted`)
  const { octets } = await attempt.within(readUpTo(answer.body, answerMost), 'no end of the answer')
  return tokenOf(octets.toString())
}

/** Both parts are encoded as in a form first (RFC 6749 section 2.3.1). */
const basicOf = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`

const formEncoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2)

/** Where a lifetime is missing the token is used once (section 5.1 lets it be left out). */
function tokenOf(text: string): { token: string; seconds: number | null } {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    given = null
  }
  const { access_token: token, expires_in: seconds } = (given ?? {}) as { access_token?: unknown; expires_in?: unknown }
  if (typeof token !== 'string' || !/^[\x20-\x7e]{1,16384}$/.test(token))
    throw new CheckFailed('content', 'the answer holds no access token')
  const lifetime = Number(seconds)
  return { token, seconds: Number.isFinite(lifetime) && lifetime > 0 ? Math.min(lifetime, 86_400) : null }
}
