import { asc, eq, inArray, lte } from 'drizzle-orm'
import { record } from '../../core/change'
import type { EventDraft } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import { factsJobKind } from '../registry/facts-job'
import { supportedNames } from '../registry/known'
import { settleDomains } from './settle'
import { domains } from './tables'

/** Applies what the registry says about a name to the domains of all workspaces with this name. */
export const applyFactsJob: JobKind<{ name: string }> = {
  kind: factsJobKind,
  concurrency: 8,
  leaseMs: 60_000,
  retryAfter: attempts => (attempts < 5 ? attempts * 10_000 : null),
  async run(hub, { payload: { name } }) {
    const isSupported = await supportedNames(hub)
    return async tx => {
      const rows = await forUpdate(tx.select().from(domains).where(eq(domains.name, name)).orderBy(asc(domains.id)))
      const { events } = await settleDomains(tx, hub, rows, isSupported)
      return { result: undefined, events }
    }
  },
}

// Keeps transactions short: each blocks all other writes of the process.
const domainsPerBatch = 50

/** Sends events about ends of registrations that came near, and changes the status of those that are over. Several hubs can run it at once. */
export async function watchEnds(hub: Hub): Promise<void> {
  const isSupported = await supportedNames(hub)
  for (;;) {
    const now = hub.clock.now()
    const due = await hub.read
      .select({ id: domains.id })
      .from(domains)
      .where(lte(domains.dueAt, now))
      .orderBy(asc(domains.dueAt))
      .limit(domainsPerBatch)
    if (due.length === 0) return
    await record(hub, async (tx): Promise<{ result: undefined; events: EventDraft[] }> => {
      const ids = due.map(one => one.id)
      const rows = await forUpdate(tx.select().from(domains).where(inArray(domains.id, ids)).orderBy(asc(domains.id)))
      // Another hub may have been faster.
      const own = rows.filter(row => row.dueAt !== null && row.dueAt <= now)
      const { events } = await settleDomains(tx, hub, own, isSupported)
      return { result: undefined, events }
    })
    if (due.length < domainsPerBatch) return
  }
}
