import { and, asc, eq } from 'drizzle-orm'
import { refuseOverLimit } from '../../../access/plans'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'
import { listingOf, listPage } from '../../../core/list'
import { flagFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { editableView, inputColumns, memberView, patchColumns } from '../../../core/members'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { changedRow, deleteRow, findRow, insertRow, lockRow, saveRow, uniqueName } from '../../../core/rows'
import { rowsOf } from '../../../registry'
import { InvalidPublicKey, keyAlgorithms, parsePublicKey, type PublicKey } from './public-key'
import { sshKeyMembers, type SshKeyInput, type SshKeyPatch, type SshKeyView } from './shapes'
import { sshKeys } from './tables'

type SshKeyRow = typeof sshKeys.$inferSelect

const rows = rowsOf('ssh_key', sshKeys)

export const sshKeyListing = listingOf('ssh-keys', sshKeys, {
  isSmall: true,
  filters: {
    default: flagFilter(sshKeys.default, 'True for keys that new servers get by default, false for the others.'),
    algorithm: wordsFilter(sshKeys.algorithm, keyAlgorithms, 'Only keys with these algorithms.'),
    fingerprint: textFilter(sshKeys.fingerprint, 'Only the key with this fingerprint.'),
    q: searchFilter([sshKeys.name, sshKeys.fingerprint], 'Only keys whose name or fingerprint contains all words of this text.'),
    ...timeFilters('created_at', sshKeys.createdAt),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

const view = (row: SshKeyRow): SshKeyView => ({
  id: row.id,
  ...memberView(sshKeyMembers, row),
  algorithm: row.algorithm,
  fingerprint: row.fingerprint,
  ...editableView(row),
})

export const listSshKeys = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, sshKeyListing, query, view)

/** @throws Problem 404 */
export const getSshKey = async (ctx: Ctx, id: string): Promise<SshKeyView> => view(await findRow(ctx.hub.read, ctx, rows, id))

/** @throws Problem 409 if the key or the name exists or the limit is reached, 422 */
export function createSshKey(ctx: Ctx, input: SshKeyInput): Promise<SshKeyView> {
  const { algorithm, fingerprint, text } = validKey(input.public_key, '#/public_key')
  const columns = inputColumns(sshKeyMembers, { ...input, public_key: text })
  return uniqueName(rows, input.name, () =>
    change(ctx, 'cloud.ssh_key.create', async tx => {
      // Locks the workspace, so that the same key is never added twice.
      await refuseOverLimit(tx, ctx, 'ssh_key')
      const [same] = await tx
        .select()
        .from(sshKeys)
        .where(and(eq(sshKeys.workspaceId, ctx.workspaceId), eq(sshKeys.fingerprint, fingerprint)))
      if (same) throw duplicate(same)
      return await changedRow(rows, null, await insertRow(tx, ctx, rows, { ...columns, algorithm, fingerprint }), view)
    }),
  )
}

function duplicate({ name }: SshKeyRow): Problem {
  const detail = `already exists, with the name ${JSON.stringify(name)}.`
  return new Problem('already_exists', `This SSH key ${detail}`, {
    errors: [{ pointer: '#/public_key', code: 'already_exists', detail }],
  })
}

/** @throws Problem 404, 409, 412 */
export const updateSshKey = (ctx: Ctx, id: string, patch: SshKeyPatch): Promise<SshKeyView> =>
  uniqueName(rows, patch.name ?? '', () =>
    change(ctx, 'cloud.ssh_key.update', async tx => {
      const before = await lockRow(tx, ctx, rows, id)
      const after = await saveRow(tx, ctx, rows, before, patchColumns(sshKeyMembers, patch))
      return await changedRow(rows, before, after, view)
    }),
  )

/** Deletes a key. Servers that have it are not changed. @throws Problem 404, 412 */
export const deleteSshKey = (ctx: Ctx, id: string): Promise<void> => deleteRow(ctx, 'cloud.ssh_key.delete', rows, id, view)

/** A key as clouds get it. */
interface NamedKey {
  name: string
  publicKey: string
}

/** The keys that new servers get if their request names none. */
export async function defaultSshKeys(read: Reader, { workspaceId }: Pick<Ctx, 'workspaceId'>): Promise<NamedKey[]> {
  const found = await read
    .select()
    .from(sshKeys)
    .where(and(eq(sshKeys.workspaceId, workspaceId), eq(sshKeys.default, true)))
    .orderBy(asc(sshKeys.name))
  return found.map(namedKey)
}

const namedKey = ({ name, publicKey }: NamedKey): NamedKey => ({ name, publicKey })

/**
 * The keys that a request names, each once.
 * @param refs ids of keys, or public keys
 * @param pointer to the list in the body
 * @throws Problem 422 that names the elements that are neither
 */
export async function sshKeysOf(read: Reader, ctx: Ctx, refs: readonly string[], pointer = '#/ssh_keys'): Promise<NamedKey[]> {
  // At most 100.
  const stored = await read.select().from(sshKeys).where(eq(sshKeys.workspaceId, ctx.workspaceId))
  const problems: FieldProblem[] = []
  const found = new Map<string, NamedKey>()
  for (const [at, ref] of refs.entries()) {
    const key = keyOf(stored, ctx, ref, `${pointer}/${at}`)
    if ('detail' in key) problems.push(key)
    else found.set(key.fingerprint, namedKey(key))
  }
  if (problems.length > 0) throw invalid(problems)
  return [...found.values()]
}

type FoundKey = Pick<SshKeyRow, 'name' | 'publicKey' | 'fingerprint'>

function keyOf(stored: readonly SshKeyRow[], ctx: Ctx, ref: string, pointer: string): FoundKey | FieldProblem {
  if (ref.startsWith(`${rows.prefix}_`)) {
    const row = stored.find(one => one.id === ref)
    if (row && canAccess(ctx, row.id)) return row
    return { pointer, code: 'not_found', detail: 'must be the ID of an SSH key of the workspace.' }
  }
  const key = parsedKey(ref, pointer)
  if ('detail' in key) return key
  const { fingerprint, text, comment } = key
  const name = stored.find(one => one.fingerprint === fingerprint)?.name ?? (comment || fingerprint)
  return { name, publicKey: text, fingerprint }
}

/** @throws Problem 422 */
function validKey(text: string, pointer: string): PublicKey {
  const key = parsedKey(text, pointer)
  if ('detail' in key) throw invalid([key])
  return key
}

function parsedKey(text: string, pointer: string): PublicKey | FieldProblem {
  try {
    return parsePublicKey(text)
  } catch (error) {
    if (error instanceof InvalidPublicKey) return { pointer, code: error.code, detail: error.message }
    throw error
  }
}
