import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { AuthHandlerMiddleware, Client, ClientChannel } from 'ssh2'
import type { Attempt } from '../attempt'
import { CheckFailed, connectFailure } from '../connect-failure'
import { connectTcp } from '../connect'
import type { SshTunnel } from './options'
import { hostKeyFingerprint, sshAlgorithms, sshIdentification, sshLogin } from '../ssh/login'
import { readSshKey } from '../ssh/ssh-key'
import { ssh2 } from '../ssh/ssh2'

/**
 * Connects to a target through an SSH server (RFC 4254 section 7.2). The network policy applies to the SSH server: it resolves and reaches
 * the target from where it is.
 * @throws CheckFailed with a message that names the tunnel
 */
export async function connectThroughTunnel(attempt: Attempt, tunnel: SshTunnel, host: string, port: number): Promise<Duplex> {
  try {
    const client = new (ssh2().Client)()
    const authHandler = authentication(tunnel)
    const socket = await connectTcp(attempt, tunnel.host, tunnel.port ?? 22)
    // Nothing is known about the target yet.
    attempt.facts.connected = false
    const startedAt = attempt.context.now()
    const failed = failureOf(client)
    client.connect({
      sock: socket,
      username: tunnel.username,
      ident: sshIdentification,
      algorithms: sshAlgorithms,
      hostVerifier: (key: Buffer) => failed.unlessHostKey(key, tunnel.host_key),
      authHandler,
      // The check's own time limit applies.
      readyTimeout: 0,
    })
    const ready = new Promise<void>(resolve => client.once('ready', resolve))
    await attempt.within(Promise.race([ready, failed.promise]), 'SSH authentication')
    const opened = forwarded(client, host, port)
    const channel = await attempt.within(Promise.race([opened, failed.promise]), 'the connection to the target')
    attempt.addToPhase('connect', startedAt)
    attempt.facts.connected = true
    return attempt.track(new Forwarded(client, channel, socket))
  } catch (error) {
    const { kind, message } = connectFailure(error, 'connecting')
    throw new CheckFailed(kind, `ssh: ${message}`)
  }
}

/** Offers the password or the key of a tunnel. @throws CheckFailed */
function authentication({ username, password, private_key: text, passphrase }: SshTunnel): AuthHandlerMiddleware {
  const key = text === undefined ? null : readSshKey(text, passphrase)
  if (typeof key === 'string') throw new CheckFailed('internal', 'the private key can’t be read')
  return sshLogin(username, key, password)
}

/** The first failure of a client, as a promise that need not be awaited. */
function failureOf(client: Client) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  let handshakeDone = false
  client.on('handshake', () => {
    // Keys are exchanged again after an hour or a gigabyte (RFC 4253 section 9): an honest server has no reason to during a check.
    if (handshakeDone) client.destroy()
    handshakeDone = true
  })
  // Later errors are consequences of the first.
  client.on('error', error => reject(failure(error, handshakeDone)))
  client.once('change password', () => reject(new CheckFailed('protocol', 'password change required')))
  client.once('close', () => reject(new CheckFailed('closed', closed)))
  return {
    promise,
    /** Verifies the host key by its fingerprint as OpenSSH prints it. */
    unlessHostKey(key: Buffer, expected: string): boolean {
      const fingerprint = hostKeyFingerprint(key)
      if (fingerprint !== expected)
        reject(new CheckFailed('certificate', `host key mismatch: the server presented ${fingerprint}`))
      return fingerprint === expected
    },
  }
}

const closed = 'connection closed by the server'

/** @param handshakeDone whether the key exchange is done, so that authentication was rejected */
function failure(error: Error & { level?: string }, handshakeDone: boolean): CheckFailed {
  if (error.level === 'client-authentication')
    return new CheckFailed('protocol', 'authentication failed: username, password, or key rejected')
  if (error.level === 'client-socket') return connectFailure(error, 'established')
  if (/connection lost/i.test(error.message)) return new CheckFailed('closed', closed)
  if (/no matching/i.test(error.message)) return new CheckFailed('protocol', 'no algorithm in common with the server')
  if (handshakeDone) return new CheckFailed('closed', 'session closed by the server')
  return new CheckFailed('protocol', 'the server does not speak SSH 2')
}

const SSH_OPEN_ADMINISTRATIVELY_PROHIBITED = 1

function forwarded(client: Client, host: string, port: number): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    // The server logs the origin of the connection.
    client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
      if (!error) return resolve(channel)
      const { reason } = error as Error & { reason?: unknown }
      const why = reason === SSH_OPEN_ADMINISTRATIVELY_PROHIBITED ? ': port forwarding is prohibited' : ''
      reject(new CheckFailed('unreachable', `could not connect to the target${why}`))
    })
  })
}

/** Twice the client's window. */
const maxBufferedBytes = 4 * 1024 * 1024

/** A channel as a socket: it fails when the session breaks, and ends the session when it is destroyed. */
class Forwarded extends Duplex {
  constructor(
    private readonly client: Client,
    private readonly channel: ClientChannel,
    socket: Socket,
  ) {
    super()
    // The client also accepts data beyond its window, and data for stderr.
    socket.on('data', () => {
      if (channel.readableLength > maxBufferedBytes)
        this.destroy(new CheckFailed('protocol', 'ssh: the server exceeded the channel window'))
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
    // A broken session also ends the channel, as if the response were complete.
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
