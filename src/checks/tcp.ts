import { Type, type Static } from '@sinclair/typebox'
import { Prose, Shape, Words } from '../core/shapes'
import { attempt } from './attempt'
import { CheckInputRefused, type CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { expectationOf, expectedText, refuseExpected } from './expected-text'
import { hostPort, hostPortText } from './host-port'
import { quoted, Talk } from './talk'
import { connectTcp, upgradeToTls, type TlsWish } from './tls-connect'
import {
  ipFamily,
  nameToShow,
  refuseCertificates,
  refuseServerName,
  serverName,
  tlsDestination,
  tlsMembers,
  tlsSecrets,
  tlsWish,
} from './tls-options'

const mostRead = 1024 * 1024
const usualRead = 65_536

const Step = Shape({
  ...expectedText,
  send: Type.Optional(
    Prose({ minLength: 1, maxLength: 4096, description: 'What is sent then, as it is: with `\\r\\n` where lines end so.' }),
  ),
  starttls: Type.Optional(Type.Boolean({ default: false, description: 'Whether TLS begins after this step.' })),
})

const options = Shape({
  tls: Type.Optional(
    Words(['none', 'implicit', 'starttls'], {
      default: 'none',
      description: 'Whether TLS is spoken: from the first octet, or after the step that has `starttls`.',
    }),
  ),
  steps: Type.Optional(
    Type.Array(Step, {
      maxItems: 20,
      default: [],
      description:
        'What is said, in turn. Each step waits for a line that is as expected, passing others over, and then sends. A prompt without line end counts as a line.',
      examples: [[{ expect: '^220 ', send: 'QUIT\r\n' }, { expect: '^221 ' }]],
    }),
  ),
  read_limit_bytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostRead,
      default: usualRead,
      description: 'How much is read; more before the steps are done is a failure.',
    }),
  ),
  servername: serverName,
  ...tlsMembers,
  ip_family: ipFamily,
})
type TcpOptions = Static<typeof options>

/** Ports over TCP, and what servers say there. */
export const tcp: CheckType<TcpOptions> = {
  name: 'tcp',
  title: 'TCP port',
  description:
    'Connects to a port, speaks TLS if wanted, and sends and expects what its steps say. Down when no connection comes about or something else comes.',
  targetForm: 'A host and a port: `db.example.com:5432`.',
  options,
  secrets: tlsSecrets,
  destination: ['/servername', ...tlsDestination],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION'],
  target: text => hostPortText(hostPort(text, null)),
  refuse(given) {
    refuseServerName(given.servername)
    refuseCertificates(given)
    const steps = given.steps ?? []
    for (const [at, step] of steps.entries()) refuseExpected(step, `/options/steps/${at}`)
    const upgrades = steps.filter(step => step.starttls).length
    if (upgrades !== (given.tls === 'starttls' ? 1 : 0))
      throw new CheckInputRefused(
        '/options/steps',
        'must have one step with `starttls` when `tls` is starttls, and none when not.',
      )
  },
  run: (target, given, around) =>
    attempt(around, async one => {
      const { host, port } = hostPort(target, null)
      const name = nameToShow(given.servername, host)
      const wish = tlsWish(given, name)
      one.facts.request = `TCP ${hostPortText({ host, port })}${given.tls === 'implicit' && name !== host ? ` as ${name}` : ''}`
      const plain = await connectTcp(one, host, port, given.ip_family)
      const socket = given.tls === 'implicit' ? await upgradeToTls(one, plain, wish) : plain
      const steps = given.steps ?? []
      if (steps.length === 0) return
      const talk = new Talk(one, socket, given.read_limit_bytes ?? usualRead)
      try {
        for (const [at, step] of steps.entries()) await taken(talk, step, at, wish)
      } finally {
        one.facts.body = talk.text
      }
    }),
}

async function taken(talk: Talk, step: Static<typeof Step>, at: number, wish: TlsWish): Promise<void> {
  const expected = expectationOf(step)
  if (expected) {
    let last: string | null = null
    try {
      await talk.lineThat(
        line => {
          if (line !== '') last = line
          return expected.fits(line)
        },
        `no ${expected.words} at step ${at + 1}`,
      )
    } catch (error) {
      // It did answer, only not so.
      if (last === null || !(error instanceof CheckFailed) || error.kind === 'protocol') throw error
      throw new CheckFailed('content', `${quoted(last)} came where ${expected.words} is expected at step ${at + 1}`)
    }
  }
  if (step.send !== undefined) talk.send(step.send)
  if (step.starttls) await talk.secure(wish)
}
