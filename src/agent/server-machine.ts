import type { CertificateReader } from './certificates/reader'
import type { LiveSampler, Machine, ReportParts } from './machine'
import { News } from './news'
import type { Containers } from './sample/containers'
import type { MeasuredMinute } from './sample/minutes'
import { pageBytes } from './sample/kernel'
import type { ProcessReading } from './sample/busy-processes'
import { Moments } from './sample/moments'
import { PartsReader } from './sample/parts'
import { Root } from './sample/root'
import { Sampler } from './sample/sampler'
import { Troubles } from './sample/troubles'
import { bootedBeforeStart } from './sample/uptime'

interface Options {
  /** Where the file system of the server is. */
  folder: string
  /** File with the SMART data of disks, which only root can read. */
  smartFile: string
  /** File with the programs of sockets, which only root can see. */
  processesFile?: string
  /** File with what was failing when it was last looked at. */
  troublesFile: string
  /** Whether the owner of the server allows to read the socket of Docker or Podman. */
  mayReadContainers: boolean
  /** Whether the owner of the server allows to report the arguments of processes. */
  mayReadArguments: boolean
  /** Finds certificates; null or undefined if nothing can. */
  certificates?: CertificateReader | null
}

/** The server that the agent runs on. */
export class ServerMachine implements Machine {
  readonly bootId: string
  readonly news: News = new News()
  private readonly sampler: Sampler
  private readonly moments: Moments
  private readonly troubles: Troubles
  private readonly reader: PartsReader
  private readonly bootedBefore: number
  private watched: readonly string[] = []

  private constructor(
    private readonly root: Root,
    private readonly containers: Containers | null,
    { smartFile, processesFile, troublesFile, mayReadArguments: withCommands, certificates }: Options,
  ) {
    this.sampler = new Sampler(root, containers)
    this.reader = new PartsReader({
      root,
      containers,
      smartFile,
      ...(processesFile && { processesFile }),
      certificates: certificates ?? null,
    })
    const seconds = () => performance.now() / 1000
    this.moments = new Moments(root, { withCommands, seconds, pageBytes: pageBytes(new Root().start('proc/self/auxv', 4096)) })
    this.troubles = new Troubles(troublesFile)
    this.bootId = root.line('proc/sys/kernel/random/boot_id') ?? 'unknown'
    this.bootedBefore = bootedBeforeStart(root)
  }

  static async open(options: Options): Promise<ServerMachine> {
    const root = new Root(options.folder)
    // Loaded only if allowed, because its HTTP client takes 2 MB of memory.
    const containers = options.mayReadContainers ? new (await import('./sample/containers')).Containers(root) : null
    return new ServerMachine(root, containers, options)
  }

  uptimeSeconds(): number {
    return this.bootedBefore + performance.now() / 1000
  }

  async sample(at: number): Promise<MeasuredMinute | null> {
    const ended = await this.sampler.sample(at)
    const moment = this.moments.follow(ended, at)
    if (moment) this.news.add({ moments: [moment] })
    return ended
  }

  end(): MeasuredMinute | null {
    return this.sampler.end()
  }

  /** Measures the server apart from the minutes. */
  live(): LiveSampler {
    const { root, moments } = this
    const sampler = new Sampler(root, this.containers, false)
    let before: ProcessReading | null = null
    return {
      sample: async at => {
        await sampler.sample(at)
        const reading = moments.read()
        const processes = before && moments.busiest(before, reading)
        before = reading
        return { metrics: sampler.latest, ...(processes && { processes }) }
      },
    }
  }

  async parts(now: number, isForced: boolean): Promise<ReportParts> {
    const parts = await this.reader.read(now, this.watched, isForced)
    this.news.add({ events: this.troubles.follow(parts, now) })
    return { ...parts, problems: [...new Set([...this.sampler.problems, ...(parts.problems ?? [])])].slice(0, maxProblems) }
  }

  get isLate(): boolean {
    return this.reader.isLate
  }

  watch(units: readonly string[], processes: readonly string[]): void {
    this.watched = units
    this.reader.watchProcesses(processes)
  }
}

/** A report has at most this many problems. */
const maxProblems = 20
