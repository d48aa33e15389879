import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { noticeKindNames, severities } from '../../core/notices'
import { editable, Instant, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../core/shapes'

export const Notice = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    kind: Words(noticeKindNames, { description: 'Kind of matter; more may be added.' }),
    title: Type.String({ description: 'The kind in a few words.' }),
    severity: Words(severities, { description: 'How much it matters.' }),
    resource: Nullable(
      Shape({
        type: Type.String({ description: 'Type of resource.' }),
        id: Type.String({ description: 'Its id.' }),
        name: Nullable(Type.String(), { description: 'Its name; null when it has none.' }),
      }),
      { description: 'What it is about; null for the workspace as a whole.' },
    ),
    text: Type.String({ description: 'What there is to know, in a sentence or two.' }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The figures of the text; which ones depends on the kind.',
    }),
    count: Type.Integer({ minimum: 1, description: 'How often the matter came up: it has one notice, which is told again.' }),
    occurred_at: Instant({ description: 'When it last came up.' }),
    read: Type.Boolean({ description: 'Whether it was marked as read since.' }),
    read_at: MaybeInstant({ description: 'When it was marked as read; null while it is unread.' }),
    ...editable,
  },
  {
    $id: 'Notice',
    description: 'Something the people of a workspace should know of.',
    examples: [
      {
        id: 'ntc_01jd8f3q7eeb9bv0w0r8c7hq2m',
        kind: 'token.expiring',
        title: 'A token is about to expire',
        severity: 'warning',
        resource: { type: 'token', id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'deploy' },
        text: 'The token “deploy” stops working in 7 days, on 2026-11-28T10:00:00.000Z.',
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
  { read: Type.Boolean({ description: 'True marks it as read, false as unread.' }) },
  { $id: 'NoticePatch', description: 'What of a notice can be changed.', examples: [{ read: true }] },
)
export type NoticePatch = Static<typeof NoticePatch>

export const NoticesRead = Shape(
  {
    up_to: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Id of a notice: it and all that came up before it are marked.',
      }),
    ),
    until: Type.Optional(Instant({ description: 'All that came up at this time or before are marked.' })),
  },
  {
    $id: 'NoticesRead',
    description: 'Which notices to mark as read: those up to one of them, those until a time, or all.',
    examples: [{ until: '2026-11-21T10:00:00.000Z' }],
  },
)
export type NoticesRead = Static<typeof NoticesRead>

export const NoticesMarked = Shape(
  { marked: Type.Integer({ minimum: 0, description: 'Notices that were unread and are read now.' }) },
  { $id: 'NoticesMarked', description: 'What was marked as read.', examples: [{ marked: 12 }] },
)
export type NoticesMarked = Static<typeof NoticesMarked>
