import { and, eq, gt, or, sql } from 'drizzle-orm'
import { withChallenge } from '../../../../access/authenticate'
import { countRequest } from '../../../../access/limiter'
import { failedCredentials } from '../../../../access/rate-limits'
import { looksLikeIngestToken, type IngestTokenKind } from '../../../../access/token-format'
import { partsOf } from '../../../../api/serve'
import { sha256Hex } from '../../../../core/crypto'
import { prepared } from '../../../../core/db/prepared'
import type { Reader } from '../../../../core/db/transaction'
import type { Hub } from '../../../../core/hub'
import { Problem } from '../../../../core/problem'
import { maxClockSkewMs, parseSignature, signatureHeader, type RequestSignature } from '../../../../wire/request-signature'
import { isSignedBy, parsePublicKey } from '../../../../wire/signed'
import { isLinked, type AgentRow, type AnyAgentRow } from '../rows'
import { agents } from '../tables'
import { isRepeated } from './repeats'

/** Requests of an agent in a minute: reports, a backlog of four a second, and those for commands. */
const requestsPerMinute = 360

/** A request of an agent. */
interface AgentRequest {
  request: Request
  ip: string
  /** Reads the body as sent; called once the token is accepted. @throws Problem 413, 415 */
  readBody(): Promise<Uint8Array>
}

/**
 * Authenticates a request of an agent: by its token, and by the signature if the agent was enrolled with a key.
 * @returns the agent, and the body as sent
 * @throws Problem 401 `invalid_token`, `token_revoked`; 429; those of `readBody`
 */
export async function authenticateAgent(
  hub: Hub,
  { request, ip, readBody }: AgentRequest,
): Promise<{ agent: AgentRow; body: Uint8Array }> {
  const token = bearerOf(request, 'agent')
  if (token === null) throw refused(hub, ip, 'The Authorization header must have the form: Bearer bw_agent_…')
  const hash = sha256Hex(token)
  // First, so that excess requests cost almost nothing.
  countRequest(hub, [{ name: 'agent', key: hash, quota: requestsPerMinute, windowSeconds: 60 }])
  const row = await agentOfToken(hub.read, hash, hub.clock.now())
  if (!row) throw refused(hub, ip, 'This token is not valid. Enroll the agent again.')
  if (!isLinked(row))
    throw withChallenge(new Problem('token_revoked', 'The agent was revoked. To use it again, enroll it with a new key.'))
  const body = await readBody()
  if (row.publicKey !== null) {
    const signature = readSignature(hub, row.publicKey, request, body)
    if (typeof signature === 'string') throw refused(hub, ip, signature)
    if (isRepeated(hub, row, signature))
      throw refused(hub, ip, 'This signed request was received before. Sign each request again.')
  }
  return { agent: row, body }
}

/** The ingest token of this kind in the Authorization header; null if it has another form. */
export function bearerOf(request: Request, kind: IngestTokenKind): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  return token !== undefined && looksLikeIngestToken(token, kind) ? token : null
}

/**
 * A problem 401. Counted after the check, so that guessing can’t block a valid token behind the same address.
 * @throws Problem 429
 */
export function refused(hub: Hub, ip: string, detail: string): Problem {
  countRequest(hub, [failedCredentials(ip, hub.config.failedCredentialsPerMinute)])
  return withChallenge(new Problem('invalid_token', detail))
}

// Hashes of tokens are looked up by an index: how long that takes says nothing about the token.
async function agentOfToken(read: Reader, hash: string, now: number): Promise<AnyAgentRow | undefined> {
  const query = prepared(read, 'agent-of-token', handle =>
    handle
      .select()
      .from(agents)
      .where(
        or(
          eq(agents.tokenHash, sql.placeholder('hash')),
          and(eq(agents.previousTokenHash, sql.placeholder('hash')), gt(agents.previousValidUntil, sql.placeholder('now'))),
        ),
      ),
  )
  return (await query.execute({ hash, now }))[0]
}

/** Reads the signature of a request by the owner of a key. @returns what is wrong with it, as a sentence, if anything is */
export function readSignature(hub: Hub, publicKey: string, request: Request, body: Uint8Array): RequestSignature | string {
  const header = request.headers.get(signatureHeader)
  if (header === null) return `The request must be signed: the header ${signatureHeader} is missing.`
  const signature = parseSignature(header)
  if (!signature) return `The header ${signatureHeader} must have the form: v1 t=…,n=…,s=…`
  const { time, count } = signature
  const now = hub.clock.now()
  if (Math.abs(time - now) > maxClockSkewMs)
    return `The request was signed ${Math.round(Math.abs(time - now) / 1000)} s ${time < now ? 'ago' : 'in the future'}, which is more than ${maxClockSkewMs / 1000} s. Check the clock of the server.`
  const key = parsePublicKey(publicKey)
  const signed = { method: request.method, path: pathWithQuery(request.url), time, count, body }
  if (!key || !isSignedBy(key, signed, signature.signature))
    return 'The signature does not match the request and the key of the agent.'
  return signature
}

function pathWithQuery(url: string): string {
  const { pathname, search } = partsOf(url)
  return search === '' ? pathname : `${pathname}?${search}`
}
