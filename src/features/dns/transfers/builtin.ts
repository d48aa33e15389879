import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, notInArray } from 'drizzle-orm'
import { destinationProblem, workspacePolicy } from '../../../access/network-policy'
import { workspaces } from '../../../access/tables'
import { target } from '../../../core/audit'
import { change, isUnchanged } from '../../../core/change'
import { nextNumber } from '../../../core/counters'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { isWithin, lowerName, parseName, wireLength } from '../../../dns/name'
import { nextSerial } from '../../../dns/serial'
import { newId } from '../../../core/ids'
import { requireMatch } from '../../../core/if-match'
import type { JobDraft } from '../../../core/jobs/draft'
import { EgressRefused } from '../../../core/net/egress'
import { egressOf } from '../../../core/net/hub-egress'
import { refuseDuplicate } from '../../../core/rows'
import { invalid, type FieldProblem } from '../../../core/problem'
import type { DnsProviderView } from '../accounts/shapes'
import { builtinView } from '../accounts/view'
import { catalogOrigin, refuseConflictingCatalogName } from '../zones/name-conflicts'
import { nameServerAddress } from '../publish/name-server'
import { zonesTopic } from '../publish/published-zones'
import { parseField } from '../records/parse-field'
import { numberChange } from '../publish/number-change'
import { catalogId, type ServingRow } from './catalog'
import { notifyDraft } from './notify-draft'
import type { BuiltinProviderPatch, BuiltinProviderView } from './shapes'
import { dnsSecondaries, dnsServing } from './tables'
import { rightsCounter, existingKeyIds } from './tsig-keys'

type SecondaryRow = typeof dnsSecondaries.$inferSelect

/** The built-in name server with its settings. */
export const getBuiltin = async (ctx: Ctx): Promise<BuiltinProviderView> => {
  const { read } = ctx.hub
  return view(ctx, await servingOf(read, ctx.workspaceId), await secondariesOf(read, ctx.workspaceId))
}

/** The built-in name server, as listed with the other providers. */
export async function getBuiltinProvider(ctx: Ctx): Promise<DnsProviderView> {
  const { read } = ctx.hub
  return commonView(await servingOf(read, ctx.workspaceId), await secondariesOf(read, ctx.workspaceId))
}

/** @throws Problem 412, 422 for an invalid field, 409 if the catalog name is already in use */
export async function updateBuiltin(ctx: Ctx, patch: BuiltinProviderPatch): Promise<BuiltinProviderView> {
  const catalogName = patch.catalog?.name === undefined ? undefined : catalogNameOf(ctx, patch.catalog.name)
  if (patch.secondaries) await rejectBadAddresses(ctx, patch.secondaries)
  return await refuseDuplicate('A catalog zone with this name already exists.', () =>
    change(ctx, 'dns.builtin.update', async tx => {
      const { workspaceId } = ctx
      await forUpdate(tx.select().from(dnsServing).where(eq(dnsServing.workspaceId, workspaceId)))
      const row = await servingOf(tx, workspaceId)
      requireMatch(ctx, row)
      await rejectUnknownKeys(tx, ctx, patch)
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
        throw invalid([{ pointer: '#/catalog/tsig_key_id', code: 'required', detail: 'is required to enable the catalog zone.' }])
      const isSame = isUnchanged(row, edit)
      if (isSame && (!wanted || isDeepStrictEqual(wanted, secondaries)))
        return { result: before, target: builtinTarget(ctx), unchanged: true }
      const written = await write(tx, ctx, row, edit)
      if (wanted) await replaceSecondaries(tx, workspaceId, wanted)
      await nextNumber(tx, rightsCounter)
      const jobs = await reloadCatalog(tx, ctx, row, written)
      const after = view(ctx, { ...written, createdAt: row.createdAt }, wanted ?? secondaries)
      return { result: after, target: builtinTarget(ctx), before, after, wakeTopics: [zonesTopic], jobs }
    }),
  )
}

const builtinTarget = (ctx: Ctx) => target('dns_provider', { id: ctx.workspaceId, name: 'builtin' })

const defaultCatalog = (workspaceId: string): string => `catalog.${workspaceId.replace('_', '-')}.bailiwick`

/** The settings of a workspace, which has the name server since it was created. */
type Serving = ServingRow & { createdAt: number }

/** The stored settings, or the defaults before the first update. */
async function servingOf(read: Reader | Tx, workspaceId: string): Promise<Serving> {
  const [found] = await read
    .select({ createdAt: workspaces.createdAt, stored: dnsServing })
    .from(workspaces)
    .leftJoin(dnsServing, eq(dnsServing.workspaceId, workspaces.id))
    .where(eq(workspaces.id, workspaceId))
  const { createdAt, stored } = found!
  const defaults: ServingRow = {
    workspaceId,
    transferKeyIds: null,
    catalogEnabled: false,
    catalogName: defaultCatalog(workspaceId),
    catalogKeyId: null,
    catalogSerial: 0,
    version: 1,
    updatedAt: createdAt,
  }
  return { ...(stored ?? defaults), createdAt }
}

const secondariesOf = (read: Reader | Tx, workspaceId: string): Promise<SecondaryRow[]> =>
  read.select().from(dnsSecondaries).where(eq(dnsSecondaries.workspaceId, workspaceId)).orderBy(asc(dnsSecondaries.id))

