import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, notInArray } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { target } from '../../../core/audit'
import { change, nextNumber } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import { violation } from '../../../core/db/errors'
import type { Reader, Tx } from '../../../core/db/transaction'
import { isWithin, lowerName, parseName, wireLength } from '../../../core/dns/name'
import { nextSerial } from '../../../core/dns/serial'
import { newId } from '../../../core/ids'
import { requireMatch } from '../../../core/if-match'
import type { JobDraft } from '../../../core/jobs/queue'
import { EgressRefused, networkPolicy } from '../../../core/net/egress'
import { egressOf } from '../../../core/net/hub-egress'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { catalogsOrigin, refuseCatalogName } from '../name-clashes'
import { nameServerAddress } from '../name-server'
import { zonesTopic } from '../publish'
import { ruleKept } from '../rule-problems'
import { numberChange } from '../zone-numbers'
import { catalogId, type ServingRow } from './catalog'
import { notifyDraft } from './notify-draft'
import type { BuiltinProviderPatch, BuiltinProviderView } from './shapes'
import { dnsSecondaries, dnsServing } from './tables'
import { rightsCounter, tsigKeysOf } from './tsig-keys'

type SecondaryRow = typeof dnsSecondaries.$inferSelect

export const getBuiltin = async (ctx: Ctx): Promise<BuiltinProviderView> => {
  const { read } = ctx.hub
  const [row] = await read.select().from(dnsServing).where(eq(dnsServing.workspaceId, ctx.workspaceId))
  return view(ctx, row ?? unset(ctx.workspaceId), await secondariesOf(read, ctx.workspaceId))
}

