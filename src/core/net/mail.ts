import { isIP } from 'node:net'
import { createTransport } from 'nodemailer'
import { toldLine } from '../told-line'
import type { MailServer } from './mail-server'

/** A mail with one text in two forms. Addresses are `name@host` or `Name <name@host>`. */
export interface Mail {
  from: string
  to: readonly string[]
  subject: string
  text: string
  html: string
  /** `<…@…>`, as RFC 5322 section 3.6.4 has it; the same at each try. */
  messageId: string
  /** What it follows, the first of its thread in front; empty for a first one. */
  references: readonly string[]
  headers?: Record<string, string>
  /** ms UTC */
  date: number
}

/** Where a connection goes, and which name the other side must prove and be greeted with. */
export interface MailRoute {
  /** What is dialled: an address that was vetted, or the name itself of a server that the operator set. */
  address: string
  /** Name or address by which this side introduces itself (RFC 5321 section 4.1.1.1). */
  helloName: string
  /** Trusted instead of the built-in roots; PEM. */
  ca?: string
  /** Milliseconds for all of it; 60,000 when absent. */
  totalMs?: number
}

/**
 * A mail that was not taken. `passing`: no connection, or an answer from 400 to 499, such as a greylist's. `credentials`: the login
 * was refused. `refused`: an answer from 500 to 599 to the sender, to every recipient or to the mail.
 */
export class MailFailed extends Error {
  override name = 'MailFailed'
  constructor(
    readonly failure: 'passing' | 'credentials' | 'refused',
    message: string,
  ) {
    super(toldLine(message))
  }
}

// Above those of its parts, which a server that says a little now and then never reaches.
const wholeMs = 60_000
const timeLimits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 5_000 }

/**
 * Gives a mail to a server. Certificates are verified but where TLS is merely `offered` and no password goes along: then a
 * certificate that nobody can verify is still better than none (RFC 7435).
 * @returns what the server said, and which recipients it did not take beside those it took
 * @throws MailFailed
 */
export async function sendMail(server: MailServer, route: MailRoute, mail: Mail): Promise<{ said: string; refused: string[] }> {
  const transport = createTransport({
    ...timeLimits,
    host: route.address,
    port: server.port,
    name: isIP(route.helloName) === 0 ? route.helloName : `[${isIP(route.helloName) === 6 ? 'IPv6:' : ''}${route.helloName}]`,
    secure: server.tls === 'implicit',
    requireTLS: server.tls === 'starttls',
    ignoreTLS: server.tls === 'none',
    ...(server.user !== null && { auth: { user: server.user, pass: server.password ?? '' } }),
    tls: {
      // SNI has no IP addresses (RFC 6066 3); without a name the certificate is checked against the address dialled.
      ...(isIP(server.host) === 0 && { servername: server.host }),
      rejectUnauthorized: server.tls !== 'offered',
      ...(route.ca !== undefined && { ca: route.ca }),
    },
    // What a mail says comes from this program alone: nothing in it names a file or an address to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    const sent = await transport.sendMail({
      from: mail.from,
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      messageId: mail.messageId,
      ...(mail.references.length > 0 && { inReplyTo: mail.references.at(-1)!, references: [...mail.references] }),
      headers: { ...mail.headers },
      date: new Date(mail.date),
      signal: AbortSignal.timeout(route.totalMs ?? wholeMs),
    })
    return { said: toldLine(sent.response), refused: (sent.rejected ?? []).map(String) }
  } catch (error) {
    throw failureOf(error)
  } finally {
    transport.close()
  }
}

/** What nodemailer throws, without the address that was dialled. */
function failureOf(error: unknown): MailFailed {
  const { responseCode, response, code, message } = error as Partial<Record<'response' | 'code' | 'message', string>> & {
    responseCode?: number
  }
  // A server that offers no TLS where it is wanted answers 5xx too; what stands between may have taken it away.
  if (code !== 'ETLS' && responseCode !== undefined && response) {
    const failure = responseCode < 500 ? 'passing' : code === 'EAUTH' ? 'credentials' : 'refused'
    return new MailFailed(failure, `The mail server answered ${response}`)
  }
  const told = sentences.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1]
  return new MailFailed(code === 'EAUTH' ? 'credentials' : 'passing', told ?? 'The mail server could not be reached.')
}

const sentences: [pattern: RegExp, sentence: string][] = [
  [/^EAUTH/, 'The mail server offers no way to log in that is known here.'],
  [
    /certificate|altname/i,
    'The certificate of the mail server was not accepted: it is not for this name, not trusted, or out of date.',
  ],
  [/^ETLS.*STARTTLS/, 'The mail server does not offer STARTTLS.'],
  [/SSL|TLS/, 'The TLS connection to the mail server could not be made; the port may not speak TLS from the start.'],
  [/ECONNREFUSED/, 'The mail server refused the connection.'],
  [/^ETIMEDOUT|^EABORT|timeout/i, 'The mail server did not answer in time.'],
  [/^EDNS|ENOTFOUND/, 'The name of the mail server could not be resolved.'],
  [/^EPROTOCOL/, 'The mail server speaks no SMTP that is understood here.'],
]
