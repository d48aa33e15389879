import { isIP } from 'node:net'
import { mailCheck, type MailProtocol } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted, type BufferedConnection } from './buffered-connection'

/** SMTP (RFC 5321). */
export const smtpProtocol: MailProtocol = {
  name: 'smtp',
  title: 'SMTP',
  description:
    'Connects to an SMTP server, reads its greeting and capabilities, and uses TLS if configured. Fails if the greeting has another code or an expected capability is missing. Sends no mail.',
  targetDescription: 'A host and optional port (default 25), such as `mx.example.com` or `mail.example.com:587`.',
  port: 25,
  tlsPort: 465,
  tlsCapability: 'STARTTLS',
  async greeting(connection, expectedCode) {
    const { code, lines } = await reply(connection, 'the greeting')
    if (code !== expectedCode)
      throw new CheckFailed('status', `the greeting has code ${code}, expected ${expectedCode}: ${quoted(lines.join(' '))}`)
    return { banner: lines.join(' '), code }
  },
  async capabilities(connection) {
    connection.send(`EHLO ${ownName(connection)}\r\n`)
    const { code, lines } = await reply(connection, 'the response to EHLO')
    if (code !== 250) throw new CheckFailed('status', `the server responded to EHLO with ${code}: ${quoted(lines.join(' '))}`)
    // The first line is the server's name.
    return lines.slice(1).map(line => line.toUpperCase())
  },
  async startTls(connection) {
    connection.send('STARTTLS\r\n')
    const { code, lines } = await reply(connection, 'the response to STARTTLS')
    if (code !== 220) throw new CheckFailed('tls', `the server responded to STARTTLS with ${code}: ${quoted(lines.join(' '))}`)
  },
  quit: connection => connection.send('QUIT\r\n'),
}

export const smtp = mailCheck(smtpProtocol)

/** Reads a single-line or multi-line reply (RFC 5321 section 4.2.1). */
async function reply(connection: BufferedConnection, awaited: string): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  for (;;) {
    const line = await connection.readLine(awaited)
    const [, code, more, text] = /^([2-5]\d\d)(?:([ -])(.*))?$/s.exec(line) ?? []
    if (code === undefined) throw new CheckFailed('protocol', `the server does not speak SMTP: ${quoted(line)}`)
    lines.push(text ?? '')
    if (more !== '-') return { code: Number(code), lines }
  }
}

/** A client without a name sends its address (RFC 5321 section 4.1.3). */
function ownName({ localAddress }: BufferedConnection): string {
  return isIP(localAddress) === 6 ? `[IPv6:${localAddress}]` : `[${localAddress || '127.0.0.1'}]`
}
