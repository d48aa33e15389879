import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import type { JobDraft } from '../../../core/jobs/draft'
import { deleteMonitorSeries } from './retention'

/** A job that deletes the series of a deleted monitor in the background, which may take a while. */
export const deleteSeries = (number: number): JobDraft => ({ kind: deleteSeriesJob.kind, payload: { number } })

/** Deletes the series of a deleted monitor. Idempotent. */
export const deleteSeriesJob: JobKind<{ number: number }> = {
  kind: 'monitors.delete_series',
  concurrency: 1,
  leaseMs: 600_000,
  retryAfter: attempts => Math.min(2 ** attempts * 10_000, 3_600_000),
  async run(hub: Hub, { payload }) {
    await deleteMonitorSeries(hub, payload.number)
    return async () => ({ result: undefined })
  },
}
