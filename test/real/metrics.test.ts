import { expect, test } from 'bun:test'
import type { MetricCounterName } from '../../src/core/metric-counters'
import { incrementCounter } from '../../src/core/metric-counters'
import { metricCounters } from '../../src/features/metric-counters'
import { until } from '../support/binary'
import { world } from '../support/world'

test('promtool has no complaints about the metrics of a hub', async () => {
  const { acme, anonymous, hub } = await world()
  await acme.call('GET', '/v1/monitors')
  await acme.call('POST', '/v1/heartbeats', {
    name: 'backup',
    schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
  })
  for (const name of Object.keys(metricCounters) as MetricCounterName[]) incrementCounter(hub, name, 'some')
  // Requests are counted after their responses are sent.
  const text = await until('the counted requests', async () => {
    const metrics = await anonymous.call('GET', '/metrics')
    return metrics.text.includes('bailiwick_http_request_duration_seconds_bucket') && metrics.text
  })
  const run = Bun.spawn(['promtool', 'check', 'metrics'], { stdin: new Blob([text]), stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  expect([out, err, await run.exited]).toEqual(['', '', 0])
})
