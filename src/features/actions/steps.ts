import type { Step } from './tables'

/** The steps of an action that has not started. */
export const plannedSteps = (names: readonly string[] = []): Step[] =>
  names.map(name => ({ name, status: 'pending', started_at: null, finished_at: null, detail: null }))

/** Starts the named step: the running one has succeeded, and pending ones before it are skipped. Null only changes the detail. */
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

/** The steps of an action that has finished. */
export function finishSteps(steps: readonly Step[], status: 'success' | 'error' | 'canceled', now: number): Step[] {
  return steps.map(step => {
    if (step.status === 'running') return { ...step, status, finished_at: now }
    return step.status === 'pending' ? { ...step, status: 'skipped' } : step
  })
}
