import type { IncidentUpdateView } from '../../../features/incidents/shapes'
import { pluralize } from '../../parts/plural'

/** A channel, as notification entries of a timeline name it in their details. */
interface Channel {
  id: string
  name: string
}

/** Notifications about the same change, or reminders in a row, as one item. */
interface NotificationGroup {
  kind: 'notifications'
  id: string
  /** “Notified 4 of 5 channels” */
  summary: string
  /** When the last one was sent. */
  at: string
  entries: readonly IncidentUpdateView[]
  /** The last failure of each channel. */
  failures: readonly IncidentUpdateView[]
}

export type TimelineItem = { kind: 'entry'; id: string; entry: IncidentUpdateView } | NotificationGroup

/** Folds the notifications between two other entries: those about the same change into one item, and all reminders into another. */
export function foldedTimeline(entries: readonly IncidentUpdateView[]): TimelineItem[] {
  const items: TimelineItem[] = []
  for (let at = 0; at < entries.length;) {
    const end = entries.findIndex((one, index) => index >= at && !isNotification(one))
    const run = entries.slice(at, end === -1 ? undefined : end)
    for (const group of Map.groupBy(run, messageOf).values()) items.push(groupOf(group))
    at += run.length
    const entry = entries[at++]
    if (entry) items.push({ kind: 'entry', id: entry.id, entry })
  }
  return items
}

const isNotification = ({ kind }: IncidentUpdateView): boolean => kind === 'notified' || kind === 'notification_failed'
const isReminder = ({ details }: IncidentUpdateView): boolean => details?.['reminder'] === true
const messageOf = (entry: IncidentUpdateView): unknown => (isReminder(entry) ? 'reminder' : entry.details?.['message'])
const channelOf = ({ details, id }: IncidentUpdateView): Channel =>
  (details?.['channel'] as Channel | undefined) ?? { id, name: '' }

function groupOf(entries: readonly IncidentUpdateView[]): NotificationGroup {
  const failed = entries.filter(one => one.kind === 'notification_failed')
  return {
    kind: 'notifications',
    id: entries[0]!.id,
    summary: summaryOf(entries),
    at: entries.at(-1)!.at,
    entries,
    failures: [...new Map(failed.map(one => [channelOf(one).id, one])).values()],
  }
}

function summaryOf(entries: readonly IncidentUpdateView[]): string {
  const sent = entries.filter(one => one.kind === 'notified')
  const [all, reached] = [channelsOf(entries), channelsOf(sent)]
  const channels = all.length === 1 ? all[0]!.name || '1 channel' : pluralize(all.length, 'channel', 'channels')
  if (isReminder(entries[0]!)) {
    const reminders = pluralize(sent.length, 'reminder', 'reminders')
    return sent.length === 0 ? `Could not remind ${channels}` : `Sent ${reminders} to ${countOf(reached, all, channels)}`
  }
  return sent.length === 0 ? `Could not notify ${channels}` : `Notified ${countOf(reached, all, channels)}`
}

const countOf = (reached: readonly Channel[], all: readonly Channel[], channels: string): string =>
  reached.length < all.length ? `${reached.length} of ${channels}` : channels

const channelsOf = (entries: readonly IncidentUpdateView[]): Channel[] => [
  ...new Map(entries.map(channelOf).map(one => [one.id, one])).values(),
]
