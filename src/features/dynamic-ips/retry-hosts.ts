import { eq } from 'drizzle-orm'
import { jobContext, systemActor } from '../../core/change'
import { forUpdate } from '../../core/db/dialect'
import type { JobKind } from '../../core/jobs/job'
import { driveHosts } from './drive-hosts'
import { removeDue } from './drive-links'
import { removeOldSources, removeOldSourcesKind, retryHostsKind } from './retry-queue'
import { dynamicIpLinks, dynamicIps } from './tables'
import { hostsOfSources } from './view'

/** Tries again to set the records of hosts with a problem. */
export const retryHostsJob: JobKind<{ source_id: string }> = {
  kind: retryHostsKind,
  concurrency: 2,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  run:
    async (hub, { payload: { source_id: id } }) =>
    async tx => {
      const [source] = await forUpdate(tx.select().from(dynamicIps).where(eq(dynamicIps.id, id)))
      if (!source || source.status === 'paused' || source.status === 'held') return { result: undefined }
      const by = { actor: systemActor(retryHostsKind), context: jobContext }
      // While there is a problem, this adds the next job.
      const { effects } = await driveHosts(tx, hub, source, await hostsOfSources(tx, [id]), by)
      return { result: undefined, ...effects }
    },
}

/** Removes networks from a firewall rule once their grace period is over. */
export const removeOldSourcesJob: JobKind<{ link_id: string }> = {
  kind: removeOldSourcesKind,
  concurrency: 2,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  run:
    async (hub, { payload: { link_id: id } }) =>
    async tx => {
      const [link] = await tx.select().from(dynamicIpLinks).where(eq(dynamicIpLinks.id, id))
      if (!link) return { result: undefined }
      const [source] = await forUpdate(tx.select().from(dynamicIps).where(eq(dynamicIps.id, link.sourceId)))
      const [current] = await tx.select().from(dynamicIpLinks).where(eq(dynamicIpLinks.id, id))
      if (!source || !current) return { result: undefined }
      const by = { actor: systemActor(removeOldSourcesKind), context: jobContext }
      const { effects, nextAt } = await removeDue(tx, hub, source, current, by)
      return {
        result: undefined,
        ...effects,
        jobs: [...effects.jobs, ...(nextAt === null ? [] : [removeOldSources(link, nextAt)])],
      }
    },
}
