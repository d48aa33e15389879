import type { ActionView } from '../../../features/actions/shapes'

/** How much of an action is done: a bar and its figure. */
export function Progress({ action: { progress, status } }: { action: Pick<ActionView, 'progress' | 'status'> }) {
  const ground = status === 'error' ? 'bg-bad-mark' : status === 'cancelled' ? 'bg-idle-mark' : 'bg-accent'
  return (
    <span className="flex items-center gap-2">
      <span
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={progress}
        className="h-1.5 min-w-16 grow overflow-hidden rounded-full bg-idle-soft"
      >
        <span className={`block h-full ${ground}`} style={{ width: `${progress}%` }} />
      </span>
      <span className="w-12 text-right text-[13px] whitespace-nowrap text-muted">{progress} %</span>
    </span>
  )
}
