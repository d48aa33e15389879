import { expect, test } from 'bun:test'
import { gather } from './gather'
import type { Message } from './message'

const message = (more: Partial<Message>): Message => ({
  kind: 'incident.opened',
  state: 'problem',
  severity: 'warning',
  title: 'a is down',
  text: 'Refused.',
  facts: [],
  link: null,
  acknowledgeLink: 'https://hub.example.com/ack',
  thread: 'inc_1',
  resource: null,
  tags: ['a'],
  occurredAt: Date.parse('2026-11-21T10:00:00Z'),
  ...more,
})

test('one message stays as it is', () => {
  const one = message({})
  expect(gather([one], false)).toBe(one)
})

test('several are counted by what they are, and matter as much as the worst problem among them', () => {
  const one = gather(
    [
      message({ severity: 'info' }),
      message({ title: 'b is up', state: 'recovery', severity: 'critical', tags: ['b'] }),
      message({ title: 'a token ends', state: 'information' }),
    ],
    false,
  )
  expect(one).toMatchObject({
    state: 'problem',
    severity: 'info',
    title: '1 problem, 1 recovery, 1 message',
    acknowledgeLink: null,
    tags: ['a', 'b'],
    facts: [
      ['Problem', 'a is down (2026-11-21T10:00:00.000Z)'],
      ['Recovered', 'b is up (2026-11-21T10:00:00.000Z)'],
      ['Notice', 'a token ends (2026-11-21T10:00:00.000Z)'],
    ],
  })
  expect(gather([message({ state: 'recovery' }), message({ state: 'recovery' })], true)).toMatchObject({
    state: 'recovery',
    title: 'In quiet hours: 2 recoveries',
  })
})

test('very many are named in part, and counted in whole', () => {
  const one = gather(
    Array.from({ length: 100 }, () => message({})),
    false,
  )
  expect([one.title, one.facts.length, one.facts.at(-1)]).toEqual([
    '100 problems',
    21,
    ['And', '80 more, in the log of the channel'],
  ])
})
