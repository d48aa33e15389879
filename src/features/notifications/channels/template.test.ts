import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Message } from '../message'
import type { Outgoing } from './channel'
import { renderTemplate, unknownPlaceholders } from './template'

const message: Message = {
  kind: 'incident.opened',
  state: 'problem',
  severity: 'critical',
  title: 'The "shop" is down',
  text: 'Line one\nline two',
  facts: [['Started', '10:00']],
  link: 'https://hub.example.com/i?a=1&b=2',
  acknowledgeLink: null,
  thread: 'inc_1',
  resource: { type: 'monitor', id: 'mon_1', name: 'shop & co' },
  tags: ['web', 'eu'],
  occurredAt: Date.parse('2026-11-21T10:00:00Z'),
}
const hub = { name: 'hub.example.com', url: 'https://hub.example.com' }
const outgoing: Outgoing = { id: 'ntf_1', message, count: 1, first: true, thread: 'abc', time: '2026-11-21 10:00:00 UTC', hub }
const render = (text: string, escaping: 'none' | 'json' | 'percent' = 'none', more: Partial<Message> = {}) =>
  renderTemplate(text, { ...outgoing, message: { ...message, ...more } }, { key: 's"3' }, escaping)

test('placeholders in braces are escaped for their context', () => {
  expect(render('{{message.title}} {{ status }}')).toBe('The "shop" is down down')
  expect(JSON.parse(render('{"t": "{{message.title}}", "x": "{{message.text}}", "k": "{{secret.key}}"}', 'json'))).toEqual({
    t: message.title,
    x: message.text,
    k: 's"3',
  })
  expect(render('https://a.example/?u={{message.link}}', 'percent')).toBe(
    'https://a.example/?u=https%3A%2F%2Fhub.example.com%2Fi%3Fa%3D1%26b%3D2',
  )
  expect(render('[{{message.acknowledge_link}}]')).toBe('[]')
  expect(render('{{hub.name}} {{hub.url}}')).toBe('hub.example.com https://hub.example.com')
  expect(render('{{event_action}}', 'none', { state: 'recovery' })).toBe('resolve')
  expect(render('{{status}} $STATUS {{event_action}}', 'none', { state: 'information' })).toBe('information information trigger')
})

test('{{json}} inserts the whole message into a JSON body', () => {
  expect(JSON.parse(render('{"all": {{json}}}', 'json')).all).toMatchObject({
    hub,
    notification_id: 'ntf_1',
    title: message.title,
    facts: [{ name: 'Started', value: '10:00' }],
    occurred_at: '2026-11-21T10:00:00.000Z',
  })
})

test('Healthchecks placeholders are supported', () => {
  expect(render('$NAME $STATUS $CODE $NOW $TAGS $TAG2 $TAG9.')).toBe('shop & co down mon_1 2026-11-21T10:00:00.000Z web eu eu .')
  expect(render('{"name": $NAME_JSON}')).toBe('{"name": "shop & co"}')
  expect(render('?n=$NAME', 'percent')).toBe('?n=shop%20%26%20co')
  expect(render('$NAMES $OTHER costs $5')).toBe('$NAMES $OTHER costs $5')
})

test('inserted values are not expanded again', () => {
  expect(render('{{message.title}}', 'none', { title: '{{secret.key}} $NAME $& $1' })).toBe('{{secret.key}} $NAME $& $1')
  expect(render('$NAME', 'none', { resource: { type: 'monitor', id: 'm', name: '$STATUS {{status}} $&' } })).toBe(
    '$STATUS {{status}} $&',
  )
})

test('unknown placeholders are reported', () => {
  expect(unknownPlaceholders('{{message.titel}} {{secret.key}} {{secret.other}} {{json}} {{constructor}}', ['key'])).toEqual([
    'message.titel',
    'secret.other',
    'constructor',
  ])
})

test('a JSON body stays valid with any inserted text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(JSON.parse(render('{"a": "{{message.title}}", "b": $BODY_JSON}', 'json', { title: text, text, facts: [] }))).toEqual(
        {
          a: text,
          b: text,
        },
      )
    }),
  )
})
