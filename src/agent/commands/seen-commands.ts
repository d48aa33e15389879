import { readFileSync } from 'node:fs'
import { writeFile } from '../state/write-file'

/** How long IDs are kept (ms). Commands expire much earlier. */
const keepMs = 86_400_000
/** With more commands in that time, others are refused. */
const maxIds = 5000

/** IDs of commands that were received, so that none is run twice. They are kept in a file, also when the server restarts. */
export class SeenCommands {
  /** When each was received (ms UTC). */
  private readonly times = new Map<string, number>()

  constructor(private readonly path: string) {
    for (const line of readLines(path)) {
      const [id, time] = line.split(' ')
      if (id && Number.isFinite(Number(time))) this.times.set(id, Number(time))
    }
  }

  has = (id: string): boolean => this.times.has(id)

  /** Remembers an ID. It is on disk when this returns. @throws Error with a sentence if that is not possible */
  add(id: string, now: number): void {
    for (const [old, time] of this.times) if (time < now - keepMs) this.times.delete(old)
    if (this.times.size >= maxIds) throw new Error(`The server received ${maxIds} commands in 24 hours, so no others are run.`)
    this.times.set(id, now)
    const lines = [...this.times].map(([one, time]) => `${one} ${time}\n`)
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
