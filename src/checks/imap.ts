import { mailCheck, type MailProtocol } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted, type BufferedConnection } from './buffered-connection'

/** IMAP (RFC 9051, RFC 3501). */
export const imapProtocol: MailProtocol = {
  name: 'imap',
  title: 'IMAP',
  description:
    'Connects to an IMAP server, reads its greeting and capabilities, and uses TLS if configured. Fails if the server rejects the connection or lacks an expected capability. Does not log in.',
  targetDescription: 'A host and optional port (default 143), such as `imap.example.com:993`.',
  port: 143,
  tlsPort: 993,
  tlsCapability: 'STARTTLS',
  async greeting(connection) {
    const line = await connection.readLine('the greeting')
    const [, state, text] = /^\* (OK|PREAUTH|BYE)(?: (.*))?$/is.exec(line) ?? []
    if (state === undefined) throw new CheckFailed('protocol', `the server does not speak IMAP: ${quoted(line)}`)
    if (state.toUpperCase() === 'BYE')
      throw new CheckFailed('status', `the server rejected the connection: ${quoted(text ?? '')}`)
    return { banner: text ?? '', code: null }
  },
  async capabilities(connection) {
    const untagged = await command(connection, 'CAPABILITY')
    const line = untagged.find(line => /^\* CAPABILITY /i.test(line))
    return (line ?? '').toUpperCase().split(' ').slice(2)
  },
  async startTls(connection) {
    await command(connection, 'STARTTLS', 'tls')
  },
  quit: connection => connection.send('z LOGOUT\r\n'),
}

export const imap = mailCheck(imapProtocol)

/** Sends a command. @returns the untagged lines before its response @throws CheckFailed if the response is not OK */
async function command(connection: BufferedConnection, name: string, kind: 'status' | 'tls' = 'status'): Promise<string[]> {
  // Commands are sent one at a time, so they can share a tag.
  connection.send(`a ${name}\r\n`)
  const untagged: string[] = []
  for (;;) {
    const line = await connection.readLine(`the response to ${name}`)
    if (/^a OK\b/i.test(line)) return untagged
    if (/^a /i.test(line)) throw new CheckFailed(kind, `the server responded to ${name} with ${quoted(line.slice(2))}`)
    if (!line.startsWith('* ')) throw new CheckFailed('protocol', `the server does not speak IMAP: ${quoted(line)}`)
    untagged.push(line)
  }
}
