import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Expanded, Instant, ListOf, Shape } from '../../core/shapes'

export const Event = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    workspace_id: Type.String({ description: 'Workspace it happened in: X-Service-Workspace of its messages.' }),
    message_id: Type.String({ description: 'Identifier of its message to every webhook endpoint: `webhook-id`.' }),
    kind: Type.String({ description: 'Kind of event; see /v1/event-kinds.' }),
    occurred_at: Instant({ description: 'When it happened.' }),
    resource: Shape({ type: Type.String(), id: Type.String() }, { description: 'What it is about.' }),
    sequence: Type.Integer({ minimum: 1, description: 'Place among the events of this kind and resource, without gaps.' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'What is told of it, as the kind’s schema says.' }),
    expanded: Expanded({
      resource: Type.Record(Type.String(), Type.Unknown(), {
        description: 'What it is about, as the operation that reads a resource of its type shows it now.',
      }),
    }),
  },
  {
    $id: 'Event',
    description: 'A fact that happened.',
    examples: [
      {
        id: 'evt_01jd8f3q7eeb9bv0w0r8c7hq2m',
        workspace_id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
        message_id: 'msg_01jd8f3q7eeb9bv0w0r8c7hq2m',
        kind: 'domain.expiring',
        occurred_at: '2026-11-21T10:00:00.000Z',
        resource: { type: 'domain', id: 'dom_01jd8f3q7eeb9bv0w0r8c7hq2m' },
        sequence: 1,
        data: { domain: 'example.com', expires_at: '2027-01-31' },
      },
    ],
  },
)
export const EventList = ListOf(Event)
export type EventView = Static<typeof Event>
