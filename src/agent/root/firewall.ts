import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256Hex } from '../../core/sha256'
import type { AgentReport } from '../../wire/agent'
import type { CommandParams } from '../../wire/agent-command'
import { writeFile } from '../state/write-file'
import type { RootFolders } from './folders'
import type { System } from './system'

/** A rule set that is in effect, but not confirmed. */
interface Pending {
  digest: string
  ruleset: string
  /** Name of the timer that restores the confirmed one. */
  timer: string
}

type Folders = Pick<RootFolders, 'runtime' | 'state'>

/** The rule set that was confirmed last. It is loaded when the server starts. */
export const confirmedFile = ({ state }: Pick<Folders, 'state'>): string => join(state, 'firewall', 'confirmed.nft')
/** It exists while a rule set is in effect that is not confirmed, and is gone after a restart, like the rule set. */
const pendingFile = ({ runtime }: Pick<Folders, 'runtime'>): string => join(runtime, 'firewall-pending.json')

/** The table in effect, as a timer lists it each minute. Only root can read it from the kernel. */
export const tableFile = ({ runtime }: Pick<Folders, 'runtime'>): string => join(runtime, 'firewall-table.json')
const maxTableBytes = 4 * 1024 * 1024
/** A report has at most this many counters. */
const maxCounters = 1000

/** Input of `nft -f` that removes the table: what is restored if nothing was confirmed. */
const noTable = 'table inet bailiwick {}\ndelete table inet bailiwick\n'
/** Only the one table is replaced. Within a table, nftables has no statements that change others. */
const onlyTable = /^table inet bailiwick \{\}\ndelete table inet bailiwick\n(?:table inet bailiwick \{\n(?: {2}[^\n]*\n)*\}\n)?$/

/** What was done, or why it could not be done. */
type Done = { isDone: true } | { isDone: false; detail: string }
const failed = (detail: string): Done => ({ isDone: false, detail })

/**
 * Replaces the table of nftables on this server, and lets a timer restore the confirmed one. The timer is started first: whatever ends
 * the root half, the server goes back to rules that were confirmed.
 */
export async function applyFirewall(
  system: System,
  folders: Folders,
  { ruleset, digest, revert_after_seconds: seconds }: CommandParams['firewall_apply'],
): Promise<Done> {
  if (sha256Hex(ruleset) !== digest) return failed('The rule set does not match its digest.')
  if (!isOnlyTable(ruleset)) return failed('The rule set changes more than the table bailiwick.')
  const confirmed = confirmedFile(folders)
  mkdirSync(dirname(confirmed), { recursive: true, mode: 0o755 })
  if (!existsSync(confirmed)) writeFile(confirmed, noTable, { mode: 0o644, durable: true })
  const before = readPending(folders)
  const timer = `bailiwick-agent-firewall-revert-${digest.slice(0, 12)}-${before ? 1 - Number(before.timer.slice(-1)) : 0}`
  const pending = pendingFile(folders)
  const started = await system.startTimer(timer, seconds, ['/bin/sh', '-c', 'nft -f "$0" && rm -f "$1"', confirmed, pending])
  if (!started.isSuccess) return failed(`The timer that restores the previous rules could not be started: ${started.output}`)
  // From now on, the new timer restores the confirmed rules, whatever is in effect.
  if (before) {
    await system.stopTimer(before.timer)
    if (readPending(folders)) writePending(folders, { ...before, timer })
  }
  const applied = await system.run(['nft', '-f', '-'], { input: ruleset })
  if (applied.isSuccess) {
    writePending(folders, { digest, ruleset, timer })
    return { isDone: true }
  }
  if (!before) await system.stopTimer(timer)
  return failed(applied.output)
}

