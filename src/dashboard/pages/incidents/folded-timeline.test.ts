import { expect, test } from 'bun:test'
import type { IncidentUpdateView } from '../../../features/incidents/shapes'
import { foldedTimeline } from './folded-timeline'

let n = 0
const entry = (kind: IncidentUpdateView['kind'], details: Record<string, unknown> | null = null): IncidentUpdateView => ({
  id: `iup_${n++}`,
  at: new Date(n * 1000).toISOString(),
  kind,
  actor: null,
  text: kind,
  details,
  edited_at: null,
})
const about = (channel: string, message: string, reminder = false) => ({
  channel: { id: `chan_${channel}`, name: channel, kind: 'ntfy' },
  message,
  reminder,
})
const notified = (channel: string, message = 'incident.opened') => entry('notified', about(channel, message))
const failed = (channel: string, message = 'incident.opened') => entry('notification_failed', about(channel, message))
const reminded = (channel: string) => entry('notified', about(channel, 'incident.reminder', true))
const folded = (...entries: IncidentUpdateView[]) =>
  foldedTimeline(entries).map(one => (one.kind === 'entry' ? one.entry.kind : one.summary))

test('notifications about one change are one item', () => {
  expect(
    folded(entry('opened'), notified('a'), notified('b'), notified('c'), entry('resolved'), notified('a', 'incident.resolved')),
  ).toEqual(['opened', 'Notified 3 channels', 'resolved', 'Notified a'])
  expect(
    folded(entry('opened'), entry('acknowledged'), notified('a'), notified('a', 'incident.acknowledged'), notified('b')),
  ).toEqual(['opened', 'acknowledged', 'Notified 2 channels', 'Notified a'])
})

test('reminders in a row are one item', () => {
  expect(folded(entry('opened'), notified('a'), notified('b'), reminded('a'), reminded('b'), reminded('a'))).toEqual([
    'opened',
    'Notified 2 channels',
    'Sent 3 reminders to 2 channels',
  ])
  expect(folded(reminded('a'), entry('note'), reminded('a'))).toEqual(['Sent 1 reminder to a', 'note', 'Sent 1 reminder to a'])
})

test('the last failure of each channel is separate', () => {
  const [b, c, later] = [failed('b'), failed('c'), failed('b')]
  expect(foldedTimeline([notified('a'), b, c, later])).toMatchObject([
    { summary: 'Notified 1 of 3 channels', entries: { length: 4 }, failures: [{ id: later.id }, { id: c.id }] },
  ])
  expect(folded(failed('a'))).toEqual(['Could not notify a'])
  expect(folded(entry('notification_failed', about('a', 'incident.reminder', true)))).toEqual(['Could not remind a'])
})
