import { describe, expect, test } from 'bun:test'
import type { MonitorStatus } from './input'
import { groupVerdict } from './group'

const membersWith = (statuses: readonly MonitorStatus[], excusedBy: string | null = null) =>
  statuses.map(status => ({ status, excusedBy }))

describe('a group', () => {
  test.each([
    [['up', 'down'], 'any', 'down'],
    [['up', 'degraded'], 'any', 'degraded'],
    [['up', 'up'], 'any', 'up'],
    [['up', 'down'], 'all', 'degraded'],
    [['down', 'down', 'paused', 'maintenance', 'unknown'], 'all', 'down'],
    [['down', 'up', 'up'], { percent: 34 }, 'degraded'],
    [['down', 'down', 'up'], { percent: 66 }, 'down'],
    [['maintenance', 'unknown'], 'any', 'unknown'],
    [['new', 'paused'], 'any', 'new'],
    [['new', 'up'], 'all', 'up'],
    [['paused'], 'any', 'unknown'],
    [[], 'any', 'unknown'],
  ] as const)('of %p with the rule %p is %s', (statuses, rule, expected) => {
    expect(groupVerdict(membersWith(statuses), rule).verdict).toBe(expected)
  })

  test('whose failing members are all excused has their status and is excused too', () => {
    expect(groupVerdict(membersWith(['down', 'down'], 'mon_p'), 'all')).toMatchObject({ verdict: 'down', excusedBy: 'mon_p' })
    expect(groupVerdict([...membersWith(['up']), ...membersWith(['down'], 'mon_p')], 'all')).toMatchObject({
      verdict: 'degraded',
      excusedBy: 'mon_p',
    })
  })

  test('with a member that fails on its own ignores the excused ones', () => {
    const members = [...membersWith(['down', 'up']), ...membersWith(['down', 'down'], 'mon_p')]
    expect(groupVerdict(members, { percent: 50 })).toMatchObject({ verdict: 'degraded', excusedBy: null })
    expect(groupVerdict(members, 'any')).toMatchObject({ verdict: 'down', excusedBy: null })
  })
})
