import { Link } from '@tanstack/react-router'
import { useMemo, type ReactNode } from 'react'
import type { ActionView } from '../../../features/actions/shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { InventoryChangeView, JournalEntryView } from '../../../features/servers/journal/shapes'
import type { ServerMonitorsView } from '../../../features/servers/monitor-shapes'
import type { ServerTransitionView } from '../../../features/servers/shapes'
import type { Page, Query } from '../../client'
import type { Band, Mark } from '../../parts/chart'
import { pluralize } from '../../parts/plural'
import { capitalize, humanize } from '../../parts/status'
import { formatDateTime } from '../../parts/time'
import { useOne } from '../../queries'
import { titleOf } from '../actions/action-title'
import { eventKinds, eventText } from './server-journal'

/** Something that happened to a server. */
interface Happening {
  at: number
  color: string
  text: ReactNode
}

export interface ServerMarks {
  marks: readonly (Mark & { text: ReactNode })[]
  /** Incidents of the monitor of the server. */
  bands: readonly Band[]
  /** Whether there were more, which are not shown. */
  isCut: boolean
}

const maxMarks = 40
const pageSize = 100

/** Numbers, newest first, what happened to a server in a range: starts, failures, actions, incidents, changes of its health and software. */
export function useServerMarks(id: string, begin: number, end: number): ServerMarks {
  const [from, to] = [new Date(begin).toISOString(), new Date(end).toISOString()]
  const during = { 'at[gte]': from, 'at[lte]': to, limit: pageSize }
  const useRows = <Row,>(path: string | null, query: Query) =>
    useOne<Page<Row>>(path, query, { refetchMs: 60_000, keepPrevious: true }).data
  const events = useRows<JournalEntryView>(`/servers/${id}/journal`, { ...during, kind: eventKinds })
  const healths = useRows<ServerTransitionView>(`/servers/${id}/transitions`, { ...during, field: 'health', sort: '-at' })
  const changes = useRows<InventoryChangeView>(`/servers/${id}/inventory/changes`, { ...during, kind: 'container,package,fact' })
  const actions = useRows<ActionView>('/actions', {
    ...{ resource_id: id, sort: '-created_at', limit: pageSize },
    ...{ 'created_at[gte]': from, 'created_at[lte]': to },
  })
  const monitor = useOne<ServerMonitorsView>(`/servers/${id}/monitors`).data?.monitor_id ?? null
  const incidents = useRows<IncidentView>(monitor === null ? null : '/incidents', {
    ...{ monitor, from, to, limit: pageSize, fields: 'id,title,started_at,resolved_at' },
  })
  return useMemo(() => {
    const happened = [
      ...(events?.data ?? []).map(markOfEvent),
      ...(healths?.data ?? []).flatMap(markOfHealth),
      ...(actions?.data ?? []).map(markOfAction),
      ...(incidents?.data ?? []).map(markOfIncident),
      ...marksOfChanges(changes?.data ?? []),
    ]
      .filter(one => one.at >= begin && one.at <= end)
      .sort((a, b) => b.at - a.at)
    return {
      marks: happened.slice(0, maxMarks).map((one, index) => ({ ...one, number: index + 1 })),
      bands: (incidents?.data ?? []).map(one => ({
        from: Date.parse(one.started_at),
        to: one.resolved_at === null ? end : Date.parse(one.resolved_at),
        color: '--bad-soft',
        label: one.title,
      })),
      isCut:
        happened.length > maxMarks ||
        [events, healths, actions, incidents, changes].some(one => one?.pagination.next_cursor != null),
    }
  }, [events, healths, actions, incidents, changes, begin, end])
}

const markOfEvent = (entry: JournalEntryView): Happening => ({
  at: Date.parse(entry.at),
  color: entry.kind === 'server.started' ? '--accent' : '--warn-mark',
  text: eventText(entry),
})

const markOfHealth = ({ at, from, to }: ServerTransitionView): Happening[] =>
  to !== 'down' && from !== 'down'
    ? []
    : [
        {
          at: Date.parse(at),
          color: to === 'down' ? '--bad-mark' : to === 'up' ? '--ok-mark' : '--idle',
          text: `Health: ${to}`,
        },
      ]

const markOfAction = (action: ActionView): Happening => ({
  at: Date.parse(action.created_at),
  color: action.status === 'error' ? '--bad-mark' : '--accent',
  text: (
    <>
      <Link to="/actions/$id" params={{ id: action.id }} className="inline-block leading-6 text-accent hover:underline">
        {titleOf(action)}
      </Link>
      {action.status === 'error' && ', failed'}
    </>
  ),
})

const markOfIncident = ({ id, title, started_at: at }: IncidentView): Happening => ({
  at: Date.parse(at),
  color: '--bad-mark',
  text: (
    <Link to="/incidents/$id" params={{ id }} className="inline-block leading-6 text-accent hover:underline">
      {title}
    </Link>
  ),
})

/** Facts that change with an update or a new size, unlike addresses. */
const markedFacts = new Set(['os', 'kernel', 'cores', 'memory_bytes', 'disk_bytes'])

/** Deployments and updates: all changes of a kind that a report contained together are one mark. */
function marksOfChanges(changes: readonly InventoryChangeView[]): Happening[] {
  const marked = changes.filter(one => one.kind !== 'fact' || markedFacts.has(one.name))
  return [...Map.groupBy(marked, one => `${one.at} ${one.kind}`).values()].map(group => ({
    at: Date.parse(group[0]!.at),
    color: '--idle',
    text: textOfChanges(group),
  }))
}

function textOfChanges(group: readonly InventoryChangeView[]): string {
  const { kind } = group[0]!
  if (kind === 'package' && group.length > 1) return `${pluralize(group.length, 'package', 'packages')} changed`
  if (kind === 'fact') return capitalize(`${group.map(one => humanize(one.name)).join(', ')} changed`)
  const noun = kind === 'package' ? 'Package' : 'Container'
  return group
    .map(({ name, change, before, after }) => {
      const [old, current] = [before, after].map(one => one?.image ?? one?.version)
      return `${noun} ${name} ${change}${change === 'changed' ? `: ${String(old)} → ${String(current)}` : ''}`
    })
    .join(', ')
}

/** What the numbers of marks mean. */
export const MarkList = ({ marks, isCut }: ServerMarks) =>
  marks.length === 0 ? null : (
    <section className="mt-4">
      <h3 className="text-[13px] font-medium">Events in this range</h3>
      <ol className="mt-1 max-h-64 overflow-y-auto text-[13px]" tabIndex={0}>
        {marks.map(({ number, at, color, text }) => (
          <li key={number} className="flex flex-wrap gap-x-3 py-0.5 sm:flex-nowrap">
            <span className="w-6 shrink-0 text-right font-semibold" style={{ color: `var(${color.replace('-mark', '')})` }}>
              {number}
            </span>
            <time dateTime={new Date(at).toISOString()} className="shrink-0 whitespace-nowrap text-muted sm:w-52">
              {formatDateTime(at)}
            </time>
            <span className="min-w-0 basis-full pl-9 wrap-anywhere sm:basis-auto sm:pl-0">{text}</span>
          </li>
        ))}
      </ol>
      {isCut && <p className="mt-1 text-[13px] text-muted">There are more. Zoom in to see them.</p>}
    </section>
  )
