import type { Machine, ReportParts } from './machine'
import { readFacts } from './sample/facts'
import { Root } from './sample/root'
import { Sampler } from './sample/sampler'
import type { MeasuredMinute } from './sample/minutes'

/** Facts are read this often. */
const factsSeconds = 600

/** The server that the agent runs on. */
export class ServerMachine implements Machine {
  readonly bootId: string
  private readonly root: Root
  private readonly sampler: Sampler
  private facts: ReportParts['facts']
  private factsAt = Number.NEGATIVE_INFINITY

  /**
   * @param folder where the file system of the server is
   * @param seconds a time that no one sets back
   */
  constructor(
    folder: string,
    private readonly seconds: () => number = () => performance.now() / 1000,
  ) {
    this.root = new Root(folder)
    this.sampler = new Sampler(this.root)
    this.bootId = this.root.line('proc/sys/kernel/random/boot_id') ?? 'unknown'
  }

  sample(at: number): Promise<MeasuredMinute | null> {
    return this.sampler.sample(at)
  }

  end(): MeasuredMinute | null {
    return this.sampler.end()
  }

  parts(): Promise<ReportParts> {
    if (this.facts === undefined || this.seconds() - this.factsAt > factsSeconds) {
      this.facts = readFacts(this.root)
      this.factsAt = this.seconds()
    }
    return Promise.resolve({ facts: this.facts, problems: [...this.sampler.problems] })
  }

  watch(): void {}
}
