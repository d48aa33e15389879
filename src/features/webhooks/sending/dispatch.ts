import { and, asc, eq, gt, lt, notExists } from 'drizzle-orm'
import { events } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import { isEventKind } from '../../event-kinds'
import { newId } from '../../../core/ids'
import type { JobKind } from '../../../core/jobs/job'
import { subscribesTo, eventPattern } from '../endpoints/event-filter'
import { unlimitedBackoff } from '../../../core/outgoing/retry-schedule'
import { deliverJobFor, type Delivery } from './delivery-jobs'
import { touchDelivery } from './delivery-rows'
import { waitingForEarlier, hasEarlierOpen } from './ordering'
import { lockEndpoint, blockReasonOf } from './holds'
import { webhookDeliveries } from '../deliveries/tables'
import { webhookDispatches } from './tables'
import { webhookEndpoints } from '../endpoints/tables'

type Event = typeof events.$inferSelect

// Creates a delivery of an event for each endpoint that is subscribed to its kind. Jobs run concurrently and on several hubs: a
// job first dispatches earlier events of the same resource, and their own jobs then have nothing left to do.
export const dispatchJob: JobKind<{ event_id: string }> = {
  kind: 'webhooks.dispatch',
  concurrency: 8,
  leaseMs: 30_000,
  retryAfter: unlimitedBackoff,
  run: async (hub, job) => async tx => {
    const [requested] = await tx.select().from(events).where(eq(events.id, job.payload.event_id))
    const event = requested && (await nextToDispatch(tx, requested))
    if (!event) return { result: undefined }
    const now = hub.clock.now()
    const added = await addDeliveries(tx, event, now)
    return {
      result: event.id === requested.id ? undefined : { again: now },
      jobs: added.filter(row => row.status === 'pending').map(row => deliverJobFor(row, now)),
    }
  },
}

/** Marks the first undispatched event of the resource as dispatched and returns it; null if all up to the requested one are. */
async function nextToDispatch(tx: Tx, requested: Event): Promise<Event | null> {
  const { workspaceId, resourceId, position } = requested
  const ofResource = and(eq(webhookDispatches.workspaceId, workspaceId), eq(webhookDispatches.resourceId, resourceId))
  const eventsAfter = (after: typeof webhookDispatches.position | number) =>
    and(eq(events.workspaceId, workspaceId), eq(events.resourceId, resourceId), gt(events.position, after))
  const between = tx
    .select({ id: events.id })
    .from(events)
    .where(and(eventsAfter(webhookDispatches.position), lt(events.position, position)))
  // Usually there are no earlier undispatched events.
  const claimed = await tx
    .update(webhookDispatches)
    .set({ position })
    .where(and(ofResource, lt(webhookDispatches.position, position), notExists(between)))
    .returning()
  if (claimed.length === 1) return requested
  // Updating the row locks it on both database engines.
  const [dispatched] = await tx
    .insert(webhookDispatches)
    .values({ workspaceId, resourceId, position: 0 })
    .onConflictDoUpdate({ target: [webhookDispatches.workspaceId, webhookDispatches.resourceId], set: { resourceId } })
    .returning()
  if (dispatched!.position >= position) return null
  const [first] = await tx.select().from(events).where(eventsAfter(dispatched!.position)).orderBy(asc(events.position)).limit(1)
  await tx.update(webhookDispatches).set({ position: first!.position }).where(ofResource)
  return first!
}

async function addDeliveries(tx: Tx, event: Event, now: number): Promise<Delivery[]> {
  // A kind of a later version of Bailiwick: no endpoint can be subscribed to it.
  if (!isEventKind(event.kind)) return []
  const endpoints = await tx
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.workspaceId, event.workspaceId), subscribesTo(eventPattern(event.kind))))
    // Lock endpoints in id order everywhere, to avoid deadlocks.
    .orderBy(asc(webhookEndpoints.id))
  const added: Delivery[] = []
  for (const candidate of endpoints) {
    if (candidate.resourceIds !== null && !candidate.resourceIds.includes(event.resourceId)) continue
    const mayWait = blockReasonOf(candidate) !== null || candidate.ordering === 'per_resource'
    const endpoint = mayWait ? await lockEndpoint(tx, candidate.id) : candidate
    const blocked = blockReasonOf(endpoint)
    if (!endpoint || blocked === 'endpoint_deleted') continue
    const queue = {
      endpointId: endpoint.id,
      resourceId: event.resourceId,
      orderPosition: endpoint.ordering === 'per_resource' ? event.position : null,
    }
    const reason = blocked ?? ((await hasEarlierOpen(tx, queue)) ? waitingForEarlier : null)
    added.push(
      ...(await tx
        .insert(webhookDeliveries)
        .values({
          id: newId('dlv'),
          workspaceId: event.workspaceId,
          ...queue,
          eventId: event.id,
          messageId: event.messageId,
          event: event.kind,
          resourceType: event.resourceType,
          sequence: event.sequence,
          occurredAt: event.occurredAt,
          testBody: null,
          status: reason ? 'held' : 'pending',
          reason,
          attemptCount: 0,
          lastStatusCode: null,
          lastErrorClass: null,
          nextAttemptAt: reason ? null : now,
          finishedAt: null,
          endedAs: null,
          version: 1,
          createdAt: now,
          updatedAt: now,
        })
        .onConflictDoNothing()
        .returning()),
    )
  }
  for (const one of added) touchDelivery(tx, one)
  return added
}
