import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { isWithin, resourceApiPath, affectedPaths } from './affected-paths'

const change = (type: string, id: string) => ({ type, id, action: 'some.thing.update' })

test('a change affects the lists of its type, the resources they belong to, and the log', () => {
  expect([...affectedPaths([change('monitor', 'mon_1')])]).toEqual([
    '/audit-events',
    '/events',
    '/monitors',
    '/monitoring',
    '/overview',
  ])
  expect([...affectedPaths([change('planet', 'earth_1')])]).toEqual(['/audit-events', '/events'])
})

test('the path of a resource does not depend on the list that shows it', () => {
  expect(resourceApiPath(change('record', 'rec_1'))).toBe('/dns/records/rec_1')
  expect(resourceApiPath(change('template_binding', 'tbnd_1'))).toBe('/dns/template-bindings/tbnd_1')
  expect(resourceApiPath(change('planet', 'earth_1'))).toBeNull()
})

test('changes to many resources affect the lists of their type, for every type in the handbook', () => {
  const section = /\n## Changes that are not in the audit log\n([\s\S]*?)\n## /.exec(
    readFileSync('src/docs/live.md', 'utf8'),
  )![1]!
  const types = [...section.matchAll(/^\| `[^`]+\.[^`]+` \| `(\w+)` \|/gm)].map(line => line[1]!)
  expect(types.length).toBeGreaterThan(3)
  for (const type of types) {
    expect([type, affectedPaths([change(type, '*')]).size > 2]).toEqual([type, true])
    expect(resourceApiPath(change(type, '*'))).toBeNull()
  }
})

test('a path is below another if whole segments match', () => {
  expect(isWithin('/dns/zones/zone_1/records', '/dns/zones')).toBe(true)
  expect(isWithin('/dns/zones', '/dns/zones')).toBe(true)
  expect(isWithin('/dns/zones-archive', '/dns/zones')).toBe(false)
})
