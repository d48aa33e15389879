import type { ResultView } from '../../../features/monitors/series/shapes'
import { formatLatency } from '../../parts/time'

const colors = {
  DNS: 'bg-idle-mark',
  Connect: 'bg-warn-mark',
  TLS: 'bg-ok-mark',
  'First byte': 'bg-accent',
  Other: 'bg-strong-line',
}

/** The phases of a check as a waterfall chart. */
export function Waterfall({ phases, latencyMs }: { phases: ResultView['phases']; latencyMs: number | null }) {
  const parts = partsOf(phases, latencyMs)
  if (parts.length === 0) return <p className="text-muted">Durations by phase are only kept for today and yesterday.</p>
  const whole = Math.max(...parts.map(one => one.from + one.ms), 0.1)
  return (
    <table className="w-full text-[13px]" aria-label="Phases of the check">
      <tbody>
        {parts.map(one => (
          <tr key={one.label}>
            <th scope="row" className="w-20 py-1 text-left font-normal text-muted">
              {one.label}
            </th>
            <td className="py-1">
              <div
                className={`h-3 min-w-0.5 rounded-sm ${colors[one.label]}`}
                style={{ marginLeft: `${(100 * one.from) / whole}%`, width: `${(100 * one.ms) / whole}%` }}
              />
            </td>
            <td className="w-20 py-1 text-right">{formatLatency(one.ms)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr className="border-t border-line">
          <th scope="row" className="py-1 text-left font-medium">
            Total
          </th>
          <td />
          <td className="py-1 text-right font-medium">{formatLatency(latencyMs)}</td>
        </tr>
      </tfoot>
    </table>
  )
}

interface Part {
  label: keyof typeof colors
  from: number
  ms: number
}

function partsOf({ dns_ms, connect_ms, tls_ms, first_byte_ms }: ResultView['phases'], latencyMs: number | null): Part[] {
  const parts: Part[] = []
  let from = 0
  const add = (label: Part['label'], ms: number | null) => {
    if (ms === null) return
    parts.push({ label, from, ms })
    from += ms
  }
  add('DNS', dns_ms)
  add('Connect', connect_ms)
  add('TLS', tls_ms)
  add('First byte', first_byte_ms)
  if (parts.length > 0 && latencyMs !== null && latencyMs - from > 0.1) add('Other', latencyMs - from)
  return parts
}
