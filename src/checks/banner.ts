import { Type, type Static } from '@sinclair/typebox'
import { grouped, Line, Shape, Words } from '../core/shapes'
import { runAttempt, type Attempt } from './attempt'
import type { CheckType, CheckTypeName } from './check'
import { CheckFailed } from './connect-failure'
import { parseHostPort, formatHostPort } from './host-port'
import { matches } from './pattern'
import { quoted, BufferedConnection } from './buffered-connection'
import { connectTcp, upgradeToTls } from './connect'
import {
  ipFamily,
  serverNameFor,
  validateCertificates,
  validateServerName,
  serverName,
  tlsDestination,
  tlsOptions,
  tlsSecrets,
  tlsSettings,
} from './tls-options'

/** A protocol in which the server speaks first. */
interface BannerProtocol {
  name: CheckTypeName
  title: string
  description: string
  targetDescription: string
  /** Default port. */
  port: number
  /**
   * Reads the greeting.
   * @throws CheckFailed if it is not of the protocol, or the server rejects the connection
   */
  greeting(connection: BufferedConnection, expectedCode: number): Promise<Greeting>
  /** Ends the session; the response does not matter. */
  quit(connection: BufferedConnection): void
}

/** A mail protocol, which has capabilities and TLS. */
export interface MailProtocol extends BannerProtocol {
  /** Port with implicit TLS (RFC 8314). */
  tlsPort: number
  /** The server's capabilities in capitals; queried again under TLS. @throws CheckFailed */
  capabilities(connection: BufferedConnection): Promise<string[]>
  /** The capability that announces TLS. */
  tlsCapability: string
  /** Asks the server to switch to TLS. @throws CheckFailed */
  startTls(connection: BufferedConnection): Promise<void>
}

interface Greeting {
  /** The text of the greeting, on one line. */
  banner: string
  /** Null for protocols without codes. */
  code: number | null
}

const responseGroup = 'Response'
const bannerOption = Type.Optional(
  Line({
    minLength: 1,
    maxLength: 500,
    description: 'Expected greeting. `*` matches any number of characters; case is ignored.',
    examples: ['*Postfix*'],
  }),
)

const plainOptions = Shape({ expected_banner: bannerOption, ip_family: ipFamily })

const mailOptions = Shape({
  tls: Type.Optional(
    Words(['none', 'starttls', 'implicit'], {
      description:
        'TLS mode: `implicit` starts TLS right after connecting, `starttls` upgrades the connection. By default `implicit` on the standard TLS port and `none` on others.',
    }),
  ),
  ...grouped(responseGroup, {
    expected_banner: bannerOption,
    expected_capabilities: Type.Optional(
      Type.Array(Line({ minLength: 1, maxLength: 100 }), {
        maxItems: 50,
        default: [],
        description: 'Capabilities that the server must announce, under TLS if it is used. `*` matches any number of characters.',
        examples: [['AUTH PLAIN*']],
      }),
    ),
  }),
  server_name: serverName,
  ...tlsOptions,
  ip_family: ipFamily,
})
const smtpOptions = Shape({
  ...mailOptions.properties,
  ...grouped(responseGroup, {
    expected_code: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 599, default: 220, description: 'Expected code of the greeting.', examples: [554] }),
    ),
  }),
})
export type MailOptions = Static<typeof mailOptions> & { expected_code?: number }

/** A check of a protocol without TLS; only reads the greeting. */
export const bannerCheck = (protocol: BannerProtocol): CheckType<Static<typeof plainOptions>> => ({
  ...describe(protocol),
  options: plainOptions,
  secrets: [],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'DOMAIN_EXPIRATION'],
  run: (target, options, context) =>
    runAttempt(context, async attempt => {
      const { host, port } = parseHostPort(target, protocol.port)
      attempt.facts.request = `${protocol.name} ${formatHostPort({ host, port })}`
      await recordConversation(
        attempt,
        new BufferedConnection(attempt, await connectTcp(attempt, host, port, options.ip_family), maxReadBytes),
        async connection => {
          await expectGreeting(attempt, connection, protocol, options)
          protocol.quit(connection)
        },
      )
    }),
})

