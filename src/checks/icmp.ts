import { Type, type Static } from '@sinclair/typebox'
import { grouped, Shape } from '../core/shapes'
import { canonicalHost } from '../core/net/host-name'
import type { VettedHost } from '../core/net/egress'
import { runAttempt, type Attempt } from './attempt'
import { InvalidCheckInput, type CheckType } from './check'
import { CheckFailed, connectFailure } from './connect-failure'
import { permissionHint, systemPingMethods, type PingMethods } from './ping/methods'
import { minDataBytes, type PingReport } from './ping/series'
import { ipFamily } from './tls-options'

const icmpOptions = Shape({
  ...grouped('Packets', {
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 1, description: 'Number of echo requests to send.' })),
    packet_interval_ms: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 1000, default: 200, description: 'Interval between echo requests, in milliseconds.' }),
    ),
    packet_size: Type.Optional(
      Type.Integer({
        minimum: minDataBytes,
        maximum: 8192,
        default: 56,
        description: 'Payload size in bytes, without the 8-byte ICMP header and the IP header.',
      }),
    ),
    dont_fragment: Type.Optional(
      Type.Boolean({ default: false, description: 'Forbid fragmentation on the way (the DF bit of IPv4).' }),
    ),
    packet_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 30_000,
        default: 2000,
        description: 'How long to wait for replies after the last request, in milliseconds. Later replies count as lost.',
      }),
    ),
    max_loss_percent: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 99,
        default: 50,
        description: 'Packet loss, in percent, above which the check fails. The check always fails if all packets are lost.',
      }),
    ),
  }),
  ip_family: ipFamily,
})
type IcmpOptions = Static<typeof icmpOptions>

// Network policies apply to ports, and ICMP has none: use the port of the echo service (RFC 862).
const echoPort = 7

/** ICMP echo over IPv4 and IPv6. @param methods replaced in tests */
export const icmpCheck = (methods: () => PingMethods): CheckType<IcmpOptions> => ({
  name: 'icmp',
  title: 'Ping (ICMP)',
  description:
    'Sends ICMP echo requests. Fails if no reply arrives or too many packets are lost. The latency is the average round-trip time.',
  targetDescription: 'A hostname or IP address, such as `router.example.com`, `192.0.2.1`, or `2001:db8::1`.',
  options: icmpOptions,
  secrets: [],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'IP', 'BODY', 'DOMAIN_EXPIRATION'],
  target(text) {
    const host = canonicalHost(text.replace(/^\[(.*)\]$/, '$1'))
    if (host === null) throw new InvalidCheckInput('/target', 'must be a hostname or IP address, without a port.')
    return host
  },
  async run(target, options, context) {
    let average: number | null = null
    const facts = await runAttempt(context, async attempt => {
      attempt.facts.request = `ICMP echo ${target}`
      const report = await sendPings(attempt, methods(), target, options)
      const { times } = report
      if (times.length > 0) {
        attempt.facts.connected = true
        attempt.facts.phases.first_byte = times[0]!
        average = times.reduce((sum, ms) => sum + ms, 0) / times.length
      }
      attempt.facts.body = summary(report)
      verifyReport(report, options)
    })
    if (average !== null) facts.phases.total = average
    return facts
  },
})

export const icmp = icmpCheck(systemPingMethods)

async function sendPings(attempt: Attempt, methods: PingMethods, target: string, options: IcmpOptions): Promise<PingReport> {
  const { context, facts } = attempt
  const startedAt = context.now()
  let vetted: VettedHost
  try {
    vetted = await attempt.within(context.vet(target, echoPort, options.ip_family), 'the DNS lookup')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  attempt.addToPhase('dns', startedAt)
  facts.address = vetted.address
  const method = methods.of(vetted.family)
  if (!method) throw new CheckFailed('unsupported', `this hub is not allowed to send pings. ${permissionHint}`)
  return await method.run(
    {
      address: vetted.address,
      family: vetted.family,
      count: options.count ?? 1,
      intervalMs: options.packet_interval_ms ?? 200,
      size: options.packet_size ?? 56,
      dontFragment: options.dont_fragment ?? false,
      replyTimeoutMs: options.packet_timeout_ms ?? 2000,
    },
    context.signal,
  )
}

/** @throws CheckFailed */
function verifyReport({ sent, times, error }: PingReport, options: IcmpOptions): void {
  const lost = sent - times.length
  if (times.length === 0) {
    if (error === 'EMSGSIZE') throw new CheckFailed('unreachable', 'packets of this size need fragmentation, which is disabled')
    if (error !== null) throw connectFailure({ code: error }, 'connecting')
    const requests = sent === 1 ? 'the echo request' : `any of the ${sent} echo requests`
    throw new CheckFailed('timeout', `timed out: no reply to ${requests}`)
  }
  const percent = (lost * 100) / sent
  const maxLoss = options.max_loss_percent ?? 50
  if (percent > maxLoss) throw new CheckFailed('content', `${lost} of ${sent} packets lost, more than ${maxLoss}%`)
}

function summary({ sent, times }: PingReport): string {
  const counts = `${sent} sent, ${times.length} received`
  if (times.length === 0) return counts
  const stats = [Math.min(...times), times.reduce((sum, ms) => sum + ms, 0) / times.length, Math.max(...times)]
  return `${counts}, min/avg/max ${stats.map(ms => ms.toFixed(3)).join('/')} ms`
}
