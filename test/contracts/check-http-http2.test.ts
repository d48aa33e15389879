import { afterAll, describe, expect, test } from 'bun:test'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { createServer as createPlain } from 'node:net'
import { gzipSync } from 'node:zlib'
import { closeTargets, listening, served, run, at, shown } from '../support/http-targets'

afterAll(closeTargets)

describe('HTTP/2', () => {
  test('works over TLS, with the same facts', async () => {
    const server = createSecureServer({ ...shown('two-names'), allowHTTP1: false })
    const heads: Record<string, unknown>[] = []
    server.on('stream', (stream: ServerHttp2Stream, head) => {
      heads.push(head)
      stream.respond({ ':status': 203, 'content-encoding': 'gzip', 'x-a': '1' })
      stream.end(gzipSync('two'))
    })
    server.on('sessionError', () => {})
    const port = await listening(server)
    const facts = await run(`https://a.test:${port}/p?q`, {
      http_version: '2',
      method: 'POST',
      body: 'x',
      auth: { type: 'bearer', token: 'changeme-token' },
    })
    expect(facts).toMatchObject({ error: null, status: 203, body: 'two', headers: { 'x-a': '1' }, tls: { version: '1.3' } })
    expect(facts.phases.first_byte).toBeGreaterThan(0)
    expect(heads[0]).toMatchObject({
      ':method': 'POST',
      ':path': '/p?q',
      ':authority': `a.test:${port}`,
      authorization: 'Bearer changeme-token',
    })
    expect(facts.headers).not.toHaveProperty(':status')
  })

  const frame = (type: number, flags: number, stream: number, ...octets: number[]) =>
    Buffer.from([0, 0, octets.length, type, flags, 0, 0, 0, stream, ...octets])
  const head = frame(1, 4, 1, 0x88)
  const half = frame(0, 0, 1, 0x68, 0x61, 0x6c, 0x66)
  const end = frame(0, 1, 1)
  const reset = (code: number) => frame(3, 0, 1, 0, 0, 0, code)
  const incomplete = 'the server closed the connection before the response was complete'
  test.each([
    ['that is complete', [head, half, end], null],
    ['that is reset with an error code', [head, half, reset(2)], 'the server reset the stream before the response was complete'],
    ['that is canceled', [head, half, reset(8)], incomplete],
    ['whose connection is closed', [head, half], incomplete],
    ['that is reset immediately', [reset(0)], 'the server reset the stream without a response'],
    ['that is rejected', [reset(7)], 'the server reset the stream without a response'],
  ])('handles a response %s', async (_, frames, message) => {
    const port = await listening(
      createPlain(socket => {
        let received = ''
        socket.on('data', octets => {
          if (!received) socket.write(frame(4, 0, 0))
          received += octets.toString('latin1')
          // The request is complete with the HEADERS frame that ends the stream.
          if (!received.includes('\x01\x05\0\0\0\x01')) return
          socket.removeAllListeners('data')
          socket.end(Buffer.concat(frames))
        })
      }),
    )
    const { error, body } = await run(at(port), { http_version: '2' }, { withinMs: 5000 })
    expect(error).toEqual(message === null ? null : { kind: 'closed', message })
    if (message === null) expect(body).toBe('half')
  })

  test('fails with a server that does not support it', async () => {
    const secure = await served((_, response) => response.end(), true)
    expect((await run(`https://a.test:${secure.port}/`, { http_version: '2' })).error!.kind).toMatch(/^(protocol|tls)$/)
    const plain = await served((_, response) => response.end())
    const { error } = await run(at(plain.port), { http_version: '2' }, { withinMs: 5000 })
    expect(error!.kind).toMatch(/^(protocol|closed)$/)
  })
})
