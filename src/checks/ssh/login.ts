import { createHash } from 'node:crypto'
import type { Algorithms, AuthHandlerMiddleware, ParsedKey } from 'ssh2'
import { version } from '../../core/version'

/** How this client identifies itself. */
export const sshIdentification = `Bailiwick_${version.replaceAll('-', '_')}`

/**
 * Leaves out what a server could use to keep the thread busy: Diffie-Hellman groups above 4096 bits and groups that the server generates;
 * and compression, where a small packet can expand to a large one.
 */
export const sshAlgorithms: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  compress: ['none'],
}

/**
 * Offers the password or the key, and nothing else of this machine. If a server accepts passwords only by keyboard-interactive (RFC 4256),
 * the password answers a single prompt without echo.
 * @param key preferred, if there is one
 */
export function sshLogin(username: string, key: ParsedKey | null, password: string | undefined): AuthHandlerMiddleware {
  const tried = new Set<string>()
  return (left, _, next) => {
    // Null at first: the server lists its methods when it rejects one.
    const byQuestion = left?.includes('keyboard-interactive') && !left.includes('password')
    const type = key ? 'publickey' : tried.has('password') && byQuestion ? 'keyboard-interactive' : 'password'
    if (tried.has(type)) return next(false as never)
    tried.add(type)
    if (key) return next({ type: 'publickey', username, key })
    if (type === 'password') return next({ type, username, password: password! })
    next({
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, questions, answer) =>
        answer(questions.length === 1 && !questions[0]!.echo ? [password!] : []),
    })
  }
}

/** The fingerprint of a host key, as printed by OpenSSH. */
export const hostKeyFingerprint = (key: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
