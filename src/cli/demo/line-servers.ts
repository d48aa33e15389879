import { createServer, type Server, type Socket } from 'node:net'
import { loopback } from './ports'

/** What a server says first, and then to a line; null says nothing, `end` hangs up after it. */
export interface Talk {
  greeting: string | null
  answer?(line: string, inBody: boolean): { say: string | null; end?: boolean; body?: boolean }
}

/** A server of a protocol of lines that can be closed and opened again on its port. */
export class LineServer {
  private server: Server | null = null
  private readonly sockets = new Set<Socket>()

  constructor(
    readonly port: number,
    private readonly talk: Talk,
  ) {}

  get isOpen(): boolean {
    return this.server !== null
  }

  open(): Promise<void> {
    const server = createServer(socket => this.serve(socket))
    this.server = server
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.port, loopback, resolve)
    })
  }

  close(): void {
    this.server?.close()
    this.server = null
    for (const socket of this.sockets) socket.destroy()
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket)
    // Who is checked is hung up on all the time.
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => {})
    const { greeting, answer } = this.talk
    if (greeting !== null) socket.write(`${greeting}\r\n`)
    let rest = ''
    let inBody = false
    socket.on('data', chunk => {
      const lines = (rest + chunk.toString('latin1')).split(/\r?\n/)
      rest = lines.pop()!
      for (const line of lines) {
        const said = answer?.(line, inBody) ?? { say: null }
        inBody = said.body ?? false
        if (said.say !== null) socket.write(`${said.say}\r\n`)
        if (said.end) socket.end()
      }
    })
  }
}

/** Takes mail and throws it away (RFC 5321). */
export const smtp: Talk = {
  greeting: '220 mail.kestrel.example ESMTP',
  answer(line, inBody) {
    if (inBody) return line === '.' ? { say: '250 2.0.0 queued as 4F1A2C' } : { say: null, body: true }
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return { say: '250-mail.kestrel.example\r\n250-SIZE 26214400\r\n250 8BITMIME' }
      case 'DATA':
        return { say: '354 End data with <CR><LF>.<CR><LF>', body: true }
      case 'QUIT':
        return { say: '221 2.0.0 Bye', end: true }
      default:
        return { say: '250 2.0.0 OK' }
    }
  },
}

/** Lets nobody in (RFC 9051). */
export const imap: Talk = {
  greeting: '* OK [CAPABILITY IMAP4rev2 IDLE LITERAL+ LOGINDISABLED] Dovecot ready.',
  answer(line) {
    const [tag = '*', command = ''] = line.split(' ')
    const done = `${tag} OK ${command} completed.`
    if (/^capability$/i.test(command)) return { say: `* CAPABILITY IMAP4rev2 IDLE LITERAL+ LOGINDISABLED\r\n${done}` }
    if (/^logout$/i.test(command)) return { say: `* BYE Logging out.\r\n${done}`, end: true }
    return { say: `${tag} NO Not here.` }
  },
}

/** Says who it is, and no more (RFC 4253 section 4.2). */
export const ssh: Talk = { greeting: 'SSH-2.0-OpenSSH_9.9' }

/** Takes connections and waits, as a database does. */
export const silent: Talk = { greeting: null }
