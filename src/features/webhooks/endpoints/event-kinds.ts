import type { EventKind, EventKindEntry } from '../../../core/event-kinds'
import { eventKind, eventKinds } from '../../event-kinds'
import { notFound } from '../../../core/problem'
import { onePage, type Page } from '../../../core/shapes'
import { isSent } from '../../../registry'
import type { EventKindView } from './shapes'

/** Returns all event kinds on one page, the eight core kinds first. */
export const listEventKinds = (): Page<EventKindView> => onePage(eventKinds.map(kindView))

/** @throws Problem 404 */
export function getEventKind(name: string): EventKindView {
  const entry = eventKind(name)
  if (!entry) throw notFound('event kind')
  return kindView(entry)
}

function kindView(entry: EventKindEntry<EventKind>): EventKindView {
  const { kind, title, description, area, extension, version, data, example } = entry
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...data }
  return {
    kind,
    title,
    description,
    area,
    available: isSent(entry),
    extension,
    version,
    schema,
    example: example as Record<string, unknown>,
  }
}
