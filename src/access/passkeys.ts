import { generateRegistrationOptions, verifyRegistrationResponse, type RegistrationResponseJSON } from '@simplewebauthn/server'
import { and, count, eq } from 'drizzle-orm'
import { target } from '../core/audit'
import { instant } from '../core/clock'
import { encodeBase64url } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import { violation } from '../core/db/errors'
import type { Tx } from '../core/db/transaction'
import { newId } from '../core/ids'
import { requireMatch } from '../core/if-match'
import { listPage, type Listing } from '../core/list'
import { conflict, invalid, notFound, Problem } from '../core/problem'
import type { Page } from '../core/shapes'
import type { Proof } from './factor-shapes'
import { isChallenge, newChallenge, spendChallenge } from './passkey-challenges'
import { ceremonyMs, handleOf, passkeysOf, type PasskeyRow } from './passkey-rows'
import type { PasskeyInput, PasskeyView } from './passkey-shapes'
import { requirePasskeySite } from './passkey-site'
import { prove } from './proofs'
import { sessionUser } from './sessions'
import { passkeys, users } from './tables'
import { clientOf } from './user-agent'
import { changeOfUser, type User } from './users'

const mostPasskeys = 20

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

/** The passkeys of the user of the session; none, of a token. */
export const listPasskeys = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<PasskeyView>> =>
  listPage(ctx, passkeyListing, query, passkeyView, ctx.actor.id)

/** @throws Problem 404, for a passkey of somebody else too */
export async function getPasskey(ctx: Ctx, id: string): Promise<PasskeyView> {
  const [row] = await ctx.hub.read.select().from(passkeys).where(isOwn(ctx, id))
  if (!row) throw notFound('passkey')
  return passkeyView(row)
}

/**
 * What a browser makes a passkey by, once the user proved who they are.
 * @throws Problem 404 for a token, 409 `passkeys_unavailable`, 409 where there are too many, 422, 429
 */
export async function passkeyCreation(ctx: Ctx, proof: Proof) {
  const user = await sessionUser(ctx)
  const { rpId } = requirePasskeySite(ctx.hub)
  const own = await passkeysOf(ctx.hub.read, user.id)
  if (own.length >= mostPasskeys) throw tooMany()
  await prove(ctx, user, proof, 'account.passkey.create')
  return await generateRegistrationOptions({
    rpName: 'Bailiwick',
    rpID: rpId,
    userName: user.email,
    userDisplayName: user.name,
    userID: handleOf(user.id),
    challenge: newChallenge(ctx.hub, 'register', user.id),
    timeout: ceremonyMs,
    attestationType: 'none',
    excludeCredentials: own.map(one => ({ id: one.credentialId, transports: one.transports })),
    // It signs in by itself: the browser finds it without a name, and it asks for a finger, a face or a PIN.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/**
 * Keeps a passkey that a browser made.
 * @throws Problem 404 for a token, 409 `passkeys_unavailable`, `already_exists`, 409 where there are too many, 422
 */
export async function createPasskey(ctx: Ctx, { name, credential }: PasskeyInput): Promise<PasskeyView> {
  const { hub } = ctx
  const user = await sessionUser(ctx)
  const made = await madeCredential(ctx, user, credential)
  try {
    return await changeOfUser(ctx, user, 'account.passkey.create', async tx => {
      // Whoever adds two at once must not have one too many.
      await locking(tx.select({ id: users.id }).from(users).where(eq(users.id, user.id)))
      const [own] = await tx.select({ n: count() }).from(passkeys).where(eq(passkeys.userId, user.id))
      if (own!.n >= mostPasskeys) throw tooMany()
      if (!(await spendChallenge(tx, made.challenge))) throw notAccepted()
      const now = hub.clock.now()
      const [row] = await tx
        .insert(passkeys)
        .values({
          id: newId('pkey'),
          userId: user.id,
          credentialId: made.id,
          publicKey: encodeBase64url(made.publicKey),
          counter: made.counter,
          transports: made.transports ?? [],
          backedUp: made.backedUp,
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
    if (violation(error) === 'unique') throw new Problem('already_exists', 'This passkey is registered already.')
    throw error
  }
}

/** @throws Problem 404, 412 */
export async function updatePasskey(ctx: Ctx, id: string, { name }: { name?: string }): Promise<PasskeyView> {
  const user = await sessionUser(ctx)
  return await changeOfUser(ctx, user, 'account.passkey.update', async tx => {
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

/** The passkey signs in no more. @throws Problem 404, 412 */
export async function deletePasskey(ctx: Ctx, id: string): Promise<void> {
  const user = await sessionUser(ctx)
  await changeOfUser(ctx, user, 'account.passkey.delete', async tx => {
    const row = await passkeyOf(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(passkeys).where(eq(passkeys.id, id))
    return { result: undefined, target: target('passkey', row), before: passkeyView(row) }
  })
}

async function madeCredential(ctx: Ctx, user: User, credential: PasskeyInput['credential']) {
  const { hub } = ctx
  const { rpId, origin } = requirePasskeySite(hub)
  let challenge = ''
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: credential as RegistrationResponseJSON,
      expectedChallenge(given) {
        challenge = given
        return isChallenge(hub, 'register', user.id, given)
      },
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    })
    if (verified) return { ...registrationInfo.credential, backedUp: registrationInfo.credentialBackedUp, challenge }
  } catch (error) {
    // Whatever is wrong with what was sent, the library throws plain errors of it.
    hub.log.debug({ err: error }, 'a passkey was not accepted')
  }
  throw notAccepted()
}

const notAccepted = () =>
  invalid([
    {
      pointer: '#/credential',
      code: 'not_accepted',
      detail: 'was not accepted: it was made for another address, too long ago, or used before. Ask for new options.',
    },
  ])

const tooMany = () => conflict(`A person has ${mostPasskeys} passkeys at most; delete one first.`)

const isOwn = (ctx: Ctx, id: string) => and(eq(passkeys.id, id), eq(passkeys.userId, ctx.actor.id))

/** A passkey of the user, held until the change is done. @throws Problem 404 */
async function passkeyOf(tx: Tx, ctx: Ctx, id: string): Promise<PasskeyRow> {
  const [row] = await locking(tx.select().from(passkeys).where(isOwn(ctx, id)))
  if (!row) throw notFound('passkey')
  return row
}

const passkeyView = (row: PasskeyRow): PasskeyView => ({
  id: row.id,
  name: row.name,
  transports: row.transports,
  backed_up: row.backedUp,
  last_used_at: instant(row.lastUsedAt),
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})
