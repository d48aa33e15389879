import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { severities } from '../../core/notices'
import { noticeKindNames } from '../notice-kinds'
import { editable, Instant, ListOf, NullableInstant, Nullable, Shape, Words } from '../../core/shapes'

export const Notice = Shape(
  {
    id: Type.String({ description: 'ID of the notice.' }),
    kind: Words(noticeKindNames, { description: 'Kind of notice. New kinds may be added.' }),
    title: Type.String({ description: 'Title, the same for all notices of this kind.' }),
    severity: Words(severities, { description: 'Severity of the notice.' }),
    resource: Nullable(
      Shape({
        type: Type.String({ description: 'Type of resource.' }),
        id: Type.String({ description: 'ID of the resource.' }),
        name: Nullable(Type.String(), { description: 'Name; null if it has none.' }),
      }),
      { description: 'The affected resource; null for the whole workspace.' },
    ),
    text: Type.String({ description: 'Message, one or two sentences.' }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Machine-readable details, depending on the kind.',
    }),
    count: Type.Integer({
      minimum: 1,
      description: 'Number of occurrences. A repeated occurrence updates the existing notice instead of creating a new one.',
    }),
    occurred_at: Instant({ description: 'When the notice last occurred.' }),
    read: Type.Boolean({ description: 'Whether the notice is marked as read.' }),
    read_at: NullableInstant({ description: 'When the notice was marked as read; null if it is unread.' }),
    ...editable,
  },
  {
    $id: 'Notice',
    description: 'An important message for the members of a workspace.',
    examples: [
      {
        id: 'ntc_01jd8f3q7eeb9bv0w0r8c7hq2m',
        kind: 'token.expiring',
        title: 'Token expires soon',
        severity: 'warning',
        resource: { type: 'token', id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'deploy' },
        text: 'The token “deploy” (bw_live_…7Kq2) expires within 7 days, on 2026-11-28 10:00 UTC.',
        details: { expires_at: '2026-11-28T10:00:00.000Z', days_before: 7, rotated_to: null },
        count: 1,
        occurred_at: '2026-11-21T10:00:00.000Z',
        read: false,
        read_at: null,
        version: 1,
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)
export const NoticeList = ListOf(Notice)
export type NoticeView = Static<typeof Notice>

export const NoticePatch = Shape(
  { read: Type.Boolean({ description: 'True to mark the notice as read, false to mark it as unread.' }) },
  { $id: 'NoticePatch', description: 'Fields of the notice to update.', examples: [{ read: true }] },
)
export type NoticePatch = Static<typeof NoticePatch>

export const MarkNoticesReadInput = Shape(
  {
    up_to: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'ID of a notice. Marks this notice and all earlier ones as read.',
      }),
    ),
    until: Type.Optional(Instant({ description: 'Marks notices that occurred at or before this time as read.' })),
  },
  {
    $id: 'MarkNoticesReadInput',
    description: 'Which notices to mark as read: set at most one field. An empty object marks all of them.',
    examples: [{ until: '2026-11-21T10:00:00.000Z' }],
  },
)
export type MarkNoticesReadInput = Static<typeof MarkNoticesReadInput>

export const MarkNoticesReadResult = Shape(
  { marked: Type.Integer({ minimum: 0, description: 'Number of notices that were marked as read.' }) },
  { $id: 'MarkNoticesReadResult', description: 'Result of marking notices as read.', examples: [{ marked: 12 }] },
)
export type MarkNoticesReadResult = Static<typeof MarkNoticesReadResult>
