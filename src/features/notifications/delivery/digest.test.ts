import { expect, test } from 'bun:test'
import { digest as combine } from './digest'
import type { Message } from '../message'

const digest = (messages: readonly Message[], afterQuiet: boolean) => combine(messages, afterQuiet, 'https://hub.example.com')
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

test('a single message is unchanged', () => {
  const one = message({})
  expect(digest([one], false)).toBe(one)
})

test('several messages are counted by state and have the severity of the worst problem', () => {
  const one = digest(
    [
      message({ severity: 'info', facts: [['Address', 'https://a.example.com/']] }),
      message({ title: 'Resolved: b is down', state: 'recovery', severity: 'critical', tags: ['b'] }),
      message({ title: 'a token expires', text: '', state: 'information' }),
    ],
    false,
  )
  expect(one).toMatchObject({
    state: 'problem',
    severity: 'info',
    title: '1 problem, 1 resolved, 1 update',
    acknowledgeLink: null,
    tags: ['a', 'b'],
    facts: [
      ['Problem', 'a is down: Refused (https://a.example.com/, 2026-11-21 10:00:00 UTC)'],
      ['Resolved', 'b is down: Refused (2026-11-21 10:00:00 UTC)'],
      ['Update', 'a token expires (2026-11-21 10:00:00 UTC)'],
    ],
  })
  expect(digest([message({ state: 'recovery' }), message({ state: 'recovery' })], true)).toMatchObject({
    state: 'recovery',
    title: 'During quiet hours: 2 resolved',
  })
})

test('long digests list the first messages and count the rest', () => {
  const one = digest(
    Array.from({ length: 100 }, () => message({})),
    false,
  )
  expect([one.title, one.facts.length, one.facts.at(-1)]).toEqual(['100 problems', 21, ['More', '80 more in the channel log']])
})

test('a digest has a text, and links to a page with all its messages', () => {
  const linked = (...links: (string | null)[]) =>
    digest(
      links.map(link => message({ link })),
      false,
    ).link
  const incident = (id: string) => `https://hub.example.com/incidents/${id}`
  expect(linked(incident('inc_1'), incident('inc_1'))).toBe(incident('inc_1'))
  expect(linked(incident('inc_1'), incident('inc_2'))).toBe('https://hub.example.com/incidents')
  expect(linked(incident('inc_1'), 'https://hub.example.com/notices')).toBe('https://hub.example.com/')
  expect(linked(incident('inc_1'), null)).toBe('https://hub.example.com/')
  expect(linked(null, null)).toBeNull()
  expect(digest([message({}), message({})], false).text).toBe('These notifications were combined into one message.')
  expect(digest([message({}), message({})], true).text).toBe('These notifications were held during quiet hours.')
})
