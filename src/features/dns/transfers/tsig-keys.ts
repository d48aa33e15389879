import { and, eq, inArray } from 'drizzle-orm'
import { refuseOverLimit } from '../../../access/plans'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import { nextNumber } from '../../../core/counters'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { lowerName, parseName, wireLength } from '../../../dns/name'
import type { TsigAlgorithm } from '../../../dns/tsig'
import { newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import { textFilter } from '../../../core/list-filters'
import { conflict, invalid } from '../../../core/problem'
import { findRow, removeRow, refuseDuplicate } from '../../../core/rows'
import type { Place } from '../../../core/secrets'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { parseField } from '../records/parse-field'
import { zonesTopic } from '../publish/published-zones'
import type { TsigKeyInput, TsigKeyView } from './shapes'
import { dnsSecondaries, dnsServing, dnsTsigKeys } from './tables'

export type TsigKeyRow = typeof dnsTsigKeys.$inferSelect

/** Counter that increases when transfer rights change. */
export const rightsCounter = 'dns.transfers'

const tsigKeyRows = rowsOf('tsig_key', dnsTsigKeys)

export const tsigKeyListing = listingOf('dns-tsig-keys', dnsTsigKeys, {
  isSmall: true,
  filters: { name: textFilter(dnsTsigKeys.name, 'Only the key with this name.', { maxLength: 255 }) },
  sorts: ['name'],
})

export const listTsigKeys = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<TsigKeyView>> =>
  listPage(ctx, tsigKeyListing, query, tsigKeyView)

/** @throws Problem 404 */
export const getTsigKey = async (ctx: Ctx, id: string): Promise<TsigKeyView> =>
  tsigKeyView(await findRow(ctx.hub.read, ctx, tsigKeyRows, id))

/**
 * Creates a key. Only this result contains the secret.
 * @throws Problem 422, 409 `already_exists`
 */
export async function createTsigKey(ctx: Ctx, input: TsigKeyInput): Promise<TsigKeyView & { secret: string }> {
  const algorithm = input.algorithm ?? 'hmac-sha256'
  if (algorithm === 'hmac-md5' && input.allow_md5 !== true)
    throw wrong(
      '#/algorithm',
      'requires `allow_md5: true`: HMAC-MD5 must not be used unless nothing else is supported (RFC 8945 section 6).',
    )
  const name = keyNameOf(input.name)
  const secret = input.secret === undefined ? freshSecret(algorithm) : secretOf(input.secret)
  return await refuseDuplicate(`A TSIG key named ${name} already exists.`, () =>
    change(ctx, 'dns.tsig_key.create', async tx => {
      await refuseOverLimit(tx, ctx, 'tsig_key')
      const id = newId('tsig')
      const place = sealedAt({ id, workspaceId: ctx.workspaceId })
      const [row] = await tx
        .insert(dnsTsigKeys)
        .values({
          id,
          workspaceId: ctx.workspaceId,
          name,
          algorithm,
          secretSealed: await ctx.hub.keys.seal(tx, place, secret),
          createdAt: ctx.hub.clock.now(),
        })
        .returning()
      await nextNumber(tx, rightsCounter)
      const view = tsigKeyView(row!)
      return { result: { ...view, secret }, target: target('tsig_key', row!), after: view, wakeTopics: [zonesTopic] }
    }),
  )
}

/** Deletes a key; requests signed with it are refused from now on. @throws Problem 404, 409 while it is in use */
export async function deleteTsigKey(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'dns.tsig_key.delete', async tx => {
    const { workspaceId } = ctx
    // Same lock order as updates of the settings.
    const [serving] = await forUpdate(tx.select().from(dnsServing).where(eq(dnsServing.workspaceId, workspaceId)))
    const row = await findRow(tx, ctx, tsigKeyRows, id)
    const [secondary] = await tx
      .select({ address: dnsSecondaries.address })
      .from(dnsSecondaries)
      .where(and(eq(dnsSecondaries.workspaceId, workspaceId), eq(dnsSecondaries.keyId, id)))
      .limit(1)
    if (secondary) throw conflict(`The key is used to notify the secondary ${secondary.address}.`)
    if (serving?.catalogKeyId === id) throw conflict('The key is used for the catalog zone.')
    if (serving?.transferKeyIds?.includes(id))
      throw conflict('The key is selected for transfers of all zones, in `transfer_key_ids`.')
    await removeRow(tx, tsigKeyRows, row)
    await nextNumber(tx, rightsCounter)
    return { result: undefined, target: target('tsig_key', row), before: tsigKeyView(row), wakeTopics: [zonesTopic] }
  })
}

/** Filters ids to keys of the workspace. */
export async function existingKeyIds(read: Reader | Tx, workspaceId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await read
    .select({ id: dnsTsigKeys.id })
    .from(dnsTsigKeys)
    .where(and(eq(dnsTsigKeys.workspaceId, workspaceId), inArray(dnsTsigKeys.id, [...new Set(ids)])))
  return new Set(rows.map(row => row.id))
}

/** Binds the encrypted secret to its row. */
export const sealedAt = ({ id, workspaceId }: Pick<TsigKeyRow, 'id' | 'workspaceId'>): Place => ({
  table: 'dns_tsig_keys',
  column: 'secret_sealed',
  row: id,
  workspaceId,
})

const tsigKeyView = ({ id, name, algorithm, createdAt }: TsigKeyRow): TsigKeyView => ({
  id,
  name,
  algorithm,
  created_at: instant(createdAt),
})

function keyNameOf(text: string): string {
  const name = parseField('#/name', () => lowerName(parseName(text, '.')))
  if (name === '.' || wireLength(name) > 255) throw wrong('#/name', 'must be a domain name of 1 to 253 characters.')
  return name.slice(0, -1)
}

// Same length as the output of the algorithm (RFC 2104 section 3).
const octetsOf: Record<TsigAlgorithm, number> = {
  'hmac-md5': 16,
  'hmac-sha1': 20,
  'hmac-sha224': 28,
  'hmac-sha256': 32,
  'hmac-sha384': 48,
  'hmac-sha512': 64,
}

const freshSecret = (algorithm: TsigAlgorithm): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(octetsOf[algorithm]))).toString('base64')

function secretOf(text: string): string {
  const octets = Buffer.from(text, 'base64')
  if (octets.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, ''))
    throw wrong('#/secret', 'must be valid Base64 (RFC 4648 section 4).')
  if (octets.length < 16 || octets.length > 512) throw wrong('#/secret', 'must encode 16 to 512 octets.')
  return octets.toString('base64')
}

const wrong = (pointer: string, detail: string) => invalid([{ pointer, code: 'format', detail }])
