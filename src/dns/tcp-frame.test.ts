import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { framed, FrameReader } from './tcp-frame'

test('messages are preserved, however TCP splits them', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 })
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (sent, cuts) => {
      const stream = Buffer.concat(sent.map(framed))
      const reader = new FrameReader()
      const got: number[][] = []
      let at = 0
      for (let turn = 0; at < stream.length; turn++) {
        const end = at + cuts[turn % cuts.length]!
        reader.push(stream.subarray(at, end))
        at = end
        for (let one = reader.next(); one; one = reader.next()) got.push([...one])
      }
      expect(got).toEqual(sent.map(one => [...one]))
      expect(reader.next()).toBeNull()
    }),
  )
})

test('the length prefix has two octets', () => {
  const long = new Uint8Array(0xffff).fill(7)
  expect([...framed(long).subarray(0, 3)]).toEqual([255, 255, 7])
  const reader = new FrameReader()
  reader.push(framed(long).subarray(0, 0xffff))
  expect(reader.next()).toBeNull()
  reader.push(framed(long).subarray(0xffff))
  expect(reader.next()).toHaveLength(0xffff)
})
