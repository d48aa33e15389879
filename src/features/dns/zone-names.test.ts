import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isWithin, lowerName, nameOf } from '../../core/dns/name'
import { absoluteOf, namesAbove, recordNameOf, reversedName, withinZone } from './zone-names'

const label = fc.oneof(
  fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
  fc.uint8Array({ minLength: 1, maxLength: 6 }).map(octets => String.fromCharCode(...octets)),
)
const name = fc
  .array(label, { minLength: 1, maxLength: 5 })
  .map(labels => lowerName(nameOf(labels)).slice(0, -1))
  .filter(one => !one.includes('*'))

test('a name of a record is the same when it is read again, absolute or below its zone', () => {
  fc.assert(
    fc.property(name, own => {
      const absolute = absoluteOf(own, 'zone.example')
      expect(recordNameOf(absolute, 'zone.example')).toBe(own)
      expect(withinZone(absolute, 'zone.example')).toBe(own)
    }),
  )
})

test('names below a name, and no others, begin like it when reversed', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const below = isWithin(`${other}.${one}.`, `${one}.`)
      expect(reversedName(`${other}.${one}`).startsWith(`${reversedName(one)}.`)).toBe(below)
      expect(reversedName(other).startsWith(`${reversedName(one)}.`)).toBe(other !== one && isWithin(`${other}.`, `${one}.`))
    }),
  )
})

test('the names above a name are those it is within', () => {
  expect(namesAbove('a.b.c')).toEqual(['b.c', 'c'])
  expect(namesAbove('a\\.b.c')).toEqual(['c'])
  expect(namesAbove('@')).toEqual([])
})
