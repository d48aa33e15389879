import { and, count, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { gradeLetters, type GradeLetter } from './grades/grade'
import { tlsEndpoints } from './tables'

/** How many TLS endpoints of a workspace have each grade, the best grade first, without those that are about to be deleted. */
export async function gradeCounts({ hub, workspaceId }: Ctx): Promise<{ grade: GradeLetter; count: number }[]> {
  const { grade, goneAt } = tlsEndpoints
  const rows = await hub.read
    .select({ grade, n: count() })
    .from(tlsEndpoints)
    .where(and(eq(tlsEndpoints.workspaceId, workspaceId), isNotNull(grade), isNull(goneAt)))
    .groupBy(grade)
  const counts = new Map(rows.map(row => [row.grade, row.n]))
  return gradeLetters.flatMap(letter => (counts.has(letter) ? { grade: letter, count: counts.get(letter)! } : []))
}
