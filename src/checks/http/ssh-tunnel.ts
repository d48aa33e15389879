import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Algorithms, AuthHandlerMiddleware, Client, ClientChannel } from 'ssh2'
import { version } from '../../core/version'
import type { Attempt } from '../attempt'
import { CheckFailed, connectFailure } from '../connect-failure'
import { connectTcp } from '../tls-connect'
import type { SshTunnel } from './options'
import { readSshKey } from './ssh-key'
import { ssh2 } from './ssh2'

/**
 * Connects to a target from a server of SSH (RFC 4254 section 7.2). That server is what the network policy is about: it looks the target
 * up, and whatever it reaches it reaches from where it is.
 * @throws CheckFailed that says it was the tunnel
 */
export async function connectTunnelled(attempt: Attempt, tunnel: SshTunnel, host: string, port: number): Promise<Duplex> {
  try {
    const client = new (ssh2().Client)()
    const authHandler = authentication(tunnel)
    const socket = await connectTcp(attempt, tunnel.host, tunnel.port ?? 22)
    // Of the target nothing is known yet.
    attempt.facts.connected = false
    const began = attempt.around.now()
    const failed = failureOf(client)
    client.connect({
      sock: socket,
      username: tunnel.username,
      ident: `Bailiwick_${version.replaceAll('-', '_')}`,
      algorithms,
      hostVerifier: (key: Buffer) => failed.unlessHostKey(key, tunnel.host_key),
      authHandler,
      // The limit of time is that of the check.
      readyTimeout: 0,
    })
    const ready = new Promise<void>(resolve => client.once('ready', resolve))
    await attempt.within(Promise.race([ready, failed.promise]), 'no login')
    const opened = forwarded(client, host, port)
    const channel = await attempt.within(Promise.race([opened, failed.promise]), 'no connection to the target')
    attempt.spent('connect', began)
    attempt.facts.connected = true
    return attempt.hold(new Forwarded(client, channel, socket))
  } catch (error) {
    const { kind, message } = connectFailure(error, 'connecting')
    throw new CheckFailed(kind, `ssh: ${message}`)
  }
}

/**
 * What a server could use to keep the thread of checks busy is not offered: groups of Diffie-Hellman above 4096 bits, and those that it
 * makes itself; and nothing compressed, which could be larger by far than what came.
 */
const algorithms: Algorithms = {
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
 * The password, or the key; nothing else of this machine is offered. A server that wants a password by keyboard-interactive alone
 * (RFC 4256), as some do, gets it when it asks one question whose answer is not to be seen.
 */
function authentication({ username, password, private_key: text, passphrase }: SshTunnel): AuthHandlerMiddleware {
  const key = text === undefined ? null : readSshKey(text, passphrase)
  if (typeof key === 'string') throw new CheckFailed('internal', 'the private key cannot be read')
  const tried = new Set<string>()
  return (left, _, next) => {
    // Null at first: what the server takes it says when it refuses something.
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

/** The first failure of a client, which nobody may be waiting for. */
function failureOf(client: Client) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  let asked = false
  client.on('handshake', () => {
    // Keys are exchanged anew after an hour or a gigabyte (RFC 4253 section 9): in a check that is no honest wish.
    if (asked) client.destroy()
    asked = true
  })
  // Errors come after the first one too, and are no news.
  client.on('error', error => reject(failure(error, asked)))
  client.once('change password', () => reject(new CheckFailed('protocol', 'it wants another password to be set first')))
  client.once('close', () => reject(new CheckFailed('closed', closed)))
  return {
    promise,
    /** Whether it is the key that is expected, in the form in which OpenSSH prints them. */
    unlessHostKey(key: Buffer, expected: string): boolean {
      const shown = `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
      if (shown !== expected) reject(new CheckFailed('certificate', `the server shows another host key: ${shown}`))
      return shown === expected
    },
  }
}

const closed = 'it closed the connection'

/** @param asked whether the keys were exchanged, and the user is what it is about */
function failure(error: Error & { level?: string }, asked: boolean): CheckFailed {
  if (error.level === 'client-authentication') return new CheckFailed('protocol', 'it refuses the user name, password or key')
  if (error.level === 'client-socket') return connectFailure(error, 'talking')
  if (/connection lost/i.test(error.message)) return new CheckFailed('closed', closed)
  if (/no matching/i.test(error.message)) return new CheckFailed('protocol', 'it has no algorithm in common with the hub')
  if (asked) return new CheckFailed('closed', 'it ended the session')
  return new CheckFailed('protocol', 'it does not speak SSH 2')
}

const SSH_OPEN_ADMINISTRATIVELY_PROHIBITED = 1

function forwarded(client: Client, host: string, port: number): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    // Where the connection comes from is told the server for its log.
    client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
      if (!error) return resolve(channel)
      const { reason } = error as Error & { reason?: unknown }
      const why = reason === SSH_OPEN_ADMINISTRATIVELY_PROHIBITED ? ', which it forbids' : ''
      reject(new CheckFailed('unreachable', `it did not connect to the target${why}`))
    })
  })
}

/** Twice the window that the client gives. */
const heldMost = 4 * 1024 * 1024

/** A channel as a connection like others: when the session breaks off it breaks, and when it is destroyed the session ends. */
class Forwarded extends Duplex {
  constructor(
    private readonly client: Client,
    private readonly channel: ClientChannel,
    socket: Socket,
  ) {
    super()
    // The client takes what comes beyond the window as well, and what belongs to a program's stderr.
    socket.on('data', () => {
      if (channel.readableLength > heldMost) this.destroy(new CheckFailed('protocol', 'ssh: it sends more than it may'))
    })
    channel.stderr.resume()
    let ended = false
    channel.on('data', (octets: Buffer) => {
      if (!this.push(octets)) channel.pause()
    })
    channel.once('end', () => {
      ended = true
      this.push(null)
    })
    channel.once('close', () => this.end())
    channel.on('error', (error: Error) => this.destroy(error))
    // It also ends the channel, as if the target had said all.
    client.once('close', () => {
      if (!ended) this.destroy(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    })
  }

  override _read(): void {
    this.channel.resume()
  }

  override _write(octets: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.channel.write(octets, done)
  }

  override _final(done: () => void): void {
    this.channel.end()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.client.end()
    done(error)
  }
}
