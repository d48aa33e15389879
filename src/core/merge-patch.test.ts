import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { mergePatch } from './merge-patch'

test('the examples of RFC 7396 appendix A with objects as target and patch', () => {
  const table: [object, object, object][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  for (const [target, patch, result] of table) expect(mergePatch(target as never, patch as never)).toEqual(result as never)
})

test('merging is idempotent and does not modify its arguments', () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const [before, patchBefore] = [structuredClone(target), structuredClone(patch)]
      const once = mergePatch(target, patch)
      expect(mergePatch(once, patch)).toEqual(once)
      expect([target, patch]).toEqual([before, patchBefore])
    }),
  )
})
