import { createServer, type Socket } from 'node:net'

/** A mail as a server took it. */
export interface TakenMail {
  from: string
  to: string[]
  text: string
}

/** A mail server on this machine that answers as it is told to. */
export interface MailDouble {
  port: number
  taken: TakenMail[]
  /** Answer to a recipient; null takes it. */
  recipient: (address: string) => string | null
  stop(): void
}

export async function mailDouble(): Promise<MailDouble> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let mail: TakenMail = { from: '', to: [], text: '' }
    let body: string[] | null = null
    let rest = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    const obey = (line: string) => {
      if (body !== null) {
        if (line !== '.') return void body.push(line.replace(/^\.\./, '.'))
        mail.text = body.join('\n')
        here.taken.push(mail)
        mail = { from: '', to: [], text: '' }
        body = null
        return say('250 2.0.0 queued as 4F1')
      }
      const word = line.slice(0, 4).toUpperCase()
      if (word === 'EHLO') return say('250-double\r\n250 8BITMIME')
      if (word === 'MAIL') {
        mail.from = /<(.*)>/.exec(line)?.[1] ?? ''
        return say('250 2.1.0 ok')
      }
      if (word === 'RCPT') {
        const address = /<(.*?)>/.exec(line)?.[1] ?? ''
        const refusal = here.recipient(address)
        if (refusal === null) mail.to.push(address)
        return say(refusal ?? '250 2.1.5 ok')
      }
      if (word === 'DATA') {
        body = []
        return say('354 go on')
      }
      if (word === 'QUIT') return void socket.end('221 bye\r\n')
      say('250 ok')
    }
    say('220 double ESMTP')
    socket.on('data', chunk => {
      const lines = (rest + chunk.toString('utf8')).split('\r\n')
      rest = lines.pop()!
      for (const line of lines) obey(line)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const here: MailDouble = {
    port: (server.address() as { port: number }).port,
    taken: [],
    recipient: () => null,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return here
}
