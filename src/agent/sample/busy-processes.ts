import type { AgentReport } from '../../wire/agent'
import { words } from './figures'
import { lineOf, nameOf } from './line'
import type { Root } from './root'
import { userNames } from './sockets'

type Moment = NonNullable<AgentReport['moments']>[number]
type BusyProcess = Moment['processes'][number]

/** Reading each process of a server that has more would use too much CPU time. */
const maxProcesses = 2000
/** Processes with the most CPU time, and with the most memory. */
const processesEach = 5
/** Ticks of a second in `/proc/PID/stat` (`USER_HZ`): the same on all architectures that the agent supports. */
export const ticksPerSecond = 100
const maxCommandBytes = 1024

/** What a process has used since it started. */
interface Used {
  name: string
  ticks: number
  /** When it started, in ticks since the boot. Another process can have the same number later. */
  startedAt: number
  bytes: number
}

/** All processes at a time. */
export interface ProcessReading {
  /** A time that no one sets back, in seconds. */
  seconds: number
  byId: ReadonlyMap<string, Used>
}

/** Reads what all processes have used. Takes about 10 µs each, so it is only done in busy moments. */
export function readProcesses(root: Root, seconds: number, pageBytes: number): ProcessReading {
  const ids = root.names('proc').filter(name => /^\d+$/.test(name))
  const found = ids.slice(0, maxProcesses).flatMap(id => {
    const used = parseStat(root.start(`proc/${id}/stat`, 512)?.toString('utf8') ?? '', pageBytes)
    return used ? [[id, used] as const] : []
  })
  return { seconds, byId: new Map(found) }
}

/** `/proc/PID/stat` (proc_pid_stat(5)). The name of the program can contain spaces and parentheses. */
function parseStat(text: string, pageBytes: number): Used | null {
  const [from, to] = [text.indexOf('('), text.lastIndexOf(')')]
  if (from === -1 || to < from) return null
  const fields = words(text.slice(to + 1))
  // The first one is the third field of the file.
  const [userTicks, systemTicks, startedAt, pages] = [11, 12, 19, 21].map(at => Number(fields[at])) as [
    number,
    number,
    number,
    number,
  ]
  const bytes = pages * pageBytes
  if (![userTicks, systemTicks, startedAt].every(Number.isFinite) || !Number.isSafeInteger(bytes)) return null
  return {
    name: nameOf(text.slice(from + 1, to), 100),
    ticks: userTicks + systemTicks,
    startedAt,
    bytes: Math.max(0, bytes),
  }
}

/**
 * The processes with the most CPU time between two readings, and with the most memory at the second one, most CPU time first.
 * @param withCommands whether the owner of the server allows to report the arguments of processes
 */
export function busiest(root: Root, before: ProcessReading, after: ProcessReading, withCommands: boolean): BusyProcess[] {
  const cores = root.text('proc/stat')?.match(/^cpu\d/gm)?.length ?? 1
  const seconds = after.seconds - before.seconds
  const all = [...after.byId].map(([id, used]) => {
    const known = before.byId.get(id)
    // A process that has started since then has used all of its time since then.
    const earlier = known?.startedAt === used.startedAt ? known.ticks : 0
    const share = (100 * (used.ticks - earlier)) / ticksPerSecond / seconds / cores
    return { id, ...used, percent: Number.isFinite(share) ? Math.min(100, Math.max(0, share)) : 0 }
  })
  const byCpu = all.toSorted((a, b) => b.percent - a.percent).filter(one => one.percent > 0)
  const byMemory = all.toSorted((a, b) => b.bytes - a.bytes).filter(one => one.bytes > 0)
  const chosen = new Set([...byCpu.slice(0, processesEach), ...byMemory.slice(0, processesEach)])
  const users = userNames(root)
  return [...chosen]
    .sort((a, b) => b.percent - a.percent || b.bytes - a.bytes)
    .map(({ id, name, percent, bytes }) => ({
      name,
      user: users.get(root.owner(`proc/${id}`) ?? -1) ?? null,
      cpu_percent: Math.round(percent * 10) / 10,
      memory_bytes: bytes,
      command: withCommands ? commandOf(root, id) : null,
    }))
}

const commandOf = (root: Root, id: string): string | null =>
  lineOf(root.start(`proc/${id}/cmdline`, maxCommandBytes)?.toString('utf8').replaceAll('\0', ' '), 300)
