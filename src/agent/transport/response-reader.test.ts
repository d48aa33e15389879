import { expect, test } from 'bun:test'
import { ResponseReader } from './response-reader'

/** Reads a response that arrives in parts of this size, and then the end of the connection. */
function read(text: string, size: number, maxBytes = 1000): ResponseReader {
  const reader = new ResponseReader(maxBytes, () => new Error('too large'))
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) reader.add(bytes.subarray(at, at + size))
  return reader
}

const sizes = [1, 7, 100_000]
const head = 'HTTP/1.1 200 OK\r\nDate: now\r\n'

test.each([
  ['with a length', `${head}Content-Length: 5\r\n\r\nhello`],
  ['in chunks', `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n`],
  [
    'in chunks, with a length that does not count',
    `${head}Content-Length: 1\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n`,
  ],
  ['after early hints', `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${head}Content-Length: 5\r\n\r\nhello`],
  ['with more bytes than its length', `${head}Content-Length: 5\r\n\r\nhello, HTTP/1.1 200 OK`],
])('a body %s', (_, text) => {
  for (const size of sizes) {
    const reader = read(text, size)
    expect(reader).toMatchObject({ status: 200, isComplete: true })
    expect([Buffer.from(reader.body).toString(), reader.headers.get('date')]).toEqual(['hello', 'now'])
  }
})

test('a body without a length ends with the connection', () => {
  for (const size of sizes) {
    const reader = read(`${head}\r\nhello`, size)
    expect(reader.isComplete).toBe(false)
    reader.end()
    expect([reader.isComplete, Buffer.from(reader.body).toString()]).toEqual([true, 'hello'])
  }
})

test('a response that ends early is not complete', () => {
  for (const text of [`${head}Content-Length: 6\r\n\r\nhello`, `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, head]) {
    const reader = read(text, 10)
    reader.end()
    expect(reader.isComplete).toBe(false)
  }
})

test('a response without a body is complete with its headers', () => {
  expect(read('HTTP/1.1 204 No Content\r\n\r\n', 1)).toMatchObject({ status: 204, isComplete: true })
  expect(read(`${head}Content-Length: 0\r\n\r\n`, 1)).toMatchObject({ status: 200, isComplete: true })
})

test.each([
  ['a length above the limit', `${head}Content-Length: 1001\r\n\r\n`, 'too large'],
  ['a chunk above the limit', `${head}Transfer-Encoding: chunked\r\n\r\n3e9\r\n${'a'.repeat(1001)}`, 'too large'],
  ['a body without end', `${head}\r\n${'a'.repeat(1001)}`, 'too large'],
  ['headers without end', `${head}A: ${'a'.repeat(70_000)}`, 'The headers are too large.'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'The status line is invalid.'],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n', 'A header is invalid.'],
  ['a length that is none', `${head}Content-Length: -1\r\n\r\n`, 'The length is invalid.'],
  ['a chunk without a size', `${head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`, 'A chunk is invalid.'],
  ['a size without end', `${head}Transfer-Encoding: chunked\r\n\r\n${'1'.repeat(2000)}`, 'A chunk is invalid.'],
  ['an unknown encoding', `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`, 'The encoding is unknown.'],
])('%s is refused', (_, text, message) => {
  for (const size of [100, 100_000]) expect(() => read(text, size)).toThrow(message)
})
