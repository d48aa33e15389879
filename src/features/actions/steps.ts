import type { Step } from './tables'

/** The steps of an action that was not begun. */
export const plannedSteps = (names: readonly string[] = []): Step[] =>
  names.map(name => ({ name, status: 'pending', started_at: null, finished_at: null, detail: null }))

/** The steps once the named one runs: one that ran has succeeded, those passed over were skipped. Null changes the detail alone. */
export function advance(steps: readonly Step[], name: string | null, detail: string | undefined, now: number): Step[] {
  const place = steps.findIndex(step => step.name === name)
  return steps.map((step, at) => {
    if (place < 0 || at === place) {
      const runs = place < 0 ? step.status === 'running' : true
      if (!runs) return step
      return { ...step, status: 'running', started_at: step.started_at ?? now, detail: detail ?? step.detail }
    }
    if (at > place) return step
    if (step.status === 'running') return { ...step, status: 'success', finished_at: now }
    return step.status === 'pending' ? { ...step, status: 'skipped' } : step
  })
}

/** The steps of an action that ended. */
export function close(steps: readonly Step[], as: 'success' | 'error' | 'cancelled', now: number): Step[] {
  return steps.map(step => {
    if (step.status === 'running') return { ...step, status: as, finished_at: now }
    return step.status === 'pending' ? { ...step, status: 'skipped' } : step
  })
}
