import type { ServerLiveView } from '../../../features/servers/live/shapes'
import { formatBytes } from '../../parts/bytes'

/** The busiest processes of a server, with the CPU time and memory that they use. */
export const ProcessList = ({ processes }: { processes: ServerLiveView['processes'] }) => (
  <ul className="text-[13px] text-muted">
    {processes.map((one, at) => (
      <li key={at} className="flex flex-wrap gap-x-3">
        <span className="grow wrap-anywhere">
          {one.command ?? one.name}
          {one.user && ` (${one.user})`}
        </span>
        <span className="tabular-nums">
          {one.cpu_percent}% CPU · {formatBytes(one.memory_bytes)}
        </span>
      </li>
    ))}
  </ul>
)
