import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { valueOf, type Figure, type Figures } from './figures'
import { kernelFiles, memory, pageBytes, tcp } from './kernel'

const figuresOf = (path: string, text: string, seconds = 0): Figures =>
  kernelFiles.find(one => one.path === path)!.figures(text, seconds, 4096)
const rates = (path: string, before: string, after: string, seconds: number): Record<string, number | null> => {
  const [first, second] = [figuresOf(path, before, 100), figuresOf(path, after, 100 + seconds)]
  return Object.fromEntries(
    Object.entries(second).flatMap(([name, one]) => (one === undefined ? [] : [[name, valueOf(one, first[name])]])),
  )
}

test('CPU time is divided by the time of all CPUs', () => {
  const before = 'cpu  1000 100 500 8000 200 10 20 50 30 0\ncpu0 1 2 3\nintr 1 0 0\nctxt 7\nprocs_running 3\nprocs_blocked 1\n'
  const after = 'cpu  1200 150 600 8500 250 20 30 60 90 0\ncpu0 1 2 3\nintr 9 0 0\nctxt 8\nprocs_running 4\nprocs_blocked 0\n'
  expect(rates('proc/stat', before, after, 10)).toEqual({
    'cpu.used_percent': (100 * 380) / 930,
    'cpu.user_percent': (100 * 250) / 930,
    'cpu.system_percent': (100 * 120) / 930,
    'cpu.iowait_percent': (100 * 50) / 930,
    'cpu.steal_percent': (100 * 10) / 930,
    'processes.running': 4,
  })
})

test('an old kernel has fewer columns', () => {
  expect(rates('proc/stat', 'cpu  100 0 50 800\n', 'cpu  150 0 60 840\n', 10)).toMatchObject({
    'cpu.used_percent': 60,
    'cpu.steal_percent': 0,
  })
  expect(figuresOf('proc/stat', 'intr 1\n')).toEqual({ 'processes.running': undefined })
})

test('iowait that decreases, which some kernels report, has no value, and the other metrics do', () => {
  const found = rates('proc/stat', 'cpu  100 0 0 800 90\n', 'cpu  150 0 0 840 80\n', 10)
  expect(found['cpu.iowait_percent']).toBeNull()
  expect(found['cpu.user_percent']).toBe((100 * 50) / 80)
})

const meminfo = `MemTotal:       24684092 kB
MemFree:        12521560 kB
MemAvailable:   20854812 kB
Buffers:          665644 kB
Cached:          8116348 kB
SwapCached:            0 kB
SwapTotal:       2097148 kB
SwapFree:        2000000 kB
Shmem:           1095540 kB
SReclaimable:    1068560 kB
`
test('memory is what free reports', () => {
  expect(memory(meminfo)).toEqual({
    'memory.used_bytes': (24684092 - 20854812) * 1024,
    'memory.available_bytes': 20854812 * 1024,
    'memory.cached_bytes': (665644 + 8116348 + 1068560) * 1024,
    'swap.size_bytes': 2097148 * 1024,
    'swap.used_bytes': 97148 * 1024,
  })
})

test('a kernel without an estimate of available memory, and a server without swap', () => {
  const old = meminfo.replace(/MemAvailable.*\n/, '').replace(/(Swap(?:Total|Free):).*/g, '$1 0 kB')
  expect(memory(old)).toEqual({
    'memory.used_bytes': (24684092 - (12521560 + 665644 + 8116348 + 1068560 - 1095540)) * 1024,
    'memory.available_bytes': (12521560 + 665644 + 8116348 + 1068560 - 1095540) * 1024,
    'memory.cached_bytes': (665644 + 8116348 + 1068560) * 1024,
    'swap.size_bytes': 0,
    'swap.used_bytes': 0,
  })
  expect(memory(meminfo.replace(/Swap.*\n/g, ''))).toMatchObject({ 'swap.size_bytes': undefined, 'swap.used_bytes': undefined })
})

