import type { JournalEntryView } from '../../../features/servers/journal/shapes'
import { useList } from '../../queries'
import { DayCard } from './day-card'
import { ProcessList } from './process-list'

type Moment = NonNullable<JournalEntryView['moment']>

const titles: Readonly<Record<Exclude<JournalEntryView['kind'], 'moment'>, readonly [noun: string, verb: string]>> = {
  'server.started': ['Server', 'started'],
  'unit.failed': ['Unit', 'failed'],
  'container.died': ['Container', 'exited with an error'],
  'container.unhealthy': ['Container', 'became unhealthy'],
  'container.restarting': ['Container', 'restarted'],
  'disk.failing': ['Disk', 'is failing'],
  'array.degraded': ['Disk array', 'became degraded'],
}

const causes: Readonly<Record<Moment['causes'][number], readonly [title: string, value: (moment: Moment) => number | null]>> = {
  cpu: ['CPU use', one => one.cpu_percent],
  memory: ['Memory use', one => one.memory_percent],
  io: ['I/O pressure', one => one.io_full_percent],
}

const causesText = (moment: Moment): string =>
  moment.causes
    .map(cause => {
      const [title, value] = causes[cause]
      return `${title} ${value(moment) ?? '?'}%`
    })
    .join(', ')

/** The kinds of all entries but moments, as in queries. */
export const eventKinds = Object.keys(titles).join(',')

/** An event as text, such as “Unit nginx.service failed”. Null for moments. */
export const eventText = ({ kind, name }: JournalEntryView): string | null =>
  kind === 'moment' ? null : [titles[kind][0], name, titles[kind][1]].filter(Boolean).join(' ')

/** What the agent of a server noticed, day by day, also if the server no longer has one. */
export const ServerJournal = ({ id, hasAgent }: { id: string; hasAgent: boolean }) => (
  <DayCard
    title="Journal"
    rows={useList<JournalEntryView>(`/servers/${id}/journal`, { limit: 50 }, { refetchMs: 60_000 })}
    empty={hasAgent ? 'Nothing has failed, and the server was not busy.' : null}
  >
    {one => <JournalEntry entry={one} />}
  </DayCard>
)

/** An event, or a busy moment with its processes. */
export function JournalEntry({ entry: { kind, name, detail, moment } }: { entry: JournalEntryView }) {
  if (kind !== 'moment') {
    const [noun, verb] = titles[kind]
    return (
      <>
        {noun} <span className="font-medium">{name}</span> {verb}
        {detail && <p className="text-[13px] text-muted">{detail}</p>}
      </>
    )
  }
  return (
    moment && (
      <>
        {causesText(moment)}
        <ProcessList processes={moment.processes} />
      </>
    )
  )
}
