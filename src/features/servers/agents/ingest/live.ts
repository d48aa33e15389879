import { countRequest } from '../../../../access/limiter'
import { readSent, type SentBody } from '../../../../api/compressed-body'
import type { Hub } from '../../../../core/hub'
import { invalid } from '../../../../core/problem'
import { AgentLiveMetrics, type LiveAnswer } from '../../../../wire/agent'
import { maxLiveBytes } from '../../../../wire/agent-limits'
import { liveServersOf } from '../../live/live-servers'
import { isNeverNegative } from '../../metrics/names'
import { storedColumn } from '../minutes'
import { authenticateAgent } from './authenticate'
import { requireCurrent } from './commands'
import { readMessage } from './message'

/** One every two seconds, which need not arrive evenly. */
const requestsPerMinute = 45

/**
 * Shows what a server does now to those who look at it. Stores nothing. If nobody looks, the body is not read.
 * @throws Problem 400, 401, 409 if another run of the agent reports, 413, 415, 422, 429
 */
export async function receiveLiveMetrics(hub: Hub, { request, ip }: { request: Request; ip: string }): Promise<LiveAnswer> {
  let sent!: SentBody
  const { agent } = await authenticateAgent(hub, {
    ...{ request, ip },
    readBody: async () => (sent = await readSent(request, maxLiveBytes.compressed)).bytes,
  })
  countRequest(hub, [{ name: 'agent-live', key: agent.id, quota: requestsPerMinute, windowSeconds: 60 }])
  const live = liveServersOf(hub)
  if (live.secondsLeft(agent.serverId) === 0) return { live_seconds: 0 }
  const { run_id: runId, columns, values, processes = [] } = await readMessage(AgentLiveMetrics, sent, maxLiveBytes.decompressed)
  requireCurrent(agent, runId)
  if (values.length !== columns.length) {
    const detail = `must have ${columns.length} items, one for each column.`
    throw invalid([{ pointer: '#/values', code: 'length', detail }])
  }
  const metrics: Record<string, number> = {}
  for (const [at, column] of columns.entries()) {
    const value = values[at] ?? null
    // As with minutes, what has no valid name is ignored.
    if (value === null || storedColumn(column) === null || (value < 0 && isNeverNegative(column))) continue
    metrics[column] = value
  }
  live.add(agent.serverId, metrics, processes)
  return { live_seconds: live.secondsLeft(agent.serverId) }
}
