import { systemClock, type Clock } from '../../core/clock'
import { GarbageCollector } from '../../core/garbage-collector'
import { maxColumns } from '../../wire/agent-limits'
import type { Containers } from './containers'
import { diskNames, disks } from './disks'
import { valueOf, type DeviceFigures, type Figure, type Figures } from './figures'
import { FileSystems, mountsIn } from './filesystems'
import { kernelFiles, pageBytes, tcp } from './kernel'
import { nameOf } from './line'
import { MinuteSums, type MeasuredMinute } from './minutes'
import { interfaceNames, networks } from './networks'
import { processes } from './processes'
import { Root } from './root'
import { batteries, sensors } from './sensors'
import { listening } from './sockets'

/** At most this many devices of a kind are measured. */
const maxDevices = 20

/**
 * Measures the server by reading files of the kernel. It starts no processes. What can’t be measured has no values, and a problem says
 * why.
 */
export class Sampler {
  /** Values of the last sample by column, for the live view. */
  latest: ReadonlyMap<string, number> = new Map()
  private problemsNow: readonly string[] = []
  /** Problems with what is measured once a minute. */
  private slowProblems: string[] = []

  private figures: ReadonlyMap<string, Figure> = new Map<string, Figure>()
  private readonly sums = new MinuteSums()
  /** When the last sample was taken (ms UTC). */
  private sampledAt: number | null = null
  private readonly fileSystems: FileSystems
  /** Without it, the texts of the files take up megabytes of memory. */
  private readonly garbage = new GarbageCollector({ youngMs: Infinity, fullMs: 60_000 })
  private readonly pageBytes = pageBytes(new Root().start('proc/self/auxv', 4096))
  /** The last minute in which files were read that take more CPU time. */
  private slowMinute = 0
  private diskNames: readonly string[] = []
  private interfaceNames: readonly string[] = []

  /**
   * @param root the file system of the server
   * @param containers those that are measured; null if the owner of the server doesn’t allow it
   * @param isRemoteMeasured whether network file systems are measured. One that doesn’t respond keeps a thread for each sampler.
   * @param seconds a time that no one sets back, for rates
   */
  constructor(
    private readonly root: Root = new Root(),
    private readonly containers: Containers | null = null,
    private readonly isRemoteMeasured = true,
    private readonly seconds: () => number = () => performance.now() / 1000,
    clock: Clock = systemClock,
  ) {
    this.fileSystems = new FileSystems(root, clock)
  }

  /**
   * Takes a sample. Takes at most two seconds, if a file system doesn’t respond.
   * @param at the time (ms UTC)
   * @returns the minute that ended, if any
   */
  async sample(at: number): Promise<MeasuredMinute | null> {
    const problems = new Set<string>()
    const figures = await this.read(at, sentence => problems.add(sentence))
    const values = new Map<string, number>()
    for (const [column, figure] of figures) {
      const value = valueOf(figure, this.figures.get(column))
      if (value === null) continue
      // Times are measured separately, so shares can be a little too high.
      values.set(column, column.includes('_percent') ? Math.min(100, value) : value)
    }
    if (figures.size > maxColumns) problems.add(`Only ${maxColumns} of ${figures.size} metrics are reported.`)
    this.figures = figures
    this.latest = values
    this.problemsNow = [...problems]
    this.garbage.collect()
    const { sampledAt } = this
    this.sampledAt = at
    // Rates are about the time since the sample before.
    const since = sampledAt !== null && at > sampledAt && at - sampledAt < 60_000 ? sampledAt : at
    return this.sums.add(at, values, since)
  }

  /** What can’t be measured, in sentences. */
  get problems(): string[] {
    return [...this.problemsNow, ...this.slowProblems]
  }

  /** Ends the current minute, before the agent stops. Null without samples. */
  end = (): MeasuredMinute | null => this.sums.end()

  private async read(at: number, problem: (sentence: string) => void): Promise<Map<string, Figure>> {
    const { root } = this
    const seconds = this.seconds()
    const minute = Math.floor(at / 60_000)
    const isSlow = minute !== this.slowMinute
    this.slowMinute = minute
    const found = new Map<string, Figure>()
    const add = (figures: Figures, device = '') => {
      for (const [metric, figure] of Object.entries(figures)) if (figure !== undefined) found.set(`${metric}${device}`, figure)
    }
    const addDevices = (kind: string, devices: DeviceFigures) => {
      const all = [...devices]
      if (all.length > maxDevices) problem(`Only ${maxDevices} of ${all.length} ${kind} are measured.`)
      for (const [device, figures] of all.slice(0, maxDevices)) add(figures, `:${nameOf(device, 100)}`)
    }
    for (const { path, figures } of kernelFiles) {
      const text = root.text(path)
      if (text !== null) add(figures(text, seconds, this.pageBytes))
    }
    if (root.text('proc/pressure/cpu') === null) problem('Pressure is not measured, because the kernel doesn’t provide it (PSI).')
    add(tcp(root.text(`${root.network}/snmp`) ?? '', seconds))
    const interfaces = networks(root.text(`${root.network}/dev`) ?? '', seconds)
    if (isSlow) this.interfaceNames = interfaceNames(root, [...interfaces.keys()])
    addDevices('network interfaces', only(this.interfaceNames, interfaces))
    const allDisks = disks(root.text('proc/diskstats') ?? '', seconds)
    if (isSlow) this.diskNames = diskNames(root, [...allDisks.keys()])
    addDevices('disks', only(this.diskNames, allDisks))
    if (isSlow) {
      this.slowProblems = []
      add({ ...processes(root, sentence => this.slowProblems.push(sentence)), 'tcp.listening': listening(root) })
      addDevices('sensors', sensors(root))
      addDevices('batteries', batteries(root))
    }
    if (this.containers) addDevices('containers', this.containers.figures(seconds))
    const all = mountsIn(new Root().text('proc/self/mountinfo') ?? '', root.folder)
    const mounts = this.isRemoteMeasured ? all : all.filter(one => !one.isRemote)
    const fileSystems = await this.fileSystems.read(mounts.slice(0, maxDevices), problem)
    if (mounts.length > maxDevices) problem(`Only ${maxDevices} of ${mounts.length} file systems are measured.`)
    addDevices('file systems', fileSystems)
    return found
  }
}

/** The devices with these names, in their order. */
const only = (names: readonly string[], devices: DeviceFigures): DeviceFigures =>
  new Map(names.flatMap(name => (devices.has(name) ? [[name, devices.get(name)!]] : [])))
