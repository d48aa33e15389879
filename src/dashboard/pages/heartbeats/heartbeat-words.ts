import type { HeartbeatView } from '../../../features/heartbeats/shapes'

/** What each status is called; `grace` says little to people. */
export const heartbeatStatusWords: Record<HeartbeatView['status'], string> = {
  down: 'down',
  grace: 'late',
  up: 'up',
  new: 'new',
  paused: 'paused',
}

export const flipReasons: Record<string, string> = {
  ping: 'a ping came',
  fail: 'the job said that it failed',
  late: 'no ping came in time',
  start_timeout: 'a run did not end in time',
  paused: 'paused',
  resumed: 'resumed',
}
