import { and, eq } from 'drizzle-orm'
import { events } from '../../core/db/tables'
import { isEventKind } from '../../core/events'
import { newId } from '../../core/ids'
import type { JobKind } from '../../core/jobs/job'
import { chose, chosenPattern } from './chosen'
import { deliverJobFor, untilDone, type Delivery } from './delivery-jobs'
import { heldStill, obstacleOf } from './standing'
import { webhookDeliveries, webhookEndpoints } from './tables'

// Turns one event into one delivery per endpoint that chose its kind by name. A crash may run this twice: the unique pair
// (event, endpoint) makes the second run add nothing, neither rows nor jobs.
export const dispatchJob: JobKind<{ event_id: string }> = {
  kind: 'webhooks.dispatch',
  concurrency: 8,
  leaseMs: 30_000,
  retryAfter: untilDone,
  run: async (hub, job) => async tx => {
    const [event] = await tx.select().from(events).where(eq(events.id, job.payload.event_id))
    // A kind that a later version of the program had and this one has not: no endpoint can have chosen it.
    if (!event || !isEventKind(event.kind)) return { result: undefined }
    const endpoints = await tx
      .select()
      .from(webhookEndpoints)
      .where(and(eq(webhookEndpoints.workspaceId, event.workspaceId), chose(chosenPattern(event.kind))))
    const now = hub.clock.now()
    const added: Delivery[] = []
    for (const endpoint of endpoints) {
      if (endpoint.resourceIds !== null && !endpoint.resourceIds.includes(event.resourceId)) continue
      const obstacle = obstacleOf(endpoint) && obstacleOf(await heldStill(tx, endpoint.id))
      if (obstacle === 'endpoint_deleted') continue
      added.push(
        ...(await tx
          .insert(webhookDeliveries)
          .values({
            id: newId('dlv'),
            workspaceId: event.workspaceId,
            endpointId: endpoint.id,
            eventId: event.id,
            messageId: event.messageId,
            event: event.kind,
            resourceType: event.resourceType,
            resourceId: event.resourceId,
            sequence: event.sequence,
            occurredAt: event.occurredAt,
            testBody: null,
            status: obstacle ? 'held' : 'pending',
            reason: obstacle,
            attemptCount: 0,
            lastStatusCode: null,
            lastErrorClass: null,
            nextAttemptAt: obstacle ? null : now,
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
    return { result: undefined, jobs: added.filter(row => row.status === 'pending').map(row => deliverJobFor(row, now)) }
  },
}
