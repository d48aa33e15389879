import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { editable, Line, ListOf, Nullable, NullableInstant, Shape, Tags, Words } from '../../core/shapes'
import { feedContents } from './contents'

/** The members that clients set. The columns and the fields of requests and responses are made from them. */
export const feedMembers = members({
  name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the feed, also shown by calendar programs.' }),
    required: true,
  },
  include: {
    schema: Type.Array(Words(feedContents), {
      minItems: 1,
      maxItems: feedContents.length,
      uniqueItems: true,
      description:
        'What the calendar contains. `domains`: the days on which domains expire. `certificates`: the days on which certificates in use expire. `maintenance`: maintenance windows of the next 62 days.',
    }),
    required: true,
  },
  tags: {
    schema: {
      ...Tags,
      description: 'Only what has at least one of these tags; for maintenance windows, the tags in their targets.',
    },
    default: [],
  },
})

const example = {
  id: 'cal_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'Operations',
  include: ['domains' as const, 'certificates' as const, 'maintenance' as const],
  tags: [],
  url: 'https://bailiwick.example/v1/calendar-feeds/bw_cal_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2/calendar.ics',
  last_used_at: '2026-11-27T10:00:00.000Z',
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

export const CalendarFeed = Shape(
  {
    id: Type.String({ description: 'ID of the feed.' }),
    ...viewMembers(feedMembers),
    url: Nullable(Type.String(), {
      description:
        'URL for calendar programs. Anyone who has it can read the feed. Null without the `domains.write` permission, and the permissions to read everything that the feed includes.',
    }),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. `url` is then null.' }),
    ),
    last_used_at: NullableInstant({ description: 'When the feed was last read, to the hour; null if never.' }),
    ...editable,
  },
  { $id: 'CalendarFeed', description: 'A calendar at a secret URL, which calendar programs subscribe to.', examples: [example] },
)
export const CalendarFeedList = ListOf(CalendarFeed)
export type CalendarFeedView = Static<typeof CalendarFeed>

export const CalendarFeedInput = Shape(inputMembers(feedMembers), {
  $id: 'CalendarFeedInput',
  description: 'A calendar feed to create.',
  examples: [{ name: 'Operations', include: ['domains', 'certificates', 'maintenance'] }],
})
export type CalendarFeedInput = Static<typeof CalendarFeedInput>

export const CalendarFeedPatch = Shape(patchMembers(feedMembers), {
  $id: 'CalendarFeedPatch',
  description: 'Fields of the calendar feed to update.',
  examples: [{ tags: ['production'] }],
})
export type CalendarFeedPatch = Static<typeof CalendarFeedPatch>
