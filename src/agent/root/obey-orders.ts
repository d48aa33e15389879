import { randomUUID } from 'node:crypto'
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../core/clock'
import { maxCommandBytes, type AgentCommand, type CommandName, type CommandResult } from '../../wire/agent-command'
import { checkCommand, commandId } from '../commands/check-command'
import { CommandRefused } from '../commands/command-refused'
import type { CommandLog } from '../commands/command-log'
import { SeenCommands } from '../commands/seen-commands'
import type { AgentSettings } from '../config-file'
import { readRegularFile } from '../state/read-file'
import { writeFile } from '../state/write-file'
import { maxOrderOffsetMs, type Order, type RootFolders } from './folders'
import { readPinned } from './pinned'
import { interruptedProfiles } from './previous-files'
import { runOrder } from './run-order'
import type { System } from './system'

/** What the root half works with. */
interface RootPieces {
  folders: RootFolders
  system: System
  /** Reads the settings of the owner of the server. @throws Error with a sentence */
  settings: () => Pick<AgentSettings, 'allow' | 'installProfiles'>
  /** File that tells which hub and which agent this is. */
  pinnedFile: string
  /** Time of the server (ms UTC). */
  now: () => number
  timers: Pick<Clock, 'after'>
  /** The commands that were run. */
  log: CommandLog
  /** What was refused: someone who controls the agent must not be able to fill the other log. */
  refused: CommandLog
}

type Result = Omit<CommandResult, 'command_id'>

/** An order is JSON in JSON, so it can be twice as large as a command. */
const maxOrderBytes = 2 * maxCommandBytes + 4096
/** In one run; systemd starts the next one while there are more. */
const maxOrders = 100
/**
 * How much earlier than the newest command another one may have been issued (ms): they are valid for 10 minutes, and the clocks of hubs
 * can differ. If someone sets the clock of the server back, old commands are not valid again.
 */
const maxOlderMs = 900_000
/** How long results are kept for the agent (ms). */
const keepResultsMs = 3_600_000

/** Commands that wait for a service. */
const longCommands: ReadonlySet<CommandName> = new Set(['restart_unit', 'certificate_install'])
/** This many of them run at the same time. */
const maxRestarts = 16
/** How soon another order is run during a restart (ms). */
const pollMs = 250

/**
 * Runs the commands that the agent has written, each after verifying it again: someone who controls the agent can't make the root half do
 * anything that the hub didn't ask for and the owner of the server doesn't allow. An order is removed before it is run. Restarting a unit
 * can take minutes, so other commands are run in the meantime, one after the other.
 */
export async function obeyOrders(pieces: RootPieces): Promise<void> {
  const { folders, system, timers, log } = pieces
  mkdirSync(folders.results, { recursive: true, mode: 0o755 })
  mkdirSync(folders.state, { recursive: true, mode: 0o755 })
  removeOldResults(pieces)
  const seen = new SeenCommands(join(folders.state, 'seen-commands'))
  const restarts = new Set<Promise<void>>()
  for (const profile of interruptedProfiles(folders)) track(restarts, restoreCertificate(pieces, profile))
  // When the server starts, before the agent has any.
  if (!existsSync(folders.orders)) return void (await Promise.all(restarts))
  /** Why orders were refused that the hub has not signed for this agent. */
  const unsigned: string[] = []
  // By its descriptor: the agent owns the folder above, and could put a link in its place.
  const orders = openSync(folders.orders, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const { gid } = fstatSync(orders)
    const base = `/proc/self/fd/${orders}`
    const answer = (name: string, result: Result | null) => {
      const id = name.replace(/\.json$/, '')
      if (result === null || !commandId.test(id)) return
      const path = join(folders.results, `${id}.json`)
      writeFile(path, JSON.stringify({ ...result, command_id: id } satisfies CommandResult), { mode: 0o640 })
      if (process.getuid?.() === 0) chownSync(path, 0, gid)
    }
    const run = async (name: string, command: AgentCommand) => {
      log.write(command, 'started', null)
      const result = await runOrder(system, folders, () => pieces.settings().installProfiles, command).catch(failed)
      log.write(command, result.outcome, result.detail)
      answer(name, result)
    }
    let left = maxOrders
    do {
      // IDs sort by time.
      for (const name of readdirSync(base).toSorted().slice(0, left)) {
        left--
        const command = accept(pieces, seen, takeOrder(base, name))
        if (command instanceof CommandRefused) {
          if (command.command) pieces.refused.write(command.command, command.outcome, command.message)
          else unsigned.push(command.message)
          answer(name, command.outcome === 'repeated' ? null : refusal(command))
          continue
        }
        const running = run(name, command)
        if (longCommands.has(command.name)) track(restarts, running)
        else await running
        if (restarts.size >= maxRestarts) await Promise.race(restarts)
      }
      if (restarts.size > 0) await raceWithPause(restarts, timers)
    } while (restarts.size > 0)
  } finally {
    closeSync(orders)
    const [first, ...others] = unsigned
    const more = others.length === 0 ? '' : ` ${others.length} other orders were not signed for this agent either.`
    if (first !== undefined) pieces.refused.write(null, 'refused', `${first}${more}`)
  }
}

