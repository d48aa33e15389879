import { systemClock, type Clock } from '../../core/clock'
import type { ReportParts } from '../machine'
import type { CertificateReader } from '../certificates/reader'
import { readArrays } from './arrays'
import type { Containers } from './containers'
import { readFacts } from './facts'
import { mountedIn } from './filesystems'
import { nameOf } from './line'
import { InstalledPackages } from './packages'
import type { Root } from './root'
import { readSessions } from './sessions'
import { refreshSmartFile, statesIn } from './smart-file'
import { OpenPorts } from './sockets'
import { combinedUnits, failedUnits, watchedUnits } from './units'
import { PackageUpdates } from './updates'
import { countProcesses } from './watched-processes'

type Units = NonNullable<ReportParts['units']>
type Problem = (sentence: string) => void

const minuteMs = 60_000
const maxProblems = 20

/** What is read separately, and how often. Nothing waits for the others, because each may take as long as its programs do. */
const intervals = {
  facts: 10 * minuteMs,
  containers: minuteMs,
  units: minuteMs,
  arrays: minuteMs,
  sockets: minuteMs,
  mounts: minuteMs,
  sessions: minuteMs,
  processes: minuteMs,
  disks: 10 * minuteMs,
  // Only looks for changes most of the time.
  certificates: minuteMs,
  // Only looks for changes most of the time.
  updates: 10 * minuteMs,
  // Only looks for changes most of the time.
  packages: 10 * minuteMs,
}
type Part = keyof typeof intervals

/** Failed units are listed less often than the state of watched ones is read, because systemctl takes some milliseconds. */
const failedUnitsMs = 5 * minuteMs
/** How often SMART data is read from the disks, if the agent is root. */
const smartMs = 6 * 60 * minuteMs
/** A report waits for its parts for this long. */
const waitMs = 5000

/** What reads the parts of reports needs. */
interface PartsOptions {
  root: Root
  /** Reads containers; null if the owner of the server doesn’t allow it. */
  containers: Containers | null
  /** File with the SMART data of the disks as JSON, written as root. */
  smartFile: string
  /** File with the programs of sockets as JSON, written as root. */
  processesFile?: string
  /** Finds certificates; null if another process can’t be started for it. */
  certificates?: CertificateReader | null
  /** Only for time limits. */
  clock?: Clock
}

/** Reads everything about the server that is not a metric. */
export class PartsReader {
  private readonly known = new Map<Part, unknown>()
  private readonly readAt = new Map<Part, number>()
  private readonly running = new Map<Part, Promise<void>>()
  private readonly problemsOf = new Map<Part, readonly string[]>()
  private readonly updates: PackageUpdates
  private readonly packages: InstalledPackages
  private readonly openPorts: OpenPorts
  private watched: readonly string[] = []
  private isWanted = false
  private processes: readonly string[] = []
  private failed: { at: number; units: Units } | null = null
  private smartAt: number | undefined

  constructor(private readonly options: PartsOptions) {
    this.updates = new PackageUpdates(options.root)
    this.packages = new InstalledPackages(options.root)
    this.openPorts = new OpenPorts(options.root, undefined, options.processesFile)
  }

  private readonly readers: Readonly<Record<Part, (problem: Problem, now: number, isForced: boolean) => unknown>> = {
    facts: () => readFacts(this.options.root),
    containers: problem => this.options.containers?.read(problem) ?? [],
    units: (problem, now, isForced) => this.units(problem, now, isForced),
    arrays: () => readArrays(this.options.root),
    sockets: problem => this.openPorts.read(problem),
    mounts: problem => mountedIn(this.options.root, problem),
    sessions: problem => readSessions(this.options.root, problem),
    processes: problem => countProcesses(this.options.root, this.processes, problem),
    disks: (problem, now) => this.disks(problem, now),
    certificates: (problem, now, isForced) => this.options.certificates?.read(problem, now, isForced) ?? null,
    updates: problem => this.updates.read(problem),
    packages: problem => this.packages.read(problem),
  }

  /** Programs whose processes are counted. */
  watchProcesses(names: readonly string[]): void {
    this.processes = names
  }

  /**
   * Reads the parts that are due, and returns all of them. Waits for at most five seconds; what takes longer is in a later result.
   * @param now the time (ms UTC)
   * @param watched units of systemd whose state is reported
   * @param isForced reads all parts, such as when someone wants current ones
   */
  async read(now: number, watched: readonly string[], isForced = false): Promise<ReportParts> {
    this.watched = watched
    this.isWanted ||= isForced
    for (const part of Object.keys(intervals) as Part[]) {
      if (!this.running.has(part) && (isForced || isDue(now, this.readAt.get(part), intervals[part])))
        this.start(part, now, isForced)
    }
    const late = Promise.withResolvers<void>()
    const timer = (this.options.clock ?? systemClock).after(waitMs, late.resolve)
    await Promise.race([Promise.all(this.running.values()), late.promise])
    timer.cancel()
    this.isWanted &&= this.running.size > 0
    return this.current()
  }

  /** Whether someone wants current parts, and some of them were not read in time. */
  get isLate(): boolean {
    return this.isWanted
  }

  private start(part: Part, now: number, isForced: boolean): void {
    this.readAt.set(part, now)
    const problems: string[] = []
    const reading = async () => {
      try {
        const value = await this.readers[part](sentence => problems.push(sentence), now, isForced)
        // What can't be read now is probably as it was: a failure must not look like a recovery.
        if (value !== null) this.known.set(part, value)
      } catch (error) {
        problems.push(`Some data is missing (${part}): ${(error as Error).message}`)
      }
      this.problemsOf.set(part, problems)
    }
    this.running.set(
      part,
      reading().then(() => void this.running.delete(part)),
    )
  }

  private current(): ReportParts {
    const { facts, updates, ...others } = Object.fromEntries(this.known) as ReportParts & { updates?: object }
    const problems = [...new Set([...this.problemsOf.values()].flat())].map(one => nameOf(one, 300)).slice(0, maxProblems)
    return { ...others, facts: { ...facts, ...updates }, problems }
  }

  /** Null if they can’t be read. There are none if systemd doesn’t manage this server, or this is a container that looks at its host. */
  private async units(problem: Problem, now: number, isForced: boolean): Promise<Units | null> {
    const { root } = this.options
    if (!root.isOwn || !root.exists('run/systemd/system')) return []
    if (isForced || isDue(now, this.failed?.at, failedUnitsMs)) {
      const units = await failedUnits(problem)
      this.failed = units && { at: now, units }
    }
    const states = await watchedUnits(this.watched, problem)
    return states && this.failed && combinedUnits(states, this.failed.units)
  }

  /** Disks as root found them, which usually another program does (see `refreshSmartFile`). */
  private async disks(problem: Problem, now: number): Promise<ReportParts['disks']> {
    const { root, smartFile } = this.options
    if (root.isOwn && process.getuid?.() === 0 && isDue(now, this.smartAt, smartMs)) {
      this.smartAt = now
      await refreshSmartFile(smartFile, now, problem)
    }
    return statesIn(smartFile)?.map(({ disk }) => disk) ?? []
  }
}

/** Whether something must be done again. A clock that was set back must not delay it. */
const isDue = (now: number, before: number | undefined, interval: number): boolean =>
  before === undefined || now < before || now >= before + interval