/** A check of a mail protocol. */
export const mailCheck = (protocol: MailProtocol): CheckType<MailOptions> => ({
  ...describe(protocol),
  options: protocol.name === 'smtp' ? smtpOptions : mailOptions,
  secrets: tlsSecrets,
  destination: ['/server_name', ...tlsDestination],
  sources: [
    'CONNECTED',
    ...(protocol.name === 'smtp' ? (['STATUS'] as const) : []),
    ...(['RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION', 'DOMAIN_EXPIRATION'] as const),
  ],
  validate(options) {
    validateServerName(options.server_name)
    validateCertificates(options)
  },
  run: (target, options, context) =>
    runAttempt(context, async attempt => {
      const { host, port } = parseHostPort(target, protocol.port)
      const mode = options.tls ?? (port === protocol.tlsPort ? 'implicit' : 'none')
      attempt.facts.request = `${protocol.name} ${formatHostPort({ host, port })}${tlsModeText[mode]}`
      const settings = tlsSettings(options, serverNameFor(options.server_name, host))
      const plain = await connectTcp(attempt, host, port, options.ip_family)
      const socket = mode === 'implicit' ? await upgradeToTls(attempt, plain, settings) : plain
      await recordConversation(attempt, new BufferedConnection(attempt, socket, maxReadBytes), async connection => {
        const { code } = await expectGreeting(attempt, connection, protocol, options)
        // After an expected failure code, the server accepts no commands.
        if (code === null || code < 400)
          await expectCapabilities(
            connection,
            protocol,
            options,
            mode === 'starttls' ? () => connection.startTls(settings) : null,
          )
        protocol.quit(connection)
      })
    }),
})

const maxReadBytes = 65_536
const tlsModeText = { none: '', implicit: ' over TLS', starttls: ' with STARTTLS' } as const

const describe = ({ name, title, description, targetDescription, port }: BannerProtocol) => ({
  name,
  title,
  description,
  targetDescription,
  target: (text: string) => formatHostPort(parseHostPort(text, port)),
})

/** Records the conversation, and waits briefly for the server to close: servers log clients that leave first as errors. */
async function recordConversation(
  attempt: Attempt,
  connection: BufferedConnection,
  talk: (connection: BufferedConnection) => Promise<void>,
): Promise<void> {
  try {
    await talk(connection)
  } finally {
    attempt.facts.body = connection.received
  }
  await connection.waitForClose().catch(() => {})
}

async function expectGreeting(
  attempt: Attempt,
  connection: BufferedConnection,
  protocol: BannerProtocol,
  options: { expected_banner?: string; expected_code?: number },
): Promise<Greeting> {
  const greeting = await protocol.greeting(connection, options.expected_code ?? 220)
  attempt.facts.status = greeting.code
  const { expected_banner: expected } = options
  if (expected !== undefined && !matches(greeting.banner, expected))
    throw new CheckFailed('content', `the greeting is ${quoted(greeting.banner)}, expected ${quoted(expected)}`)
  return greeting
}

/** Asks the server to switch to TLS, if it offers that. @throws CheckFailed */
export async function requestTls(connection: BufferedConnection, protocol: MailProtocol): Promise<void> {
  const announced = await protocol.capabilities(connection)
  if (!announced.includes(protocol.tlsCapability))
    throw new CheckFailed('tls', `the server does not offer ${protocol.tlsCapability}`)
  await protocol.startTls(connection)
}

async function expectCapabilities(
  connection: BufferedConnection,
  protocol: MailProtocol,
  options: MailOptions,
  secure: (() => Promise<void>) | null,
): Promise<void> {
  const expected = options.expected_capabilities ?? []
  let announced: string[]
  if (!secure) announced = await protocol.capabilities(connection)
  else {
    await requestTls(connection, protocol)
    await secure()
    // Capabilities from before TLS may have been tampered with (RFC 3207 section 4.2).
    announced = await protocol.capabilities(connection)
  }
  const missing = expected.filter(one => !announced.some(capability => matches(capability, one)))
  if (missing.length > 0) throw new CheckFailed('content', `the server lacks ${missing.slice(0, 3).map(quoted).join(', ')}`)
}
