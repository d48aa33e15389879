import { createServer, type Server, type Socket } from 'node:net'
import { loopback } from './ports'

/** A line-based protocol: the greeting and the reply to each line. Null sends nothing; `end` closes the connection afterwards. */
export interface TextProtocol {
  greeting: string | null
  reply?(line: string, inBody: boolean): { text: string | null; end?: boolean; body?: boolean }
}

/** A server of a text protocol that can be closed and reopened on the same port. */
export class TextServer {
  private server: Server | null = null
  private readonly sockets = new Set<Socket>()

  constructor(
    readonly port: number,
    private readonly protocol: TextProtocol,
  ) {}

  get isOpen(): boolean {
    return this.server !== null
  }

  open(): Promise<void> {
    const server = createServer(socket => this.serve(socket))
    this.server = server
    return new Promise((resolve, reject) => {
      server.on('error', reject)
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
    // Checks close connections early.
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => {})
    const { greeting, reply } = this.protocol
    if (greeting !== null) socket.write(`${greeting}\r\n`)
    let rest = ''
    let inBody = false
    socket.on('data', chunk => {
      const lines = (rest + chunk.toString('latin1')).split(/\r?\n/)
      rest = lines.pop()!
      for (const line of lines) {
        const { text, end, body } = reply?.(line, inBody) ?? { text: null }
        inBody = body ?? false
        if (text !== null) socket.write(`${text}\r\n`)
        if (end) socket.end()
      }
    })
  }
}

/** Accepts mail and discards it (RFC 5321). */
export const smtp: TextProtocol = {
  greeting: '220 mail.kestrel.example ESMTP',
  reply(line, inBody) {
    if (inBody) return line === '.' ? { text: '250 2.0.0 queued as 4F1A2C' } : { text: null, body: true }
    switch (line.slice(0, 4).toUpperCase()) {
      case 'EHLO':
        return { text: '250-mail.kestrel.example\r\n250-SIZE 26214400\r\n250 8BITMIME' }
      case 'DATA':
        return { text: '354 End data with <CR><LF>.<CR><LF>', body: true }
      case 'QUIT':
        return { text: '221 2.0.0 Bye', end: true }
      default:
        return { text: '250 2.0.0 OK' }
    }
  },
}

/** Accepts no logins (RFC 9051). */
export const imap: TextProtocol = {
  greeting: '* OK [CAPABILITY IMAP4rev2 IDLE LITERAL+ LOGINDISABLED] Dovecot ready.',
  reply(line) {
    const [tag = '*', command = ''] = line.split(' ')
    const done = `${tag} OK ${command} completed.`
    if (/^capability$/i.test(command)) return { text: `* CAPABILITY IMAP4rev2 IDLE LITERAL+ LOGINDISABLED\r\n${done}` }
    if (/^logout$/i.test(command)) return { text: `* BYE Logging out.\r\n${done}`, end: true }
    return { text: `${tag} NO Not here.` }
  },
}

/** Sends only its identification (RFC 4253 section 4.2). */
export const ssh: TextProtocol = { greeting: 'SSH-2.0-OpenSSH_9.9' }

/** Accepts connections and waits for the client, like a database. */
export const silent: TextProtocol = { greeting: null }