/** Restores the files of an installation that was interrupted. If that fails, the next run tries again. */
async function restoreCertificate({ system, folders, settings, log }: RootPieces, profile: string): Promise<void> {
  try {
    const { restoreInterrupted } = await import('./certificates')
    const detail = await restoreInterrupted(system, folders, profile, settings().installProfiles.get(profile))
    if (detail !== null) log.write(null, 'restored', detail)
  } catch (error) {
    log.write(null, 'failed', (error as Error).message)
  }
}

const failed = ({ message }: Error): Result => ({ outcome: 'failed', detail: message, output: null })

const refusal = ({ message, outcome }: CommandRefused): Result => ({
  outcome: outcome === 'expired' ? 'expired' : 'refused',
  detail: message,
  output: null,
})

function track(all: Set<Promise<void>>, one: Promise<void>): void {
  const tracked = one.finally(() => all.delete(tracked))
  all.add(tracked)
}

/** Waits until one of them ends, or until other orders may have come. */
async function raceWithPause(all: ReadonlySet<Promise<void>>, timers: Pick<Clock, 'after'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = timers.after(pollMs, resolve)
  try {
    await Promise.race([...all, promise])
  } finally {
    timer.cancel()
  }
}

/** Verifies an order, and remembers its command. @returns why it is refused otherwise */
function accept(
  { settings, pinnedFile, now }: RootPieces,
  seen: SeenCommands,
  order: Order | null,
): AgentCommand | CommandRefused {
  let command: AgentCommand | null = null
  try {
    if (!order) throw new CommandRefused('The order can’t be read.')
    const { agentId, hubKey } = readPinned(pinnedFile)
    const offset = order.clock_offset_ms
    if (Math.abs(offset) > maxOrderOffsetMs)
      throw new CommandRefused(
        `The clock of the server is wrong by ${Math.round(Math.abs(offset) / 60_000)} minutes, so it is not known whether the command is still valid.`,
      )
    command = checkCommand(order, {
      hubKey,
      agentId,
      now: now() + offset,
      wasSeen: seen.has,
      notBefore: seen.newest - maxOlderMs,
      allow: () => settings().allow,
    })
    seen.add(command, now())
    return command
  } catch (error) {
    return error instanceof CommandRefused ? error : new CommandRefused((error as Error).message, command)
  }
}

/** Reads and removes an order. Null if it is none. */
function takeOrder(base: string, name: string): Order | null {
  try {
    return readOrder(`${base}/${name}`)
  } catch {
    return null
  } finally {
    remove(base, name)
  }
}

function readOrder(path: string): Order | null {
  const { payload, signature, clock_offset_ms: offset } = JSON.parse(String(readRegularFile(path, maxOrderBytes)))
  if (typeof payload !== 'string' || typeof signature !== 'string' || !Number.isSafeInteger(offset)) return null
  return { payload, signature, clock_offset_ms: offset }
}

function remove(base: string, name: string): void {
  const path = `${base}/${name}`
  try {
    unlinkSync(path)
  } catch {
    try {
      rmdirSync(path)
    } catch {
      // A folder with files: the agent could replace what is in it by links while it is removed, so it is only moved out of the way.
      renameSync(path, `${base}/../no-order-${randomUUID()}`)
    }
  }
}

function removeOldResults({ folders: { results }, now }: RootPieces): void {
  for (const name of readdirSync(results)) {
    const path = join(results, name)
    if (statSync(path).mtimeMs < now() - keepResultsMs) rmSync(path, { force: true })
  }
}
