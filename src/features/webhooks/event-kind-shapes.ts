import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { eventKinds } from '../../core/events'
import { areas } from '../../core/permissions'
import { ListOf, Shape, Words } from '../../core/shapes'

const kinds = eventKinds.map(one => one.kind)

export const EventKindEntry = Shape(
  {
    kind: Words(kinds, { description: 'Its name: `event` in the message and X-Service-Event.' }),
    title: Type.String({ description: 'A few words.' }),
    description: Type.String({ description: 'When it happens.' }),
    area: Words(areas, { description: 'Choosing it, and reading its events, needs read permission on this area.' }),
    extension: Type.Boolean({ description: 'False for the kinds of the public contract.' }),
    version: Type.Integer({ description: 'Grows when `data` changes in a way a receiver could notice.' }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of the message’s `data`.' }),
    example: Type.Record(Type.String(), Type.Unknown(), { description: 'A `data` of this kind; what a test message carries.' }),
  },
  {
    $id: 'EventKind',
    description: 'A kind of event that endpoints can choose.',
    examples: [
      {
        kind: 'domain.expiring',
        title: 'Domain expiring',
        description: 'A domain is about to expire.',
        area: 'domains',
        extension: false,
        version: 1,
        schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        example: { domain: 'example.com', expires_at: '2027-01-31' },
      },
    ],
  },
)
export const EventKindList = ListOf(EventKindEntry)
export type EventKindView = Static<typeof EventKindEntry>
