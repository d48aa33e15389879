import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { Server, utils, type AuthContext, type Connection } from 'ssh2'
import { listening } from './http-targets'

/** The server's key is the same for all tests of a file. */
export const hostKeys = utils.generateKeyPairSync('ed25519')
/** A fingerprint as OpenSSH prints it. @param key public, as a line of `authorized_keys` */
export const fingerprintOf = (key: string): string =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(key.split(' ')[1]!, 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`

/** What a server of SSH was asked. */
export interface SshServer {
  port: number
  /** Users and methods of logins, in order: `probe password`. */
  logins: string[]
  /** Where connections were asked for: `a.test:80`. */
  forwards: string[]
  /** Software that clients say they are. */
  clients: string[]
}

/**
 * A server of SSH that lets in whom `admits` says, which may also answer later by itself, and forwards to ports of this machine
 * whatever the name.
 */
export async function sshServer(
  admits: (login: AuthContext) => boolean | 'later',
  {
    forwards = () => true,
    methods = ['password', 'publickey'] as AuthContext['method'][],
  }: {
    forwards?: (host: string, connection: Connection) => boolean
    methods?: AuthContext['method'][]
  } = {},
): Promise<SshServer> {
  const seen: SshServer = { port: 0, logins: [], forwards: [], clients: [] }
  const server = new Server({ hostKeys: [hostKeys.private] }, (client, { header }) => {
    seen.clients.push(header.versions.software)
    client.on('error', () => {})
    client.on('authentication', login => {
      seen.logins.push(`${login.username} ${login.method}`)
      const admitted = admits(login)
      if (admitted === true) login.accept()
      else if (admitted === false) login.reject(methods)
    })
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
