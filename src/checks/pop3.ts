import { mailCheck } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted, type Talk } from './talk'

/** Mail drops (RFC 1939, RFC 2449). */
export const pop3 = mailCheck({
  name: 'pop3',
  title: 'POP3',
  description:
    'Is greeted by a server of mail drops, asks what it can do, and speaks TLS if wanted. Down when it refuses, or does not do what is expected. Nobody is logged in.',
  targetForm: 'A host and a port, 110 where there is none: `pop.example.com:995`.',
  port: 110,
  tlsPort: 995,
  tlsCapability: 'STLS',
  async greeting(talk) {
    const { ok, text } = await answer(talk, 'no greeting')
    if (!ok) throw new CheckFailed('status', `the server refuses to serve: ${quoted(text)}`)
    return { banner: text, code: null }
  },
  async capabilities(talk) {
    talk.send('CAPA\r\n')
    // Not every server knows the command.
    if (!(await answer(talk, 'no answer to CAPA')).ok) return []
    const lines: string[] = []
    for (let line = await talk.line('no end of the answer'); line !== '.'; line = await talk.line('no end of the answer'))
      lines.push(line.toUpperCase())
    return lines
  },
  async agree(talk) {
    talk.send('STLS\r\n')
    const { ok, text } = await answer(talk, 'no answer to STLS')
    if (!ok) throw new CheckFailed('tls', `the server answers STLS with ${quoted(text)}`)
  },
  bye: talk => talk.send('QUIT\r\n'),
})

async function answer(talk: Talk, late: string): Promise<{ ok: boolean; text: string }> {
  const line = await talk.line(late)
  const [, sign, text = ''] = /^(\+OK|-ERR)(?: (.*))?$/is.exec(line) ?? []
  if (sign === undefined) throw new CheckFailed('protocol', `the server does not speak POP3: ${quoted(line)}`)
  return { ok: sign.startsWith('+'), text }
}
