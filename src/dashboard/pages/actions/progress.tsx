import type { ActionView } from '../../../features/actions/shapes'

/** Progress bar of an action, with the percentage. */
export function Progress({ action: { progress, status } }: { action: Pick<ActionView, 'progress' | 'status'> }) {
  const color = status === 'error' ? 'bg-bad-mark' : status === 'canceled' ? 'bg-idle-mark' : 'bg-accent'
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
        <span className={`block h-full ${color}`} style={{ width: `${progress}%` }} />
      </span>
      <span className="w-12 text-right text-[13px] whitespace-nowrap text-muted">{progress}%</span>
    </span>
  )
}
