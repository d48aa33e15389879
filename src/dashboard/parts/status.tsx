import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  Clock,
  LoaderCircle,
  TriangleAlert,
  Wrench,
  type LucideIcon,
} from 'lucide-react'

/** Meaning of a status. Each has its own icon, so that color isn't the only difference. */
export type Tone = 'ok' | 'warn' | 'bad' | 'idle' | 'busy'

const appearances: Record<Tone, { icon: LucideIcon; text: string; background: string }> = {
  ok: { icon: CircleCheck, text: 'text-ok', background: 'bg-ok-soft' },
  warn: { icon: TriangleAlert, text: 'text-warn', background: 'bg-warn-soft' },
  bad: { icon: CircleX, text: 'text-bad', background: 'bg-bad-soft' },
  idle: { icon: CircleDashed, text: 'text-idle', background: 'bg-idle-soft' },
  busy: { icon: LoaderCircle, text: 'text-accent', background: 'bg-accent-soft' },
}

const statuses: Partial<Record<Tone, string>> = {
  ok: 'up ok active enabled healthy in_sync synced succeeded delivered sent resolved accepted success served current fresh',
  warn: 'unverified degraded late acknowledged retrying drifted grace warning flapping changed conflict unconfirmed outdated modified timed_out blocked throttled denied stale',
  bad: 'down failed failure failing open error critical disabled dead exhausted expired suspended revoked missing',
  busy: 'running started pending in_flight queued syncing in_progress sending',
}
/** Tone of every status in the API. All others are idle. */
const tones = new Map(Object.entries(statuses).flatMap(([tone, words]) => words.split(' ').map(one => [one, tone as Tone])))

const statusIcons: Record<string, LucideIcon> = {
  paused: CirclePause,
  inactive: CirclePause,
  maintenance: Wrench,
  in_progress: Wrench,
  new: Clock,
  scheduled: Clock,
  queued: Clock,
  pending: Clock,
  acknowledged: CircleAlert,
}

export const toneOf = (status: string): Tone => tones.get(status) ?? 'idle'

// Statuses that are shown as another word.
const statusWords: Record<string, string> = { grace: 'late', exhausted: 'failed', ok: 'healthy' }

/** Makes an API value readable: `in_sync` becomes “in sync”. */
export const humanize = (value: string): string => statusWords[value] ?? value.replaceAll('_', ' ')

/** Capitalizes the first letter, for example of a status in a list of choices. */
export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

interface StatusProps {
  status: string
  /** Overrides the default tone of the status. */
  tone?: Tone
  label?: string
}

/** A status badge: icon, color, and text. */
export function Status({ status, tone = toneOf(status), label = humanize(status) }: StatusProps) {
  const { text, background } = appearances[tone]
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full py-0.5 pr-2 pl-1.5 text-[13px] whitespace-nowrap ${text} ${background}`}
    >
      <StatusIcon status={status} tone={tone} />
      {label}
    </span>
  )
}

/** A status as a word, in its color, next to its icon. */
export const StatusText = ({ status }: { status: string }) => (
  <span className={appearances[toneOf(status)].text}>{humanize(status)}</span>
)

/** Only the icon of a status, next to its text. */
export function StatusIcon({ status, tone = toneOf(status), className = 'size-3.5' }: StatusProps & { className?: string }) {
  const Icon = statusIcons[status] ?? appearances[tone].icon
  return (
    <Icon
      className={`shrink-0 ${appearances[tone].text} ${tone === 'busy' && Icon === LoaderCircle ? 'animate-spin' : ''} ${className}`}
      aria-hidden
    />
  )
}

/** A small label: a tag, type, or role. */
export const Tag = ({ children }: { children: string }) => (
  <span className="inline-block max-w-full rounded bg-idle-soft px-1.5 py-0.5 align-middle text-xs wrap-anywhere text-idle">
    {children}
  </span>
)

/** Tags next to each other. Nothing if there are none. */
export const Tags = ({ tags }: { tags: readonly string[] }) => (
  <span className="flex flex-wrap gap-1">
    {tags.map(tag => (
      <Tag key={tag}>{tag}</Tag>
    ))}
  </span>
)
