import { numberAfter, perSecond, words, type Figures } from './figures'

/** Files of the kernel about the whole server, and the metrics that each has. `seconds` is a time that no one sets back. */
export const kernelFiles: readonly { path: string; figures(text: string, seconds: number, pageBytes: number): Figures }[] = [
  { path: 'proc/stat', figures: text => ({ ...cpu(text), 'processes.running': numberAfter(text, 'procs_running ') }) },
  { path: 'proc/loadavg', figures: load },
  { path: 'proc/meminfo', figures: memory },
  { path: 'proc/spl/kstat/zfs/arcstats', figures: text => ({ 'memory.arc_bytes': arcBytes(text) }) },
  { path: 'proc/vmstat', figures: paging },
  { path: 'proc/sys/fs/file-nr', figures: text => ({ 'files.open': Number.parseInt(text) }) },
  { path: 'proc/pressure/cpu', figures: (text, seconds) => pressure('cpu', ['some'], text, seconds) },
  { path: 'proc/pressure/memory', figures: (text, seconds) => pressure('memory', ['some', 'full'], text, seconds) },
  { path: 'proc/pressure/io', figures: (text, seconds) => pressure('io', ['some', 'full'], text, seconds) },
]

/** Time of all CPUs in `/proc/stat`. Time of guests is part of the time of users. */
function cpu(text: string): Figures {
  const line = text.slice(0, text.indexOf('\n'))
  if (!line.startsWith('cpu ')) return {}
  // Kernels before 2.6.33 have fewer columns.
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = words(line).slice(1).map(Number)
  const total = user + nice + system + idle + iowait + irq + softirq + steal
  const share = (ticks: number) => ({ count: 100 * ticks, per: total })
  return {
    'cpu.used_percent': share(total - idle - iowait),
    'cpu.user_percent': share(user + nice),
    'cpu.system_percent': share(system + irq + softirq),
    'cpu.iowait_percent': share(iowait),
    'cpu.steal_percent': share(steal),
  }
}

function load(text: string): Figures {
  const [one, five, fifteen] = words(text).map(Number)
  return { 'load.1': one, 'load.5': five, 'load.15': fifteen }
}

/** `/proc/meminfo`. What is used, and what is cache, is the same as in `free`. */
export function memory(text: string): Figures {
  const bytes = (name: string) => {
    const kilobytes = numberAfter(text, `${name}:`)
    return kilobytes === undefined ? undefined : kilobytes * 1024
  }
  const [total, swap, swapFree] = [bytes('MemTotal'), bytes('SwapTotal'), bytes('SwapFree')]
  const cached = (bytes('Buffers') ?? 0) + (bytes('Cached') ?? 0) + (bytes('SReclaimable') ?? 0)
  // Kernels before 3.14 don't estimate it. Shared memory counts as cache, but can't be freed.
  const available = bytes('MemAvailable') ?? (bytes('MemFree') ?? 0) + cached - (bytes('Shmem') ?? 0)
  return {
    'memory.used_bytes': total === undefined ? undefined : Math.max(0, total - available),
    'memory.available_bytes': available,
    'memory.cached_bytes': cached,
    'swap.size_bytes': swap,
    'swap.used_bytes': swap === undefined || swapFree === undefined ? undefined : swap - swapFree,
  }
}

/** The size of the cache of ZFS. */
const arcBytes = (text: string): number | undefined => {
  const [, size] = /^size\s+\d+\s+(\d+)/m.exec(text) ?? []
  return size === undefined ? undefined : Number(size)
}

function paging(text: string, seconds: number, pageBytes: number): Figures {
  const [read, written] = [numberAfter(text, 'pswpin '), numberAfter(text, 'pswpout ')]
  return {
    'swap.in_bytes_per_second': read === undefined ? undefined : perSecond(read * pageBytes, seconds),
    'swap.out_bytes_per_second': written === undefined ? undefined : perSecond(written * pageBytes, seconds),
  }
}

/** Time in which tasks waited, in microseconds: https://docs.kernel.org/accounting/psi.html. */
function pressure(kind: string, parts: ('some' | 'full')[], text: string, seconds: number): Figures {
  return Object.fromEntries(
    parts.map(part => {
      const [, total] = new RegExp(`^${part} .*total=(\\d+)`, 'm').exec(text) ?? []
      return [`pressure.${kind}_${part}_percent`, total === undefined ? undefined : perSecond(Number(total) / 1e4, seconds)]
    }),
  )
}

/** `/proc/net/snmp`: a line with names and one with values for each protocol. */
export function tcp(text: string, seconds: number): Figures {
  const [names, values] = text
    .split('\n')
    .filter(line => line.startsWith('Tcp: '))
    .map(words)
  const valueOf = (name: string) => {
    const at = names?.indexOf(name) ?? -1
    return at === -1 || values?.[at] === undefined ? undefined : Number(values[at])
  }
  const retransmits = valueOf('RetransSegs')
  return {
    'tcp.established': valueOf('CurrEstab'),
    'tcp.retransmits_per_second': retransmits === undefined ? undefined : perSecond(retransmits, seconds),
  }
}

/** Bytes of a memory page, from the values that the kernel passed to this program (`AT_PAGESZ` in `/proc/self/auxv`). */
export function pageBytes(auxv: Buffer | null): number {
  for (let at = 0; auxv && at + 16 <= auxv.length; at += 16)
    if (auxv.readUInt32LE(at) === 6) return Number(auxv.readBigUInt64LE(at + 8))
  return 4096
}
