import type { FlipView, PingView } from '../../../features/heartbeats/shapes'
import { Card } from '../../parts/page'
import { StatusIcon, type Tone } from '../../parts/status'
import { formatTime, formatDate, formatDuration, useNow, formatDateTime } from '../../parts/time'

/** A run of the job, or a missed one. */
interface Run {
  key: string
  from: number
  /** Null while it is running. */
  to: number | null
  tone: Tone
  label: string
}

/**
 * Derives the runs of a job from its pings and status changes, oldest first: finished runs, runs without a reported start (with their end
 * only), running ones, and missed ones.
 * @param pings newest first
 */
export function runsOf(pings: readonly PingView[], flips: readonly FlipView[]): Run[] {
  const runs: Run[] = []
  const ended = new Set<string>()
  let isLast = true
  for (const one of pings) {
    const at = new Date(one.at).getTime()
    if (one.kind === 'success' || one.kind === 'fail') {
      const duration = one.duration_ms === null ? '' : ` after ${formatDuration(one.duration_ms)}`
      runs.push({
        key: `n${one.n}`,
        from: at - (one.duration_ms ?? 0),
        to: at,
        tone: one.kind === 'fail' ? 'bad' : 'ok',
        label: `${one.kind === 'fail' ? 'failed' : 'succeeded'}${duration}`,
      })
      if (one.rid !== null) ended.add(one.rid)
      else isLast = false
    } else if (one.kind === 'start' && (one.rid === null ? isLast : !ended.has(one.rid))) {
      runs.push({ key: `n${one.n}`, from: at, to: null, tone: 'busy', label: 'started' })
      if (one.rid === null) isLast = false
    }
  }
  const oldest = runs.at(-1)?.from ?? -Infinity
  for (const { id, at, reason } of flips) {
    const from = new Date(at).getTime()
    if ((reason !== 'late' && reason !== 'start_timeout') || from < oldest) continue
    runs.push({ key: id, from, to: from, tone: 'warn', label: reason === 'late' ? 'missed' : 'did not finish in time' })
  }
  return runs.sort((a, b) => a.from - b.from)
}

const colors: Partial<Record<Tone, string>> = { ok: 'bg-ok-mark', bad: 'bg-bad-mark', warn: 'bg-warn-mark', busy: 'bg-accent' }
// Failed and missed runs are taller, so that they don’t differ by color only.
const heights: Partial<Record<Tone, string>> = { ok: 'h-8', bad: 'h-14', warn: 'h-14', busy: 'h-6' }
const labels: readonly (readonly [Tone, string])[] = [
  ['ok', 'succeeded'],
  ['bad', 'failed'],
  ['warn', 'missed or not finished in time'],
  ['busy', 'running'],
]

/** The recent runs on a timeline, with their duration as width. */
export function RunTimeline({ runs }: { runs: readonly Run[] }) {
  const now = useNow()
  const first = runs[0]
  if (!first) {
    return (
      <Card title="Runs">
        <p className="flex h-20 items-center justify-center text-muted">No runs yet. The first ping appears here immediately.</p>
      </Card>
    )
  }
  const length = Math.max(now - first.from, 60_000)
  const begin = now - length
  const place = (at: number) => ((at - begin) / length) * 100
  const count = (tone: Tone) => runs.filter(one => one.tone === tone).length
  const summary = labels.filter(([tone]) => count(tone) > 0).map(([tone, label]) => `${count(tone)} ${label}`)
  const isLong = length > 86_400_000
  return (
    <Card title="Runs">
      <div
        role="img"
        aria-label={`The last ${runs.length} runs: ${summary.join(', ')}`}
        className="relative h-14 border-b border-line"
      >
        {runs.map(one => (
          <span
            key={one.key}
            title={`${one.label}, ${formatDateTime(one.from)}`}
            className={`absolute bottom-0 min-w-1 rounded-t-xs ${colors[one.tone]} ${heights[one.tone]}`}
            style={{ left: `min(${place(one.from)}%, calc(100% - 4px))`, width: `${place(one.to ?? now) - place(one.from)}%` }}
          />
        ))}
      </div>
      <div className="mt-1 flex justify-between text-[13px] text-muted">
        <span>{isLong ? formatDate(begin) : formatTime(begin)}</span>
        <span>now</span>
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-[13px]">
        {labels.map(([tone, label]) =>
          count(tone) === 0 ? null : (
            <li key={tone} className="inline-flex items-center gap-1.5">
              <StatusIcon status="" tone={tone} />
              {count(tone)} {label}
            </li>
          ),
        )}
      </ul>
    </Card>
  )
}
