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

/** How a state is to be taken. Each has a shape of its own, so that none is told by colour alone. */
export type Mood = 'ok' | 'warn' | 'bad' | 'idle' | 'busy'

const looks: Record<Mood, { icon: LucideIcon; text: string; ground: string }> = {
  ok: { icon: CircleCheck, text: 'text-ok', ground: 'bg-ok-soft' },
  warn: { icon: TriangleAlert, text: 'text-warn', ground: 'bg-warn-soft' },
  bad: { icon: CircleX, text: 'text-bad', ground: 'bg-bad-soft' },
  idle: { icon: CircleDashed, text: 'text-idle', ground: 'bg-idle-soft' },
  busy: { icon: LoaderCircle, text: 'text-accent', ground: 'bg-accent-soft' },
}

/** The words of every state the API has, and how each is to be taken. */
const moods: Record<string, Mood> = {
  up: 'ok',
  ok: 'ok',
  active: 'ok',
  enabled: 'ok',
  healthy: 'ok',
  in_sync: 'ok',
  synced: 'ok',
  succeeded: 'ok',
  delivered: 'ok',
  sent: 'ok',
  resolved: 'ok',
  accepted: 'ok',
  success: 'ok',
  served: 'ok',
  degraded: 'warn',
  late: 'warn',
  acknowledged: 'warn',
  retrying: 'warn',
  drifted: 'warn',
  grace: 'warn',
  warning: 'warn',
  flapping: 'warn',
  changed: 'warn',
  conflict: 'warn',
  held: 'warn',
  unconfirmed: 'warn',
  timed_out: 'warn',
  blocked: 'warn',
  throttled: 'warn',
  down: 'bad',
  failed: 'bad',
  failure: 'bad',
  denied: 'warn',
  failing: 'bad',
  open: 'bad',
  error: 'bad',
  critical: 'bad',
  disabled: 'bad',
  dead: 'bad',
  exhausted: 'bad',
  expired: 'bad',
  suspended: 'bad',
  revoked: 'bad',
  missing: 'bad',
  running: 'busy',
  started: 'busy',
  pending: 'busy',
  queued: 'busy',
  syncing: 'busy',
  in_progress: 'busy',
  in_force: 'busy',
  sending: 'busy',
}
const ownIcons: Record<string, LucideIcon> = {
  paused: CirclePause,
  maintenance: Wrench,
  in_force: Wrench,
  new: Clock,
  scheduled: Clock,
  queued: Clock,
  pending: Clock,
  acknowledged: CircleAlert,
}

export const moodOf = (state: string): Mood => moods[state] ?? 'idle'

/** A state as the API words it, made readable: `in_sync` is «in sync». */
export const wordsOf = (state: string): string => state.replaceAll('_', ' ')

interface StatusProps {
  state: string
  /** Where the usual mood of the word does not fit. */
  mood?: Mood
  label?: string
}

/** A state: icon, colour and word. */
export function Status({ state, mood = moodOf(state), label = wordsOf(state) }: StatusProps) {
  const { text, ground } = looks[mood]
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full py-0.5 pr-2 pl-1.5 text-[13px] whitespace-nowrap ${text} ${ground}`}
    >
      <StatusIcon state={state} mood={mood} />
      {label}
    </span>
  )
}

/** The icon of a state alone, where its word stands beside it. */
export function StatusIcon({ state, mood = moodOf(state), className = 'size-3.5' }: StatusProps & { className?: string }) {
  const Icon = ownIcons[state] ?? looks[mood].icon
  return (
    <Icon
      className={`shrink-0 ${looks[mood].text} ${mood === 'busy' && Icon === LoaderCircle ? 'animate-spin' : ''} ${className}`}
      aria-hidden
    />
  )
}

/** A word set apart: a tag, a type, a role. */
export const Tag = ({ children }: { children: string }) => (
  <span
    className="inline-block max-w-48 truncate rounded bg-idle-soft px-1.5 py-0.5 align-middle text-xs text-idle"
    title={children}
  >
    {children}
  </span>
)
