import { isIP } from 'node:net'
import { mailCheck } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted, type Talk } from './talk'

/** Mail servers that take mail (RFC 5321). */
export const smtp = mailCheck({
  name: 'smtp',
  title: 'SMTP',
  description:
    'Is greeted by a mail server, asks what it can do, and speaks TLS if wanted. Down when it greets with another code, or does not do what is expected. No mail is sent.',
  targetForm: 'A host and a port, 25 where there is none: `mx.example.com`, `mail.example.com:587`.',
  port: 25,
  tlsPort: 465,
  tlsCapability: 'STARTTLS',
  async greeting(talk, expectedCode) {
    const { code, lines } = await reply(talk, 'no greeting')
    if (code !== expectedCode)
      throw new CheckFailed(
        'status',
        `the server greets with ${code} where ${expectedCode} is expected: ${quoted(lines.join(' '))}`,
      )
    return { banner: lines.join(' '), code }
  },
  async capabilities(talk) {
    talk.send(`EHLO ${ownName(talk)}\r\n`)
    const { code, lines } = await reply(talk, 'no answer to EHLO')
    if (code !== 250) throw new CheckFailed('status', `the server answers EHLO with ${code}: ${quoted(lines.join(' '))}`)
    // The first line is the server's name.
    return lines.slice(1).map(line => line.toUpperCase())
  },
  async agree(talk) {
    talk.send('STARTTLS\r\n')
    const { code, lines } = await reply(talk, 'no answer to STARTTLS')
    if (code !== 220) throw new CheckFailed('tls', `the server answers STARTTLS with ${code}: ${quoted(lines.join(' '))}`)
  },
  bye: talk => talk.send('QUIT\r\n'),
})

/** A reply of one line or several (RFC 5321 section 4.2.1). */
async function reply(talk: Talk, late: string): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  for (;;) {
    const line = await talk.line(late)
    const [, code, more, text] = /^([2-5]\d\d)(?:([ -])(.*))?$/s.exec(line) ?? []
    if (code === undefined) throw new CheckFailed('protocol', `the server does not speak SMTP: ${quoted(line)}`)
    lines.push(text ?? '')
    if (more !== '-') return { code: Number(code), lines }
  }
}

/** Who has no name says the address (RFC 5321 section 4.1.3). */
function ownName({ ownAddress }: Talk): string {
  return isIP(ownAddress) === 6 ? `[IPv6:${ownAddress}]` : `[${ownAddress || '127.0.0.1'}]`
}
