import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../core/clock'
import type { AgentCommand, CommandResult } from '../../wire/agent-command'
import { writeFile } from '../state/write-file'
import type { Order, RootFolders } from '../root/folders'

type Result = Omit<CommandResult, 'command_id'>

const pollMs = 250
/** systemd starts the root half within a second. */
const startMs = 60_000
/** Restarting a unit may take five minutes. */
const runMs = 420_000

/** Hands commands to the root half, and waits for their results. */
export class OrderBox {
  /** @param folder of the agent, where an order is written before it is handed over */
  constructor(
    private readonly folders: Pick<RootFolders, 'orders' | 'results'>,
    private readonly folder: string,
    private readonly timers: Clock,
  ) {}

  async run({ id }: AgentCommand, order: Order): Promise<Result> {
    const name = `${id}.json`
    const path = join(this.folders.orders, name)
    try {
      mkdirSync(this.folders.orders, { recursive: true, mode: 0o700 })
      writeFile(join(this.folder, name), JSON.stringify(order))
      renameSync(join(this.folder, name), path)
    } catch (error) {
      return failed(`The command can’t be handed to root: ${(error as Error).message}.`)
    }
    const since = this.timers.now()
    for (;;) {
      const result = this.read(name)
      if (result) return result
      const waited = this.timers.now() - since
      if (waited >= startMs && this.withdraw(path))
        return failed('The part of the agent that runs as root did not start. Check systemctl status bailiwick-agent-root.path.')
      if (waited >= runMs) return failed('The part of the agent that runs as root reported no result.')
      await new Promise<void>(resolve => this.timers.after(pollMs, resolve))
    }
  }

  private read(name: string): Result | null {
    try {
      const { outcome, detail, output } = JSON.parse(readFileSync(join(this.folders.results, name), 'utf8')) as CommandResult
      return { outcome, detail, output }
    } catch {
      return null
    }
  }

  /** @returns false if root has taken it */
  private withdraw(path: string): boolean {
    try {
      rmSync(path)
      return true
    } catch {
      return false
    }
  }
}

const failed = (detail: string): Result => ({ outcome: 'failed', detail, output: null })
