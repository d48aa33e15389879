import { connect as openTcp, type Socket } from 'node:net'
import type { Client, ClientChannel, ParsedKey } from 'ssh2'
import { hostKeyFingerprint, sshAlgorithms, sshIdentification, sshLogin } from '../../../../checks/ssh/login'
import { ssh2 } from '../../../../checks/ssh/ssh2'
import { EgressRefused, type VettedHost } from '../../../../core/net/egress'
import { lifetime } from '../../../../core/net/request-lifetime'
import { CloudError, type AdapterContext } from '../controller'

/** How to sign in to a server. */
export interface SshAccess {
  host: string
  port: number
  user: string
  key: ParsedKey | null
  password: string | undefined
  /** Fingerprint of its host key; undefined if it is not known yet. */
  hostKey: string | undefined
}

/** What a command did. `code`: null if the connection ended first, as it does when a server shuts down. */
export interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

const connectMs = 10_000
const sessionMs = 30_000
/** More output is discarded. */
const maxOutput = 4096

/**
 * Signs in, and passes a function that runs commands.
 * @throws CloudError; `refused` with the fingerprint of the host key if it is not the expected one
 */
export async function inSshSession<T>(
  around: AdapterContext,
  access: SshAccess,
  work: (run: (command: string) => Promise<Ran>) => Promise<T>,
): Promise<T> {
  const life = lifetime(undefined)
  life.after(sessionMs, 'The server did not respond in time.')
  const socket = await openSocket(around, access.host, access.port)
  const client = new (ssh2().Client)()
  try {
    const failed = failureOf(client, access)
    client.connect({
      sock: socket,
      username: access.user,
      ident: sshIdentification,
      algorithms: sshAlgorithms,
      hostVerifier: (key: Buffer) => failed.unlessHostKey(key),
      authHandler: sshLogin(access.user, access.key, access.password),
      readyTimeout: 0,
    })
    const ready = new Promise<void>(resolve => client.once('ready', resolve))
    await life.orEnd(Promise.race([ready, failed.promise]))
    return await life.orEnd(work(command => ran(client, command)))
  } catch (error) {
    if (life.reason) throw new CloudError('timeout', life.reason.message)
    throw error
  } finally {
    life.release()
    client.end()
    socket.destroy()
  }
}

/** Connects to a server that the network policy allows. @throws CloudError `unreachable`, `timeout` */
export async function openSocket(around: AdapterContext, host: string, port: number): Promise<Socket> {
  const { address, family } = await vetted(around, host, port)
  const socket = openTcp({ host: address, port, family })
  const opened = Promise.withResolvers<void>()
  const timer = setTimeout(
    () => opened.reject(new CloudError('timeout', 'The connection to the server timed out.', null, false)),
    connectMs,
  )
  socket.on('error', error => opened.reject(connectError(error))).once('connect', opened.resolve)
  try {
    await opened.promise
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function vetted(around: AdapterContext, host: string, port: number): Promise<VettedHost> {
  try {
    return await around.vet(host, port)
  } catch (error) {
    throw error instanceof EgressRefused ? new CloudError('unreachable', error.message) : error
  }
}

function connectError(error: Error): CloudError {
  const isRefused = 'code' in error && error.code === 'ECONNREFUSED'
  const message = isRefused ? 'The host refused the SSH connection.' : 'The host could not be reached.'
  return new CloudError('unreachable', message, null, false)
}

/** The first failure of a client, as a promise that need not be awaited. */
function failureOf(client: Client, { user, hostKey }: SshAccess) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  // Later errors are consequences of the first.
  client.on('error', error => reject(signInError(error, user)))
  client.once('close', () => reject(new CloudError('unreachable', 'The server closed the SSH connection.', null, false)))
  client.once('change password', () =>
    reject(new CloudError('unauthorized', 'The server requires a new password for this user.')),
  )
  return {
    promise,
    unlessHostKey(key: Buffer): boolean {
      const seen = hostKeyFingerprint(key)
      if (seen !== hostKey) reject(hostKeyError(seen, hostKey))
      return seen === hostKey
    },
  }
}

/** Nothing was sent to the server yet. */
function hostKeyError(seen: string, expected: string | undefined): CloudError {
  const message =
    expected === undefined
      ? `Set host_key to the fingerprint of the server’s host key. The server presents ${seen}. Compare it with the output of "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" on the server.`
      : `The server’s host key has the fingerprint ${seen}, but host_key is ${expected}. Change host_key only if you know why the key changed.`
  return new CloudError('refused', message, null, false)
}

function signInError(error: Error & { level?: string }, user: string): CloudError {
  if (error.level === 'client-authentication')
    return new CloudError('unauthorized', `The server rejected the user "${user}", or its password or key.`)
  if (/no matching/i.test(error.message))
    return new CloudError('refused', 'The server has no algorithm in common with this client.', null, false)
  return new CloudError('unreachable', 'The SSH connection failed. The port may not belong to an SSH server.', null, false)
}

function ran(client: Client, command: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error: Error | undefined, channel: ClientChannel) => {
      if (error) return reject(new CloudError('refused', 'The server does not let this user run commands.', null, false))
      const output = { stdout: '', stderr: '' }
      const collect = (name: keyof typeof output) => (octets: Buffer) => {
        output[name] = (output[name] + octets.toString()).slice(0, maxOutput)
      }
      let code: number | null = null
      channel.on('data', collect('stdout'))
      channel.stderr.on('data', collect('stderr'))
      channel.on('exit', (status: number | null) => {
        code = status
      })
      channel.on('error', () => {})
      const end = () => resolve({ code, ...output })
      channel.once('close', end)
      // A server that shuts down may not close the channel first.
      client.once('close', end)
    })
  })
}
