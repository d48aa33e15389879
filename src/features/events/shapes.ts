import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { resourceFields, Expanded, Instant, ListOf, Shape } from '../../core/shapes'

export const EventResource = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Current state of the resource, as returned when you get it by ID; null if it was deleted or if you have no access to it.',
})

export const Event = Shape(
  {
    id: Type.String({ description: 'ID of the event.' }),
    workspace_id: Type.String({ description: 'ID of the workspace, sent to webhooks as the X-Service-Workspace header.' }),
    message_id: Type.String({ description: 'Message ID, sent to every webhook endpoint as the webhook-id header.' }),
    kind: Type.String({ description: 'Event kind; see `GET /v1/event-kinds`.' }),
    occurred_at: Instant({ description: 'When the event occurred.' }),
    resource: Shape(resourceFields, { description: 'Resource that the event is about.' }),
    sequence: Type.Integer({
      minimum: 1,
      description: 'Sequence number of the event, counted per resource and event kind, without gaps.',
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Event data. For its fields, see the `schema` of the event kind.',
    }),
    expanded: Expanded({ resource: EventResource }),
  },
  {
    $id: 'Event',
    description: 'An event in the workspace.',
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
