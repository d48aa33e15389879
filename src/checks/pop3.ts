import { mailCheck, type MailProtocol } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted, type BufferedConnection } from './buffered-connection'

/** POP3 (RFC 1939, RFC 2449). */
export const pop3Protocol: MailProtocol = {
  name: 'pop3',
  title: 'POP3',
  description:
    'Connects to a POP3 server, reads its greeting and capabilities, and uses TLS if configured. Fails if the server rejects the connection or lacks an expected capability. Does not log in.',
  targetDescription: 'A host and optional port (default 110), such as `pop.example.com:995`.',
  port: 110,
  tlsPort: 995,
  tlsCapability: 'STLS',
  async greeting(connection) {
    const { ok, text } = await readReply(connection, 'the greeting')
    if (!ok) throw new CheckFailed('status', `the server rejected the connection: ${quoted(text)}`)
    return { banner: text, code: null }
  },
  async capabilities(connection) {
    connection.send('CAPA\r\n')
    // Not every server knows the command.
    if (!(await readReply(connection, 'the response to CAPA')).ok) return []
    const lines: string[] = []
    for (
      let line = await connection.readLine('the end of the response');
      line !== '.';
      line = await connection.readLine('the end of the response')
    )
      lines.push(line.toUpperCase())
    return lines
  },
  async startTls(connection) {
    connection.send('STLS\r\n')
    const { ok, text } = await readReply(connection, 'the response to STLS')
    if (!ok) throw new CheckFailed('tls', `the server responded to STLS with ${quoted(text)}`)
  },
  quit: connection => connection.send('QUIT\r\n'),
}

export const pop3 = mailCheck(pop3Protocol)

async function readReply(connection: BufferedConnection, awaited: string): Promise<{ ok: boolean; text: string }> {
  const line = await connection.readLine(awaited)
  const [, sign, text = ''] = /^(\+OK|-ERR)(?: (.*))?$/is.exec(line) ?? []
  if (sign === undefined) throw new CheckFailed('protocol', `the server does not speak POP3: ${quoted(line)}`)
  return { ok: sign.startsWith('+'), text }
}
