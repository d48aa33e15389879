import { expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { MailError, sendMail } from './mail'

test('the total time limit applies to a server that sends a little data now and then', async () => {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    sockets.push(socket)
    const drip = setInterval(() => socket.write('220-wait\r\n'), 20)
    socket.on('close', () => clearInterval(drip)).on('error', () => {})
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const to = { host: '127.0.0.1', port, tls: 'none', user: null, password: null } as const
  const mail = {
    from: 'a@example.com',
    to: ['b@example.com'],
    subject: 's',
    text: 't',
    html: 't',
    messageId: '<1@a>',
    references: [],
  }
  const error = await sendMail(to, { address: '127.0.0.1', helloName: 'a', totalMs: 200 }, { ...mail, date: 0 }).catch(
    thrown => thrown,
  )
  expect(error).toBeInstanceOf(MailError)
  expect([error.failure, error.message]).toEqual(['temporary', 'The mail server did not respond in time.'])
  for (const socket of sockets) socket.destroy()
  server.close()
})
