import { newIngestToken, tokenHint } from '../../../access/token-format'
import { refuseOverLimit } from '../../../access/plans'
import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { listingOf, listPage } from '../../../core/list'
import { searchFilter, textFilter, timeFilters } from '../../../core/list-filters'
import { editableView, inputColumns, memberView } from '../../../core/members'
import { invalid, Problem } from '../../../core/problem'
import { changedRow, deleteRow, findRow, insertRow } from '../../../core/rows'
import { rowsOf } from '../../../registry'
import { serverRows } from '../view'
import { defaultLifeSeconds, enrolmentKeyMembers, type EnrolmentKeyInput, type EnrolmentKeyView } from './shapes'
import { enrolmentKeys } from './tables'

export type EnrolmentKeyRow = typeof enrolmentKeys.$inferSelect

const rows = rowsOf('enrolment_key', enrolmentKeys, { accessTo: row => row.serverId })

export const enrolmentKeyListing = listingOf('enrolment-keys', enrolmentKeys, {
  isSmall: true,
  filters: {
    server_id: textFilter(enrolmentKeys.serverId, 'Only keys for this server.'),
    q: searchFilter([enrolmentKeys.name], 'Only keys whose name contains all words of this text.'),
    ...timeFilters('created_at', enrolmentKeys.createdAt),
  },
  sorts: ['name', 'created_at'],
  accessColumn: enrolmentKeys.serverId,
})

/** Whether agents can be enrolled with a key at a time (ms UTC). */
export const keyState = ({ usedUpAt, expiresAt }: EnrolmentKeyRow, now: number): EnrolmentKeyView['state'] =>
  usedUpAt !== null ? 'used_up' : expiresAt <= now ? 'expired' : 'active'

const viewAt =
  ({ clock }: Pick<Hub, 'clock'>) =>
  (row: EnrolmentKeyRow): EnrolmentKeyView => ({
    id: row.id,
    ...memberView(enrolmentKeyMembers, row),
    server_id: row.serverId,
    hint: row.hint,
    state: keyState(row, clock.now()),
    used: row.used,
    last_used_at: instant(row.lastUsedAt),
    expires_at: instant(row.expiresAt),
    ...editableView(row),
  })

export const listEnrolmentKeys = (ctx: Ctx, query: Record<string, unknown>) =>
  listPage(ctx, enrolmentKeyListing, query, viewAt(ctx.hub))

/** @throws Problem 404 */
export const getEnrolmentKey = async (ctx: Ctx, id: string): Promise<EnrolmentKeyView> =>
  viewAt(ctx.hub)(await findRow(ctx.hub.read, ctx, rows, id))

/**
 * @param result what to return for the new key
 * @throws Problem 409 if the limit is reached, 422 if there is no such server
 */
export const createEnrolmentKey = <R>(
  ctx: Ctx,
  input: EnrolmentKeyInput,
  result: (created: EnrolmentKeyView & { key: string }) => R,
): Promise<R> =>
  change(ctx, 'cloud.enrolment_key.create', async tx => {
    const { key, created } = await insertEnrolmentKey(tx, ctx, input)
    return { ...created, result: result({ ...created.result, key }) }
  })

/**
 * Inserts a key, within a change.
 * @throws Problem 409 if the limit is reached, 422 if there is no such server
 */
export async function insertEnrolmentKey(
  tx: Tx,
  ctx: Ctx,
  input: EnrolmentKeyInput,
): Promise<{ key: string; created: ChangeResult<EnrolmentKeyView> }> {
  if (input.server_id != null) await requireServer(tx, ctx, input.server_id)
  await refuseOverLimit(tx, ctx, 'enrolment_key')
  const key = newIngestToken('enrol')
  const row = await insertRow(tx, ctx, rows, {
    ...inputColumns(enrolmentKeyMembers, input),
    serverId: input.server_id ?? null,
    keyHash: sha256Hex(key),
    hint: tokenHint(key),
    expiresAt: ctx.hub.clock.now() + (input.expires_in_seconds ?? defaultLifeSeconds) * 1000,
    used: 0,
    lastUsedAt: null,
    usedUpAt: null,
    monitor: input.monitor !== false && ctx.permissions.has('monitoring.write'),
  })
  return { key, created: await changedRow(rows, null, row, viewAt(ctx.hub)) }
}

/** @throws Problem 422 */
async function requireServer(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  const none = invalid([{ pointer: '#/server_id', code: 'not_found', detail: 'There is no server with this ID.' }])
  try {
    if ((await findRow(tx, ctx, serverRows, id)).deletedAt !== null) throw none
  } catch (error) {
    throw error instanceof Problem && error.code === 'not_found' ? none : error
  }
}

/** Deletes a key. Agents that were enrolled with it are not affected; those that await approval can’t be approved anymore. @throws Problem 404, 412 */
export const deleteEnrolmentKey = (ctx: Ctx, id: string): Promise<void> =>
  deleteRow(ctx, 'cloud.enrolment_key.delete', rows, id, viewAt(ctx.hub))
