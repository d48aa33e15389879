import {
  generateAuthenticationOptions,
  verifyAuthenticationResponse,
  type AuthenticationResponseJSON,
} from '@simplewebauthn/server'
import { and, eq, lt } from 'drizzle-orm'
import { record } from '../core/change'
import { decodeBase64url, encodeBase64url } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { unlessGuessing } from './limiter'
import { isChallenge, newChallenge, spendChallenge, type ChallengeKind } from './passkey-challenges'
import { ceremonyMs, handleOf, passkeysOf, type PasskeyRow } from './passkey-rows'
import type { CredentialAnswer, PasskeyRequest } from './passkey-shapes'
import { requirePasskeySite, type PasskeySite } from './passkey-site'
import { failedCredentials } from './rate-limits'
import { passkeys, users } from './tables'
import { auditOfUser, type User } from './users'

/** What a browser asks any passkey of this site for. @throws Problem 409 `passkeys_unavailable` */
export async function passkeyRequest(hub: Hub): Promise<PasskeyRequest> {
  return await requestOf(requirePasskeySite(hub), newChallenge(hub, 'sign_in', ''), 'required')
}

/** What a browser asks the passkeys of a user for, whose password was right. @throws Problem 409 `passkeys_unavailable` */
export async function passkeyRequestOf(hub: Hub, user: User): Promise<PasskeyRequest> {
  const own = await passkeysOf(hub.read, user.id)
  return await requestOf(requirePasskeySite(hub), newChallenge(hub, 'second_factor', user.id), 'preferred', own)
}

/**
 * The user whose passkey answered, and the passkey: they are known by it, and it asked for a finger, a face or a PIN.
 * @throws Problem 401 `invalid_passkey`, 409 `passkeys_unavailable`, 429
 */
export const provenByPasskey = (ctx: Ctx, answer: CredentialAnswer): Promise<{ user: User; passkey: PasskeyRow }> =>
  unlessGuessing(ctx.hub, [failedCredentials(ctx.context.ip ?? '', ctx.hub.config.failedCredentialsPerMinute)], () =>
    acceptedAnswer(ctx, answer, 'sign_in', null),
  )

/** Holds a user whose password was right to a passkey of theirs. @throws Problem 401 `invalid_passkey`, 409 `passkeys_unavailable` */
export async function provePasskey(ctx: Ctx, user: User, answer: CredentialAnswer): Promise<void> {
  await acceptedAnswer(ctx, answer, 'second_factor', user)
}

/** Checks an answer as section 7.2 of WebAuthn level 3 says, and uses its challenge up. @param of whose it must be, where that is known */
async function acceptedAnswer(
  ctx: Ctx,
  answer: CredentialAnswer,
  kind: ChallengeKind,
  of: User | null,
): Promise<{ user: User; passkey: PasskeyRow }> {
  const { hub } = ctx
  const site = requirePasskeySite(hub)
  const [found] = await hub.read
    .select({ passkey: passkeys, user: users })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, answer.id))
  if (!found) throw notAccepted()
  const { user } = found
  const isTheirs = (of === null || of.id === user.id) && user.disabledAt === null && isHandle(answer, user, of === null)
  const signed = isTheirs ? await verified(hub, site, answer, kind, found) : null
  const outcome = signed && (await noteUse(hub, found.passkey, signed))
  if (outcome && outcome !== 'regressed') return { user, passkey: outcome }
  await record(hub, async tx => {
    const audits = await auditOfUser(tx, user, 'account.session.create', {
      actor: { type: 'user', id: user.id, name: user.name, hint: null },
      context: ctx.context,
    })
    const reason =
      outcome === 'regressed'
        ? `The passkey “${found.passkey.name}” counted backwards: there may be a copy of it.`
        : `The passkey “${found.passkey.name}” was not accepted.`
    return { result: undefined, audits: audits.map(one => ({ ...one, outcome: 'failure' as const, reason })) }
  })
  throw notAccepted()
}

interface Signed {
  challenge: string
  counter: number
  backedUp: boolean
}

async function verified(
  hub: Hub,
  { rpId, origin }: PasskeySite,
  answer: CredentialAnswer,
  kind: ChallengeKind,
  { passkey, user }: { passkey: PasskeyRow; user: User },
): Promise<Signed | null> {
  let challenge = ''
  try {
    const result = await verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge(given) {
        challenge = given
        return isChallenge(hub, kind, kind === 'sign_in' ? '' : user.id, given)
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      // The library holds the counter against it before it has looked at the signature; here it is held against what is stored, after.
      credential: { id: passkey.credentialId, publicKey: new Uint8Array(decodeBase64url(passkey.publicKey)!), counter: 0 },
      requireUserVerification: kind === 'sign_in',
    })
    const { newCounter, credentialBackedUp } = result.authenticationInfo
    return result.verified ? { challenge, counter: newCounter, backedUp: credentialBackedUp } : null
  } catch (error) {
    // Whatever is wrong with what was sent, the library throws plain errors of it.
    hub.log.debug({ err: error }, 'a passkey was not accepted')
    return null
  }
}

/**
 * Writes down that a passkey was used. A counter that is in use grows with each answer: one that does not is of a copy (WebAuthn
 * level 3, section 6.1.1). Many authenticators always say 0.
 */
async function noteUse(hub: Hub, { id }: PasskeyRow, signed: Signed): Promise<PasskeyRow | 'regressed' | null> {
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

/** Whether the answer names the user it is of. One that is asked for nobody by name must. */
function isHandle({ response: { userHandle } }: CredentialAnswer, user: User, required: boolean): boolean {
  if (userHandle === undefined || userHandle === null || userHandle === '') return !required
  return userHandle === encodeBase64url(handleOf(user.id))
}

async function requestOf(
  { rpId }: PasskeySite,
  challenge: Uint8Array<ArrayBuffer>,
  userVerification: 'required' | 'preferred',
  own?: PasskeyRow[],
): Promise<PasskeyRequest> {
  const { extensions: _, ...options } = await generateAuthenticationOptions({
    rpID: rpId,
    challenge,
    timeout: ceremonyMs,
    userVerification,
    ...(own && { allowCredentials: own.map(one => ({ id: one.credentialId, transports: one.transports })) }),
  })
  return JSON.parse(JSON.stringify(options)) as PasskeyRequest
}

const notAccepted = () =>
  new Problem(
    'invalid_passkey',
    'The passkey was not accepted: it is not known here, or the answer was made too long ago or used before.',
  )
