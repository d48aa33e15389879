import { eq } from 'drizzle-orm'
import type { Ctx } from '../core/ctx'
import { conflict, invalid } from '../core/problem'
import type { NewOneTimeCodes, NewRecoveryCodes, Proof } from './factor-shapes'
import { addressOf, hasOneTimeCodes, newSecret, placeOf, removeOneTimeCodes, spendStep } from './one-time-codes'
import { unlessGuessing } from './limiter'
import { prove } from './proofs'
import { renewRecoveryCodes } from './recovery-codes'
import { codeBuckets } from './second-factors'
import { sessionUser } from './sessions'
import { oneTimeCodes } from './tables'
import { changeOfUser } from './users'
import { operatorWorkspace } from './workspaces'

/** How long a secret waits for its first code. */
const pendingMs = 3_600_000

/**
 * Makes a secret for one-time codes, which are on once a code of it was sent; one that waits so makes way.
 * @throws Problem 404 for a token, 409 where they are on, 422, 429
 */
export async function beginOneTimeCodes(ctx: Ctx, proof: Proof): Promise<NewOneTimeCodes> {
  const { hub } = ctx
  const user = await sessionUser(ctx)
  if (await hasOneTimeCodes(hub.read, user.id)) throw alreadyOn()
  await prove(ctx, user, proof, 'account.one_time_codes.begin')
  const secret = newSecret()
  // Sealed under the key of who runs the installation: a person belongs to no one workspace.
  const { id: workspaceId } = await operatorWorkspace(hub.read)
  return await changeOfUser(ctx, user, 'account.one_time_codes.begin', async tx => {
    if (await hasOneTimeCodes(tx, user.id)) throw alreadyOn()
    const secretSealed = await hub.keys.seal(tx, placeOf({ userId: user.id, workspaceId }), secret)
    const values = { workspaceId, secretSealed, confirmedAt: null, lastStep: null, createdAt: hub.clock.now() }
    await tx
      .insert(oneTimeCodes)
      .values({ userId: user.id, ...values })
      .onConflictDoUpdate({ target: oneTimeCodes.userId, set: values })
    return { result: { secret, uri: addressOf(hub, user, secret) } }
  })
}

/**
 * Turns one-time codes on, by the first code of the secret, and gives ten recovery codes.
 * @throws Problem 404 for a token, 409 where nothing waits for it, 422, 429
 */
export async function confirmOneTimeCodes(ctx: Ctx, { code }: { code: string }): Promise<NewRecoveryCodes> {
  const { hub } = ctx
  const user = await sessionUser(ctx)
  return await unlessGuessing(hub, codeBuckets(ctx, user), () =>
    changeOfUser(ctx, user, 'account.one_time_codes.enable', async tx => {
      const [row] = await tx.select().from(oneTimeCodes).where(eq(oneTimeCodes.userId, user.id))
      const now = hub.clock.now()
      if (!row || row.confirmedAt !== null || row.createdAt < now - pendingMs)
        throw conflict('No secret waits for its first code: POST /v1/users/me/one-time-codes makes one, which waits an hour.')
      if (!(await spendStep(tx, hub, row, code)))
        throw invalid([{ pointer: '#/code', code: 'wrong_code', detail: 'is not the code of now.' }])
      await tx.update(oneTimeCodes).set({ confirmedAt: now }).where(eq(oneTimeCodes.userId, user.id))
      return { result: { recovery_codes: await renewRecoveryCodes(tx, hub, user.id) } }
    }),
  )
}

/** Gives ten new recovery codes. @throws Problem 404 for a token, 409 where one-time codes are off, 422, 429 */
export async function renewOwnRecoveryCodes(ctx: Ctx, proof: Proof): Promise<NewRecoveryCodes> {
  const user = await sessionUser(ctx)
  if (!(await hasOneTimeCodes(ctx.hub.read, user.id))) throw off()
  await prove(ctx, user, proof, 'account.recovery_codes.renew')
  return await changeOfUser(ctx, user, 'account.recovery_codes.renew', async tx => {
    if (!(await hasOneTimeCodes(tx, user.id))) throw off()
    return { result: { recovery_codes: await renewRecoveryCodes(tx, ctx.hub, user.id) } }
  })
}

/** Turns one-time codes off: the password alone signs in again. @throws Problem 404 for a token, 409 where they are off, 422, 429 */
export async function turnOffOneTimeCodes(ctx: Ctx, proof: Proof): Promise<void> {
  const user = await sessionUser(ctx)
  if (!(await hasOneTimeCodes(ctx.hub.read, user.id))) throw off()
  await prove(ctx, user, proof, 'account.one_time_codes.remove')
  await changeOfUser(ctx, user, 'account.one_time_codes.remove', async tx => ({
    result: await removeOneTimeCodes(tx, user.id),
  }))
}

const alreadyOn = () => conflict('One-time codes are on; turn them off first.')
const off = () => conflict('One-time codes are off.')