/** @throws Problem 412, 422 naming the member, 409 for the name of another catalog or of a zone */
export async function updateBuiltin(ctx: Ctx, patch: BuiltinProviderPatch): Promise<BuiltinProviderView> {
  const catalogName = patch.catalog?.name === undefined ? undefined : catalogNameOf(ctx, patch.catalog.name)
  if (patch.secondaries) await refuseTargets(ctx, patch.secondaries)
  try {
    return await change(ctx, 'dns.builtin.update', async tx => {
      const { workspaceId } = ctx
      const [kept] = await locking(tx.select().from(dnsServing).where(eq(dnsServing.workspaceId, workspaceId)))
      const row = kept ?? unset(workspaceId)
      requireMatch(ctx, row)
      await refuseUnknownKeys(tx, ctx, patch)
      const secondaries = await secondariesOf(tx, workspaceId)
      const before = view(ctx, row, secondaries)
      const wanted = patch.secondaries && wantedSecondaries(ctx, patch.secondaries, secondaries)
      const edit = {
        transferKeyIds: patch.transfer_key_ids === undefined ? row.transferKeyIds : patch.transfer_key_ids,
        catalogEnabled: patch.catalog?.enabled ?? row.catalogEnabled,
        catalogName: catalogName ?? row.catalogName,
        catalogKeyId: patch.catalog?.tsig_key_id === undefined ? row.catalogKeyId : patch.catalog.tsig_key_id,
      }
      if (edit.catalogEnabled && edit.catalogKeyId === null)
        throw invalid([{ pointer: '#/catalog/tsig_key_id', code: 'required', detail: 'is needed: nobody could transfer it.' }])
      const isSame = Object.entries(edit).every(([name, value]) => isDeepStrictEqual(row[name as keyof typeof edit], value))
      if (isSame && (!wanted || isDeepStrictEqual(wanted, secondaries)))
        return { result: before, target: builtinTarget(ctx), unchanged: true }
      const written = await write(tx, ctx, row, edit)
      if (wanted) await replaceSecondaries(tx, workspaceId, wanted)
      await nextNumber(tx, rightsCounter)
      const jobs = await tellCatalog(tx, ctx, row, written)
      const after = view(ctx, written, wanted ?? secondaries)
      return { result: after, target: builtinTarget(ctx), before, after, wakes: [zonesTopic], jobs }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', 'There is a catalog zone of this name here already.')
    throw error
  }
}

const builtinTarget = (ctx: Ctx) => target('dns_provider', { id: ctx.workspaceId, name: 'builtin' })

const defaultCatalog = (workspaceId: string): string => `catalog.${workspaceId.replace('_', '-')}.bailiwick`

/** What holds until somebody sets something. */
const unset = (workspaceId: string): ServingRow => ({
  workspaceId,
  transferKeyIds: null,
  catalogEnabled: false,
  catalogName: defaultCatalog(workspaceId),
  catalogKeyId: null,
  catalogSerial: 0,
  version: 0,
  updatedAt: 0,
})

const secondariesOf = (read: Reader | Tx, workspaceId: string): Promise<SecondaryRow[]> =>
  read.select().from(dnsSecondaries).where(eq(dnsSecondaries.workspaceId, workspaceId)).orderBy(asc(dnsSecondaries.id))

async function write(tx: Tx, ctx: Ctx, row: ServingRow, edit: Partial<ServingRow>): Promise<ServingRow> {
  const set = {
    ...edit,
    // Whoever had it before it was switched off is to see that something changed.
    ...(edit.catalogEnabled && !row.catalogEnabled && { catalogSerial: nextSerial(row.catalogSerial) }),
    version: row.version + 1,
    updatedAt: ctx.hub.clock.now(),
  }
  const [written] = await tx
    .insert(dnsServing)
    .values({ ...row, ...set })
    .onConflictDoUpdate({ target: dnsServing.workspaceId, set })
    .returning()
  return written!
}

async function replaceSecondaries(tx: Tx, workspaceId: string, wanted: SecondaryRow[]): Promise<void> {
  await tx.delete(dnsSecondaries).where(
    and(
      eq(dnsSecondaries.workspaceId, workspaceId),
      notInArray(
        dnsSecondaries.id,
        wanted.map(one => one.id),
      ),
    ),
  )
  for (const one of wanted)
    await tx
      .insert(dnsSecondaries)
      .values(one)
      .onConflictDoUpdate({ target: dnsSecondaries.id, set: { name: one.name, keyId: one.keyId } })
}

/** Lets the name servers read the catalog again, under its old name and its new one. */
async function tellCatalog(tx: Tx, ctx: Ctx, before: ServingRow, after: ServingRow): Promise<JobDraft[]> {
  const moved = before.catalogEnabled !== after.catalogEnabled || before.catalogName !== after.catalogName
  if (!moved) return []
  if (before.catalogEnabled) await numberChange(tx, { id: catalogId(before), name: before.catalogName }, null)
  if (!after.catalogEnabled) return []
  const id = catalogId(after)
  await numberChange(tx, { id, name: after.catalogName }, null)
  await refuseCatalogName(tx, ctx.workspaceId, after.catalogName)
  return [notifyDraft({ id, workspaceId: ctx.workspaceId }, ctx.hub.clock.now())]
}

/** Those that stay keep their ids and what is known of them. */
function wantedSecondaries(
  ctx: Ctx,
  given: NonNullable<BuiltinProviderPatch['secondaries']>,
  existing: SecondaryRow[],
): SecondaryRow[] {
  return given
    .map(one => {
      const { address, port = 53, name = '', tsig_key_id: keyId = null } = one
      const kept = existing.find(row => row.address === address && row.port === port)
      if (kept) return { ...kept, name, keyId }
      const { workspaceId, hub } = ctx
      const createdAt = hub.clock.now()
      return {
        ...{ id: newId('sec') as string, workspaceId, name, address, port, keyId, createdAt },
        ...{ notifiedAt: null, answeredAt: null, problem: null },
      }
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** @throws Problem 422 for a server named twice, and for one that the workspace may not call */
async function refuseTargets(ctx: Ctx, given: NonNullable<BuiltinProviderPatch['secondaries']>): Promise<void> {
  const problems: FieldProblem[] = []
  const [workspace] = await ctx.hub.read
    .select({ policy: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  const policy = networkPolicy(workspace!.policy, { carriesSecret: false })
  const seen = new Set<string>()
  for (const [place, { address, port = 53 }] of given.entries()) {
    const pointer = `#/secondaries/${place}/address`
    if (seen.has(`${address} ${port}`)) problems.push({ pointer, code: 'not_unique', detail: 'is given twice with this port.' })
    seen.add(`${address} ${port}`)
    try {
      await egressOf(ctx.hub).vetHost(address, port, policy)
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw error
      problems.push({ pointer, code: error.errorClass, detail: `is refused (${error.errorClass}). ${error.message}` })
    }
  }
  if (problems.length > 0) throw invalid(problems)
}

/** @throws Problem 422 */
async function refuseUnknownKeys(tx: Tx, ctx: Ctx, patch: BuiltinProviderPatch): Promise<void> {
  const named: [pointer: string, id: string | null | undefined][] = [
    ...(patch.secondaries ?? []).map((one, place): [string, string | null | undefined] => [
      `#/secondaries/${place}/tsig_key_id`,
      one.tsig_key_id,
    ]),
    ['#/catalog/tsig_key_id', patch.catalog?.tsig_key_id],
    ...(patch.transfer_key_ids ?? []).map((id, place): [string, string] => [`#/transfer_key_ids/${place}`, id]),
  ]
  const given = named.filter((one): one is [string, string] => typeof one[1] === 'string')
  const known = await tsigKeysOf(
    tx,
    ctx.workspaceId,
    given.map(([, id]) => id),
  )
  const problems = given
    .filter(([, id]) => !known.has(id))
    .map(([pointer]) => ({ pointer, code: 'not_found', detail: 'is no TSIG key of this workspace.' }))
  if (problems.length > 0) throw invalid(problems)
}

// Below it stands `<26 characters>.zones`, and a name has at most 255 octets.
const roomBelow = 35

/** @throws Problem 422 */
function catalogNameOf(ctx: Ctx, text: string | null): string {
  const own = defaultCatalog(ctx.workspaceId)
  if (text === null) return own
  const name = ruleKept('#/catalog/name', () => lowerName(parseName(text, '.')))
  const wrong = (detail: string) => invalid([{ pointer: '#/catalog/name', code: 'format', detail }])
  if (name === '.' || wireLength(name) > 255 - roomBelow) throw wrong('must be a domain name of 1 to 219 octets.')
  if (name !== `${own}.` && isWithin(name, catalogsOrigin))
    throw wrong('must not end in `bailiwick`: those are the names of catalogs that have no other.')
  return name.slice(0, -1)
}

function view(ctx: Ctx, row: ServingRow, secondaries: readonly SecondaryRow[]): BuiltinProviderView {
  return {
    listen: nameServerAddress(ctx.hub),
    secondaries: secondaries.map(one => ({
      id: one.id,
      name: one.name,
      address: one.address,
      port: one.port,
      tsig_key_id: one.keyId,
      notified_at: instant(one.notifiedAt),
      answered_at: instant(one.answeredAt),
      problem: one.problem,
    })),
    catalog: {
      enabled: row.catalogEnabled,
      name: row.catalogName,
      tsig_key_id: row.catalogKeyId,
      serial: row.catalogSerial,
    },
    transfer_key_ids: row.transferKeyIds,
    warnings: shutOut(row, secondaries),
    version: row.version,
    updated_at: row.version === 0 ? null : instant(row.updatedAt),
  }
}

/** Secondaries that are told of changes and could not get them with the same key. They may have another, so it is no error. */
const shutOut = ({ transferKeyIds }: ServingRow, secondaries: readonly SecondaryRow[]): string[] =>
  secondaries.flatMap(({ name, address, port, keyId }) =>
    keyId === null || transferKeyIds === null || transferKeyIds.includes(keyId)
      ? []
      : `The key ${keyId} of the secondary ${name || `${address} port ${port}`} is not among \`transfer_key_ids\`: it gets no zone with it.`,
  )
