import { isDeepStrictEqual } from 'node:util'
import { eq, sql } from 'drizzle-orm'
import { newIngestToken, tokenHint } from '../../access/token-format'
import { refuseOverLimit } from '../../access/plans'
import { change } from '../../core/change'
import type { ChangeResult } from '../../core/change-result'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { AuditAction } from '../../core/audit-actions'
import type { Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import { containsFilter, idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { inputColumns, patchColumns } from '../../core/members'
import { parseRange } from '../../core/net/address'
import { conflict, invalid, permissionMissing } from '../../core/problem'
import { findRow, insertRow, lockRow, removeRow, saveRow, targetOf, uniqueName } from '../../core/rows'
import { Tag, type Page } from '../../core/shapes'
import { Type } from '@sinclair/typebox'
import { driveHosts } from './drive-hosts'
import { drive } from './drive'
import { joinedEffects } from './effects'
import { releaseOthers, replaceHosts } from './hosts'
import { driveLinks } from './drive-links'
import {
  defaultTokenGraceSeconds,
  dynamicIpMembers,
  dynamicIpStatuses,
  type DynamicIpDeletion,
  type DynamicIpInput,
  type DynamicIpPatch,
  type DynamicIpTokenRotation,
  type DynamicIpView,
  type DynamicIpWithSecretView,
} from './shapes'
import type { Family } from './addresses'
import { retryHostsKind } from './retry-queue'
import { isOverdue, staleTime } from './status'
import { dynamicIpHosts, dynamicIps } from './tables'
import { dynamicIpRows, hostsOfSources, linksOf, sourceView, sourceViews, type HostRow, type SourceRow } from './view'

const hasHost = (condition: ReturnType<typeof sql>) =>
  sql`exists (select 1 from ${dynamicIpHosts} where ${dynamicIpHosts.sourceId} = ${dynamicIps.id} and ${condition})`

export const dynamicIpListing = listingOf('dynamic-ips', dynamicIps, {
  isSmall: true,
  filters: {
    status: wordsFilter(dynamicIps.status, dynamicIpStatuses, 'Only sources with these statuses.'),
    name: textFilter(dynamicIps.name, 'Only the source with this name.'),
    host: {
      schema: Type.String({ minLength: 1, maxLength: 255, description: 'Only the source that sets the records of this name.' }),
      where: (value, bind) => hasHost(sql`${dynamicIpHosts.name} = ${bind((value as string).toLowerCase().replace(/\.$/, ''))}`),
    },
    zone_id: {
      schema: Type.String({ minLength: 1, maxLength: 64, description: 'Only sources with a host in this zone.' }),
      where: (value, bind) => hasHost(sql`${dynamicIpHosts.zoneId} = ${bind(value)}`),
    },
    tag: containsFilter(dynamicIps.tags, Type.String({ ...Tag, description: 'Only sources with this tag.' })),
    ids: idsFilter(dynamicIps.id),
    q: searchFilter(
      [dynamicIps.name, dynamicIps.description],
      'Only sources whose name or description contains all words of this text.',
    ),
    ...timeFilters('created_at', dynamicIps.createdAt),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

export async function listDynamicIps(ctx: Ctx, query: Record<string, unknown>): Promise<Page<DynamicIpView>> {
  const page = await listPage(ctx, dynamicIpListing, query, (row: SourceRow) => row)
  return { ...page, data: await sourceViews(ctx.hub.read, ctx.hub, page.data) }
}

/** @throws Problem 404 */
export const getDynamicIp = async (ctx: Ctx, id: string): Promise<DynamicIpView> =>
  sourceView(ctx.hub.read, ctx.hub, await findRow(ctx.hub.read, ctx, dynamicIpRows, id))

/** @throws Problem 422; 409 `already_exists`, `already_driven`, `record_exists`; 403 `plan_limit_reached` */
export async function createDynamicIp(ctx: Ctx, { hosts = [], ...input }: DynamicIpInput): Promise<DynamicIpWithSecretView> {
  requireRanges(input.allowed_cidrs)
  if (hosts.some(one => one.adopt)) requireDnsAccess(ctx)
  const token = newIngestToken('ddns')
  return await change(ctx, 'dynamic_ip.create', async tx => {
    await refuseOverLimit(tx, ctx, 'dynamic_ip')
    const row = await uniqueName(dynamicIpRows, input.name, () =>
      insertRow(tx, ctx, dynamicIpRows, {
        ...inputColumns(dynamicIpMembers, input),
        ...tokenColumns(token, ctx.hub.clock.now()),
        status: 'new' as const,
        ipv4: null,
        ipv6: null,
        prefix6: null,
        previousTokenHash: null,
        previousValidUntil: null,
        lastSeenAt: null,
        lastClient: null,
        lastChangedAt: null,
        staleAt: null,
        hold: null,
        heldUntil: null,
        changes: [],
      }),
    )
    await replaceHosts(tx, ctx, row, hosts)
    const view = await sourceView(tx, ctx.hub, row)
    return { result: { ...view, secret: token }, target: targetOf(dynamicIpRows, row), after: view }
  })
}

/** @throws Problem 404, 412, 422; 409 `already_exists`, `already_driven`, `record_exists` */
export function updateDynamicIp(ctx: Ctx, id: string, { hosts, ...patch }: DynamicIpPatch): Promise<DynamicIpView> {
  requireRanges(patch.allowed_cidrs)
  if (hosts?.some(one => one.adopt)) requireDnsAccess(ctx)
  return edit(ctx, 'dynamic_ip.update', id, async (tx, row, known) => {
    const members = patchColumns(dynamicIpMembers, patch)
    const families = members.families ?? row.families
    const set = { ...members, ...withoutFamilies(families), ...(!families.includes('ipv6') && { prefix6: null }) }
    const merged = { ...row, ...set }
    const staleAt = row.status === 'stale' && patch.stale_after_seconds === undefined ? null : staleTime(merged)
    const status = row.status === 'stale' && patch.stale_after_seconds !== undefined ? ('fresh' as const) : row.status
    const saved = await uniqueName(dynamicIpRows, merged.name, () =>
      saveRow(tx, ctx, dynamicIpRows, row, { ...set, staleAt, status }),
    )
    const kept = known.map(one => ({ ...one, ...withoutFamilies(saved.families) }))
    if (!isDeepStrictEqual(kept, known)) await saveAddresses(tx, kept)
    const current = hosts ? await replaceHosts(tx, ctx, saved, hosts) : kept
    if (!hosts && patch.families !== undefined) await releaseOthers(tx, ctx.hub, saved, known, known)
    const after = saved === row && !isDeepStrictEqual(current, known) ? await touched(tx, ctx, row) : saved
    return { after, hosts: current, setsTtl: after.ttl !== row.ttl || !isDeepStrictEqual(ttlsOf(current), ttlsOf(known)) }
  })
}

/** Sets the addresses of families to null that a source does not report. */
const withoutFamilies = (families: readonly Family[]): Partial<Record<Family, null>> => ({
  ...(!families.includes('ipv4') && { ipv4: null }),
  ...(!families.includes('ipv6') && { ipv6: null }),
})

const ttlsOf = (hosts: readonly HostRow[]) => hosts.map(({ name, ttl }) => [name, ttl])

async function saveAddresses(tx: Tx, hosts: readonly HostRow[]): Promise<void> {
  for (const { id, ipv4, ipv6 } of hosts) await tx.update(dynamicIpHosts).set({ ipv4, ipv6 }).where(eq(dynamicIpHosts.id, id))
}

/** Stores what is reported, but leaves the records as they are. @throws Problem 404, 412 */
export const pauseDynamicIp = (ctx: Ctx, id: string): Promise<DynamicIpView> =>
  edit(ctx, 'dynamic_ip.pause', id, async (tx, row) => ({
    after: await saveRow(tx, ctx, dynamicIpRows, row, { status: 'paused', hold: null, heldUntil: null, staleAt: null }),
  }))

/** Ends a pause or a hold, and sets the records to the stored addresses. @throws Problem 404, 412 */
export const resumeDynamicIp = (ctx: Ctx, id: string): Promise<DynamicIpView> =>
  edit(ctx, 'dynamic_ip.resume', id, async (tx, row, hosts) =>
    row.status === 'paused' || row.status === 'held'
      ? { after: await saveRow(tx, ctx, dynamicIpRows, row, resumed(row, ctx.hub.clock.now())), hosts }
      : { after: row },
  )

/** The columns of a source that is no longer paused or held. */
export const resumed = (row: SourceRow, now: number): Partial<SourceRow> => ({
  status: row.lastSeenAt === null && row.lastChangedAt === null ? 'new' : isOverdue(row, now) ? 'stale' : 'fresh',
  staleAt: isOverdue(row, now) ? null : staleTime({ ...row, status: 'fresh' }),
  hold: null,
  heldUntil: null,
  changes: [],
})

/** Replaces the token. The old one stays valid for the grace period. @throws Problem 404, 412 */
export async function rotateDynamicIpToken(
  ctx: Ctx,
  id: string,
  { grace_seconds = defaultTokenGraceSeconds }: DynamicIpTokenRotation,
): Promise<DynamicIpWithSecretView> {
  const token = newIngestToken('ddns')
  const view = await edit(ctx, 'dynamic_ip.rotate_token', id, async (tx, row) => {
    const now = ctx.hub.clock.now()
    const previous = grace_seconds > 0 && row.tokenHash !== null ? row.tokenHash : null
    return {
      after: await saveRow(tx, ctx, dynamicIpRows, row, {
        ...tokenColumns(token, now),
        previousTokenHash: previous,
        previousValidUntil: previous === null ? null : now + grace_seconds * 1000,
      }),
    }
  })
  return { ...view, secret: token }
}

/** Revokes the token, and the one before the last rotation. @throws Problem 404, 412 */
export const revokeDynamicIpToken = (ctx: Ctx, id: string): Promise<DynamicIpView> =>
  edit(ctx, 'dynamic_ip.revoke_token', id, async (tx, row) => ({
    after: await saveRow(tx, ctx, dynamicIpRows, row, {
      tokenHash: null,
      tokenHint: null,
      tokenCreatedAt: null,
      previousTokenHash: null,
      previousValidUntil: null,
    }),
  }))

/** Deletes a source with its history. @param records whether its records are kept, and become manual @throws Problem 404, 412 */
export async function deleteDynamicIp(ctx: Ctx, id: string, { records = 'keep' }: DynamicIpDeletion): Promise<void> {
  if (records === 'delete') requireDnsAccess(ctx)
  await change(ctx, 'dynamic_ip.delete', async tx => {
    const row = await lockRow(tx, ctx, dynamicIpRows, id)
    const hosts = await hostsOfSources(tx, [id])
    const before = await sourceView(tx, ctx.hub, row)
    const driven =
      records === 'delete'
        ? await driveHosts(
            tx,
            ctx.hub,
            { ...row, ...noAddresses },
            hosts.map(one => ({ ...one, ...noAddresses })),
            ctx,
          )
        : null
    const failed = driven?.hosts.find(one => one.problem && one.problem.code !== 'zone_gone')
    if (failed) throw conflict(`The records can’t be deleted: ${failed.problem!.detail}`)
    await releaseOthers(tx, ctx.hub, row, hosts, [])
    // Paused and failed links have networks in their rules, too.
    const ending = (await linksOf(tx, [id])).map(one => ({ ...one, status: 'active' as const }))
    const links = await driveLinks(tx, ctx.hub, row, ending, { removesAll: true })
    const unnamed = []
    for (const { firewallId, ruleId, sourceId } of ending) {
      const { workspaceId, actor: by } = ctx
      unnamed.push(
        await ctx.hub.firewallRules.nameSource(tx, ctx.hub, { workspaceId, firewallId, ruleId, sourceId, entries: [], by }),
      )
    }
    await removeRow(tx, dynamicIpRows, row)
    const target = [targetOf(dynamicIpRows, row), ...(driven?.targets ?? [])]
    return {
      result: undefined,
      target,
      before,
      ...joinedEffects(
        driven
          ? { ...driven.effects, notices: [], jobs: driven.effects.jobs.filter(one => one.kind !== retryHostsKind) }
          : undefined,
        links.effects,
        ...unnamed,
      ),
    }
  })
}

/** @throws Problem 403 */
function requireDnsAccess(ctx: Ctx): void {
  if (!ctx.permissions.has('dns.write')) throw permissionMissing('dns.write')
}

const noAddresses = { ipv4: null, ipv6: null, prefix6: null }

interface Edited {
  after: SourceRow
  /** Hosts whose records are set to the current addresses. */
  hosts?: readonly (typeof dynamicIpHosts.$inferSelect)[]
  setsTtl?: boolean
}

async function edit(
  ctx: Ctx,
  action: AuditAction,
  id: string,
  step: (tx: Tx, row: SourceRow, hosts: Awaited<ReturnType<typeof hostsOfSources>>) => Promise<Edited>,
): Promise<DynamicIpView> {
  return await change(ctx, action, async (tx): Promise<ChangeResult<DynamicIpView>> => {
    const row = await lockRow(tx, ctx, dynamicIpRows, id)
    const before = await sourceView(tx, ctx.hub, row)
    const { after, hosts, setsTtl = false } = await step(tx, row, await hostsOfSources(tx, [id]))
    const isDriven = hosts && after.status !== 'paused' && after.status !== 'held'
    const driven = isDriven ? await drive(tx, ctx.hub, after, hosts, { ...ctx, setsTtl }) : null
    if (after === row && !driven?.targets.length)
      return {
        result: await sourceView(tx, ctx.hub, row),
        target: targetOf(dynamicIpRows, row),
        unchanged: true,
        ...driven?.effects,
      }
    const view = await sourceView(tx, ctx.hub, after)
    const done = { result: view, target: targetOf(dynamicIpRows, row), before, after: view }
    return { ...done, target: [done.target, driven?.targets ?? []].flat(), ...driven?.effects }
  })
}

/** A new version of a row whose hosts alone changed. */
async function touched(tx: Tx, { hub }: Ctx, row: SourceRow): Promise<SourceRow> {
  const set = { version: row.version + 1, updatedAt: hub.clock.now() }
  await tx.update(dynamicIps).set(set).where(eq(dynamicIps.id, row.id))
  return { ...row, ...set }
}

const tokenColumns = (token: string, now: number) => ({
  tokenHash: sha256Hex(token),
  tokenHint: tokenHint(token),
  tokenCreatedAt: now,
})

/** @throws Problem 422 */
function requireRanges(ranges: readonly string[] | null | undefined): void {
  const problems = (ranges ?? []).flatMap((one, place) =>
    parseRange(one)
      ? []
      : [
          {
            pointer: `#/allowed_cidrs/${place}`,
            code: 'format',
            detail: 'must be an IP address or a CIDR range such as 192.0.2.0/24.',
          },
        ],
  )
  if (problems.length > 0) throw invalid(problems)
}
