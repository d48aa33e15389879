import { Type, type Static } from '@sinclair/typebox'
import { Line, Shape, Words } from '../core/shapes'
import { attempt, type Attempt } from './attempt'
import type { CheckType, CheckTypeName } from './check'
import { CheckFailed } from './connect-failure'
import { hostPort, hostPortText } from './host-port'
import { matches } from './pattern'
import { quoted, Talk } from './talk'
import { connectTcp, upgradeToTls } from './tls-connect'
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

/** A protocol in which the server speaks first. */
export interface BannerProtocol {
  name: CheckTypeName
  title: string
  description: string
  targetForm: string
  /** Where there is none in the target. */
  port: number
  /**
   * Reads what the server says first.
   * @throws CheckFailed for what is not of the protocol, or refuses to serve
   */
  greeting(talk: Talk, expectedCode: number): Promise<Greeting>
  /** Says goodbye; what is answered does not matter. */
  bye(talk: Talk): void
}

/** One that can do more when asked, and speaks TLS: all protocols of mail. */
export interface MailProtocol extends BannerProtocol {
  /** Where TLS is spoken from the first octet (RFC 8314). */
  tlsPort: number
  /** What the server can do, in capitals; to be asked anew under TLS. @throws CheckFailed */
  capabilities(talk: Talk): Promise<string[]>
  /** What among them says that TLS can begin. */
  tlsCapability: string
  /** Has the server agree to TLS. @throws CheckFailed */
  agree(talk: Talk): Promise<void>
}

export interface Greeting {
  /** What it says of itself, on one line. */
  banner: string
  /** Of protocols that have one. */
  code: number | null
}

const bannerOption = Type.Optional(
  Line({
    minLength: 1,
    maxLength: 500,
    description: 'What the server must say first; `*` stands for any number of characters, and letters match in either case.',
    examples: ['*Postfix*'],
  }),
)

const plainOptions = Shape({ expected_banner: bannerOption, ip_family: ipFamily })

const mailOptions = Shape({
  expected_banner: bannerOption,
  expected_capabilities: Type.Optional(
    Type.Array(Line({ minLength: 1, maxLength: 100 }), {
      maxItems: 50,
      default: [],
      description:
        'What the server must say that it can do, under TLS where that is spoken; `*` stands for any number of characters.',
      examples: [['AUTH PLAIN*']],
    }),
  ),
  tls: Type.Optional(
    Words(['none', 'starttls', 'implicit'], {
      description:
        'Whether TLS is spoken: after both have agreed to it, or from the first octet. Without it `implicit` at the port that is for that, and `none` at others.',
    }),
  ),
  servername: serverName,
  ...tlsMembers,
  ip_family: ipFamily,
})
const smtpOptions = Shape({
  expected_code: Type.Optional(
    Type.Integer({ minimum: 200, maximum: 599, default: 220, description: 'Code that the greeting must have.', examples: [554] }),
  ),
  ...mailOptions.properties,
})
export type MailOptions = Static<typeof mailOptions> & { expected_code?: number }

/** A check of a protocol without TLS: the greeting is all. */
export const bannerCheck = (protocol: BannerProtocol): CheckType<Static<typeof plainOptions>> => ({
  ...described(protocol),
  options: plainOptions,
  secrets: [],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'TTFB', 'IP', 'BODY'],
  run: (target, given, around) =>
    attempt(around, async one => {
      const { host, port } = hostPort(target, protocol.port)
      one.facts.request = `${protocol.name} ${hostPortText({ host, port })}`
      await spoken(one, new Talk(one, await connectTcp(one, host, port, given.ip_family), mostRead), async talk => {
        await greeted(one, talk, protocol, given)
        protocol.bye(talk)
      })
    }),
})

/** A check of a protocol of mail. */
export const mailCheck = (protocol: MailProtocol): CheckType<MailOptions> => ({
  ...described(protocol),
  options: protocol.name === 'smtp' ? smtpOptions : mailOptions,
  secrets: tlsSecrets,
  destination: ['/servername', ...tlsDestination],
  sources: [
    'CONNECTED',
    ...(protocol.name === 'smtp' ? (['STATUS'] as const) : []),
    ...(['RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION'] as const),
  ],
  refuse(given) {
    refuseServerName(given.servername)
    refuseCertificates(given)
  },
  run: (target, given, around) =>
    attempt(around, async one => {
      const { host, port } = hostPort(target, protocol.port)
      const by = given.tls ?? (port === protocol.tlsPort ? 'implicit' : 'none')
      one.facts.request = `${protocol.name} ${hostPortText({ host, port })}${byWords[by]}`
      const wish = tlsWish(given, nameToShow(given.servername, host))
      const plain = await connectTcp(one, host, port, given.ip_family)
      const socket = by === 'implicit' ? await upgradeToTls(one, plain, wish) : plain
      await spoken(one, new Talk(one, socket, mostRead), async talk => {
        const { code } = await greeted(one, talk, protocol, given)
        // Who greets with the failure that is expected says nothing else.
        if (code === null || code < 400) await converse(talk, protocol, given, by === 'starttls' ? () => talk.secure(wish) : null)
        protocol.bye(talk)
      })
    }),
})

const mostRead = 65_536
const byWords = { none: '', implicit: ' over TLS', starttls: ' with STARTTLS' } as const

const described = ({ name, title, description, targetForm, port }: BannerProtocol) => ({
  name,
  title,
  description,
  targetForm,
  target: (text: string) => hostPortText(hostPort(text, port)),
})

/** Keeps what was said, and waits a moment for the server to hang up: who leaves before is a fault in its log. */
async function spoken(one: Attempt, talk: Talk, say: (talk: Talk) => Promise<void>): Promise<void> {
  try {
    await say(talk)
  } finally {
    one.facts.body = talk.text
  }
  await talk.ending().catch(() => {})
}

async function greeted(
  one: Attempt,
  talk: Talk,
  protocol: BannerProtocol,
  given: { expected_banner?: string; expected_code?: number },
): Promise<Greeting> {
  const greeting = await protocol.greeting(talk, given.expected_code ?? 220)
  one.facts.status = greeting.code
  const { expected_banner: expected } = given
  if (expected !== undefined && !matches(greeting.banner, expected))
    throw new CheckFailed('content', `the server greets with ${quoted(greeting.banner)}, not with ${quoted(expected)}`)
  return greeting
}

async function converse(
  talk: Talk,
  protocol: MailProtocol,
  given: MailOptions,
  secure: (() => Promise<void>) | null,
): Promise<void> {
  const expected = given.expected_capabilities ?? []
  let can = await protocol.capabilities(talk)
  if (secure) {
    if (!can.includes(protocol.tlsCapability)) throw new CheckFailed('tls', `the server does not offer ${protocol.tlsCapability}`)
    await protocol.agree(talk)
    await secure()
    // What was said in plain text may have been changed on the way (RFC 3207 section 4.2).
    can = await protocol.capabilities(talk)
  }
  const absent = expected.filter(one => !can.some(capability => matches(capability, one)))
  if (absent.length > 0) throw new CheckFailed('content', `the server cannot do ${absent.slice(0, 3).map(quoted).join(', ')}`)
}
