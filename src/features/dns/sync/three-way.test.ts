import { expect, test } from 'bun:test'
import { isSynced, threeWayState, syncStates, worstOf } from './three-way'

const prints = { '-': null, P: 'p/300/', Q: 'q/300/' } as const
type Word = keyof typeof prints

// Desired, agreed, observed: all combinations of absent, P and Q.
const table: Record<`${Word}${Word}${Word}`, string> = {
  '---': 'nothing',
  '--P': 'unmanaged added',
  '--Q': 'unmanaged added',
  '-P-': 'nothing',
  '-PP': 'pending',
  '-PQ': 'conflict',
  '-Q-': 'nothing',
  '-QP': 'conflict',
  '-QQ': 'pending',
  'P--': 'pending',
  'P-P': 'synced',
  'P-Q': 'conflict',
  'PP-': 'drifted deleted',
  PPP: 'synced',
  PPQ: 'drifted changed',
  'PQ-': 'conflict',
  PQP: 'synced',
  PQQ: 'pending',
  'Q--': 'pending',
  'Q-P': 'conflict',
  'Q-Q': 'synced',
  'QP-': 'conflict',
  QPP: 'pending',
  QPQ: 'synced',
  'QQ-': 'drifted deleted',
  QQP: 'drifted changed',
  QQQ: 'synced',
}

test('the table is complete', () => {
  expect(Object.keys(table)).toHaveLength(27)
})

test.each(Object.entries(table))('%s is %s', (key, expected) => {
  const [desired, agreed, observed] = [...key].map(word => prints[word as Word])
  const result = threeWayState(desired!, agreed!, observed!)
  expect(result === null ? 'nothing' : [result.state, result.kind].filter(Boolean).join(' ')).toBe(expected)
})

test('three different values are a conflict', () => {
  expect(threeWayState('x/300/', 'y/300/', 'z/300/')?.state).toBe('conflict')
})

test('the worst state of several targets counts', () => {
  expect(worstOf([])).toBe('synced')
  expect(worstOf(['synced', 'ignored'])).toBe('synced')
  expect(worstOf(['ignored'])).toBe('ignored')
  expect(worstOf(['synced', 'unknown', 'pending'])).toBe('pending')
  for (const state of syncStates) expect(worstOf(['error', state])).toBe('error')
  expect(syncStates.filter(isSynced)).toEqual(['synced', 'ignored'])
})
