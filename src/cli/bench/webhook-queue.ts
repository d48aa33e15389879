import { operatorWorkspace } from '../../access/workspaces'
import { feedCounter, nextNumber, record } from '../../core/change'
import type { Config } from '../../core/config'
import { events } from '../../core/db/tables'
import { eventKind } from '../../core/events'
import { newId } from '../../core/ids'
import { closed } from '../../features/webhooks/breaker'
import { deliverJobFor } from '../../features/webhooks/delivery-jobs'
import { hintOf, sealedIn } from '../../features/webhooks/live-secrets'
import { newSecret } from '../../features/webhooks/sign'
import { webhookDeliveries, webhookEndpoints } from '../../features/webhooks/tables'
import { openHub } from '../../hub/run'

/** An endpoint and what waits for it: one delivery a moment (ms UTC). */
export interface Queue {
  url: string
  dueAt: number[]
}

const atOnce = 200

/** Makes endpoints in an empty database, with their first tries due; returns their ids, in order. */
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
      const secret = newSecret()
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
          secretSealed: await hub.keys.seal(tx, sealedIn({ id, workspaceId }, 'secret_sealed'), secret),
          secretHint: hintOf(secret),
          headersSealed: null,
          headerNames: [],
          retrySchedule: null,
          timeoutSeconds: 15,
          maxPerSecond: null,
          ordering: 'none',
          failedAttempts: 0,
          goneInARow: 0,
          ...closed,
          version: 1,
          createdAt,
          updatedAt: createdAt,
        })
        return { result: undefined }
      })
      for (let made = 0; made < dueAt.length; made += atOnce) {
        const deliveries = dueAt.slice(made, made + atOnce).map(due => ({
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
