import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isWithin, lowerName, nameOf } from '../../../dns/name'
import { absoluteOf, namesAbove, recordNameOf, reversedName, withinZone } from './names'

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
  fc.uint8Array({ minLength: 1, maxLength: 6 }).map(octets => String.fromCharCode(...octets)),
)
const name = fc
  .array(label, { minLength: 1, maxLength: 5 })
  .map(labels => lowerName(nameOf(labels)).slice(0, -1))
  .filter(one => !one.includes('*'))

test('a record name survives a round trip through its absolute form', () => {
  fc.assert(
    fc.property(name, own => {
      const absolute = absoluteOf(own, 'zone.example')
      expect(recordNameOf(absolute, 'zone.example')).toBe(own)
      expect(withinZone(absolute, 'zone.example')).toBe(own)
    }),
  )
})

test('reversed, exactly the names below a name start with it', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const below = isWithin(`${other}.${one}.`, `${one}.`)
      expect(reversedName(`${other}.${one}`).startsWith(`${reversedName(one)}.`)).toBe(below)
      expect(reversedName(other).startsWith(`${reversedName(one)}.`)).toBe(other !== one && isWithin(`${other}.`, `${one}.`))
    }),
  )
})

test('namesAbove lists the parent names', () => {
  expect(namesAbove('a.b.c')).toEqual(['b.c', 'c'])
  expect(namesAbove('a\\.b.c')).toEqual(['c'])
  expect(namesAbove('@')).toEqual([])
})
