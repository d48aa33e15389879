import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Machine, ReportParts } from './machine'
import { Root } from './sample/root'
import { Sampler } from './sample/sampler'
import type { MeasuredMinute } from './sample/minutes'

/** The server that the agent runs on. */
export class ServerMachine implements Machine {
  readonly bootId: string
  private readonly sampler: Sampler

  /** @param root folder where the file system of the server is */
  constructor(root: string) {
    this.sampler = new Sampler(new Root(root))
    this.bootId = bootIdAt(root)
  }

  sample(at: number): Promise<MeasuredMinute | null> {
    return this.sampler.sample(at)
  }

  end(): MeasuredMinute | null {
    return this.sampler.end()
  }

  parts(): Promise<ReportParts> {
    return Promise.resolve({ facts: { hostname: hostname() }, problems: [...this.sampler.problems] })
  }

  watch(): void {}
}

function bootIdAt(root: string): string {
  try {
    return readFileSync(`${root}/proc/sys/kernel/random/boot_id`, 'latin1').trim()
  } catch {
    return 'unknown'
  }
}
