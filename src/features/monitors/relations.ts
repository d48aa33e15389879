import { and, eq, inArray, ne, or, sql } from 'drizzle-orm'
import { takeTurns } from '../../access/plans'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import { reaches } from '../../core/narrowing'
import { invalid, Problem, type FieldProblem } from '../../core/problem'
import type { GroupOptions } from './monitor-types'
import { monitors } from './tables'
import type { MonitorRow } from './view'

/** How many monitors may stand one behind the other, by depending on each other or as groups in groups. */
export const mostDeep = 10

/** What a monitor stands on: those it depends on, and the members of a group. */
export type Standing = Pick<MonitorRow, 'type' | 'dependsOn' | 'options'>

const membersOf = (one: Standing): string[] => (one.type === 'group' ? ((one.options as GroupOptions).members ?? []) : [])
const below = (one: Standing): string[] => [...one.dependsOn, ...membersOf(one)]

/**
 * Refuses references to monitors that there are not, that lead back to the monitor itself, or that reach too deep. A member that
 * depends on its own group would hold its alert back for ever, so both kinds of references are one graph.
 * @param id null for a new monitor
 * @throws Problem 422 at each reference
 */
export async function refuseBadRelations(tx: Tx, ctx: Ctx, id: string | null, one: Standing): Promise<void> {
  const named = [
    ...one.dependsOn.map((of, place) => ({ of, pointer: `#/depends_on/${place}` })),
    ...membersOf(one).map((of, place) => ({ of, pointer: `#/options/members/${place}` })),
  ]
  if (named.length === 0) return
  // Two edits that meet could close a circle that neither of them sees.
  await takeTurns(tx, 'monitors', ctx.workspaceId)
  let layer = await standing(tx, ctx, [...new Set(below(one))])
  const known = new Set(layer.map(row => row.id))
  const problems: FieldProblem[] = named.flatMap(({ of, pointer }) => {
    if (of === id) return [{ pointer, code: 'circular', detail: 'is the monitor itself.' }]
    if (!known.has(of) || !reaches(ctx, of)) return [{ pointer, code: 'unknown', detail: 'is no monitor of this workspace.' }]
    return []
  })
  if (problems.length > 0) throw invalid(problems)
  const seen = new Set(known)
  for (let depth = 1; layer.length > 0; depth++) {
    const pointer = one.dependsOn.length > 0 ? '#/depends_on' : '#/options/members'
    if (depth >= mostDeep) throw invalid([{ pointer, code: 'too_deep', detail: `leads through more than ${mostDeep} monitors.` }])
    const next = [...new Set(layer.flatMap(below))]
    if (id !== null && next.includes(id))
      throw invalid([{ pointer, code: 'circular', detail: 'leads back to the monitor itself.' }])
    layer = await standing(
      tx,
      ctx,
      next.filter(of => !seen.has(of)),
    )
    for (const row of layer) seen.add(row.id)
  }
}

async function standing(tx: Tx, ctx: Ctx, ids: string[]): Promise<(Standing & { id: string })[]> {
  const rows: (Standing & { id: string })[] = []
  for (let at = 0; at < ids.length; at += 500)
    rows.push(
      ...(await tx
        .select({ id: monitors.id, type: monitors.type, dependsOn: monitors.dependsOn, options: monitors.options })
        .from(monitors)
        .where(and(eq(monitors.workspaceId, ctx.workspaceId), inArray(monitors.id, ids.slice(at, at + 500))))),
    )
  return rows
}

/** Takes a monitor that goes away out of those that name it. @returns these, as they were */
export async function leaveRelations(tx: Tx, ctx: Ctx, id: string): Promise<MonitorRow[]> {
  const mention = `%"${id}"%`
  const rows = await locking(
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
    await tx
      .update(monitors)
      .set({
        dependsOn: row.dependsOn.filter(of => of !== id),
        options,
        version: row.version + 1,
        updatedAt: ctx.hub.clock.now(),
      })
      .where(eq(monitors.id, row.id))
  }
  return rows
}

/** @throws Problem 409 where another monitor has the key */
export async function refuseTakenKey(tx: Tx, ctx: Ctx, key: string | null, id: string | null): Promise<void> {
  if (key === null) return
  // Two that arrive together take turns, so that both cannot find it free.
  await takeTurns(tx, 'monitors', ctx.workspaceId)
  const of = [eq(monitors.workspaceId, ctx.workspaceId), eq(monitors.key, key), ...(id === null ? [] : [ne(monitors.id, id)])]
  const [row] = await tx
    .select({ id: monitors.id })
    .from(monitors)
    .where(and(...of))
  if (row) throw new Problem('already_exists', `The key ${key} is that of another monitor.`)
}
