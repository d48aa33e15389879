import { mailCheck } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted, type Talk } from './talk'

/** Mail boxes (RFC 9051, RFC 3501). */
export const imap = mailCheck({
  name: 'imap',
  title: 'IMAP',
  description:
    'Is greeted by a server of mail boxes, asks what it can do, and speaks TLS if wanted. Down when it refuses, or does not do what is expected. Nobody is logged in.',
  targetForm: 'A host and a port, 143 where there is none: `imap.example.com:993`.',
  port: 143,
  tlsPort: 993,
  tlsCapability: 'STARTTLS',
  async greeting(talk) {
    const line = await talk.line('no greeting')
    const [, state, text] = /^\* (OK|PREAUTH|BYE)(?: (.*))?$/is.exec(line) ?? []
    if (state === undefined) throw new CheckFailed('protocol', `the server does not speak IMAP: ${quoted(line)}`)
    if (state.toUpperCase() === 'BYE') throw new CheckFailed('status', `the server refuses to serve: ${quoted(text ?? '')}`)
    return { banner: text ?? '', code: null }
  },
  async capabilities(talk) {
    const untagged = await command(talk, 'CAPABILITY')
    const told = untagged.find(line => /^\* CAPABILITY /i.test(line))
    return (told ?? '').toUpperCase().split(' ').slice(2)
  },
  async agree(talk) {
    await command(talk, 'STARTTLS', 'tls')
  },
  bye: talk => talk.send('z LOGOUT\r\n'),
})

/** @returns what came before the answer that has the tag of the command @throws CheckFailed for an answer other than OK */
async function command(talk: Talk, words: string, kind: 'status' | 'tls' = 'status'): Promise<string[]> {
  // One at a time: they all may have the same tag.
  talk.send(`a ${words}\r\n`)
  const untagged: string[] = []
  for (;;) {
    const line = await talk.line(`no answer to ${words}`)
    if (/^a OK\b/i.test(line)) return untagged
    if (/^a /i.test(line)) throw new CheckFailed(kind, `the server answers ${words} with ${quoted(line.slice(2))}`)
    if (!line.startsWith('* ')) throw new CheckFailed('protocol', `the server does not speak IMAP: ${quoted(line)}`)
    untagged.push(line)
  }
}
