import { isIP } from 'node:net'
import { createTransport } from 'nodemailer'
import { oneLine } from '../one-line'
import type { MailServer } from './mail-server'

/** An email as plain text and HTML. Addresses are `name@host` or `Name <name@host>`. */
interface Mail {
  from: string
  to: readonly string[]
  subject: string
  text: string
  html: string
  /** `<…@…>` (RFC 5322 section 3.6.4); the same for each attempt. */
  messageId: string
  /** Message IDs of the thread, the first one first; empty for a new thread. */
  references: readonly string[]
  headers?: Record<string, string>
  /** ms UTC */
  date: number
}

/** Where and how to connect to a mail server. */
export interface MailRoute {
  /** A checked IP address, or the name of a server configured by the operator. */
  address: string
  /** Name or address sent in EHLO (RFC 5321 section 4.1.1.1). */
  helloName: string
  /** PEM certificates to trust instead of the built-in roots. */
  ca?: string
  /** Total time limit in milliseconds; 60,000 by default. */
  totalMs?: number
}

/**
 * An email that was not accepted. `temporary`: no connection, or a 4xx response, such as greylisting. `credentials`: the login failed.
 * `rejected`: a 5xx response to the sender, all recipients or the message.
 */
export class MailError extends Error {
  override name = 'MailError'
  constructor(
    readonly failure: 'temporary' | 'credentials' | 'rejected',
    message: string,
  ) {
    super(oneLine(message))
  }
}

// In addition to the limits of each phase, which a server that sends a little data now and then never reaches.
const defaultTotalMs = 60_000
const timeLimits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 5_000 }

/**
 * Sends an email. Certificates are verified, except with `opportunistic` TLS, which has no password: unverified encryption is better
 * than none (RFC 7435).
 * @returns the response of the server, and the rejected recipients if others were accepted
 * @throws MailError
 */
export async function sendMail(
  server: MailServer,
  route: MailRoute,
  mail: Mail,
): Promise<{ response: string; rejected: string[] }> {
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
      // SNI doesn't allow IP addresses (RFC 6066 section 3). Without a name, the certificate is verified against the IP address.
      ...(isIP(server.host) === 0 && { servername: server.host }),
      rejectUnauthorized: server.tls !== 'opportunistic',
      ...(route.ca !== undefined && { ca: route.ca }),
    },
    // Content never refers to files or URLs to load.
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
      signal: AbortSignal.timeout(route.totalMs ?? defaultTotalMs),
    })
    return { response: oneLine(sent.response), rejected: (sent.rejected ?? []).map(String) }
  } catch (error) {
    throw failureOf(error)
  } finally {
    transport.close()
  }
}

/** Converts an error of nodemailer, without the IP address. */
function failureOf(error: unknown): MailError {
  const { responseCode, response, code, message } = error as Partial<Record<'response' | 'code' | 'message', string>> & {
    responseCode?: number
  }
  // A server without the required TLS also responds with 5xx, but an intermediary may have removed STARTTLS.
  if (code !== 'ETLS' && responseCode !== undefined && response) {
    const failure = responseCode < 500 ? 'temporary' : code === 'EAUTH' ? 'credentials' : 'rejected'
    return new MailError(failure, `The mail server responded: ${response}`)
  }
  const known = sentences.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1]
  return new MailError(code === 'EAUTH' ? 'credentials' : 'temporary', known ?? 'The mail server could not be reached.')
}

const sentences: [pattern: RegExp, sentence: string][] = [
  [/^EAUTH/, 'The mail server offers no supported authentication method.'],
  [/certificate|altname/i, 'The certificate of the mail server is invalid: it is for another name, not trusted, or expired.'],
  [/^ETLS.*STARTTLS/, 'The mail server does not offer STARTTLS.'],
  [/SSL|TLS/, 'The TLS connection to the mail server failed. The port may require STARTTLS instead.'],
  [/ECONNREFUSED/, 'The mail server refused the connection.'],
  [/^ETIMEDOUT|^EABORT|timeout/i, 'The mail server did not respond in time.'],
  [/^EDNS|ENOTFOUND/, 'The name of the mail server could not be resolved.'],
  [/^EPROTOCOL/, 'The mail server sent an invalid SMTP response.'],
]
