import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { RecordResult } from '../../../core/change-result'
import { forIds } from '../../../core/db/id-list'
import { insertRows, insertRowsReturning, skipExisting, type OnConflict } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { events } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { isEventKind } from '../../event-kinds'
import { newId } from '../../../core/ids'
import { Together, type JobKind } from '../../../core/jobs/job'
import { subscribesTo, eventPattern } from '../endpoints/event-filter'
import { unlimitedBackoff } from '../../../core/outgoing/retry-schedule'
import { deliverJobFor } from './delivery-jobs'
import { touchDelivery } from './delivery-rows'
import { openQueues, queueKey, waitingForEarlier } from './ordering'
import { lockEndpoint, blockReasonOf } from './holds'
import { webhookDeliveries } from '../deliveries/tables'
import { webhookDispatches } from './tables'
import { webhookEndpoints } from '../endpoints/tables'

const columns = {
  id: events.id,
  workspaceId: events.workspaceId,
  position: events.position,
  messageId: events.messageId,
  kind: events.kind,
  resourceType: events.resourceType,
  resourceId: events.resourceId,
  sequence: events.sequence,
  occurredAt: events.occurredAt,
}
type Event = Omit<typeof events.$inferSelect, 'body'>
type Endpoint = typeof webhookEndpoints.$inferSelect
type NewDelivery = typeof webhookDeliveries.$inferInsert & { resourceId: string }

// Limits the length of a transaction.
const maxEvents = 200
const maxDeliveries = 1_000

const dispatchKind = 'webhooks.dispatch'

// Creates a delivery of an event for each endpoint that is subscribed to its kind. Jobs run concurrently and on several hubs: they
// also dispatch earlier events of the same resources, and the jobs of those then have nothing left to do.
export const dispatchJob: JobKind<{ event_id: string }, unknown, string> = {
  kind: dispatchKind,
  concurrency: 100,
  leaseMs: 30_000,
  retryAfter: unlimitedBackoff,
  run: async (_, job) => new Together(job.payload.event_id),
  finishAll: dispatchAll,
}

async function dispatchAll(tx: Tx, hub: Hub, eventIds: readonly string[]): Promise<RecordResult<undefined>> {
  const last = lastOfEach(await eventsById(tx, eventIds))
  const dispatched = await lockDispatches(tx, last)
  const due = await undispatchedEvents(tx, dispatched, last)
  const now = hub.clock.now()
  const { deliveries, count } = await deliveriesOf(tx, due, now)
  await insertRows(tx, webhookDeliveries, deliveries, skipExisting)
  for (const one of deliveries) touchDelivery(tx, one)
  const done = lastOfEach(due.slice(0, count))
  await markDispatched(tx, done)
  // The positions of resources without new events stay as they are.
  const left = dispatched.filter(({ position, ...row }) => {
    const upTo = done.get(resourceKey(row))?.position ?? position
    return upTo < last.get(resourceKey(row))!.position
  })
  return {
    result: undefined,
    jobs: [
      ...deliveries.filter(row => row.status === 'pending').map(row => deliverJobFor(row, now)),
      ...left.map(row => ({ kind: dispatchKind, payload: { event_id: last.get(resourceKey(row))!.id } })),
    ],
  }
}

const eventsById = (tx: Tx, ids: readonly string[]): Promise<Event[]> =>
  forIds(ids, (size, list, values) =>
    prepared<Event[], Tx>(tx, `events-by-id|${size}`, handle =>
      handle
        .select(columns)
        .from(events)
        .where(sql`${events.id} in ${list}`),
    ).execute(values),
  )

const resourceKey = ({ workspaceId, resourceId }: { workspaceId: string; resourceId: string }): string =>
  `${workspaceId} ${resourceId}`

/** The last event of each resource, in the order of their keys, to avoid deadlocks. */
function lastOfEach(all: readonly Event[]): Map<string, Event> {
  const last = new Map<string, Event>()
  for (const event of all) {
    const key = resourceKey(event)
    const before = last.get(key)
    if (!before || before.position < event.position) last.set(key, event)
  }
  return new Map([...last].sort(([a], [b]) => (a < b ? -1 : 1)))
}

type Dispatched = typeof webhookDispatches.$inferSelect

/** Locks the positions up to which the events of resources were dispatched. */
const lockDispatches = (tx: Tx, last: ReadonlyMap<string, Event>): Promise<Dispatched[]> =>
  insertRowsReturning(
    tx,
    webhookDispatches,
    [...last.values()].map(({ workspaceId, resourceId }) => ({ workspaceId, resourceId, position: 0 })),
    lockExisting,
  )

const markDispatched = (tx: Tx, done: ReadonlyMap<string, Event>): Promise<void> =>
  insertRows(
    tx,
    webhookDispatches,
    [...done.values()].map(({ workspaceId, resourceId, position }) => ({ workspaceId, resourceId, position })),
    setPosition,
  )

