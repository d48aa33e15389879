import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { maxCommandBytes, type CommandResult } from '../../wire/agent-command'
import { parsePublicKey } from '../../wire/signed'
import { checkCommand, commandId, CommandRefused } from '../commands/check-command'
import type { CommandLog } from '../commands/command-log'
import { SeenCommands } from '../commands/seen-commands'
import type { AgentSettings } from '../config-file'
import { writeFile } from '../state/write-file'
import { maxOrderOffsetMs, type Order, type RootFolders } from './folders'
import { readPinned } from './pinned'
import { runOrder } from './run-order'
import type { System } from './system'

/** What the root half works with. */
interface RootPieces {
  folders: RootFolders
  system: System
  /** Reads the settings of the owner of the server. @throws Error with a sentence */
  settings: () => Pick<AgentSettings, 'allow'>
  /** File that tells which hub and which agent this is. */
  pinnedFile: string
  /** Time of the server (ms UTC). */
  now: () => number
  log: CommandLog
}

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

/**
 * Runs the commands that the agent has written, each after verifying it again: someone who controls the agent can't make the root half do
 * anything that the hub didn't ask for and the owner of the server doesn't allow. An order is removed before it is run.
 */
export async function obeyOrders(pieces: RootPieces): Promise<void> {
  const { folders } = pieces
  mkdirSync(folders.results, { recursive: true, mode: 0o755 })
  mkdirSync(folders.state, { recursive: true, mode: 0o755 })
  removeOldResults(pieces)
  const seen = new SeenCommands(join(folders.state, 'seen-commands'))
  // By its descriptor: the agent owns the folder above, and could put a link in its place.
  const orders = openSync(folders.orders, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const { gid } = fstatSync(orders)
    const base = `/proc/self/fd/${orders}`
    // IDs sort by time.
    for (const name of readdirSync(base).toSorted().slice(0, maxOrders)) {
      const order = takeOrder(`${base}/${name}`)
      const result = await obey(pieces, seen, order)
      const id = name.replace(/\.json$/, '')
      if (result === null || !commandId.test(id)) continue
      const path = join(folders.results, `${id}.json`)
      writeFile(path, JSON.stringify({ ...result, command_id: id } satisfies CommandResult), { mode: 0o640 })
      if (process.getuid?.() === 0) chownSync(path, 0, gid)
    }
  } finally {
    closeSync(orders)
  }
}

/** @returns null for a command that has its result already */
async function obey(
  pieces: RootPieces,
  seen: SeenCommands,
  order: Order | null,
): Promise<Omit<CommandResult, 'command_id'> | null> {
  const { folders, system, settings, pinnedFile, now, log } = pieces
  try {
    if (!order) throw new CommandRefused('The order can’t be read.')
    const { agentId, hubKey } = readPinned(pinnedFile)
    const offset = order.clock_offset_ms
    if (Math.abs(offset) > maxOrderOffsetMs)
      throw new CommandRefused(
        `The clock of the server is wrong by ${Math.round(Math.abs(offset) / 60_000)} minutes, so it is not known whether the command is still valid.`,
      )
    const command = checkCommand(order, {
      hubKey: parsePublicKey(hubKey)!,
      agentId,
      now: now() + offset,
      wasSeen: seen.has,
      notBefore: seen.newest - maxOlderMs,
      allow: () => settings().allow,
    })
    seen.add(command, now())
    log.write(command, 'started', null)
    const result = await runOrder(system, folders, command)
    log.write(command, result.outcome, result.detail)
    return result
  } catch (error) {
    const { message } = error as Error
    const [command, outcome] =
      error instanceof CommandRefused ? ([error.command, error.outcome] as const) : ([null, 'refused'] as const)
    log.write(command, outcome, message)
    return outcome === 'repeated' ? null : { outcome, detail: message, output: null }
  }
}

/** Reads and removes an order. Null if it is none. */
function takeOrder(path: string): Order | null {
  try {
    return readOrder(path)
  } catch {
    return null
  } finally {
    remove(path)
  }
}

function readOrder(path: string): Order | null {
  // Neither follows links nor waits for the writer of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > maxOrderBytes) return null
    const { payload, signature, clock_offset_ms: offset } = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof payload !== 'string' || typeof signature !== 'string' || !Number.isSafeInteger(offset)) return null
    return { payload, signature, clock_offset_ms: offset }
  } finally {
    closeSync(file)
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    try {
      rmdirSync(path)
    } catch {}
  }
}

function removeOldResults({ folders: { results }, now }: RootPieces): void {
  for (const name of readdirSync(results)) {
    const path = join(results, name)
    if (statSync(path).mtimeMs < now() - keepResultsMs) rmSync(path, { force: true })
  }
}
