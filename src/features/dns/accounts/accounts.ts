import { isDeepStrictEqual } from 'node:util'
import { and, asc, count, eq } from 'drizzle-orm'
import { refuseOneTooMany } from '../../../access/fixed-limits'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import { violation } from '../../../core/db/errors'
import type { Reader, Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { requireMatch } from '../../../core/if-match'
import { reaches } from '../../../core/narrowing'
import { conflict, notFound, Problem } from '../../../core/problem'
import { checkedSettings, editedSettings, isElsewhere, secretsOf, settingsColumns } from '../../../core/sealed-settings'
import type { Page } from '../../../core/shapes'
import { checkJobFor } from './check-job'
import { openProviderSettings, sealedIn } from './settings'
import type { DnsProviderInput, DnsProviderPatch, DnsProviderView } from './shapes'
import { dnsProviders } from './tables'
import { builtinView, providerTarget, providerView, type ProviderRow } from './view'
import { providerKindOf } from '../providers'
import { readAsNew } from '../sync/new-target'
import { dnsZoneTargets } from '../sync/tables'
import { builtin } from '../zone-shapes'

/** Providers that a workspace may have, beside the built-in one. */
const mostProviders = 50

/** All providers of the workspace on one page, the built-in one first and the others by name. */
export async function listProviders(
  ctx: Ctx,
  { kind, state }: { kind?: string; state?: ProviderRow['state'] },
): Promise<Page<DnsProviderView>> {
  const rows = await ctx.hub.read
    .select()
    .from(dnsProviders)
    .where(eq(dnsProviders.workspaceId, ctx.workspaceId))
    .orderBy(asc(dnsProviders.name))
  const data = [await builtinView(ctx), ...rows.map(providerView)].filter(
    one => (kind ?? one.kind) === one.kind && (state ?? one.state) === one.state,
  )
  return { data, pagination: { has_more: false, next_cursor: null } }
}

/** @throws Problem 404 */
export const getProvider = async (ctx: Ctx, id: string): Promise<DnsProviderView> =>
  providerView(await providerOf(ctx.hub.read, ctx, id))

/** @throws Problem 404 */
export async function providerOf(read: Reader, ctx: Ctx, id: string): Promise<ProviderRow> {
  const [row] = await read
    .select()
    .from(dnsProviders)
    .where(and(eq(dnsProviders.id, id), eq(dnsProviders.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.id)) throw notFound('DNS provider')
  return row
}

/**
 * Makes a provider, which is checked at once in the background: it need not be reachable yet.
 * @throws Problem 422, 409 when the name is taken or there are as many as there may be
 */
export async function createProvider(ctx: Ctx, input: DnsProviderInput): Promise<DnsProviderView> {
  const kind = providerKindOf(input.kind)!
  const settings = checkedSettings(kind, input.settings)
  return await unlessTaken(input.name, () =>
    change(ctx, 'dns.provider.create', async tx => {
      await refuseOneTooMany(tx, ctx.workspaceId, { table: dnsProviders, most: mostProviders, things: 'DNS providers' })
      const own = { id: newId('prov'), workspaceId: ctx.workspaceId }
      const now = ctx.hub.clock.now()
      const [row] = await tx
        .insert(dnsProviders)
        .values({
          ...own,
          kind: kind.kind,
          name: input.name,
          ...(await settingsColumns(tx, ctx.hub, sealedIn(own), kind, settings)),
          ...unchecked,
          lastCheckedAt: null,
          lastOkAt: null,
          version: 1,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      const view = providerView(row!)
      return {
        result: view,
        target: providerTarget(row!),
        after: { ...view, secret: secretsOf(kind, settings) },
        jobs: [checkJobFor(own.id, now)],
      }
    }),
  )
}

/**
 * Edits a provider. With other settings it is checked anew; where they lead to another server, what is known of its zones counts no more.
 * @throws Problem 404, 409 when the name is taken, 412, 422
 */
export async function updateProvider(ctx: Ctx, id: string, patch: DnsProviderPatch): Promise<DnsProviderView> {
  refuseBuiltin(id)
  return await unlessTaken(patch.name ?? '', () =>
    change(ctx, 'dns.provider.update', async tx => {
      const row = await providerHeld(tx, ctx, id)
      requireMatch(ctx, row)
      const kind = providerKindOf(row.kind)
      if (!kind) throw conflict(`This version knows no providers of the kind ${row.kind}.`)
      const kept = await openProviderSettings(ctx.hub, row, tx)
      const settings = patch.settings ? editedSettings(kind, kept, patch.settings) : kept
      const sameSettings = isDeepStrictEqual(settings, kept)
      const name = patch.name ?? row.name
      if (sameSettings && name === row.name) return { result: providerView(row), target: providerTarget(row), unchanged: true }
      const now = ctx.hub.clock.now()
      const [changed] = await tx
        .update(dnsProviders)
        .set({
          name,
          ...(!sameSettings && { ...(await settingsColumns(tx, ctx.hub, sealedIn(row), kind, settings)), ...unchecked }),
          version: row.version + 1,
          updatedAt: now,
        })
        .where(eq(dnsProviders.id, id))
        .returning()
      if (isElsewhere(kind, kept, settings)) await readAsNew(tx, id, now)
      return {
        result: providerView(changed!),
        target: providerTarget(row),
        before: { ...providerView(row), secret: secretsOf(kind, kept) },
        after: { ...providerView(changed!), secret: secretsOf(kind, settings) },
        jobs: sameSettings ? [] : [checkJobFor(id, now)],
      }
    }),
  )
}

/** Forgets a provider; what is kept there stays there. @throws Problem 404, 409 while zones are kept there, 412 */
export async function deleteProvider(ctx: Ctx, id: string): Promise<void> {
  refuseBuiltin(id)
  await change(ctx, 'dns.provider.delete', async tx => {
    const row = await providerHeld(tx, ctx, id)
    requireMatch(ctx, row)
    await refuseInUse(tx, id)
    await tx.delete(dnsProviders).where(eq(dnsProviders.id, id))
    return { result: undefined, target: providerTarget(row), before: providerView(row) }
  })
}

/** @throws Problem 409 */
export function refuseBuiltin(id: string): void {
  if (id === builtin) throw conflict('The built-in name server is part of the hub, and always there.')
}

/** The provider, held until the transaction ends. @throws Problem 404 */
async function providerHeld(tx: Tx, ctx: Ctx, id: string): Promise<ProviderRow> {
  const [row] = await locking(
    tx
      .select()
      .from(dnsProviders)
      .where(and(eq(dnsProviders.id, id), eq(dnsProviders.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('DNS provider')
  return row
}

/** @throws Problem 409 */
async function refuseInUse(tx: Tx, id: string): Promise<void> {
  const [row] = await tx.select({ n: count() }).from(dnsZoneTargets).where(eq(dnsZoneTargets.providerId, id))
  if (row!.n > 0) throw conflict(`${row!.n} zones are kept at this provider. Remove it from their targets first.`)
}

const unchecked = { state: 'unknown' as const, detail: null, warnings: [] as string[], failuresInARow: 0, lastError: null }

async function unlessTaken<T>(name: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    if (violation(error) !== 'unique') throw error
    throw new Problem('already_exists', `A DNS provider of this workspace has the name ${JSON.stringify(name)} already.`, {
      errors: [{ pointer: '#/name', code: 'already_exists', detail: 'must be the only one of its kind in the workspace.' }],
    })
  }
}
