import type { HeartbeatView } from '../../../features/heartbeats/shapes'

/** Status labels. `grace` is shown as “late”. */
export const heartbeatStatusLabels: Record<HeartbeatView['status'], string> = {
  down: 'down',
  grace: 'late',
  up: 'up',
  new: 'new',
  paused: 'paused',
}

export const flipReasonLabels: Record<string, string> = {
  ping: 'ping received',
  fail: 'job reported a failure',
  late: 'no ping in time',
  start_timeout: 'run did not finish in time',
  paused: 'paused',
  resumed: 'resumed',
}
