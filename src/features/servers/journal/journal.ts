import { eq } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import { timeFilters, wordsFilter } from '../../../core/list-filters'
import { findRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import type { AgentReport } from '../../../wire/agent'
import { serverRows } from '../view'
import { keepNewest } from './keep-newest'
import { journalKinds, type JournalEntryView } from './shapes'
import { journalEntries } from './tables'

/** At most this many entries of a server are kept, and this many of them are moments. */
const maxEntries = 5000
const maxMoments = 500

/**
 * Stores what an agent noticed. A report that is sent again adds nothing.
 * @param offsetMs what has to be added to its times
 * @param startedAt when the server started, if it has since the last report (ms UTC); else null
 */
export async function recordJournal(
  tx: Tx,
  serverId: string,
  { moments = [], events = [] }: Pick<AgentReport, 'moments' | 'events'>,
  offsetMs: number,
  startedAt: number | null,
): Promise<void> {
  const start = { kind: 'server.started' as const, name: '', detail: null, moment: null }
  const rows = [
    ...(startedAt === null ? [] : [{ ...start, at: startedAt - offsetMs }]),
    ...moments.map(({ at, ...moment }) => ({ at, kind: 'moment' as const, name: '', detail: null, moment })),
    ...events.map(event => ({ ...event, moment: null })),
  ].map(row => ({ ...row, id: newId('jrn'), serverId, at: row.at + offsetMs }))
  if (rows.length === 0) return
  await tx.insert(journalEntries).values(rows).onConflictDoNothing()
  if (moments.length > 0) await keepNewest(tx, journalEntries, serverId, maxMoments, eq(journalEntries.kind, 'moment'))
  await keepNewest(tx, journalEntries, serverId, maxEntries)
}

export const journalListing = listingOf('server-journal', journalEntries, {
  owner: journalEntries.serverId,
  accessColumn: journalEntries.serverId,
  isSmall: true,
  filters: {
    kind: wordsFilter(journalEntries.kind, journalKinds, 'Only entries of these kinds.'),
    ...timeFilters('at', journalEntries.at),
  },
  sorts: ['at'],
  defaultSort: '-at',
})

/** Lists what the agent of a server noticed, newest first. @throws Problem 404 */
export async function listJournal(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<JournalEntryView>> {
  await findRow(ctx.hub.read, ctx, serverRows, id)
  return await listPage(
    ctx,
    journalListing,
    query,
    row => ({
      ...{ id: row.id, at: instant(row.at), kind: row.kind },
      ...{ name: row.name || null, detail: row.detail, moment: row.moment },
    }),
    id,
  )
}
