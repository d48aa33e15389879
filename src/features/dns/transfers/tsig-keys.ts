import { and, count, eq, inArray } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change, nextNumber } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { locking } from '../../../core/db/dialect'
import { violation } from '../../../core/db/errors'
import type { Reader, Tx } from '../../../core/db/transaction'
import { lowerName, parseName, wireLength } from '../../../core/dns/name'
import type { TsigAlgorithm } from '../../../core/dns/tsig'
import { newId } from '../../../core/ids'
import { listPage, type Listing, textFilter } from '../../../core/list'
import { conflict, invalid, notFound, Problem } from '../../../core/problem'
import type { Place } from '../../../core/secrets'
import type { Page } from '../../../core/shapes'
import { ruleKept } from '../rule-problems'
import { zonesTopic } from '../publish'
import type { TsigKeyInput, TsigKeyView } from './shapes'
import { dnsSecondaries, dnsServing, dnsTsigKeys } from './tables'

export type TsigKeyRow = typeof dnsTsigKeys.$inferSelect

/** Name of the counter that grows whenever it changes who may transfer what. */
export const rightsCounter = 'dns.transfers'

export const tsigKeyListing: Listing<TsigKeyRow> = {
  name: 'dns-tsig-keys',
  table: dnsTsigKeys as never,
  id: dnsTsigKeys.id,
  idOf: row => row.id,
  owner: dnsTsigKeys.workspaceId,
  defaultSort: '-id',
  filters: { name: textFilter(dnsTsigKeys.name, 'Only the one with this name.', { maxLength: 255 }) },
  sorts: { name: { column: dnsTsigKeys.name, read: row => row.name } },
}

export const listTsigKeys = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<TsigKeyView>> =>
  listPage(ctx, tsigKeyListing, query, tsigKeyView)

/** @throws Problem 404 */
export const getTsigKey = async (ctx: Ctx, id: string): Promise<TsigKeyView> =>
  tsigKeyView(await tsigKeyOf(ctx.hub.read, ctx, id))

const mostKeys = 100

/**
 * Makes a key. The secret is in the result and nowhere else.
 * @throws Problem 422, 409 `already_exists`
 */
export async function createTsigKey(ctx: Ctx, input: TsigKeyInput): Promise<TsigKeyView & { secret: string }> {
  const algorithm = input.algorithm ?? 'hmac-sha256'
  if (algorithm === 'hmac-md5' && input.allow_md5 !== true)
    throw wrong('#/algorithm', 'needs `allow_md5: true`: HMAC-MD5 must not be used where there is another (RFC 8945 section 6).')
  const name = keyNameOf(input.name)
  const secret = input.secret === undefined ? freshSecret(algorithm) : secretOf(input.secret)
  try {
    return await change(ctx, 'dns.tsig_key.create', async tx => {
      const [held] = await tx.select({ n: count() }).from(dnsTsigKeys).where(eq(dnsTsigKeys.workspaceId, ctx.workspaceId))
      if (held!.n >= mostKeys) throw conflict(`There are ${mostKeys} keys, which is the most a workspace may have.`)
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
      return { result: { ...view, secret }, target: target('tsig_key', row!), after: view, wakes: [zonesTopic] }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', `There is a key ${name} here already.`)
    throw error
  }
}

/** Whoever signs with the key is refused from now on. @throws Problem 404, 409 while it is named by settings */
export async function deleteTsigKey(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'dns.tsig_key.delete', async tx => {
    const { workspaceId } = ctx
    // In the order in which edits of the settings take them.
    const [serving] = await locking(tx.select().from(dnsServing).where(eq(dnsServing.workspaceId, workspaceId)))
    const row = await tsigKeyOf(tx, ctx, id)
    const [secondary] = await tx
      .select({ address: dnsSecondaries.address })
      .from(dnsSecondaries)
      .where(and(eq(dnsSecondaries.workspaceId, workspaceId), eq(dnsSecondaries.keyId, id)))
      .limit(1)
    if (secondary) throw conflict(`The secondary ${secondary.address} is told of changes with this key.`)
    if (serving?.catalogKeyId === id) throw conflict('The catalog zone is transferred with this key.')
    if (serving?.transferKeyIds?.includes(id)) throw conflict('The key is among those in `transfer_key_ids`.')
    await tx.delete(dnsTsigKeys).where(eq(dnsTsigKeys.id, id))
    await nextNumber(tx, rightsCounter)
    return { result: undefined, target: target('tsig_key', row), before: tsigKeyView(row), wakes: [zonesTopic] }
  })
}

/** @throws Problem 404 */
async function tsigKeyOf(read: Reader | Tx, ctx: Ctx, id: string): Promise<TsigKeyRow> {
  const [row] = await read
    .select()
    .from(dnsTsigKeys)
    .where(and(eq(dnsTsigKeys.id, id), eq(dnsTsigKeys.workspaceId, ctx.workspaceId)))
  if (!row) throw notFound('TSIG key')
  return row
}

/** The workspace's keys among these. */
export async function tsigKeysOf(read: Reader | Tx, workspaceId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await read
    .select({ id: dnsTsigKeys.id })
    .from(dnsTsigKeys)
    .where(and(eq(dnsTsigKeys.workspaceId, workspaceId), inArray(dnsTsigKeys.id, [...new Set(ids)])))
  return new Set(rows.map(row => row.id))
}

/** Where the secret of a key is sealed for. */
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
  const name = ruleKept('#/name', () => lowerName(parseName(text, '.')))
  if (name === '.' || wireLength(name) > 255) throw wrong('#/name', 'must be a domain name of 1 to 253 characters.')
  return name.slice(0, -1)
}

// As long as what the algorithm gives (RFC 2104 section 3).
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
    throw wrong('#/secret', 'must be Base64 (RFC 4648 section 4).')
  if (octets.length < 16 || octets.length > 512) throw wrong('#/secret', 'must be the Base64 of 16 to 512 octets.')
  return octets.toString('base64')
}

const wrong = (pointer: string, detail: string) => invalid([{ pointer, code: 'format', detail }])
