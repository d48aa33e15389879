import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'bun:test'
import { fetchHub } from './hub-fetch'

/** Sends a request to a hub that responds with these bytes. */
async function responseTo(answer: string | Uint8Array): Promise<{ sent: string; response: ReturnType<typeof fetchHub> }> {
  const { promise: sent, resolve } = Promise.withResolvers<string>()
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', data => {
      resolve(data.toString())
      socket.end(answer)
      server.close()
    })
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asked = { method: 'GET', path: '/', headers: {}, body: null, waitMs: 5000, maxBodyBytes: 1000 } as const
  const response = fetchHub({ hub, pin: null }, asked)
  response.catch(() => {})
  return { sent: await sent, response }
}

test('a response is never decompressed', async () => {
  const bomb = Bun.gzipSync(new Uint8Array(100_000))
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.byteLength}\r\n\r\n`
  const { sent, response } = await responseTo(Buffer.concat([Buffer.from(head), bomb]))
  expect(sent).toMatch(/^accept-encoding: identity\r$/im)
  await expect(response).rejects.toThrow('The response is compressed, although the agent didn’t ask for that.')
})

test('a response in chunks ends at the limit, whatever length it states', async () => {
  const chunk = `64\r\n${'a'.repeat(100)}\r\n`
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { response } = await responseTo(`${head}${chunk.repeat(11)}0\r\n\r\n`)
  await expect(response).rejects.toThrow('The response is larger than 1000 bytes.')
  const { response: shorter } = await responseTo(`${head}${chunk.repeat(10)}0\r\n\r\n`)
  expect((await shorter).body.byteLength).toBe(1000)
})
