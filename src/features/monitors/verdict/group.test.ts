import { describe, expect, test } from 'bun:test'
import { groupVerdict } from './group'

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
    expect(groupVerdict(members, rule).verdict).toBe(expected)
  })
})
