import { createServer, type Socket } from 'node:net'

/** A mail that the server accepted. */
export interface ReceivedMail {
  from: string
  to: string[]
  text: string
}

/** A local mail server with configurable replies. */
export interface MailDouble {
  port: number
  received: ReceivedMail[]
  /** Reply that rejects a recipient; null accepts it. */
  recipient: (address: string) => string | null
  stop(): void
}

export async function mailDouble(): Promise<MailDouble> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let mail: ReceivedMail = { from: '', to: [], text: '' }
    let body: string[] | null = null
    let rest = ''
    const reply = (line: string) => socket.write(`${line}\r\n`)
    const handle = (line: string) => {
      if (body !== null) {
        if (line !== '.') return void body.push(line.replace(/^\.\./, '.'))
        mail.text = body.join('\n')
        here.received.push(mail)
        mail = { from: '', to: [], text: '' }
        body = null
        return reply('250 2.0.0 queued as 4F1')
      }
      const command = line.slice(0, 4).toUpperCase()
      if (command === 'EHLO') return reply('250-double\r\n250 8BITMIME')
      if (command === 'MAIL') {
        mail.from = /<(.*)>/.exec(line)?.[1] ?? ''
        return reply('250 2.1.0 ok')
      }
      if (command === 'RCPT') {
        const address = /<(.*?)>/.exec(line)?.[1] ?? ''
        const refusal = here.recipient(address)
        if (refusal === null) mail.to.push(address)
        return reply(refusal ?? '250 2.1.5 ok')
      }
      if (command === 'DATA') {
        body = []
        return reply('354 start mail input')
      }
      if (command === 'QUIT') return void socket.end('221 bye\r\n')
      reply('250 ok')
    }
    reply('220 double ESMTP')
    socket.on('data', chunk => {
      const lines = (rest + chunk.toString('utf8')).split('\r\n')
      rest = lines.pop()!
      for (const line of lines) handle(line)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const here: MailDouble = {
    port: (server.address() as { port: number }).port,
    received: [],
    recipient: () => null,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return here
}
