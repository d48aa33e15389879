import { requestTls, type MailProtocol } from '../banner'
import { quoted, type BufferedConnection } from '../buffered-connection'
import { CheckFailed } from '../connect-failure'
import { imapProtocol } from '../imap'
import { pop3Protocol } from '../pop3'
import { smtpProtocol } from '../smtp'
import type { ScanProtocol } from './facts'

/** How many bytes servers may send before TLS. */
export const maxPlainBytes = 65_536

/** Where a connection goes to, for protocols that name it. */
interface Destination {
  host: string
  port: number
}

type Upgrade = (connection: BufferedConnection, to: Destination) => Promise<void>

const mail =
  (protocol: MailProtocol): Upgrade =>
  async connection => {
    await protocol.greeting(connection, 220)
    await requestTls(connection, protocol)
  }

/** Asks servers to switch to TLS. Each ends when the server agreed. @throws CheckFailed */
export const upgrades: Record<Exclude<ScanProtocol, 'tls'>, Upgrade> = {
  smtp: mail(smtpProtocol),
  imap: mail(imapProtocol),
  pop3: mail(pop3Protocol),

  // RFC 4217 section 4.
  async ftp(connection) {
    const greeting = await ftpReply(connection, 'the greeting')
    if (greeting.code === 120) throw new CheckFailed('status', `the server asks to wait: ${quoted(greeting.text)}`)
    if (greeting.code !== 220) throw refusal('greeting', greeting)
    connection.send('AUTH TLS\r\n')
    const reply = await ftpReply(connection, 'the response to AUTH TLS')
    if (reply.code !== 234) throw refusal('response to AUTH TLS', reply)
  },

  // An extended request without a value (RFC 4511 section 4.14).
  async ldap(connection) {
    const name = Buffer.from('1.3.6.1.4.1.1466.20037')
    connection.send(Buffer.from([0x30, name.length + 7, 2, 1, 1, 0x77, name.length + 2, 0x80, name.length, ...name]))
    const response = await ldapMessage(connection)
    // The message ID, then the response with its result code first.
    const at = response[0] === 2 && response[1] === 1 && response[2] === 1 && response[3] === 0x78 ? 4 : -1
    const code = at < 0 ? -1 : at + 1 + (response[at]! & 0x80 ? response[at]! & 0x7f : 0)
    if (at < 0 || response[code] !== 0x0a || response[code + 1] !== 1) throw foreign('LDAP')
    const result = response[code + 2]!
    if (result !== 0) throw new CheckFailed('tls', `the server responded to StartTLS with the result code ${result}`)
  },

  // "SSL Session Encryption" in the chapter on PostgreSQL's protocol.
  async postgres(connection) {
    connection.send(Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]))
    const [answer] = await connection.readBytes(1, 'the response to SSLRequest')
    if (answer === 0x4e) throw new CheckFailed('tls', 'the server does not offer TLS')
    if (answer !== 0x53) throw foreign('PostgreSQL')
  },

  // "Connection Phase" of MySQL's protocol: the server's handshake, answered by the start of ours.
  async mysql(connection) {
    const header = await connection.readBytes(4, 'the greeting')
    const packet = await connection.readBytes(header.readUIntLE(0, 3), 'the greeting')
    // Servers that refuse the client's address send an error instead.
    if (packet[0] === 0xff)
      throw new CheckFailed('status', `the server rejected the connection: ${quoted(printable(packet.subarray(3)))}`)
    const name = packet.indexOf(0)
    // Version, its end, a connection number, and 8 bytes with their end precede what the server can do.
    const capabilities = name < 0 || packet.length < name + 16 ? null : packet.readUInt16LE(name + 14)
    if (packet[0] !== 10 || capabilities === null) throw foreign('MySQL')
    if (!(capabilities & mysqlTls)) throw new CheckFailed('tls', 'the server does not offer TLS')
    const request = Buffer.alloc(36)
    request.writeUIntLE(32, 0, 3)
    request[3] = header[3]! + 1
    request.writeUInt32LE(mysqlProtocol41 | mysqlTls | mysqlSecureConnection, 4)
    request.writeUInt32LE(2 ** 24, 8)
    request[12] = mysqlUtf8
    connection.send(request)
  },

  // RFC 6120 section 5.4. Port 5269 is for servers.
  async xmpp(connection, { host, port }) {
    const kind = port === 5269 ? 'server' : 'client'
    connection.send(
      `<?xml version='1.0'?><stream:stream to='${host}' version='1.0' xmlns='jabber:${kind}' xmlns:stream='http://etherx.jabber.org/streams'>`,
    )
    const features = await connection.readThrough('</stream:features>', 'the stream features').catch(error => {
      throw connection.hasReceived && !/<stream:stream\b/.test(connection.received) ? foreign('XMPP') : error
    })
    if (!/<starttls\b/.test(features)) throw new CheckFailed('tls', 'the server does not offer STARTTLS')
    connection.send("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
    const answer = await connection.readThrough('>', 'the response to starttls')
    if (!/<proceed\b/.test(answer)) throw new CheckFailed('tls', `the server responded to starttls with ${quoted(answer)}`)
  },

  // RFC 5804 section 2.2.
  async sieve(connection) {
    const capabilities = await sieveReply(connection, 'the greeting')
    if (!capabilities.some(line => /^"STARTTLS"/i.test(line))) throw new CheckFailed('tls', 'the server does not offer STARTTLS')
    connection.send('STARTTLS\r\n')
    await sieveReply(connection, 'the response to STARTTLS')
  },
}

