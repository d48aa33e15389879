import type { PlanView } from '../../../../features/dns/plans/shapes'
import type { Tone } from '../../../parts/status'

/** Display of plan statuses. */
export const planStatuses: Record<PlanView['status'], { status: string; tone: Tone; label: string }> = {
  open: { status: 'pending', tone: 'busy', label: 'open' },
  applied: { status: 'applied', tone: 'ok', label: 'applied' },
  stale: { status: 'stale', tone: 'idle', label: 'stale' },
  expired: { status: 'expired', tone: 'idle', label: 'expired' },
}

/** Summarizes the changes of a plan: “2 to create, 1 to delete”, or “2 created” once it is applied. Counts only the listed changes. */
export function planSummary({ targets, status }: Pick<PlanView, 'targets' | 'status'>): string {
  const count = (action: string) =>
    targets.reduce((max, one) => Math.max(max, one.ops.filter(op => op.action === action).length), 0)
  const words = [
    [count('create'), 'create'],
    [count('update'), 'update'],
    [count('delete'), 'delete'],
  ] as const
  const parts = words
    .filter(([number]) => number > 0)
    .map(([number, word]) => (status === 'applied' ? `${number} ${word}d` : `${number} to ${word}`))
  return parts.length === 0 ? 'No changes' : parts.join(', ')
}
