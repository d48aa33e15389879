import { statSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemClock, type Clock } from '../../core/clock'
import { sha256Hex } from '../../core/sha256'
import type { AgentCertificates } from '../../wire/agent-certificates'
import { runProgram } from '../sample/program'
import type { Root } from '../sample/root'

/** Where the agent exchanges certificates with its other parts. */
interface ReaderOptions {
  root: Root
  /** The command that prints certificates, without the sockets to leave out. It is another process, so that its memory is freed. */
  command: readonly [string, ...string[]]
  /** A unit of systemd reads the files as root when this file exists, and deletes it. */
  requestFile: string
  /** What that unit found. */
  resultFile: string
  /** Only for the time limit of a look. */
  clock?: Clock
  /** When a file was changed (ms UTC). @throws Error if there is no such file, or the user can’t see it */
  changeOf?: (path: string) => Promise<number>
}

const hourMs = 3_600_000
/** Changed files are read again at most this often (ms): a folder in which something is written all the time must not cost CPU time. */
const changedMs = 600_000
/** Certbot writes here with each renewal. Only root can open the folders of its certificates. */
const renewalFolders = ['etc/letsencrypt/renewal', 'usr/local/etc/letsencrypt/renewal']
/** At most this many files and folders are looked at for changes. */
const maxWatched = 300
/** Looking for changes takes at most this time (ms), if a network file system doesn’t respond. */
const lookMs = 2000
/** At most, 50 ports are asked four at a time for 5 seconds each. */
const limits = { timeoutMs: 120_000, maxBytes: 4 * 1024 * 1024, environment: { BUN_JSC_useJIT: '0' } }
/** The files are read within this time, or the previous ones are used. */
const rootMs = 20_000
const pollMs = 100

/** Finds certificates every hour, when someone asks for them, when root has found other ones, and when a file or folder has changed. */
export class CertificateReader {
  private readAt: number | null = null
  private resultAt: number | null = null
  private watched: readonly string[] = renewalFolders
  /** When the watched files and folders were changed, as of the last reading, and as they were last looked at. */
  private state = ''
  private seen = ''
  /** What is being looked at, until its file system responds. There is only one at a time: each that never responds would keep a thread. */
  private lookingAt: string | null = null
  private withoutTls: readonly string[] = []

  constructor(private readonly options: ReaderOptions) {}

  /**
   * Returns all certificates if it is time to look for them; null if not, or if that failed.
   * @param now the time (ms UTC)
   * @param isForced looks for them now
   */
  async read(problem: (sentence: string) => void, now: number, isForced: boolean): Promise<AgentCertificates | null> {
    const isDue = isForced || this.readAt === null || now < this.readAt || now >= this.readAt + hourMs
    const seen = await this.look(problem)
    const hasChanged = this.hasChanged(seen) && !isDue && now >= this.readAt! + changedMs
    if (!isDue && !hasChanged && this.changedAt() === this.resultAt) return null
    // What changes meanwhile is read the next time.
    this.state = seen ?? ''
    if (isDue || hasChanged) await this.readAsRoot()
    this.readAt = now
    this.resultAt = this.changedAt()
    const { command } = this.options
    const skip = this.withoutTls.length > 0 ? ['--without-tls', this.withoutTls.join(',')] : []
    const run = await runProgram([...command, ...skip], limits)
    try {
      const { certificates, problems, without_tls: withoutTls } = JSON.parse(typeof run === 'object' ? run.out : '')
      this.withoutTls = withoutTls
      for (const one of problems) problem(one)
      await this.watch(problem, certificates as AgentCertificates)
      return certificates as AgentCertificates
    } catch {
      problem(`Certificates are unknown, because they could not be read${run === 'timeout' ? ' in time' : ''}.`)
      return null
    }
  }

  /** Looks for changes of the files with certificates and of their folders, if the user of the agent can. */
  private async watch(problem: (sentence: string) => void, { files }: AgentCertificates): Promise<void> {
    // Files with several certificates have the name after this.
    const paths = files.map(one => one.path.slice(1).replace(/#.*$/, ''))
    const all = [...new Set([...renewalFolders, ...paths.flatMap(path => [dirname(path), path])])].slice(0, maxWatched)
    if (all.join() === this.watched.join()) return
    this.watched = all
    this.state = (await this.look(problem)) ?? ''
  }

  /** Whether something has changed since the last reading, and not since a minute ago: until then, the service may be reloaded, too. */
  private hasChanged(seen: string | null): boolean {
    const before = this.seen
    if (seen !== null) this.seen = seen
    return seen !== null && seen === before && seen !== this.state
  }

  /** The state of what is watched. Null if a file system doesn’t respond. */
  private async look(problem: (sentence: string) => void): Promise<string | null> {
    const late = Promise.withResolvers<null>()
    const timer = (this.options.clock ?? systemClock).after(lookMs, () => late.resolve(null))
    const state = this.lookingAt === null ? await Promise.race([this.watchedState(), late.promise]) : null
    timer.cancel()
    if (state === null)
      problem(`Changed certificates are noticed only every hour, because the file system of /${this.lookingAt} doesn’t respond.`)
    return state
  }

  /** Looks at up to 300 files, one after the other, so that they keep at most one thread. Takes less than 10 ms of CPU time. */
  private async watchedState(): Promise<string> {
    const { root, changeOf = async path => (await stat(path)).mtimeMs } = this.options
    const changes: (number | null)[] = []
    for (const path of this.watched) {
      this.lookingAt = path
      changes.push(await changeOf(root.path(path)).catch(() => null))
    }
    this.lookingAt = null
    return sha256Hex(changes.join())
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
