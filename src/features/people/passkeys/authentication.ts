import {
  generateAuthenticationOptions,
  verifyAuthenticationResponse,
  type AuthenticationResponseJSON,
} from '@simplewebauthn/server'
import { and, eq, lt, asc } from 'drizzle-orm'
import { limitGuessing } from '../../../access/limiter'
import { failedCredentials } from '../../../access/rate-limits'
import { users } from '../../../access/tables'
import { record } from '../../../core/change'
import { decodeBase64url, encodeBase64url } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { userAudits, type User, actorOf } from '../users'
import { isChallenge, newChallenge, spendChallenge, type ChallengeKind, ceremonyMs } from './challenges'
import type { PasskeyAssertion, PasskeyRequestOptions } from './shapes'
import { requirePasskeySite, type PasskeySite } from './site'
import { passkeys } from './tables'

export type PasskeyRow = typeof passkeys.$inferSelect

/** Request options for any passkey of this site. @throws Problem 409 `passkeys_unavailable` */
export async function passkeyRequestOptions(hub: Hub): Promise<PasskeyRequestOptions> {
  return await requestOptions(requirePasskeySite(hub), newChallenge(hub, 'sign_in', ''), 'required')
}

/** Request options for the passkeys of a user whose password was correct. @throws Problem 409 `passkeys_unavailable` */
export async function userPasskeyRequestOptions(hub: Hub, user: User): Promise<PasskeyRequestOptions> {
  const own = await passkeysOf(hub.read, user.id)
  return await requestOptions(requirePasskeySite(hub), newChallenge(hub, 'second_factor', user.id), 'preferred', own)
}

/**
 * Identifies a user by passkey alone, with user verification.
 * @throws Problem 401 `invalid_passkey`, 409 `passkeys_unavailable`, 429
 */
export const authenticateByPasskey = (ctx: Ctx, assertion: PasskeyAssertion): Promise<{ user: User; passkey: PasskeyRow }> =>
  limitGuessing(ctx.hub, [failedCredentials(ctx.context.ip ?? '', ctx.hub.config.failedCredentialsPerMinute)], () =>
    verifyAssertion(ctx, assertion, 'sign_in', null),
  )

/** Verifies a passkey as the second factor of a user. @throws Problem 401 `invalid_passkey`, 409 `passkeys_unavailable` */
export async function verifyPasskey(ctx: Ctx, user: User, assertion: PasskeyAssertion): Promise<void> {
  await verifyAssertion(ctx, assertion, 'second_factor', user)
}

/**
 * Verifies an assertion (WebAuthn level 3, section 7.2) and uses up its challenge.
 * @param of the expected user; null if any
 */
async function verifyAssertion(
  ctx: Ctx,
  assertion: PasskeyAssertion,
  kind: ChallengeKind,
  of: User | null,
): Promise<{ user: User; passkey: PasskeyRow }> {
  const { hub } = ctx
  const site = requirePasskeySite(hub)
  const [found] = await hub.read
    .select({ passkey: passkeys, user: users })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, assertion.id))
  if (!found) throw notAccepted()
  const { user } = found
  const isTheirs =
    (of === null || of.id === user.id) && user.disabledAt === null && matchesUserHandle(assertion, user, of === null)
  const signed = isTheirs ? await verified(hub, site, assertion, kind, found) : null
  const outcome = signed && (await recordUse(hub, found.passkey, signed))
  if (outcome && outcome !== 'regressed') return { user, passkey: outcome }
  await record(hub, async tx => {
    const by = { actor: actorOf(user), context: ctx.context }
    const reason =
      outcome === 'regressed'
        ? `The signature counter of the passkey “${found.passkey.name}” went backward: the passkey may have been copied.`
        : `The passkey “${found.passkey.name}” was rejected.`
    return { result: undefined, audits: await userAudits(tx, user, 'account.session.create', by, { outcome: 'failure', reason }) }
  })
  throw notAccepted()
}

interface VerifiedAssertion {
  challenge: string
  counter: number
  backedUp: boolean
}

async function verified(
  hub: Hub,
  { rpId, origin }: PasskeySite,
  assertion: PasskeyAssertion,
  kind: ChallengeKind,
  { passkey, user }: { passkey: PasskeyRow; user: User },
): Promise<VerifiedAssertion | null> {
  let challenge = ''
  try {
    const result = await verifyAuthenticationResponse({
      response: assertion as AuthenticationResponseJSON,
      expectedChallenge(received) {
        challenge = received
        return isChallenge(hub, kind, kind === 'sign_in' ? '' : user.id, received)
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      // The library compares the counter before it verifies the signature. Pass 0 here; recordUse compares it afterwards.
      credential: { id: passkey.credentialId, publicKey: new Uint8Array(decodeBase64url(passkey.publicKey)!), counter: 0 },
      requireUserVerification: kind === 'sign_in',
    })
    const { newCounter, credentialBackedUp } = result.authenticationInfo
    return result.verified ? { challenge, counter: newCounter, backedUp: credentialBackedUp } : null
  } catch (error) {
    // The library throws plain errors for any invalid input.
    hub.log.debug({ err: error }, 'a passkey was rejected')
    return null
  }
}

/**
 * Records that a passkey was used. A signature counter must grow with each use, otherwise the passkey may have been copied
 * (WebAuthn level 3, section 6.1.1). Many authenticators always report 0.
 */
async function recordUse(hub: Hub, { id }: PasskeyRow, signed: VerifiedAssertion): Promise<PasskeyRow | 'regressed' | null> {
  return await record(hub, async tx => {
    if (!(await spendChallenge(tx, signed.challenge))) return { result: null }
    const [used] = await tx
      .update(passkeys)
      .set({ counter: signed.counter, backedUp: signed.backedUp, lastUsedAt: hub.clock.now() })
      .where(and(eq(passkeys.id, id), signed.counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, signed.counter)))
      .returning()
    return { result: used ?? 'regressed' }
  })
}

/** Whether the assertion is for this user. The user handle is required if no user was named in the request. */
function matchesUserHandle({ response: { userHandle } }: PasskeyAssertion, user: User, required: boolean): boolean {
  if (userHandle === undefined || userHandle === null || userHandle === '') return !required
  return userHandle === encodeBase64url(userHandleOf(user.id))
}

async function requestOptions(
  { rpId }: PasskeySite,
  challenge: Uint8Array<ArrayBuffer>,
  userVerification: 'required' | 'preferred',
  own?: PasskeyRow[],
): Promise<PasskeyRequestOptions> {
  const { extensions: _, ...options } = await generateAuthenticationOptions({
    rpID: rpId,
    challenge,
    timeout: ceremonyMs,
    userVerification,
    ...(own && { allowCredentials: own.map(one => ({ id: one.credentialId, transports: one.transports })) }),
  })
  return JSON.parse(JSON.stringify(options)) as PasskeyRequestOptions
}

const notAccepted = () =>
  new Problem(
    'invalid_passkey',
    'The passkey was rejected: it is not registered here, or the request has expired or was already used.',
  )

export const passkeysOf = (read: Reader, userId: string): Promise<PasskeyRow[]> =>
  read.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.id))

/** The user handle given to authenticators; contains no personal data (WebAuthn level 3, section 14.6.1). */
export const userHandleOf = (userId: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(userId)
