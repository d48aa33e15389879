import { describe, expect, test } from 'bun:test'
import type { MonitorStatus } from './input'
import { groupVerdict } from './group'

const saying = (statuses: readonly MonitorStatus[], excusedBy: string | null = null) =>
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
  ] as const)('of %p by %p is %s', (members, rule, expected) => {
    expect(groupVerdict(saying(members), rule).verdict).toBe(expected)
  })

  test('whose members are all excused is what they are, and excused as well', () => {
    expect(groupVerdict(saying(['down', 'down'], 'mon_p'), 'all')).toMatchObject({ verdict: 'down', excusedBy: 'mon_p' })
    expect(groupVerdict([...saying(['up']), ...saying(['down'], 'mon_p')], 'all')).toMatchObject({
      verdict: 'degraded',
      excusedBy: 'mon_p',
    })
  })

  test('of which one fails by itself is as bad as that one makes it', () => {
    const members = [...saying(['down', 'up']), ...saying(['down', 'down'], 'mon_p')]
    expect(groupVerdict(members, { percent: 50 })).toMatchObject({ verdict: 'degraded', excusedBy: null })
    expect(groupVerdict(members, 'any')).toMatchObject({ verdict: 'down', excusedBy: null })
  })
})
