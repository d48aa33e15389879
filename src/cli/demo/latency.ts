import type { ResultBeat } from '../../features/monitors/series/result-beat'
import type { Usual } from './monitors'
import type { Outage } from './outages'

type Times = Pick<ResultBeat, 'ms' | 'dns' | 'connect' | 'tls' | 'firstByte'>

const dayMs = 86_400_000
const failedAfterMs = 9

/** The duration of a check at a time (ms UTC): longer by day than by night, with rare spikes. */
export function latencyAt(usual: Usual, outage: Outage | null, at: number, random: () => number): Times {
  const wave = 1 + 0.3 * Math.sin((at / dayMs) * 2 * Math.PI - 2) + 0.08 * Math.sin((at / dayMs / 7) * 2 * Math.PI)
  const noise = 0.85 + random() * 0.3 + (random() < 0.012 ? 1 + random() * 3 : 0)
  const factor = wave * noise
  const scaled = (ms: number | null) => ms && ms * (0.8 + random() * 0.4)
  if (outage?.status === 'down' && outage.code === null)
    return {
      ms: outage.error.kind === 'timeout' ? 10_000 : failedAfterMs,
      dns: scaled(usual.dns),
      connect: null,
      tls: null,
      firstByte: null,
    }
  const slower = outage?.status === 'degraded' && outage.code !== null ? 1_250 : 0
  const before = [usual.dns, usual.connect, usual.tls].map(scaled)
  const first = usual.firstByte && Math.max(0.3, usual.firstByte * factor - (usual.total - usual.firstByte) + slower)
  const [dns, connect, tls] = before as [number | null, number | null, number | null]
  const spent = before.reduce<number>((sum, ms) => sum + (ms ?? 0), 0)
  return { ms: Math.max(0.2, spent + (first ?? Math.max(0, usual.total * factor - spent))), dns, connect, tls, firstByte: first }
}
