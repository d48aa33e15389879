import { readFileSync } from 'node:fs'
import type { AgentCommand } from '../../wire/agent-command'
import { writeFile } from '../state/write-file'

/** How long IDs are kept (ms). Commands expire much earlier. */
const keepMs = 86_400_000
/** With more commands in that time, others are refused. */
const maxIds = 5000

/** IDs of commands that were received, so that none is run twice. They are kept in a file, also when the server restarts. */
export class SeenCommands {
  /** When each was received and issued (ms UTC). */
  private readonly times = new Map<string, { received: number; issued: number }>()

  constructor(private readonly path: string) {
    for (const line of readLines(path)) {
      const [id, ...times] = line.split(' ')
      const [received = NaN, issued = NaN] = times.map(Number)
      if (id && Number.isFinite(received) && Number.isFinite(issued)) this.times.set(id, { received, issued })
    }
  }

  has = (id: string): boolean => this.times.has(id)

  /** When the newest command was issued (ms UTC); 0 if none is known. */
  get newest(): number {
    return Math.max(0, ...[...this.times.values()].map(({ issued }) => issued))
  }

  /** Remembers an ID. It is on disk when this returns. @throws Error with a sentence if that is not possible */
  add({ id, issued_at: issued }: Pick<AgentCommand, 'id' | 'issued_at'>, now: number): void {
    const { newest } = this
    // The newest one stays, whatever the clock of the server is set to.
    for (const [old, time] of this.times) if (time.received < now - keepMs && time.issued < newest) this.times.delete(old)
    if (this.times.size >= maxIds) throw new Error(`The server received ${maxIds} commands in 24 hours, so no others are run.`)
    this.times.set(id, { received: now, issued })
    const lines = [...this.times].map(([one, time]) => `${one} ${time.received} ${time.issued}\n`)
    writeFile(this.path, lines.join(''), { durable: true })
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
