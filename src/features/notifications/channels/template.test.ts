import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Message } from '../message'
import type { Outgoing } from './channel'
import { filled, unknownIn } from './template'

const message: Message = {
  kind: 'incident.opened',
  state: 'problem',
  severity: 'critical',
  title: 'The "shop" is down',
  text: 'Line one\nline two',
  facts: [['Since', '10:00']],
  link: 'https://hub.example.com/i?a=1&b=2',
  acknowledgeLink: null,
  thread: 'inc_1',
  resource: { type: 'monitor', id: 'mon_1', name: 'shop & co' },
  tags: ['web', 'eu'],
  occurredAt: Date.parse('2026-11-21T10:00:00Z'),
}
const outgoing: Outgoing = { id: 'ntf_1', message, count: 1, first: true, thread: 'abc' }
const fill = (text: string, escaping: 'none' | 'json' | 'percent' = 'none', more: Partial<Message> = {}) =>
  filled(text, { ...outgoing, message: { ...message, ...more } }, { key: 's"3' }, escaping)

test('placeholders in braces are escaped for where they stand', () => {
  expect(fill('{{message.title}} {{ status }}')).toBe('The "shop" is down down')
  expect(JSON.parse(fill('{"t": "{{message.title}}", "x": "{{message.text}}", "k": "{{secret.key}}"}', 'json'))).toEqual({
    t: message.title,
    x: message.text,
    k: 's"3',
  })
  expect(fill('https://a.example/?u={{message.link}}', 'percent')).toBe(
    'https://a.example/?u=https%3A%2F%2Fhub.example.com%2Fi%3Fa%3D1%26b%3D2',
  )
  expect(fill('[{{message.acknowledge_link}}]')).toBe('[]')
  expect(fill('{{event_action}}', 'none', { state: 'recovery' })).toBe('resolve')
  expect(fill('{{status}} $STATUS {{event_action}}', 'none', { state: 'information' })).toBe('information information trigger')
})

test('the whole message is JSON, within JSON too', () => {
  expect(JSON.parse(fill('{"all": {{json}}}', 'json')).all).toMatchObject({
    notification_id: 'ntf_1',
    title: message.title,
    facts: [{ name: 'Since', value: '10:00' }],
    occurred_at: '2026-11-21T10:00:00.000Z',
  })
})

test('those of Healthchecks stand for what they stand for there', () => {
  expect(fill('$NAME $STATUS $CODE $NOW $TAGS $TAG2 $TAG9.')).toBe('shop & co down mon_1 2026-11-21T10:00:00.000Z web eu eu .')
  expect(fill('{"name": $NAME_JSON}')).toBe('{"name": "shop & co"}')
  expect(fill('?n=$NAME', 'percent')).toBe('?n=shop%20%26%20co')
  expect(fill('$NAMES $OTHER costs $5')).toBe('$NAMES $OTHER costs $5')
})

test('what is filled in is not looked into again', () => {
  expect(fill('{{message.title}}', 'none', { title: '{{secret.key}} $NAME $& $1' })).toBe('{{secret.key}} $NAME $& $1')
  expect(fill('$NAME', 'none', { resource: { type: 'monitor', id: 'm', name: '$STATUS {{status}} $&' } })).toBe(
    '$STATUS {{status}} $&',
  )
})

test('names that stand for nothing are told', () => {
  expect(unknownIn('{{message.titel}} {{secret.key}} {{secret.other}} {{json}} {{constructor}}', ['key'])).toEqual([
    'message.titel',
    'secret.other',
    'constructor',
  ])
})

test('a JSON body stays JSON whatever people name things', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(JSON.parse(fill('{"a": "{{message.title}}", "b": $BODY_JSON}', 'json', { title: text, text, facts: [] }))).toEqual({
        a: text,
        b: text,
      })
    }),
  )
})
