import { expect, test } from 'bun:test'
import type { FlipView, PingView } from '../../../features/heartbeats/shapes'
import { runsOf } from './run-timeline'

const at = (second: number) => new Date(second * 1000).toISOString()
const ping = (n: number, kind: PingView['kind'], second: number, more: Partial<PingView> = {}): PingView => ({
  n,
  kind,
  at: at(second),
  exit_status: null,
  duration_ms: null,
  rid: null,
  source: '192.0.2.7',
  method: 'GET',
  user_agent: '',
  body_bytes: 0,
  ...more,
})
const summarized = (pings: PingView[], flips: FlipView[] = []) =>
  runsOf(pings.toReversed(), flips).map(one => [one.from / 1000, one.to === null ? null : one.to / 1000, one.tone])

test('a run spans from its start to its end, and one without an end is running', () => {
  const pings = [ping(1, 'start', 10), ping(2, 'success', 40, { duration_ms: 30_000 }), ping(3, 'log', 41), ping(4, 'start', 70)]
  expect(summarized(pings)).toEqual([
    [10, 40, 'ok'],
    [70, null, 'busy'],
  ])
})

test('runs with IDs can overlap', () => {
  const pings = [
    ping(1, 'start', 10, { rid: 'a' }),
    ping(2, 'start', 20, { rid: 'b' }),
    ping(3, 'fail', 30, { rid: 'a', duration_ms: 20_000 }),
  ]
  expect(summarized(pings)).toEqual([
    [10, 30, 'bad'],
    [20, null, 'busy'],
  ])
})

test('a start followed by an end is not running, and missed runs are included', () => {
  const flip = (id: string, second: number, reason: FlipView['reason']) =>
    ({ id, at: at(second), from: 'up', to: 'down', reason }) as FlipView
  const pings = [ping(1, 'success', 10), ping(2, 'start', 20), ping(3, 'success', 90)]
  expect(summarized(pings, [flip('a', 70, 'late'), flip('b', 80, 'paused'), flip('c', 5, 'late')])).toEqual([
    [10, 10, 'ok'],
    [70, 70, 'warn'],
    [90, 90, 'ok'],
  ])
})
