import type { Verdict } from './state'
import type { JudgeInput, MonitorStatus } from './input'

/** A group is down if any member is down, all are, or at least a percentage of them. */
type GroupRule = 'any' | 'all' | { percent: number }

interface Member {
  status: MonitorStatus
  /** The dependency that suppresses its alerts, if any. */
  excusedBy: string | null
}

/**
 * The verdict of a group. Members that are in maintenance, paused, new, or unknown don't count. If none counts, the group is unknown,
 * or new if all members that are not paused are new. If members are degraded, or too few are down, the group is degraded. Members
 * that fail only because of a dependency (`excusedBy`) are ignored if others fail on their own; otherwise the group is excused too.
 */
export function groupVerdict(members: readonly Member[], rule: GroupRule): NonNullable<JudgeInput['group']> {
  const all = verdictOf(
    members.map(({ status }) => status),
    rule,
  )
  const excusedBy = members.find(one => isBad(one.status) && one.excusedBy !== null)?.excusedBy ?? null
  if (excusedBy === null) return { ...all, excusedBy }
  const own = verdictOf(
    members.map(one => (isBad(one.status) && one.excusedBy !== null ? 'up' : one.status)),
    rule,
  )
  return own.verdict === 'up' ? { ...all, excusedBy } : { ...own, excusedBy: null }
}

const isBad = (status: MonitorStatus): boolean => status === 'down' || status === 'degraded'

function verdictOf(members: readonly MonitorStatus[], rule: GroupRule): { verdict: Verdict; reason: string } {
  const counted = members.filter(status => status === 'up' || status === 'degraded' || status === 'down')
  const silent = members.filter(status => status !== 'paused')
  if (counted.length === 0) {
    const isNew = silent.length > 0 && silent.every(status => status === 'new')
    return { verdict: isNew ? 'new' : 'unknown', reason: 'None of its monitors has a current status.' }
  }
  const down = counted.filter(status => status === 'down').length
  const reason = `${down} of ${counted.length} monitors ${down === 1 ? 'is' : 'are'} down`
  if (isEnough(down, counted.length, rule)) return { verdict: 'down', reason }
  if (down > 0) return { verdict: 'degraded', reason }
  const degraded = counted.filter(status => status === 'degraded').length
  if (degraded === 0) return { verdict: 'up', reason: `All ${counted.length} monitors are up.` }
  return { verdict: 'degraded', reason: `${degraded} of ${counted.length} monitors ${degraded === 1 ? 'is' : 'are'} degraded` }
}

function isEnough(down: number, counted: number, rule: GroupRule): boolean {
  if (down === 0) return false
  if (rule === 'any') return true
  return rule === 'all' ? down === counted : 100 * down >= rule.percent * counted
}
