import type { Clock, Timer } from '../../core/clock'
import type { AgentCommand, CommandName, CommandParams, CommandResult, SignedCommand } from '../../wire/agent-command'
import { isRecord } from '../transport/answers'
import { pauseMs } from '../transport/back-off'
import type { HubClock } from '../transport/hub-clock'
import { HubRequestFailed, type HubClient } from '../transport/hub-client'
import type { CommandRules } from './check-command'
import type { CommandLog } from './command-log'
import { CommandRefused } from './command-refused'
import type { OrderBox } from './order-box'
import type { SeenCommands } from './seen-commands'

/** What runs the commands of an agent. */
interface CommandPieces extends Pick<CommandRules, 'hubKey' | 'agentId' | 'allow'> {
  client: Pick<HubClient, 'send'>
  /** The run of the agent, as in its reports. */
  runId: () => string
  clock: HubClock
  timers: Clock
  /** Like `Math.random`. */
  random: () => number
  seen: SeenCommands
  log: CommandLog
  orders: Pick<OrderBox, 'run'>
  /** Reports everything now. */
  collect: () => void
  /** Downloads a version of the agent from the hub. @param until how long it may take (ms UTC, by the server) @throws DownloadFailed */
  download: (file: Pick<CommandParams['update'], 'path' | 'size' | 'sha256'>, until: number) => Promise<void>
  removeDownload: () => void
  /** Sends live metrics for this long. */
  live: (seconds: number) => void
}

export const commandsPath = '/v1/ingest/agents/commands'
export const resultsPath = '/v1/ingest/agents/command-results'

const waitSeconds = 30
/** A response may be this much later (ms). */
const marginMs = 15_000
/** Pause after a response: at most one a second. */
const minPauseMs = 1000
/** The hub doesn't wait for a result any longer. */
const maxResultMs = 600_000
const maxAtOnce = 10

type Result = Omit<CommandResult, 'command_id'>
type CommandOf<Name extends CommandName> = Extract<AgentCommand, { name: Name }>
const done: Result = { outcome: 'done', detail: null, output: null }
const failed = (detail: string): Result => ({ outcome: 'failed', detail, output: null })

const asRoot: ReadonlySet<CommandName> = new Set([
  'reboot',
  'shutdown',
  'restart_unit',
  'firewall_apply',
  'firewall_confirm',
  'update',
  'certificate_csr',
])

/** A service that reloads its certificate presents it after this time at the latest. */
const reloadedMs = 5000

/** Waits for commands of the hub, checks and runs them, and reports their results. An open request also tells the hub that the agent lives. */
export class Commands {
  /** Results by command; null while it runs. The hub sends a command again if its response may have been lost. */
  private readonly results = new Map<string, Result | null>()
  private failures = 0
  private isUpdating = false
  private stopped = false
  private pause: { timer: Timer; end: () => void } | null = null

  constructor(private readonly pieces: CommandPieces) {}

  start(): void {
    void this.loop()
  }

  stop(): void {
    this.stopped = true
    this.pause?.timer.cancel()
    this.pause?.end()
  }

  private async loop(): Promise<void> {
    while (!this.stopped) {
      const { client, random } = this.pieces
      try {
        const { body } = await client.send({
          method: 'GET',
          path: `${commandsPath}?run_id=${this.pieces.runId()}`,
          headers: { Prefer: `wait=${waitSeconds}` },
          waitMs: waitSeconds * 1000 + marginMs,
          maxBodyBytes: maxAtOnce * 1024 * 1024,
        })
        this.failures = 0
        if (this.stopped) return
        const { commands, live_seconds: liveSeconds } = isRecord(body) ? body : {}
        if (typeof liveSeconds === 'number' && liveSeconds > 0) this.pieces.live(liveSeconds)
        for (const signed of Array.isArray(commands) ? commands.slice(0, maxAtOnce) : []) void this.handle(signed)
        await this.wait(minPauseMs)
      } catch (error) {
        if (!(error instanceof HubRequestFailed)) throw error
        // The reports deal with a token that was revoked.
        if (error.kind === 'revoked') return
        await this.wait(pauseMs(++this.failures, random, error.retryAfterMs))
      }
    }
  }