const target = [webhookDispatches.workspaceId, webhookDispatches.resourceId]
// Updating the row locks it on both database engines.
const lockExisting: OnConflict = {
  name: 'lock',
  apply: insert => insert.onConflictDoUpdate({ target, set: { resourceId: sql`excluded.resource_id` } }),
}
const setPosition: OnConflict = {
  name: 'position',
  apply: insert => insert.onConflictDoUpdate({ target, set: { position: sql`excluded.position` } }),
}

/** The undispatched events of the resources whose last requested event is one, by position. Of too many, only the first. */
async function undispatchedEvents(tx: Tx, dispatched: readonly Dispatched[], last: ReadonlyMap<string, Event>): Promise<Event[]> {
  const open = dispatched.filter(row => row.position < last.get(resourceKey(row))!.position)
  const found: Event[] = []
  for (const [workspaceId, own] of Map.groupBy(open, row => row.workspaceId)) {
    const ids = own.map(row => row.resourceId)
    found.push(
      ...(await forIds(ids, (size, list, values) =>
        prepared<Event[], Tx>(
          tx,
          `events-undispatched|${size}`,
          handle =>
            handle
              .select(columns)
              .from(webhookDispatches)
              // CROSS JOIN fixes the join order: otherwise SQLite reads all events of the workspace.
              .crossJoin(events)
              .where(
                and(
                  eq(webhookDispatches.workspaceId, sql.placeholder('workspaceId')),
                  sql`${webhookDispatches.resourceId} in ${list}`,
                  eq(events.workspaceId, webhookDispatches.workspaceId),
                  eq(events.resourceId, webhookDispatches.resourceId),
                  gt(events.position, webhookDispatches.position),
                ),
              )
              .orderBy(asc(events.position))
              .limit(maxEvents) as never,
        ).execute({ ...values, workspaceId }),
      )),
    )
  }
  return found
}

/** The deliveries of the first `count` events. */
async function deliveriesOf(tx: Tx, due: readonly Event[], now: number): Promise<{ deliveries: NewDelivery[]; count: number }> {
  const found = await subscribersOf(tx, due)
  // Lock endpoints in id order everywhere, to avoid deadlocks.
  const endpoints = new Map([...found.values()].flat().map(one => [one.id, one as Endpoint | null]))
  for (const [id, one] of [...endpoints].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (blockReasonOf(one) !== null || one!.ordering === 'per_resource') endpoints.set(id, await lockEndpoint(tx, id))
  const ordered = [...endpoints].flatMap(([id, one]) => (one?.ordering === 'per_resource' ? id : []))
  const open = await openQueues(tx, ordered, [...new Set(due.map(event => event.resourceId))])
  const deliveries: NewDelivery[] = []
  let count = 0
  for (const event of due) {
    if (deliveries.length >= maxDeliveries) break
    count++
    for (const { id } of found.get(subscriptionKey(event)) ?? []) {
      const endpoint = endpoints.get(id)
      const blocked = blockReasonOf(endpoint)
      if (!endpoint || blocked === 'endpoint_deleted') continue
      if (endpoint.resourceIds !== null && !endpoint.resourceIds.includes(event.resourceId)) continue
      const isOrdered = endpoint.ordering === 'per_resource'
      const queue = queueKey(endpoint.id, event.resourceId)
      const reason = blocked ?? (isOrdered && open.has(queue) ? waitingForEarlier : null)
      if (isOrdered && reason !== 'endpoint_disabled') open.add(queue)
      deliveries.push({
        id: newId('dlv'),
        workspaceId: event.workspaceId,
        endpointId: endpoint.id,
        resourceId: event.resourceId,
        orderPosition: isOrdered ? event.position : null,
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
    }
  }
  return { deliveries, count }
}

const subscriptionKey = ({ workspaceId, kind }: Event): string => `${workspaceId} ${kind}`

/** The endpoints that are subscribed to the kinds of the events, by workspace and kind. */
async function subscribersOf(tx: Tx, all: readonly Event[]): Promise<Map<string, Endpoint[]>> {
  const found = new Map<string, Endpoint[]>()
  for (const event of all) {
    const { workspaceId, kind } = event
    // No endpoint can be subscribed to a kind of a later version of Bailiwick.
    if (found.has(subscriptionKey(event)) || !isEventKind(kind)) continue
    const query = prepared<Endpoint[], Tx>(tx, 'webhook-subscribers', handle =>
      handle
        .select()
        .from(webhookEndpoints)
        .where(
          and(eq(webhookEndpoints.workspaceId, sql.placeholder('workspaceId')), subscribesTo(sql`${sql.placeholder('pattern')}`)),
        ),
    )
    found.set(subscriptionKey(event), await query.execute({ workspaceId, pattern: eventPattern(kind) }))
  }
  return found
}
