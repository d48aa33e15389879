import type { AgentReport } from '../../wire/agent'
import { busiest, readProcesses, type ProcessReading } from './busy-processes'
import type { MeasuredMinute } from './minutes'
import type { Root } from './root'

type Moment = NonNullable<AgentReport['moments']>[number]
type Cause = Moment['causes'][number]

/** From these averages of a minute on, a server is busy (percent). */
const limits: Readonly<Record<Cause, number>> = { cpu: 80, memory: 90, io: 20 }
/** Processes are read again only after this time. */
const pauseMs = 300_000

/** Finds busy moments, and which processes used the most then. Processes are only read if a limit was exceeded for a minute. */
export class Moments {
  private lastAt: number | null = null
  /** The first of the two readings that CPU time needs. */
  private started: { moment: Omit<Moment, 'processes'>; reading: ProcessReading } | null = null

  constructor(
    private readonly root: Root,
    private readonly options: {
      /** Whether the owner of the server allows to report the arguments of processes. */
      withCommands: boolean
      pageBytes: number
      /** A time that no one sets back. */
      seconds: () => number
    },
  ) {}

  /**
   * Called after each sample.
   * @param ended the minute that ended with the previous sample, if any
   * @returns the moment that is complete now
   */
  follow(ended: MeasuredMinute | null, at: number): Moment | null {
    if (this.started) {
      const { moment, reading } = this.started
      this.started = null
      return { ...moment, processes: this.busiest(reading, this.read()) }
    }
    const moment = ended && momentOf(ended, at)
    const isRecent = this.lastAt !== null && at >= this.lastAt && at < this.lastAt + pauseMs
    if (!moment || isRecent) return null
    this.lastAt = at
    this.started = { moment, reading: this.read() }
    return null
  }

  /** Reads what all processes have used. */
  read(): ProcessReading {
    return readProcesses(this.root, this.options.seconds(), this.options.pageBytes)
  }

  /** The busiest processes between two readings. */
  busiest(before: ProcessReading, after: ProcessReading): Moment['processes'] {
    return busiest(this.root, before, after, this.options.withCommands)
  }
}

/** What made a minute busy; null if it wasn’t. */
function momentOf({ columns, row: [, , averages] }: MeasuredMinute, at: number): Omit<Moment, 'processes'> | null {
  const value = (column: string) => averages[columns.indexOf(column)] ?? null
  const [used, available] = [value('memory.used_bytes'), value('memory.available_bytes')]
  const percents: Record<Cause, number | null> = {
    cpu: value('cpu.used_percent'),
    memory: used === null || available === null || used + available === 0 ? null : (100 * used) / (used + available),
    io: value('pressure.io_full_percent'),
  }
  const causes = (Object.keys(limits) as Cause[]).filter(cause => (percents[cause] ?? 0) > limits[cause])
  const rounded = (percent: number | null) => percent && Math.round(percent * 10) / 10
  return causes.length === 0
    ? null
    : {
        at,
        causes,
        cpu_percent: rounded(percents.cpu),
        memory_percent: rounded(percents.memory),
        io_full_percent: rounded(percents.io),
      }
}
