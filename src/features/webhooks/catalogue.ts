import { eventKind, eventKinds, type EventKind, type EventKindEntry } from '../../core/events'
import { notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import type { EventKindView } from './event-kind-shapes'

/** Every kind of event, the public contract first, on one page. */
export const listEventKinds = (): Page<EventKindView> => ({
  data: eventKinds.map(kindView),
  pagination: { has_more: false, next_cursor: null },
})

/** @throws Problem 404 */
export function getEventKind(name: string): EventKindView {
  const entry = eventKind(name)
  if (!entry) throw notFound('event kind')
  return kindView(entry)
}

function kindView(entry: EventKindEntry<EventKind>): EventKindView {
  const { kind, title, description, area, extension, version, data, example } = entry
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...data }
  return { kind, title, description, area, extension, version, schema, example: example as Record<string, unknown> }
}