  /** Checks and runs a command, and reports its result. */
  async handle(signed: unknown): Promise<void> {
    const { log } = this.pieces
    let command: AgentCommand
    try {
      if (!isSigned(signed)) throw new CommandRefused('The command has an unknown form.')
      const { clock, seen, hubKey, agentId, allow } = this.pieces
      // Loaded with the first command, because node:crypto takes 1 MB of memory. From here to `add`, nothing else runs in between.
      const { checkCommand } = await import('./check-command')
      command = checkCommand(signed, { hubKey, agentId, allow, now: clock.now(), wasSeen: seen.has })
      seen.add(command, clock.wall())
    } catch (error) {
      const refused = error instanceof CommandRefused ? error : new CommandRefused((error as Error).message)
      log.write(refused.command, refused.outcome, refused.message)
      if (refused.command) await this.report(refused.command.id, this.answerTo(refused))
      return
    }
    this.remember(command.id, null)
    log.write(command, 'started', null)
    const result = await this.run(command, signed)
    log.write(command, result.outcome, result.detail)
    this.remember(command.id, result)
    await this.report(command.id, result)
  }

  /** What is reported about a command that is not run. Nothing if it was received before, and its result is not known. */
  private answerTo({ command, outcome, message: detail }: CommandRefused): Result | null {
    return outcome === 'repeated' ? (this.results.get(command!.id) ?? null) : { outcome, detail, output: null }
  }

  private remember(id: string, result: Result | null): void {
    this.results.delete(id)
    this.results.set(id, result)
    if (this.results.size > maxRemembered) this.results.delete(this.results.keys().next().value!)
  }

  private async run(command: AgentCommand, signed: SignedCommand): Promise<Result> {
    const { clock, orders, collect, timers } = this.pieces
    const byRoot = () => orders.run(command, { ...signed, clock_offset_ms: Math.round(clock.offsetMs ?? 0) })
    if (command.name === 'update') return await this.update(command, byRoot)
    if (command.name === 'certificate_install') {
      const result = await byRoot()
      // The hub learns at once whether the service presents the certificate.
      if (result.outcome === 'done') timers.after(reloadedMs, collect)
      return result
    }
    if (asRoot.has(command.name)) return await byRoot()
    if (command.name === 'collect') collect()
    if (command.name !== 'wake') return done
    try {
      // Loaded when it is needed, which saves memory.
      const { wake } = await import('./wake')
      await wake(command.params)
      return done
    } catch (error) {
      return failed(`The packet could not be sent: ${(error as Error).message}.`)
    }
  }

  /** Downloads a version of the agent, and lets root install it, which verifies it. */
  private async update({ params, expires_at }: CommandOf<'update'>, install: () => Promise<Result>): Promise<Result> {
    const { clock, download, removeDownload } = this.pieces
    if (this.isUpdating) return failed('Another update is in progress.')
    this.isUpdating = true
    try {
      // If it fails, what was downloaded is kept for the next time.
      await download(params, clock.wall() + expires_at - clock.now())
      const result = await install()
      removeDownload()
      return result
    } catch (error) {
      return failed((error as Error).message)
    } finally {
      this.isUpdating = false
    }
  }

  /** Reports a result over a new connection, until the hub has it or doesn't wait for it any longer. */
  private async report(id: string, result: Result | null): Promise<void> {
    if (result === null) return
    const { client, timers, random } = this.pieces
    const until = timers.now() + maxResultMs
    for (let failures = 1; !this.stopped; failures++) {
      try {
        await client.send({
          method: 'POST',
          path: resultsPath,
          body: { command_id: id, ...result } satisfies CommandResult,
          isShort: true,
          isOnNewConnection: true,
        })
        return
      } catch (error) {
        if (!(error instanceof HubRequestFailed)) throw error
        if (error.kind !== 'unavailable' || error.status === 404 || timers.now() >= until) return
        // Without a result, the hub does not confirm a change of the firewall, and it is restored.
        await new Promise<void>(resolve => timers.after(Math.min(pauseMs(failures, random, error.retryAfterMs), 10_000), resolve))
      }
    }
  }

  private async wait(ms: number): Promise<void> {
    if (this.stopped) return
    await new Promise<void>(end => {
      this.pause = { end, timer: this.pieces.timers.after(ms, end) }
    })
    this.pause = null
  }
}

/** Results of this many commands are kept. */
const maxRemembered = 100

const isSigned = (value: unknown): value is SignedCommand =>
  isRecord(value) && typeof value.payload === 'string' && typeof value.signature === 'string'
