import type { PlanView } from '../../../../features/dns/sync/shapes'
import type { Mood } from '../../../parts/status'

/** How the states of a plan are taken. */
export const planStates: Record<PlanView['status'], { state: string; mood: Mood; label: string }> = {
  open: { state: 'pending', mood: 'busy', label: 'open' },
  applied: { state: 'applied', mood: 'ok', label: 'applied' },
  stale: { state: 'stale', mood: 'idle', label: 'stale' },
  expired: { state: 'expired', mood: 'idle', label: 'expired' },
}

/** How many steps of each kind a plan has: «2 added, 1 removed»; of what is shown where there are more. */
export function stepsInWords({ targets }: Pick<PlanView, 'targets'>): string {
  const count = (action: string) =>
    targets.reduce((most, one) => Math.max(most, one.ops.filter(op => op.action === action).length), 0)
  const words = [
    [count('create'), 'added'],
    [count('update'), 'changed'],
    [count('delete'), 'removed'],
  ] as const
  const told = words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  return told.length === 0 ? 'nothing' : told.join(', ')
}