/** Keeps the rule set that is in effect, also when the server restarts. */
export async function confirmFirewall(
  system: System,
  folders: Folders,
  { digest }: CommandParams['firewall_confirm'],
): Promise<Done> {
  const pending = readPending(folders)
  const confirmed = readConfirmed(folders)
  if (pending === null && confirmed !== null && sha256Hex(confirmed) === digest) return { isDone: true }
  if (pending?.digest !== digest) return failed('Another rule set is in effect.')
  // From now on, the timer restores this one.
  writeFile(confirmedFile(folders), pending.ruleset, { mode: 0o644, durable: true })
  await system.stopTimer(pending.timer)
  rmSync(pendingFile(folders), { force: true })
  // The timer may have restored the previous one at the last moment.
  const again = await system.run(['nft', '-f', confirmedFile(folders)])
  return again.isSuccess ? { isDone: true } : failed(again.output)
}

/** The firewall as the agent reports it; undefined if there never was one. */
export function firewallState(folders: Folders): AgentReport['firewall'] {
  const pending = readPending(folders)
  const ruleset = pending?.ruleset ?? readConfirmed(folders)
  if (ruleset === null) return undefined
  const state = { digest: pending?.digest ?? sha256Hex(ruleset), confirmed: pending === null }
  const table = readTable(folders, pending ? pendingFile(folders) : confirmedFile(folders))
  if (table === null) return state
  const counters = countersIn(table)
  // Something else on the server has removed the table.
  if (counters === null) return ruleset === noTable ? state : { ...state, digest: null }
  return { ...state, counters }
}

/** The table as `nft --json` has listed it since the last change; empty if there was none, and null if it was not listed since then. */
function readTable(folders: Folders, changed: string): string | null {
  try {
    const { mtimeMs, size } = statSync(tableFile(folders))
    return mtimeMs <= statSync(changed).mtimeMs || size > maxTableBytes ? null : readText(tableFile(folders))
  } catch {
    return null
  }
}

/** Packets by comments of rules, from all chains; null if it lists no table. */
function countersIn(table: string): Record<string, number> | null {
  const counters = new Map<string, number>()
  try {
    for (const { rule } of JSON.parse(table).nftables) {
      const counted = rule?.expr.find((one: { counter?: object }) => one.counter)?.counter
      if (typeof rule?.comment !== 'string' || !Number.isSafeInteger(counted?.packets)) continue
      if (counters.size < maxCounters || counters.has(rule.comment))
        counters.set(rule.comment, (counters.get(rule.comment) ?? 0) + counted.packets)
    }
  } catch {
    return null
  }
  return Object.fromEntries(counters)
}

/** The only statements that are ended by a semicolon: what a chain filters. */
const chainHook = /^ {4}type filter hook \w+ priority filter - \d+; policy \w+;$/

/**
 * Whether a rule set only replaces the table: nothing leaves it before its last line, and nothing reads another file, which nft would
 * print in an error. Texts in quotes are comments of rules and names of interfaces.
 */
function isOnlyTable(ruleset: string): boolean {
  if (!onlyTable.test(ruleset)) return false
  let depth = 0
  for (const line of ruleset.split('\n').slice(2)) {
    const code = line.replaceAll(/"[^"]*"/g, '')
    if (/["#\\$]|\b(?:include|(?:re|un)?define)\b/.test(code)) return false
    if (code.includes(';') && !chainHook.test(code)) return false
    // After each brace, because a line could leave the table and enter another one.
    for (const char of code) {
      if (char === '{') depth++
      if (char === '}' && --depth < (line === '}' ? 0 : 1)) return false
    }
  }
  return depth === 0
}

const writePending = (folders: Pick<Folders, 'runtime'>, pending: Pending): void =>
  writeFile(pendingFile(folders), JSON.stringify(pending), { mode: 0o644 })

function readPending(folders: Pick<Folders, 'runtime'>): Pending | null {
  const text = readText(pendingFile(folders))
  return text === null ? null : (JSON.parse(text) as Pending)
}

const readConfirmed = (folders: Pick<Folders, 'state'>): string | null => readText(confirmedFile(folders))

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
