import type { Verdict } from '../state'
import type { JudgeInput, MonitorStatus } from './input'

/** When a group is down: with one member, with all, or with at least so many percent of them. */
export type GroupRule = 'any' | 'all' | { percent: number }

export interface Member {
  status: MonitorStatus
  /** What it depends on, where nobody is told of it because of that. */
  excusedBy: string | null
}

/**
 * What the members of a group make of it. Members in maintenance, paused, new or unknown have no say; where none has, the group is
 * unknown, or new while all that are not paused are. Some down, but not enough, or some degraded: it is degraded. Members that are
 * excused by what they depend on count as well where others fail by themselves; where none does, the group is excused as they are.
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
    return { verdict: isNew ? 'new' : 'unknown', reason: 'None of its monitors says anything.' }
  }
  const down = counted.filter(status => status === 'down').length
  const reason = `${down} of ${counted.length} monitors ${down === 1 ? 'is' : 'are'} down.`
  if (isEnough(down, counted.length, rule)) return { verdict: 'down', reason }
  if (down > 0) return { verdict: 'degraded', reason }
  const degraded = counted.filter(status => status === 'degraded').length
  if (degraded === 0) return { verdict: 'up', reason: `All of ${counted.length} monitors are up.` }
  return { verdict: 'degraded', reason: `${degraded} of ${counted.length} monitors ${degraded === 1 ? 'is' : 'are'} degraded.` }
}

function isEnough(down: number, counted: number, rule: GroupRule): boolean {
  if (down === 0) return false
  if (rule === 'any') return true
  return rule === 'all' ? down === counted : 100 * down >= rule.percent * counted
}
