import { eq } from 'drizzle-orm'
import { limitGuessing } from '../../../access/limiter'
import { operatorWorkspace } from '../../../access/workspaces'
import type { Ctx } from '../../../core/ctx'
import { conflict, invalid } from '../../../core/problem'
import { changeUser, signedInUser } from '../users'
import { setupUri, hasOneTimeCodes, newSecret, secretPlace, removeOneTimeCodes, spendStep } from './one-time-codes'
import { reauthenticate } from './reauthentication'
import { renewRecoveryCodes } from './recovery-codes'
import { codeBuckets } from './second-factors'
import type { OneTimeCodeSecret, RecoveryCodes, Reauthentication } from './shapes'
import { oneTimeCodes } from './tables'

/** How long a secret waits for its first code. */
const pendingMs = 3_600_000

/**
 * Creates a secret for one-time codes, which are enabled once its first code is confirmed. Replaces a pending secret.
 * @throws Problem 409 if already enabled, 422, 429
 */
export async function setUpOneTimeCodes(ctx: Ctx, proof: Reauthentication): Promise<OneTimeCodeSecret> {
  const { hub } = ctx
  const user = await signedInUser(ctx)
  if (await hasOneTimeCodes(hub.read, user.id)) throw alreadyEnabled()
  await reauthenticate(ctx, user, proof, 'account.one_time_codes.set_up')
  const secret = newSecret()
  // Sealed under the key of the operator's workspace, because users do not belong to a single workspace.
  const { id: workspaceId } = await operatorWorkspace(hub.read)
  return await changeUser(ctx, user, 'account.one_time_codes.set_up', async tx => {
    if (await hasOneTimeCodes(tx, user.id)) throw alreadyEnabled()
    const secretSealed = await hub.keys.seal(tx, secretPlace({ userId: user.id, workspaceId }), secret)
    const values = { workspaceId, secretSealed, confirmedAt: null, lastStep: null, createdAt: hub.clock.now() }
    await tx
      .insert(oneTimeCodes)
      .values({ userId: user.id, ...values })
      .onConflictDoUpdate({ target: oneTimeCodes.userId, set: values })
    return { result: { secret, uri: setupUri(hub, user, secret) } }
  })
}

/**
 * Enables one-time codes, given the first code of the pending secret, and creates ten recovery codes.
 * @throws Problem 409 if there is no pending secret, 422, 429
 */
export async function enableOneTimeCodes(ctx: Ctx, { code }: { code: string }): Promise<RecoveryCodes> {
  const { hub } = ctx
  const user = await signedInUser(ctx)
  return await limitGuessing(hub, codeBuckets(ctx, user, ctx.sessionId), () =>
    changeUser(ctx, user, 'account.one_time_codes.enable', async tx => {
      const [row] = await tx.select().from(oneTimeCodes).where(eq(oneTimeCodes.userId, user.id))
      const now = hub.clock.now()
      if (!row || row.confirmedAt !== null || row.createdAt < now - pendingMs)
        throw conflict(
          'There is no pending secret, or it is older than an hour. Create one with POST /v1/users/me/one-time-codes.',
        )
      if (!(await spendStep(tx, hub, row, code)))
        throw invalid([{ pointer: '#/code', code: 'wrong_code', detail: 'is not the current code.' }])
      await tx.update(oneTimeCodes).set({ confirmedAt: now }).where(eq(oneTimeCodes.userId, user.id))
      return { result: { recovery_codes: await renewRecoveryCodes(tx, hub, user.id) } }
    }),
  )
}

/** Replaces the recovery codes by ten new ones. @throws Problem 409 if one-time codes are disabled, 422, 429 */
export async function regenerateRecoveryCodes(ctx: Ctx, proof: Reauthentication): Promise<RecoveryCodes> {
  const user = await signedInUser(ctx)
  if (!(await hasOneTimeCodes(ctx.hub.read, user.id))) throw disabled()
  await reauthenticate(ctx, user, proof, 'account.recovery_codes.regenerate')
  return await changeUser(ctx, user, 'account.recovery_codes.regenerate', async tx => {
    if (!(await hasOneTimeCodes(tx, user.id))) throw disabled()
    return { result: { recovery_codes: await renewRecoveryCodes(tx, ctx.hub, user.id) } }
  })
}

/** Disables one-time codes. @throws Problem 409 if they are not enabled, 422, 429 */
export async function disableOneTimeCodes(ctx: Ctx, proof: Reauthentication): Promise<void> {
  const user = await signedInUser(ctx)
  if (!(await hasOneTimeCodes(ctx.hub.read, user.id))) throw disabled()
  await reauthenticate(ctx, user, proof, 'account.one_time_codes.disable')
  await changeUser(ctx, user, 'account.one_time_codes.disable', async tx => ({
    result: await removeOneTimeCodes(tx, user.id),
  }))
}

const alreadyEnabled = () => conflict('One-time codes are already enabled. Disable them first.')
const disabled = () => conflict('One-time codes are not enabled.')
