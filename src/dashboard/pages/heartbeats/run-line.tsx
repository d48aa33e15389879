import type { FlipView, PingView } from '../../../features/heartbeats/shapes'
import { Card } from '../../parts/page'
import { StatusIcon, type Mood } from '../../parts/status'
import { clockTime, dayOf, span, useNow, wholeTime } from '../../parts/time'

/** A run of the job, or a time at which none came. */
export interface Run {
  key: string
  from: number
  /** Null while it goes on. */
  to: number | null
  mood: Mood
  words: string
}

/**
 * What pings and changes of status tell of the runs of a job, oldest first: each from its start to its end, those that told no start
 * at their end alone, those that go on, and the times at which one was missed.
 * @param pings newest first
 */
export function runsOf(pings: readonly PingView[], flips: readonly FlipView[]): Run[] {
  const runs: Run[] = []
  const ended = new Set<string>()
  let isLast = true
  for (const one of pings) {
    const at = new Date(one.at).getTime()
    if (one.kind === 'success' || one.kind === 'fail') {
      const took = one.duration_ms === null ? '' : ` after ${span(one.duration_ms)}`
      runs.push({
        key: `n${one.n}`,
        from: at - (one.duration_ms ?? 0),
        to: at,
        mood: one.kind === 'fail' ? 'bad' : 'ok',
        words: `${one.kind === 'fail' ? 'failed' : 'went well'}${took}`,
      })
      if (one.rid !== null) ended.add(one.rid)
      else isLast = false
    } else if (one.kind === 'start' && (one.rid === null ? isLast : !ended.has(one.rid))) {
      runs.push({ key: `n${one.n}`, from: at, to: null, mood: 'busy', words: 'started' })
      if (one.rid === null) isLast = false
    }
  }
  const oldest = runs.at(-1)?.from ?? -Infinity
  for (const { id, at, reason } of flips) {
    const from = new Date(at).getTime()
    if ((reason !== 'late' && reason !== 'start_timeout') || from < oldest) continue
    runs.push({ key: id, from, to: from, mood: 'warn', words: reason === 'late' ? 'none came in time' : 'did not end in time' })
  }
  return runs.sort((a, b) => a.from - b.from)
}

const colours: Partial<Record<Mood, string>> = { ok: 'bg-ok-mark', bad: 'bg-bad-mark', warn: 'bg-warn-mark', busy: 'bg-accent' }
// Colour is never alone: what went wrong reaches higher.
const heights: Partial<Record<Mood, string>> = { ok: 'h-8', bad: 'h-14', warn: 'h-14', busy: 'h-6' }
const words: readonly (readonly [Mood, string])[] = [
  ['ok', 'went well'],
  ['bad', 'failed'],
  ['warn', 'missed'],
  ['busy', 'running'],
]

/** The last runs on a line of time, each as wide as it was long. */
export function RunLine({ runs }: { runs: readonly Run[] }) {
  const now = useNow()
  const first = runs[0]
  if (!first) {
    return (
      <Card title="Runs">
        <p className="flex h-20 items-center justify-center text-muted">No run yet. The first ping shows here at once.</p>
      </Card>
    )
  }
  const length = Math.max(now - first.from, 60_000)
  const begin = now - length
  const place = (at: number) => ((at - begin) / length) * 100
  const count = (mood: Mood) => runs.filter(one => one.mood === mood).length
  const told = words.filter(([mood]) => count(mood) > 0).map(([mood, word]) => `${count(mood)} ${word}`)
  const isLong = length > 86_400_000
  return (
    <Card title="Runs">
      <div
        role="img"
        aria-label={`The last ${runs.length} runs: ${told.join(', ')}`}
        className="relative h-14 border-b border-line"
      >
        {runs.map(one => (
          <span
            key={one.key}
            title={`${one.words}, ${wholeTime(one.from)}`}
            className={`absolute bottom-0 min-w-1 rounded-t-xs ${colours[one.mood]} ${heights[one.mood]}`}
            style={{ left: `min(${place(one.from)}%, calc(100% - 4px))`, width: `${place(one.to ?? now) - place(one.from)}%` }}
          />
        ))}
      </div>
      <div className="mt-1 flex justify-between text-[13px] text-muted">
        <span>{isLong ? dayOf(begin) : clockTime(begin)}</span>
        <span>now</span>
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-[13px]">
        {words.map(([mood, word]) =>
          count(mood) === 0 ? null : (
            <li key={mood} className="inline-flex items-center gap-1.5">
              <StatusIcon state="" mood={mood} />
              {count(mood)} {word}
            </li>
          ),
        )}
      </ul>
    </Card>
  )
}
