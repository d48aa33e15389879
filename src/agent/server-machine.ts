import type { LiveSampler, Machine, ReportParts } from './machine'
import type { Containers } from './sample/containers'
import type { MeasuredMinute } from './sample/minutes'
import { PartsReader } from './sample/parts'
import { Root } from './sample/root'
import { Sampler } from './sample/sampler'

/** The server that the agent runs on. */
export class ServerMachine implements Machine {
  readonly bootId: string
  private readonly sampler: Sampler
  private readonly reader: PartsReader
  private watched: readonly string[] = []

  private constructor(
    private readonly root: Root,
    private readonly containers: Containers | null,
    smartFile: string,
  ) {
    this.sampler = new Sampler(root, containers)
    this.reader = new PartsReader({ root, containers, smartFile })
    this.bootId = root.line('proc/sys/kernel/random/boot_id') ?? 'unknown'
  }

  /**
   * @param folder where the file system of the server is
   * @param smartFile SMART data of disks, which only root can read
   * @param mayReadContainers whether the owner of the server allows it
   */
  static async open(folder: string, smartFile: string, mayReadContainers: boolean): Promise<ServerMachine> {
    const root = new Root(folder)
    // Loaded only if allowed, because its HTTP client takes 2 MB of memory.
    const containers = mayReadContainers ? new (await import('./sample/containers')).Containers(root) : null
    return new ServerMachine(root, containers, smartFile)
  }

  sample(at: number): Promise<MeasuredMinute | null> {
    return this.sampler.sample(at)
  }

  end(): MeasuredMinute | null {
    return this.sampler.end()
  }

  /** Measures the server apart from the minutes. */
  live(): LiveSampler {
    const sampler = new Sampler(this.root, this.containers)
    return {
      sample: async at => {
        await sampler.sample(at)
        return sampler.latest
      },
    }
  }

  async parts(now: number, isForced: boolean): Promise<ReportParts> {
    const parts = await this.reader.read(now, this.watched, isForced)
    return { ...parts, problems: [...new Set([...this.sampler.problems, ...(parts.problems ?? [])])].slice(0, maxProblems) }
  }

  watch(units: readonly string[]): void {
    this.watched = units
  }
}

/** A report has at most this many problems. */
const maxProblems = 20
