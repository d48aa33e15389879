import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { FrameError, FrameReader, frameOf, maxMessageLength } from './frames'

const header = (length: number) => Uint8Array.from([length >>> 24, length >>> 16, length >>> 8, length])

test('the length includes itself', () => {
  expect(frameOf('<ä/>')).toEqual(Buffer.from([0, 0, 0, 9, 0x3c, 0xc3, 0xa4, 0x2f, 0x3e]))
})

test('messages are received whole, however the stream is split', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, unit: 'grapheme' }), { maxLength: 6 }), cuts, (messages, lengths) => {
      const stream = Buffer.concat(messages.map(frameOf))
      const reader = new FrameReader()
      const received: string[] = []
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const length = lengths[turn % lengths.length]!
        received.push(...reader.push(stream.subarray(at, at + length)))
        at += length
      }
      expect(received).toEqual(messages)
    }),
  )
})

test('a message of the largest size that is received an octet at a time takes linear time', () => {
  const reader = new FrameReader()
  const stream = frameOf('x'.repeat(maxMessageLength))
  const received: string[] = []
  for (let at = 0; at < stream.length; at++) received.push(...reader.push(stream.subarray(at, at + 1)))
  expect(received.map(one => one.length)).toEqual([maxMessageLength])
})

test.each([0, 1, 3, 4, maxMessageLength + 5, 2 ** 31, 2 ** 32 - 1])('a length of %p is refused', length => {
  expect(() => new FrameReader().push(header(length))).toThrow(FrameError)
})

test('a message that is not UTF-8 is refused', () => {
  expect(() => new FrameReader().push(Buffer.from([0, 0, 0, 6, 0xc3, 0x28]))).toThrow(FrameError)
})

test('the beginning of an HTTP response is refused', () => {
  expect(() => new FrameReader().push(Buffer.from('HTTP/1.1 400 Bad Request\r\n'))).toThrow(FrameError)
})
