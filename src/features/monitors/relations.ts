import { and, eq, inArray, ne, or, sql } from 'drizzle-orm'
import { lockLimit } from '../../access/plans'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import { canAccess } from '../../core/resource-access'
import { invalid, Problem, type FieldProblem } from '../../core/problem'
import { saveRow } from '../../core/rows'
import type { GroupOptions } from './definition/types'
import { monitors } from './tables'
import { monitorRows, type MonitorRow } from './view'

/** The longest allowed chain of dependencies and nested groups. */
export const maxDepth = 10

/** The columns that refer to other monitors: dependencies, and members of a group. */
type Relations = Pick<MonitorRow, 'type' | 'dependsOn' | 'options'>

const membersOf = (one: Relations): string[] => (one.type === 'group' ? ((one.options as GroupOptions).members ?? []) : [])
/** The monitors that a monitor refers to. */
export const below = (one: Relations): string[] => [...one.dependsOn, ...membersOf(one)]

/**
 * Rejects references that are unknown, circular, or nested too deeply. Dependencies and members form one graph: a member that
 * depends on its own group would suppress its own alert forever.
 * @param id null for a new monitor
 * @throws Problem 422 for each invalid reference
 */
export async function refuseBadRelations(tx: Tx, ctx: Ctx, id: string | null, one: Relations): Promise<void> {
  const named = [
    ...one.dependsOn.map((of, place) => ({ of, pointer: `#/depends_on/${place}` })),
    ...membersOf(one).map((of, place) => ({ of, pointer: `#/options/members/${place}` })),
  ]
  if (named.length === 0) return
  // Otherwise two concurrent updates could create a cycle together.
  await lockLimit(tx, 'monitors', ctx.workspaceId)
  let layer = await relationsOf(tx, ctx, [...new Set(below(one))])
  const known = new Set(layer.map(row => row.id))
  const problems: FieldProblem[] = named.flatMap(({ of, pointer }) => {
    if (of === id) return [{ pointer, code: 'circular', detail: 'must not refer to the monitor itself.' }]
    if (!known.has(of) || !canAccess(ctx, of))
      return [{ pointer, code: 'unknown', detail: 'is not a monitor of this workspace.' }]
    return []
  })
  if (problems.length > 0) throw invalid(problems)
  const seen = new Set(known)
  for (let depth = 1; layer.length > 0; depth++) {
    const pointer = one.dependsOn.length > 0 ? '#/depends_on' : '#/options/members'
    if (depth >= maxDepth)
      throw invalid([{ pointer, code: 'too_deep', detail: `creates a chain of more than ${maxDepth} monitors.` }])
    const next = [...new Set(layer.flatMap(below))]
    if (id !== null && next.includes(id)) throw invalid([{ pointer, code: 'circular', detail: 'creates a circular dependency.' }])
    layer = await relationsOf(
      tx,
      ctx,
      next.filter(of => !seen.has(of)),
    )
    for (const row of layer) seen.add(row.id)
  }
}

async function relationsOf(tx: Tx, ctx: Ctx, ids: string[]): Promise<(Relations & { id: string })[]> {
  const rows: (Relations & { id: string })[] = []
  for (let at = 0; at < ids.length; at += 500)
    rows.push(
      ...(await tx
        .select({ id: monitors.id, type: monitors.type, dependsOn: monitors.dependsOn, options: monitors.options })
        .from(monitors)
        .where(and(eq(monitors.workspaceId, ctx.workspaceId), inArray(monitors.id, ids.slice(at, at + 500))))),
    )
  return rows
}

/** Removes references to a monitor that is being deleted. @returns the monitors that referred to it, as they were before */
export async function removeFromRelations(tx: Tx, ctx: Pick<Ctx, 'hub' | 'workspaceId'>, id: string): Promise<MonitorRow[]> {
  const mention = `%"${id}"%`
  const rows = await forUpdate(
    tx
      .select()
      .from(monitors)
      .where(
        and(
          eq(monitors.workspaceId, ctx.workspaceId),
          ne(monitors.id, id),
          or(
            sql`${monitors.dependsOn} like ${mention}`,
            and(eq(monitors.type, 'group'), sql`${monitors.options} like ${mention}`),
          ),
        ),
      ),
  )
  for (const row of rows) {
    const options = row.type === 'group' ? { ...row.options, members: membersOf(row).filter(of => of !== id) } : row.options
    await saveRow(tx, ctx, monitorRows, row, { dependsOn: row.dependsOn.filter(of => of !== id), options })
  }
  return rows
}

/** @throws Problem 409 if another monitor has the key */
export async function refuseTakenKey(tx: Tx, ctx: Ctx, key: string | null, id: string | null): Promise<void> {
  if (key === null) return
  // Serialized, so that two concurrent requests can't both find the key free.
  await lockLimit(tx, 'monitors', ctx.workspaceId)
  const find = prepared<{ id: string }[], Tx>(tx, 'monitors-with-key', handle =>
    handle
      .select({ id: monitors.id })
      .from(monitors)
      .where(and(eq(monitors.workspaceId, sql.placeholder('workspaceId')), eq(monitors.key, sql.placeholder('key')))),
  )
  const rows = await find.execute({ workspaceId: ctx.workspaceId, key })
  if (rows.some(row => row.id !== id)) throw new Problem('already_exists', `A monitor with the key ${key} already exists.`)
}
