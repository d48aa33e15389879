import { and, asc, eq, gt, lt, notExists } from 'drizzle-orm'
import { events } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import { isEventKind } from '../../core/events'
import { newId } from '../../core/ids'
import type { JobKind } from '../../core/jobs/job'
import { chose, chosenPattern } from './chosen'
import { deliverJobFor, untilDone, type Delivery } from './delivery-jobs'
import { touchDelivery } from './delivery-rows'
import { behindEarlier, isBehind } from './line'
import { heldStill, obstacleOf } from './standing'
import { webhookDeliveries, webhookDispatches, webhookEndpoints } from './tables'

type Event = typeof events.$inferSelect

// Turns one event into one delivery per endpoint that chose its kind by name. Jobs run side by side and on several hubs: the one
// that finds earlier events of the resource not yet dispatched does so first, and their own jobs find nothing left to do.
export const dispatchJob: JobKind<{ event_id: string }> = {
  kind: 'webhooks.dispatch',
  concurrency: 8,
  leaseMs: 30_000,
  retryAfter: untilDone,
  run: async (hub, job) => async tx => {
    const [asked] = await tx.select().from(events).where(eq(events.id, job.payload.event_id))
    const event = asked && (await nextToDispatch(tx, asked))
    if (!event) return { result: undefined }
    const now = hub.clock.now()
    const added = await addDeliveries(tx, event, now)
    return {
      result: event.id === asked.id ? undefined : { again: now },
      jobs: added.filter(row => row.status === 'pending').map(row => deliverJobFor(row, now)),
    }
  },
}

/** The first event of the resource that was not dispatched, marked as being so; null when none is up to the one asked for. */
async function nextToDispatch(tx: Tx, asked: Event): Promise<Event | null> {
  const { workspaceId, resourceId, position } = asked
  const ofResource = and(eq(webhookDispatches.workspaceId, workspaceId), eq(webhookDispatches.resourceId, resourceId))
  const behind = (place: typeof webhookDispatches.position | number) =>
    and(eq(events.workspaceId, workspaceId), eq(events.resourceId, resourceId), gt(events.position, place))
  const between = tx
    .select({ id: events.id })
    .from(events)
    .where(and(behind(webhookDispatches.position), lt(events.position, position)))
  // Nearly always it is this one's turn.
  const taken = await tx
    .update(webhookDispatches)
    .set({ position })
    .where(and(ofResource, lt(webhookDispatches.position, position), notExists(between)))
    .returning()
  if (taken.length === 1) return asked
  // Writing the row is the lock that both engines have.
  const [mark] = await tx
    .insert(webhookDispatches)
    .values({ workspaceId, resourceId, position: 0 })
    .onConflictDoUpdate({ target: [webhookDispatches.workspaceId, webhookDispatches.resourceId], set: { resourceId } })
    .returning()
  if (mark!.position >= position) return null
  const [first] = await tx.select().from(events).where(behind(mark!.position)).orderBy(asc(events.position)).limit(1)
  await tx.update(webhookDispatches).set({ position: first!.position }).where(ofResource)
  return first!
}

async function addDeliveries(tx: Tx, event: Event, now: number): Promise<Delivery[]> {
  // A kind that a later version of the program had and this one has not: no endpoint can have chosen it.
  if (!isEventKind(event.kind)) return []
  const endpoints = await tx
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.workspaceId, event.workspaceId), chose(chosenPattern(event.kind))))
    // Those that are held still are so in one order everywhere.
    .orderBy(asc(webhookEndpoints.id))
  const added: Delivery[] = []
  for (const found of endpoints) {
    if (found.resourceIds !== null && !found.resourceIds.includes(event.resourceId)) continue
    const mayWait = obstacleOf(found) !== null || found.ordering === 'per_resource'
    const endpoint = mayWait ? await heldStill(tx, found.id) : found
    const obstacle = obstacleOf(endpoint)
    if (!endpoint || obstacle === 'endpoint_deleted') continue
    const line = {
      endpointId: endpoint.id,
      resourceId: event.resourceId,
      turn: endpoint.ordering === 'per_resource' ? event.position : null,
    }
    const reason = obstacle ?? ((await isBehind(tx, line)) ? behindEarlier : null)
    added.push(
      ...(await tx
        .insert(webhookDeliveries)
        .values({
          id: newId('dlv'),
          workspaceId: event.workspaceId,
          ...line,
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
