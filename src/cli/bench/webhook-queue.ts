import { operatorWorkspace } from '../../access/workspaces'
import { record } from '../../core/change'
import { feedCounter, nextNumber } from '../../core/counters'
import type { Config } from '../../core/config'
import { events } from '../../core/db/tables'
import { eventKind } from '../../features/event-kinds'
import { newId } from '../../core/ids'
import { newSecret } from '../../core/outgoing/sign'
import { onlySecret } from '../../core/outgoing/signing-secrets'
import { closedBreaker } from '../../features/webhooks/sending/breaker'
import { deliverJobFor } from '../../features/webhooks/sending/delivery-jobs'
import { webhookDeliveries } from '../../features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../features/webhooks/endpoints/tables'
import { openHub } from '../../hub/run'

/** An endpoint and the due times of its pending deliveries (ms UTC). */
export interface Queue {
  url: string
  dueAt: number[]
}

const batchSize = 200

/** Creates endpoints and pending deliveries in an empty database. @returns the ids of the endpoints */
export async function fillQueues(config: Config, queues: readonly Queue[]): Promise<string[]> {
  const hub = await openHub(config)
  try {
    const workspaceId = (await operatorWorkspace(hub.read)).id
    const kind = 'monitor.alert' as const
    const body = JSON.stringify({ event: kind, data: eventKind(kind)!.example })
    const createdAt = hub.clock.now()
    const resource = { resourceType: 'heartbeat', resourceId: newId('hb') }
    let sequence = 0
    const ids: string[] = []
    for (const { url, dueAt } of queues) {
      const id = newId('whe')
      ids.push(id)
      await record(hub, async tx => {
        await tx.insert(webhookEndpoints).values({
          id,
          workspaceId,
          url,
          description: '',
          events: [kind],
          resourceIds: null,
          active: true,
          status: 'enabled',
          disabledReason: null,
          ...(await onlySecret(tx, hub, webhookEndpoints, { id, workspaceId }, newSecret())),
          headersSealed: null,
          headerNames: [],
          retrySchedule: null,
          timeoutSeconds: 15,
          maxPerSecond: null,
          ordering: 'none',
          failedAttempts: 0,
          consecutiveGone: 0,
          ...closedBreaker,
          version: 1,
          createdAt,
          updatedAt: createdAt,
        })
        return { result: undefined }
      })
      for (let start = 0; start < dueAt.length; start += batchSize) {
        const deliveries = dueAt.slice(start, start + batchSize).map(due => ({
          id: newId('dlv'),
          workspaceId,
          endpointId: id,
          eventId: newId('evt'),
          messageId: newId('msg'),
          event: kind,
          ...resource,
          sequence: ++sequence,
          occurredAt: due,
          testBody: null,
          status: 'pending' as const,
          reason: null,
          attemptCount: 0,
          nextAttemptAt: due,
          finishedAt: null,
          endedAs: null,
          version: 1,
          createdAt: due,
          updatedAt: due,
        }))
        await record(hub, async tx => {
          const last = await nextNumber(tx, feedCounter(workspaceId), deliveries.length)
          await tx.insert(events).values(
            deliveries.map((one, place) => ({
              id: one.eventId,
              workspaceId,
              position: last - deliveries.length + 1 + place,
              messageId: one.messageId,
              kind,
              ...resource,
              sequence: one.sequence,
              occurredAt: one.occurredAt,
              body,
            })),
          )
          await tx.insert(webhookDeliveries).values(deliveries)
          return { result: undefined, jobs: deliveries.map(one => deliverJobFor(one, one.createdAt)) }
        })
      }
    }
    return ids
  } finally {
    await hub.store.close()
  }
}
