import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { Server, utils, type AuthContext, type Connection } from 'ssh2'
import { listening } from './http-targets'

/** Generates a key pair. The generator of ssh2 drops leading zeros, so that 1 in 300 keys can't be parsed. */
export function ed25519KeyPair(options: { passphrase?: string; cipher?: string; rounds?: number } = {}): {
  private: string
  public: string
} {
  for (;;) {
    const pair = utils.generateKeyPairSync('ed25519', options as never)
    if (!(utils.parseKey(pair.private, options.passphrase) instanceof Error)) return pair
  }
}

/** The host key, shared by all tests of a file. */
export const hostKeys = ed25519KeyPair()
/** A fingerprint as printed by OpenSSH. @param key public key, as a line of `authorized_keys` */
export const fingerprintOf = (key: string): string =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(key.split(' ')[1]!, 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`

/** What an SSH server received. */
export interface SshServer {
  port: number
  /** Usernames and methods of logins, in order: `probe password`. */
  logins: string[]
  /** Requested forwards: `a.test:80`. */
  forwards: string[]
  /** Software versions of clients. */
  clients: string[]
  /** Commands that were run. */
  commands: string[]
  close(): void
}

/** What a command does. `dropped`: the connection ends without an exit status. */
export type CommandResult = { code: number; stdout?: string; stderr?: string } | 'dropped'

/**
 * Starts an SSH server that forwards connections to local ports, whatever the requested host.
 * @param admits decides about logins; `later` means that it accepts or rejects the login itself
 */
export async function sshServer(
  admits: (login: AuthContext) => boolean | 'later',
  {
    forwards = () => true,
    methods = ['password', 'publickey'] as AuthContext['method'][],
    runs,
  }: {
    forwards?: (host: string, connection: Connection) => boolean
    methods?: AuthContext['method'][]
    /** Commands are refused without it. */
    runs?: (command: string) => CommandResult
  } = {},
): Promise<SshServer> {
  const seen: SshServer = { port: 0, logins: [], forwards: [], clients: [], commands: [], close: () => server.close() }
  const server = new Server({ hostKeys: [hostKeys.private] }, (client, { header }) => {
    seen.clients.push(header.versions.software)
    client.on('error', () => {})
    client.on('authentication', login => {
      seen.logins.push(`${login.username} ${login.method}`)
      const admitted = admits(login)
      if (admitted === true) login.accept()
      else if (admitted === false) login.reject(methods)
    })
    if (runs)
      client.on('session', acceptSession =>
        acceptSession().on('exec', (accept, _, { command }) => {
          seen.commands.push(command)
          const result = runs(command)
          const channel = accept()
          if (result === 'dropped') return client.end()
          channel.write(result.stdout ?? '')
          channel.stderr.write(result.stderr ?? '')
          channel.exit(result.code)
          channel.end()
        }),
      )
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      seen.forwards.push(`${destIP}:${destPort}`)
      if (!forwards(destIP, client)) return void reject()
      const onward = connect(destPort, '127.0.0.1', () => {
        const channel = accept()
        onward.pipe(channel).pipe(onward)
        channel.on('close', () => onward.destroy())
      })
      onward.on('error', () => reject())
    })
  })
  seen.port = await listening(server)
  return seen
}
