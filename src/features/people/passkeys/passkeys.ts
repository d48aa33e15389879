import { generateRegistrationOptions, verifyRegistrationResponse, type RegistrationResponseJSON } from '@simplewebauthn/server'
import { count, eq } from 'drizzle-orm'
import { users } from '../../../access/tables'
import { instant } from '../../../core/clock'
import { encodeBase64url } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import { listingOf, listPage } from '../../../core/list'
import { editableView } from '../../../core/members'
import { conflict, invalid } from '../../../core/problem'
import { changedRow, findRow, insertRow, lockRow, refuseDuplicate, removeRow, saveRow, targetOf } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
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

const rows = rowsOf('passkey', passkeys, { owner: passkeys.userId })

export const passkeyListing = listingOf('passkeys', passkeys, {
  isSmall: true,
  owner: passkeys.userId,
  defaultSort: 'id',
  sorts: ['created_at'],
})

/** Passkeys of the signed-in user. */
export const listPasskeys = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<PasskeyView>> =>
  listPage(ctx, passkeyListing, query, passkeyView, ctx.actor.id)

/** @throws Problem 404, also for a passkey of another user */
export const getPasskey = async (ctx: Ctx, id: string): Promise<PasskeyView> =>
  passkeyView(await findRow(ctx.hub.read, ctx, rows, id, ctx.actor.id))

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
  const user = await signedInUser(ctx)
  const verified = await verifiedCredential(ctx, user, credential)
  return await refuseDuplicate('This passkey is already registered.', () =>
    changeUser(ctx, user, 'account.passkey.create', async tx => {
      // Serializes concurrent requests of the user, so that they cannot exceed the maximum.
      await forUpdate(tx.select({ id: users.id }).from(users).where(eq(users.id, user.id)))
      const [own] = await tx.select({ n: count() }).from(passkeys).where(eq(passkeys.userId, user.id))
      if (own!.n >= maxPasskeys) throw tooMany()
      if (!(await spendChallenge(tx, verified.challenge))) throw notAccepted()
      const row = await insertRow(tx, ctx, rows, {
        userId: user.id,
        credentialId: verified.id,
        publicKey: encodeBase64url(verified.publicKey),
        counter: verified.counter,
        transports: verified.transports ?? [],
        backedUp: verified.backedUp,
        name: name ?? clientOf(ctx.context.user_agent ?? '') ?? 'Passkey',
        lastUsedAt: null,
      })
      return await changedRow(rows, null, row, passkeyView)
    }),
  )
}

/** @throws Problem 404, 412 */
export async function updatePasskey(ctx: Ctx, id: string, { name }: { name?: string }): Promise<PasskeyView> {
  const user = await signedInUser(ctx)
  return await changeUser(ctx, user, 'account.passkey.update', async tx => {
    const row = await lockRow(tx, ctx, rows, id, user.id)
    return await changedRow(rows, row, await saveRow(tx, ctx, rows, row, { name }), passkeyView)
  })
}

/** Deletes a passkey, which can then no longer be used to sign in. @throws Problem 404, 412 */
export async function deletePasskey(ctx: Ctx, id: string): Promise<void> {
  const user = await signedInUser(ctx)
  await changeUser(ctx, user, 'account.passkey.delete', async tx => {
    const row = await lockRow(tx, ctx, rows, id, user.id)
    await removeRow(tx, rows, row)
    return { result: undefined, target: targetOf(rows, row), before: passkeyView(row) }
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

const passkeyView = (row: PasskeyRow): PasskeyView => ({
  id: row.id,
  name: row.name,
  transports: row.transports,
  backed_up: row.backedUp,
  last_used_at: instant(row.lastUsedAt),
  ...editableView(row),
})
