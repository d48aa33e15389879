import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { isBelow, pathOf, pathsOf } from './concerned'

const change = (type: string, id: string) => ({ type, id, action: 'some.thing.update' })

test('a change concerns the lists of its kind, what they are part of, and the log', () => {
  expect([...pathsOf([change('monitor', 'mon_1')])]).toEqual([
    '/audit-events',
    '/events',
    '/monitors',
    '/monitoring',
    '/overview',
  ])
  expect([...pathsOf([change('planet', 'earth_1')])]).toEqual(['/audit-events', '/events'])
})

test('one resource is read where it is at home, whatever list shows it', () => {
  expect(pathOf(change('record', 'rec_1'))).toBe('/dns/records/rec_1')
  expect(pathOf(change('template_binding', 'tbnd_1'))).toBe('/dns/template-bindings/tbnd_1')
  expect(pathOf(change('planet', 'earth_1'))).toBeNull()
})

test('many of a type concern its lists, for each type of which the handbook says so', () => {
  const section = /\n## What the log does not tell\n([\s\S]*?)\n## /.exec(readFileSync('src/docs/live.md', 'utf8'))![1]!
  const types = [...section.matchAll(/^\| `[^`]+\.[^`]+` \| `(\w+)` \|/gm)].map(line => line[1]!)
  expect(types.length).toBeGreaterThan(3)
  for (const type of types) {
    expect([type, pathsOf([change(type, '*')]).size > 2]).toEqual([type, true])
    expect(pathOf(change(type, '*'))).toBeNull()
  }
})

test('a path is below another by whole parts', () => {
  expect(isBelow('/dns/zones/zone_1/records', '/dns/zones')).toBe(true)
  expect(isBelow('/dns/zones', '/dns/zones')).toBe(true)
  expect(isBelow('/dns/zones-of-old', '/dns/zones')).toBe(false)
})