test('pressure, load, paging, open files, and the cache of ZFS', () => {
  const psi = (some: number, full: number) =>
    `some avg10=94.65 avg60=83.63 avg300=42.06 total=${some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=${full}\n`
  expect(rates('proc/pressure/io', psi(1_000_000, 500), psi(3_500_000, 1_000_500), 10)).toEqual({
    'pressure.io_some_percent': 25,
    'pressure.io_full_percent': 10,
  })
  // Before Linux 5.13, there is no "full" for CPUs.
  expect(rates('proc/pressure/cpu', psi(0, 0).split('\n')[0]!, psi(100_000, 0).split('\n')[0]!, 10)).toEqual({
    'pressure.cpu_some_percent': 1,
  })
  expect(figuresOf('proc/loadavg', '14.88 6.51 4.34 8/626 14469\n')).toEqual({ 'load.1': 14.88, 'load.5': 6.51, 'load.15': 4.34 })
  const vmstat = (read: number, written: number) => `nr_free_pages 1\npgpgin 5\npswpin ${read}\npswpout ${written}\nzswpin 7\n`
  expect(rates('proc/vmstat', vmstat(10, 20), vmstat(20, 20), 4)).toEqual({
    'swap.in_bytes_per_second': 10_240,
    'swap.out_bytes_per_second': 0,
  })
  expect(figuresOf('proc/sys/fs/file-nr', '7470\t0\t2466177\n')).toEqual({ 'files.open': 7470 })
  const arc =
    '13 1 0x01 147 39984 1 2\nname                            type data\nhits                            4    9\nsize                            4    4321000\nc_max 4 7\n'
  expect(figuresOf('proc/spl/kstat/zfs/arcstats', arc)).toEqual({ 'memory.arc_bytes': 4321000 })
})

test('TCP', () => {
  const snmp = (retransmitted: number) =>
    `Ip: Forwarding DefaultTTL\nIp: 2 64\nTcp: RtoAlgorithm MaxConn CurrEstab RetransSegs InErrs\nTcp: 1 -1 96 ${retransmitted} 4\nUdp: InDatagrams\nUdp: 6\n`
  const [before, after] = [tcp(snmp(10), 100), tcp(snmp(30), 110)]
  expect(after['tcp.established']).toBe(96)
  expect(valueOf(after['tcp.retransmits_per_second']!, before['tcp.retransmits_per_second'])).toBe(2)
  expect(tcp('', 1)).toEqual({ 'tcp.established': undefined, 'tcp.retransmits_per_second': undefined })
})

test('the page size of 64-bit programs', () => {
  const auxv = Buffer.alloc(48)
  for (const [at, value] of [33n, 5n, 6n, 65536n, 0n, 0n].entries()) auxv.writeBigUInt64LE(value, at * 8)
  expect([pageBytes(auxv), pageBytes(null)]).toEqual([65536, 4096])
})

test('files with any content cause no error, and give only numbers', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kernelFiles), fc.string({ unit: 'binary', maxLength: 300 }), ({ figures }, text) => {
      for (const figure of Object.values(figures(text, 1, 4096)))
        if (figure !== undefined) expect(Number.isFinite(valueOf(figure, { count: 0, per: 0 }) ?? 0)).toBe(true)
    }),
  )
})

test('a rate is the increase divided by the time; a counter that was reset has none', () => {
  const figure = fc.record({ count: fc.integer({ min: 0, max: 1e12 }), per: fc.integer({ min: 0, max: 1e9 }) })
  fc.assert(
    fc.property(figure, fc.option(figure, { nil: undefined }), (after: Figure, before?: Figure) => {
      const rate = valueOf(after, before)
      if (before === undefined) return rate === null
      const [count, per] = [(after as any).count - (before as any).count, (after as any).per - (before as any).per]
      return count < 0 || per <= 0 ? rate === null : rate === count / per
    }),
  )
  expect([valueOf(5, undefined), valueOf(Number.NaN, undefined), valueOf({ count: 5, per: 1 }, 3)]).toEqual([5, null, null])
})
