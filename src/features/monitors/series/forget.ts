import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import type { JobDraft } from '../../../core/jobs/queue'
import { forgetMonitor } from './retention'

/** The job that goes with the deletion of a monitor: its series are deleted behind it, which may take a while. */
export const forgetSeries = (number: number): JobDraft => ({ kind: forgetSeriesJob.kind, payload: { number } })

/** Deletes the series of a monitor that is no more. Doing so twice finds nothing. */
export const forgetSeriesJob: JobKind<{ number: number }> = {
  kind: 'monitors.forget_series',
  concurrency: 1,
  leaseMs: 600_000,
  retryAfter: attempts => Math.min(2 ** attempts * 10_000, 3_600_000),
  async run(hub: Hub, { payload }) {
    await forgetMonitor(hub, payload.number)
    return async () => ({ result: undefined })
  },
}
