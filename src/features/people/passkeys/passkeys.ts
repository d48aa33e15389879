import { generateRegistrationOptions, verifyRegistrationResponse, type RegistrationResponseJSON } from '@simplewebauthn/server'
import { and, count, eq } from 'drizzle-orm'
import { users } from '../../../access/tables'
import { target } from '../../../core/audit'
import { editableView } from '../../../core/members'
import { instant } from '../../../core/clock'
import { encodeBase64url } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import { violation } from '../../../core/db/errors'
import type { Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { requireMatch } from '../../../core/if-match'
import { listPage, type Listing } from '../../../core/list'
import { conflict, invalid, notFound, Problem } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import { reauthenticate } from '../second-factors/reauthentication'
import type { Reauthentication } from '../second-factors/shapes'
import { clientOf } from '../sign-in/user-agent'
import { changeUser, type User, signedInUser } from '../users'
import { userHandleOf, passkeysOf, type PasskeyRow } from './authentication'
import { isChallenge, newChallenge, spendChallenge, ceremonyMs } from './challenges'
import type { PasskeyInput, PasskeyView } from './shapes'
import { requirePasskeySite } from './site'
import { passkeys } from './tables'

const maxPasskeys = 20

export const passkeyListing: Listing<PasskeyRow> = {
  name: 'passkeys',
  table: passkeys as never,
  id: passkeys.id,
  idOf: row => row.id,
  owner: passkeys.userId,
  defaultSort: 'id',
  filters: {},
  sorts: { created_at: { column: passkeys.createdAt, read: row => row.createdAt } },
}

/** Passkeys of the signed-in user. */
export const listPasskeys = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<PasskeyView>> =>
  listPage(ctx, passkeyListing, query, passkeyView, ctx.actor.id)

/** @throws Problem 404, also for a passkey of another user */
export async function getPasskey(ctx: Ctx, id: string): Promise<PasskeyView> {
  const [row] = await ctx.hub.read.select().from(passkeys).where(isOwn(ctx, id))
  if (!row) throw notFound('passkey')
  return passkeyView(row)
}

/**
 * Creation options for the browser, after the user confirms their identity.
 * @throws Problem 409 `passkeys_unavailable`, 409 if the user has too many, 422, 429
 */
export async function passkeyCreationOptions(ctx: Ctx, proof: Reauthentication) {
  const user = await signedInUser(ctx)
  const { rpId } = requirePasskeySite(ctx.hub)
  const own = await passkeysOf(ctx.hub.read, user.id)
  if (own.length >= maxPasskeys) throw tooMany()
  await reauthenticate(ctx, user, proof, 'account.passkey.create')
  return await generateRegistrationOptions({
    rpName: 'Bailiwick',
    rpID: rpId,
    userName: user.email,
    userDisplayName: user.name,
    userID: userHandleOf(user.id),
    challenge: newChallenge(ctx.hub, 'register', user.id),
    timeout: ceremonyMs,
    attestationType: 'none',
    excludeCredentials: own.map(one => ({ id: one.credentialId, transports: one.transports })),
    // A passkey is a complete sign-in: it must be discoverable without an email address, and verify the user by biometrics or
    // PIN.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/**
 * Registers a passkey that the browser created.
 * @throws Problem 409 `passkeys_unavailable`, `already_exists`, 409 if the user has too many, 422
 */
export async function createPasskey(ctx: Ctx, { name, credential }: PasskeyInput): Promise<PasskeyView> {
  const { hub } = ctx
  const user = await signedInUser(ctx)
  const verified = await verifiedCredential(ctx, user, credential)
  try {
    return await changeUser(ctx, user, 'account.passkey.create', async tx => {
      // Serializes concurrent requests of the user, so that they cannot exceed the maximum.
      await forUpdate(tx.select({ id: users.id }).from(users).where(eq(users.id, user.id)))
      const [own] = await tx.select({ n: count() }).from(passkeys).where(eq(passkeys.userId, user.id))
      if (own!.n >= maxPasskeys) throw tooMany()
      if (!(await spendChallenge(tx, verified.challenge))) throw notAccepted()
      const now = hub.clock.now()
      const [row] = await tx
        .insert(passkeys)
        .values({
          id: newId('pkey'),
          userId: user.id,
          credentialId: verified.id,
          publicKey: encodeBase64url(verified.publicKey),
          counter: verified.counter,
          transports: verified.transports ?? [],
          backedUp: verified.backedUp,
          name: name ?? clientOf(ctx.context.user_agent ?? '') ?? 'Passkey',
          lastUsedAt: null,
          version: 1,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      return { result: passkeyView(row!), target: target('passkey', row!), after: passkeyView(row!) }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', 'This passkey is already registered.')
    throw error
  }
}

/** @throws Problem 404, 412 */
export async function updatePasskey(ctx: Ctx, id: string, { name }: { name?: string }): Promise<PasskeyView> {
  const user = await signedInUser(ctx)
  return await changeUser(ctx, user, 'account.passkey.update', async tx => {
    const row = await passkeyOf(tx, ctx, id)
    requireMatch(ctx, row)
    if (name === undefined || name === row.name) return { result: passkeyView(row), unchanged: true }
    const [after] = await tx
      .update(passkeys)
      .set({ name, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(eq(passkeys.id, id))
      .returning()
    return { result: passkeyView(after!), target: target('passkey', row), before: passkeyView(row), after: passkeyView(after!) }
  })
}

/** Deletes a passkey, which can then no longer be used to sign in. @throws Problem 404, 412 */
export async function deletePasskey(ctx: Ctx, id: string): Promise<void> {
  const user = await signedInUser(ctx)
  await changeUser(ctx, user, 'account.passkey.delete', async tx => {
    const row = await passkeyOf(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(passkeys).where(eq(passkeys.id, id))
    return { result: undefined, target: target('passkey', row), before: passkeyView(row) }
  })
}

async function verifiedCredential(ctx: Ctx, user: User, credential: PasskeyInput['credential']) {
  const { hub } = ctx
  const { rpId, origin } = requirePasskeySite(hub)
  let challenge = ''
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: credential as RegistrationResponseJSON,
      expectedChallenge(received) {
        challenge = received
        return isChallenge(hub, 'register', user.id, received)
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    })
    if (verified) return { ...registrationInfo.credential, backedUp: registrationInfo.credentialBackedUp, challenge }
  } catch (error) {
    // The library throws plain errors for any invalid input.
    hub.log.debug({ err: error }, 'a passkey was rejected')
  }
  throw notAccepted()
}

const notAccepted = () =>
  invalid([
    {
      pointer: '#/credential',
      code: 'not_accepted',
      detail: 'was rejected: it was created for another URL, the request expired, or it was already used. Request new options.',
    },
  ])

const tooMany = () => conflict(`A user can have at most ${maxPasskeys} passkeys. Delete one first.`)

const isOwn = (ctx: Ctx, id: string) => and(eq(passkeys.id, id), eq(passkeys.userId, ctx.actor.id))

/** A passkey of the user, locked until the transaction ends. @throws Problem 404 */
async function passkeyOf(tx: Tx, ctx: Ctx, id: string): Promise<PasskeyRow> {
  const [row] = await forUpdate(tx.select().from(passkeys).where(isOwn(ctx, id)))
  if (!row) throw notFound('passkey')
  return row
}

const passkeyView = (row: PasskeyRow): PasskeyView => ({
  id: row.id,
  name: row.name,
  transports: row.transports,
  backed_up: row.backedUp,
  last_used_at: instant(row.lastUsedAt),
  ...editableView(row),
})
