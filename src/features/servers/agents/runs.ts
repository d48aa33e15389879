import type { AgentReport } from '../../../wire/agent'
import type { AgentRow } from './rows'
import type { AgentRun } from './tables'

/** Which runs of an agent may report: one machine at a time, the first one before its clones. */

type Known = Pick<AgentRow, 'runs' | 'refusedRuns' | 'lastReportAt' | 'intervalSeconds' | 'state'>
type Reported = Pick<AgentReport, 'run_id' | 'seq' | 'boot_id' | 'uptime_seconds'>

/**
 * `refused`: for good, with the field that is wrong. `later`: it may be another machine, which is known once the current run had its
 * time to report. `refusedRuns` are to be stored; `isCloned` tells that two machines use the agent.
 */
export type RunVerdict =
  | { kind: 'accepted'; runs: AgentRun[]; refusedRuns: string[]; isCloned: boolean }
  | { kind: 'refused'; pointer: string; detail: string; refusedRuns: string[]; isCloned: boolean }
  | { kind: 'later'; retryAfterSeconds: number }

const maxRuns = 5
const maxRefused = 20
/** How much later than at its interval a report can arrive. */
const delayMs = 30_000
/** The time of a boot is known this exactly. */
const bootToleranceMs = 5_000

/**
 * Decides whether a report belongs to the agent. Its program can be started again at any time, and its server can boot again, but two
 * runs that report one after another are two machines with the same credentials: the one that was known first continues.
 * @param at when the report was sent (ms UTC), by the clock of the hub
 */
export function judgeRun(known: Known, report: Reported, at: number, now: number): RunVerdict {
  const { run_id: id, seq, boot_id: bootId } = report
  const { runs, refusedRuns } = known
  const refuse = (pointer: string, detail: string, isCloned = false): RunVerdict => ({
    ...{ kind: 'refused', pointer, detail, isCloned },
    refusedRuns: isCloned ? withRefused(refusedRuns, [id]) : refusedRuns,
  })
  const accept = (others: readonly AgentRun[], refused = refusedRuns, isCloned = false): RunVerdict => ({
    ...{ kind: 'accepted', refusedRuns: refused, isCloned },
    runs: [{ id, bootId, seq, replacedAt: null }, ...others].slice(0, maxRuns),
  })
  if (refusedRuns.includes(id)) return refuse('#/run_id', otherMachine)
  const [current, ...older] = runs
  if (!current) return accept([])
  const same = runs.find(one => one.id === id)
  if (same) {
    if (same.bootId !== bootId) return refuse('#/boot_id', 'must stay the same within a run.')
    if (same.replacedAt !== null && at <= same.replacedAt)
      return refuse('#/run_id', 'must not be a run that another one replaced.')
    // A report whose response was lost may be sent again.
    if (seq < same.seq) return refuse('#/seq', `must be at least ${same.seq}, the number of the last report of this run.`)
    if (same === current) return accept(older)
    const later = runs.slice(0, runs.indexOf(same))
    const isCloned = later.some(one => one.bootId !== bootId)
    const refused = withRefused(
      refusedRuns,
      later.map(one => one.id),
    )
    return accept(runs.slice(runs.indexOf(same) + 1), refused, isCloned)
  }
  const replaced = [{ ...current, replacedAt: now }, ...older]
  if (current.bootId === bootId || known.lastReportAt === null) return accept(replaced)
  const bootedAt = at - report.uptime_seconds * 1000
  if (known.state === 'reporting' && bootedAt < known.lastReportAt - bootToleranceMs)
    return refuse('#/boot_id', otherMachine, true)
  const dueAt = known.lastReportAt + known.intervalSeconds * 1000 + delayMs
  if (known.state === 'reporting' && now < dueAt) return { kind: 'later', retryAfterSeconds: Math.ceil((dueAt - now) / 1000) }
  return accept(replaced)
}

/**
 * When a server started, if it did after the last report of its agent; else null. Only the first report of a run tells it.
 * @param at when the report was sent (ms UTC), by the clock of the hub
 */
export function startedSince(
  { runs, lastReportAt }: Pick<Known, 'runs' | 'lastReportAt'>,
  { run_id: id, uptime_seconds: uptime }: Pick<Reported, 'run_id' | 'uptime_seconds'>,
  at: number,
): number | null {
  const bootedAt = at - uptime * 1000
  const isNew = lastReportAt !== null && runs.every(one => one.id !== id)
  // Containers have the boot ID of their host, so it says nothing about them.
  return isNew && bootedAt > lastReportAt && bootedAt <= at ? bootedAt : null
}

const otherMachine =
  'belongs to another machine than the one that reports as this agent. If this server was cloned, enroll it with a new key.'

const withRefused = (refused: readonly string[], ids: readonly string[]): string[] =>
  [...new Set([...refused, ...ids])].slice(-maxRefused)