// Capabilities of MySQL and MariaDB.
const mysqlTls = 0x0800
const mysqlProtocol41 = 0x0200
const mysqlSecureConnection = 0x8000
const mysqlUtf8 = 33

async function ftpReply(connection: BufferedConnection, awaited: string): Promise<{ code: number; text: string }> {
  const [, code, more, text = ''] = /^(\d{3})(?:([ -])(.*))?$/s.exec(await connection.readLine(awaited)) ?? []
  if (code === undefined) throw foreign('FTP')
  // The last line of several starts with the same code and a space (RFC 959 section 4.2).
  if (more === '-') for (let line = ''; !line.startsWith(`${code} `); line = await connection.readLine(awaited));
  return { code: Number(code), text }
}

/** The content of one message. */
async function ldapMessage(connection: BufferedConnection): Promise<Buffer> {
  const awaited = 'the response to StartTLS'
  const [tag, first] = await connection.readBytes(2, awaited)
  if (tag !== 0x30) throw foreign('LDAP')
  if (first! < 0x80) return await connection.readBytes(first!, awaited)
  const size = first! & 0x7f
  if (size < 1 || size > 4) throw foreign('LDAP')
  const length = (await connection.readBytes(size, awaited)).readUIntBE(0, size)
  return await connection.readBytes(length, awaited)
}

/** The lines before `OK`. */
async function sieveReply(connection: BufferedConnection, awaited: string): Promise<string[]> {
  const lines: string[] = []
  for (;;) {
    const line = await connection.readLine(awaited)
    if (/^OK\b/i.test(line)) return lines
    if (/^(NO|BYE)\b/i.test(line)) throw new CheckFailed('status', `${awaited} is ${quoted(line)}`)
    if (!line.startsWith('"')) throw foreign('ManageSieve')
    lines.push(line)
  }
}

const foreign = (protocol: string) => new CheckFailed('protocol', `the server does not speak ${protocol}`)

const refusal = (what: string, { code, text }: { code: number; text: string }) =>
  new CheckFailed('status', `the ${what} has code ${code}: ${quoted(text)}`)

const printable = (octets: Uint8Array): string =>
  Buffer.from(octets)
    .toString('latin1')
    .replaceAll(/[^ -~]/g, '?')