async function write(tx: Tx, ctx: Ctx, row: ServingRow, edit: Partial<ServingRow>): Promise<ServingRow> {
  const set = {
    ...edit,
    // Secondaries that had the catalog before it was disabled must see a change.
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

/** Makes the name servers reload the catalog, under its old and new names. */
async function reloadCatalog(tx: Tx, ctx: Ctx, before: ServingRow, after: ServingRow): Promise<JobDraft[]> {
  const moved = before.catalogEnabled !== after.catalogEnabled || before.catalogName !== after.catalogName
  if (!moved) return []
  if (before.catalogEnabled) await numberChange(tx, { id: catalogId(before), name: before.catalogName }, null)
  if (!after.catalogEnabled) return []
  const id = catalogId(after)
  await numberChange(tx, { id, name: after.catalogName }, null)
  await refuseConflictingCatalogName(tx, ctx.workspaceId, after.catalogName)
  return [notifyDraft({ id, workspaceId: ctx.workspaceId }, ctx.hub.clock.now())]
}

/** Existing secondaries keep their ids and status. */
function wantedSecondaries(
  ctx: Ctx,
  input: NonNullable<BuiltinProviderPatch['secondaries']>,
  existing: SecondaryRow[],
): SecondaryRow[] {
  return input
    .map(one => {
      const { address, port = 53, name = '', tsig_key_id: keyId = null } = one
      const known = existing.find(row => row.address === address && row.port === port)
      if (known) return { ...known, name, keyId }
      const { workspaceId, hub } = ctx
      const createdAt = hub.clock.now()
      return {
        ...{ id: newId('sec') as string, workspaceId, name, address, port, keyId, createdAt },
        ...{ notifiedAt: null, acknowledgedAt: null, error: null },
      }
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** @throws Problem 422 for duplicates, and for addresses that the network policy denies */
async function rejectBadAddresses(ctx: Ctx, input: NonNullable<BuiltinProviderPatch['secondaries']>): Promise<void> {
  const problems: FieldProblem[] = []
  const policy = await workspacePolicy(ctx.hub.read, ctx.workspaceId, false)
  const seen = new Set<string>()
  for (const [place, { address, port = 53 }] of input.entries()) {
    const pointer = `#/secondaries/${place}/address`
    if (seen.has(`${address} ${port}`)) problems.push({ pointer, code: 'not_unique', detail: 'is listed twice with this port.' })
    seen.add(`${address} ${port}`)
    try {
      await egressOf(ctx.hub).vetHost(address, port, policy)
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw error
      problems.push(destinationProblem(pointer, error))
    }
  }
  if (problems.length > 0) throw invalid(problems)
}

/** @throws Problem 422 */
async function rejectUnknownKeys(tx: Tx, ctx: Ctx, patch: BuiltinProviderPatch): Promise<void> {
  const named: [pointer: string, id: string | null | undefined][] = [
    ...(patch.secondaries ?? []).map((one, place): [string, string | null | undefined] => [
      `#/secondaries/${place}/tsig_key_id`,
      one.tsig_key_id,
    ]),
    ['#/catalog/tsig_key_id', patch.catalog?.tsig_key_id],
    ...(patch.transfer_key_ids ?? []).map((id, place): [string, string] => [`#/transfer_key_ids/${place}`, id]),
  ]
  const input = named.filter((one): one is [string, string] => typeof one[1] === 'string')
  const known = await existingKeyIds(
    tx,
    ctx.workspaceId,
    input.map(([, id]) => id),
  )
  const problems = input
    .filter(([, id]) => !known.has(id))
    .map(([pointer]) => ({ pointer, code: 'not_found', detail: 'is not a TSIG key of this workspace.' }))
  if (problems.length > 0) throw invalid(problems)
}

// Octets for `<26 characters>.zones` below it. Names are limited to 255 octets.
const reservedOctets = 35

/** @throws Problem 422 */
function catalogNameOf(ctx: Ctx, text: string | null): string {
  const own = defaultCatalog(ctx.workspaceId)
  if (text === null) return own
  const name = parseField('#/catalog/name', () => lowerName(parseName(text, '.')))
  const wrong = (detail: string) => invalid([{ pointer: '#/catalog/name', code: 'format', detail }])
  if (name === '.' || wireLength(name) > 255 - reservedOctets) throw wrong('must be a domain name of 1 to 219 octets.')
  if (name !== `${own}.` && isWithin(name, catalogOrigin))
    throw wrong('must not end in `bailiwick`, which is reserved for default names.')
  return name.slice(0, -1)
}

const commonView = (row: Serving, secondaries: readonly SecondaryRow[]): DnsProviderView =>
  builtinView(row, deniedSecondaries(row, secondaries))

function view(ctx: Ctx, row: Serving, secondaries: readonly SecondaryRow[]): BuiltinProviderView {
  return {
    ...commonView(row, secondaries),
    listen: nameServerAddress(ctx.hub),
    secondaries: secondaries.map(one => ({
      id: one.id,
      name: one.name,
      address: one.address,
      port: one.port,
      tsig_key_id: one.keyId,
      notified_at: instant(one.notifiedAt),
      acknowledged_at: instant(one.acknowledgedAt),
      error: one.error,
    })),
    catalog: {
      enabled: row.catalogEnabled,
      name: row.catalogName,
      tsig_key_id: row.catalogKeyId,
      serial: row.catalogSerial,
    },
    transfer_key_ids: row.transferKeyIds,
  }
}

/** Secondaries whose NOTIFY key can't transfer zones. Only a warning: they may use another key for transfers. */
const deniedSecondaries = ({ transferKeyIds }: ServingRow, secondaries: readonly SecondaryRow[]): string[] =>
  secondaries.flatMap(({ name, address, port, keyId }) =>
    keyId === null || transferKeyIds === null || transferKeyIds.includes(keyId)
      ? []
      : `The key ${keyId}, which signs NOTIFY for ${name || `${address} port ${port}`}, can’t be used for zone transfers. Allow it, or make sure that this secondary transfers with another key.`,
  )
