import { statSync, writeFileSync } from 'node:fs'
import type { AgentCertificates } from '../../wire/agent-certificates'
import { runProgram } from '../sample/program'

/** Where the agent exchanges certificates with its other parts. */
interface ReaderOptions {
  /** The command that prints certificates, without the sockets to leave out. It is another process, so that its memory is freed. */
  command: readonly [string, ...string[]]
  /** A unit of systemd reads the files as root when this file exists, and deletes it. */
  requestFile: string
  /** What that unit found. */
  resultFile: string
}

const hourMs = 3_600_000
/** At most, 50 ports are asked four at a time for 5 seconds each. */
const limits = { timeoutMs: 120_000, maxBytes: 4 * 1024 * 1024, environment: { BUN_JSC_useJIT: '0' } }
/** The files are read within this time, or the previous ones are used. */
const rootMs = 20_000
const pollMs = 100

/** Finds certificates every hour, when someone asks for them, and when root has found other ones. */
export class CertificateReader {
  private readAt: number | null = null
  private resultAt: number | null = null
  private withoutTls: readonly string[] = []

  constructor(private readonly options: ReaderOptions) {}

  /**
   * Returns all certificates if it is time to look for them; null if not, or if that failed.
   * @param now the time (ms UTC)
   * @param isForced looks for them now
   */
  async read(problem: (sentence: string) => void, now: number, isForced: boolean): Promise<AgentCertificates | null> {
    const isDue = isForced || this.readAt === null || now < this.readAt || now >= this.readAt + hourMs
    if (!isDue && this.changedAt() === this.resultAt) return null
    if (isDue) await this.readAsRoot()
    this.readAt = now
    this.resultAt = this.changedAt()
    const { command } = this.options
    const skip = this.withoutTls.length > 0 ? ['--without-tls', this.withoutTls.join(',')] : []
    const run = await runProgram([...command, ...skip], limits)
    try {
      const { certificates, problems, without_tls: withoutTls } = JSON.parse(typeof run === 'object' ? run.out : '')
      this.withoutTls = withoutTls
      for (const one of problems) problem(one)
      return certificates as AgentCertificates
    } catch {
      problem(`Certificates are unknown, because they could not be read${run === 'timeout' ? ' in time' : ''}.`)
      return null
    }
  }

  /** Lets root read the files, if there is a unit for it, which has stored a result before. */
  private async readAsRoot(): Promise<void> {
    const { requestFile } = this.options
    const before = this.changedAt()
    try {
      writeFileSync(requestFile, '')
    } catch {
      return
    }
    if (before === null) return
    for (let waited = 0; waited < rootMs && this.changedAt() === before; waited += pollMs) await Bun.sleep(pollMs)
  }

  private changedAt(): number | null {
    return statSync(this.options.resultFile, { throwIfNoEntry: false })?.mtimeMs ?? null
  }
}
