import type { AgentReport } from '../../wire/agent'
import { lineOf, nameOf } from './line'
import { runProgram } from './program'

type Disk = NonNullable<AgentReport['disks']>[number]

/** A count of errors that disks only add to, and since when it has grown. */
interface GrowingCount {
  value: number
  /** The value before it grew. */
  from: number
  /** When it last grew (ms UTC); null if it has not. */
  grownAt: number | null
}

/** What is known about a disk. It is stored between readings, to find counts that grow. */
export interface DiskState {
  disk: Disk
  counts: Record<string, GrowingCount>
}

const limits = { timeoutMs: 30_000, maxBytes: 1024 * 1024 }
const maxDisks = 64
/** A count that has grown is reported for this long. */
const grownMs = 7 * 86_400_000
/** NVMe disks report the used part of their endurance, which can exceed 100. */
const maxUsedPercent = 90

/** Attributes of ATA disks that count errors. Others differ between vendors, or say nothing about failures. */
const ataCounts: Readonly<Record<number, string>> = {
  5: 'Reallocated sectors',
  187: 'Uncorrectable errors',
  188: 'Command timeouts',
  197: 'Sectors waiting to be reallocated',
  198: 'Sectors that could not be read',
}

/** Bits of the critical warning of NVMe disks (NVM Express Base Specification, SMART / Health Information log). */
const nvmeWarnings = [
  'The spare capacity is below its threshold.',
  'The temperature is outside of its limits.',
  'The reliability is degraded because of errors.',
  'The disk only allows reading.',
  'The backup of its volatile memory has failed.',
  'The persistent memory region is read-only or unreliable.',
]

/**
 * Reads the SMART data of all disks with smartctl, as root. Disks that sleep are left asleep, and keep what was known.
 * @param previous the result of the previous reading
 * @param now the time (ms UTC)
 * @returns null if smartctl is not installed
 */
export async function readDisks(
  previous: readonly DiskState[],
  now: number,
  problem: (sentence: string) => void,
): Promise<DiskState[] | null> {
  const scan = await runProgram(['smartctl', '--scan-open', '--json=c'], limits)
  if (scan === 'missing') return null
  const devices = typeof scan === 'object' ? scannedDevices(scan.out) : null
  if (devices === null) {
    problem('SMART data is unknown, because smartctl can’t list the disks.')
    return []
  }
  if (devices.length > maxDisks) problem(`Only ${maxDisks} of ${devices.length} disks have their SMART data read.`)
  const states: DiskState[] = []
  for (const { name, type } of devices.slice(0, maxDisks)) {
    const result = await runProgram(['smartctl', '--json=c', '-n', 'standby', '-a', '-d', type, name], limits)
    const output = typeof result === 'object' ? result.out : result
    states.push(diskState(name, output, previous, now))
  }
  return states
}

/** The output of `smartctl --scan-open --json`; null if it is something else. */
export function scannedDevices(output: string): { name: string; type: string }[] | null {
  const { devices } = Object(parsed(output))
  if (!Array.isArray(devices)) return parsed(output) === null ? null : []
  return devices.flatMap(one => {
    const { name, type } = Object(one)
    return typeof name === 'string' && typeof type === 'string' ? [{ name, type }] : []
  })
}

/**
 * What the output of `smartctl --json -a` says about a disk. The exit status is ignored: some of its bits are about the disk, and with
 * the others there can still be data.
 */
export function diskState(device: string, output: string, previous: readonly DiskState[], now: number): DiskState {
  const data = Object(parsed(output))
  const messages: string[] = listOf(data.smartctl?.messages).map(one => String(Object(one).string))
  const serial = lineOf(data.serial_number, 100)
  const before = previous.find(({ disk }) => (serial === null ? disk.device === device : disk.serial === serial))
  if (before && messages.some(one => /\b(STANDBY|SLEEP|IDLE)\b.*mode/i.test(one))) return before
  const counts = growingCounts(data, before?.counts ?? {}, now)
  const warnings = [...statusWarnings(data), ...grownWarnings(counts, now)]
  const isKnown =
    data.smart_status !== undefined ||
    data.ata_smart_attributes !== undefined ||
    data.nvme_smart_health_information_log !== undefined
  const disk: Disk = {
    device: nameOf(device, 100),
    model: lineOf(data.model_name ?? data.scsi_model_name, 200),
    serial,
    failing: warnings.length > 0,
    warnings: warnings.slice(0, 20),
    error: isKnown ? null : lineOf(reasonOf(output, messages), 300),
  }
  return { disk, counts }
}

function reasonOf(output: string, messages: readonly string[]): string {
  if (output === 'timeout') return `smartctl did not finish within ${limits.timeoutMs / 1000} seconds.`
  if (messages.length > 0) return messages.join(' ')
  return parsed(output) === null ? 'The output of smartctl can’t be read.' : 'The disk provides no SMART data.'
}

function statusWarnings(data: any): string[] {
  const found: string[] = []
  if (data.smart_status?.passed === false) found.push('The disk reports that it is failing.')
  for (const one of listOf(data.ata_smart_attributes?.table)) {
    const { name, value, thresh, when_failed: failed, flags } = Object(one)
    if (failed === 'now' && flags?.prefailure === true)
      found.push(`${lineOf(name, 100) ?? 'An attribute'} is ${value}, which is not above its threshold of ${thresh}.`)
  }
  const nvme = Object(data.nvme_smart_health_information_log)
  const bits = Number.isInteger(nvme.critical_warning) ? nvme.critical_warning : 0
  found.push(...nvmeWarnings.filter((_, bit) => (bits >> bit) & 1))
  if (nvme.percentage_used >= maxUsedPercent) found.push(`${nvme.percentage_used} % of the endurance is used.`)
  return found
}

/** Counts of errors in the data, compared with those of the previous reading. */
function growingCounts(data: any, before: Readonly<Record<string, GrowingCount>>, now: number): Record<string, GrowingCount> {
  const ata = listOf(data.ata_smart_attributes?.table).flatMap((one): [string, unknown][] => {
    const { id, raw } = Object(one)
    // Seagate keeps other counts in the upper bits.
    return ataCounts[id] === undefined ? [] : [[ataCounts[id], id === 188 ? raw?.value % 65_536 : raw?.value]]
  })
  const others: [string, unknown][] = [
    ['Media errors', data.nvme_smart_health_information_log?.media_errors],
    ['Grown defects', data.scsi_grown_defect_list],
  ]
  const counts = [...ata, ...others].filter((one): one is [string, number] => Number.isSafeInteger(one[1]))
  // A reading without data, such as after an error, forgets nothing.
  return { ...before, ...Object.fromEntries(counts.map(([name, value]) => [name, grownCount(value, before[name], now)])) }
}

function grownCount(value: number, before: GrowingCount | undefined, now: number): GrowingCount {
  if (!before || value < before.value) return { value, from: value, grownAt: null }
  if (value === before.value) return before
  const isRecent = before.grownAt !== null && now - before.grownAt < grownMs
  return { value, from: isRecent ? before.from : before.value, grownAt: now }
}

const grownWarnings = (counts: Readonly<Record<string, GrowingCount>>, now: number): string[] =>
  Object.entries(counts)
    .filter(([, { grownAt }]) => grownAt !== null && now - grownAt < grownMs)
    .map(([name, { from, value }]) => `${name} increased from ${from} to ${value}.`)

function parsed(output: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    return null
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
