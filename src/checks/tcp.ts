import { Type, type Static } from '@sinclair/typebox'
import { grouped, Prose, Shape, Words } from '../core/shapes'
import { runAttempt } from './attempt'
import { InvalidCheckInput, type CheckErrorKind, type CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { textMatcher, expectedText, validateExpectedText } from './expected-text'
import { parseHostPort, formatHostPort } from './host-port'
import { quoted, BufferedConnection } from './buffered-connection'
import { connectTcp, upgradeToTls, type TlsSettings } from './connect'
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

const maxReadBytes = 1024 * 1024
const defaultReadBytes = 65_536

const Step = Shape({
  ...expectedText,
  send: Type.Optional(
    Prose({
      minLength: 1,
      maxLength: 4096,
      description: 'Text to send after that, verbatim. Include `\\r\\n` if the protocol uses it.',
    }),
  ),
  starttls: Type.Optional(Type.Boolean({ default: false, description: 'Start TLS after this step.' })),
})

const tcpOptions = Shape({
  tls: Type.Optional(
    Words(['none', 'implicit', 'starttls'], {
      default: 'none',
      description:
        'TLS mode: `implicit` starts TLS right after connecting, `starttls` during the conversation, after the step with `"starttls": true`.',
    }),
  ),
  ...grouped('Conversation', {
    steps: Type.Optional(
      Type.Array(Step, {
        maxItems: 20,
        default: [],
        description:
          'Steps of the conversation. Each step waits for a line that matches, skipping other lines, and then sends its text. A prompt without a line end counts as a line.',
        examples: [[{ expect: '^220 ', send: 'QUIT\r\n' }, { expect: '^221 ' }]],
      }),
    ),
    read_limit_bytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxReadBytes,
        default: defaultReadBytes,
        description: 'Maximum number of bytes to read. Receiving more before the steps are done is a failure.',
      }),
    ),
  }),
  server_name: serverName,
  ...tlsOptions,
  ip_family: ipFamily,
})
type TcpOptions = Static<typeof tcpOptions>

/** TCP ports, optionally with a scripted conversation. */
export const tcp: CheckType<TcpOptions> = {
  name: 'tcp',
  title: 'TCP port',
  description:
    'Connects to a TCP port, uses TLS if configured, and runs the steps. Fails if the connection fails or a step receives no matching line.',
  targetDescription: 'A host and port, such as `db.example.com:5432`.',
  options: tcpOptions,
  secrets: tlsSecrets,
  destination: ['/server_name', ...tlsDestination],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION', 'DOMAIN_EXPIRATION'],
  target: text => formatHostPort(parseHostPort(text, null)),
  validate(options) {
    validateServerName(options.server_name)
    validateCertificates(options)
    const steps = options.steps ?? []
    for (const [at, step] of steps.entries()) validateExpectedText(step, `/options/steps/${at}`)
    const upgrades = steps.filter(step => step.starttls).length
    if (upgrades !== (options.tls === 'starttls' ? 1 : 0))
      throw new InvalidCheckInput(
        '/options/steps',
        'must contain exactly one step with `starttls` if `tls` is `starttls`, and none otherwise.',
      )
  },
  run: (target, options, context) =>
    runAttempt(context, async attempt => {
      const { host, port } = parseHostPort(target, null)
      const name = serverNameFor(options.server_name, host)
      const settings = tlsSettings(options, name)
      attempt.facts.request = `TCP ${formatHostPort({ host, port })}${options.tls === 'implicit' && name !== host ? ` as ${name}` : ''}`
      const plain = await connectTcp(attempt, host, port, options.ip_family)
      const socket = options.tls === 'implicit' ? await upgradeToTls(attempt, plain, settings) : plain
      const steps = options.steps ?? []
      if (steps.length === 0) return
      const connection = new BufferedConnection(attempt, socket, options.read_limit_bytes ?? defaultReadBytes)
      try {
        for (const [at, step] of steps.entries()) await runStep(connection, step, at, settings)
      } finally {
        attempt.facts.body = connection.received
      }
    }),
}

const hasEnded: readonly CheckErrorKind[] = ['closed', 'timeout']

async function runStep(
  connection: BufferedConnection,
  step: Static<typeof Step>,
  at: number,
  settings: TlsSettings,
): Promise<void> {
  const expected = textMatcher(step)
  if (expected) {
    let last: string | null = null
    try {
      await connection.waitForLine(
        line => {
          if (line !== '') last = line
          return expected.matches(line)
        },
        `${expected.description} at step ${at + 1}`,
      )
    } catch (error) {
      // Something arrived, but nothing that matches.
      if (last === null || !(error instanceof CheckFailed) || !hasEnded.includes(error.kind)) throw error
      throw new CheckFailed('content', `received ${quoted(last)} at step ${at + 1}, expected ${expected.description}`)
    }
  }
  if (step.send !== undefined) connection.send(step.send)
  if (step.starttls) await connection.startTls(settings)
}
