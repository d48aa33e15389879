import { Type, type Static } from '@sinclair/typebox'
import { Shape } from '../core/shapes'
import { canonicalHost } from '../core/net/host-name'
import type { VettedHost } from '../core/net/egress'
import { attempt, type Attempt } from './attempt'
import { CheckInputRefused, type CheckType } from './check'
import { CheckFailed, connectFailure } from './connect-failure'
import { howToAllow, ownPingWays, type PingWays } from './ping/ways'
import { leastData, type PingReport } from './ping/series'
import { ipFamily } from './tls-options'

const options = Shape({
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 1, description: 'Echo requests that are sent.' })),
  gap_ms: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 1000, default: 200, description: 'Milliseconds between two of them.' }),
  ),
  packet_size: Type.Optional(
    Type.Integer({
      minimum: leastData,
      maximum: 8192,
      default: 56,
      description: 'Octets of data in each; 8 of ICMP and the header of IP come to it.',
    }),
  ),
  dont_fragment: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether nobody on the way may cut them into fragments.' }),
  ),
  answer_within_ms: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 30_000,
      default: 2000,
      description: 'Milliseconds for which the answer to the last is waited for; what has not come then is lost.',
    }),
  ),
  max_loss_percent: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 99,
      default: 50,
      description: 'Share of lost ones above which it is down. When none comes back, it always is.',
    }),
  ),
  ip_family: ipFamily,
})
type IcmpOptions = Static<typeof options>

// Policies are about ports too, which ICMP has none of: that of the echo service (RFC 862).
const echoPort = 7

/** Pings, of IPv4 and IPv6. @param ways tests have their own */
export const icmpBy = (ways: () => PingWays): CheckType<IcmpOptions> => ({
  name: 'icmp',
  title: 'Ping (ICMP)',
  description:
    'Sends echo requests by ICMP. Down when no answer comes, or more are lost than is allowed. The time is the average from request to answer.',
  targetForm: 'A host name or an address: `router.example.com`, `192.0.2.1`, `2001:db8::1`.',
  options,
  secrets: [],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'IP', 'BODY'],
  target(text) {
    const host = canonicalHost(text.replace(/^\[(.*)\]$/, '$1'))
    if (host === null) throw new CheckInputRefused('/target', 'must be a host name or an address, without a port.')
    return host
  },
  async run(target, given, around) {
    let average: number | null = null
    const facts = await attempt(around, async one => {
      one.facts.request = `ICMP echo ${target}`
      const report = await pinged(one, ways(), target, given)
      const { times } = report
      if (times.length > 0) {
        one.facts.connected = true
        one.facts.phases.first_byte = times[0]!
        average = times.reduce((sum, ms) => sum + ms, 0) / times.length
      }
      one.facts.body = summary(report)
      judge(report, given)
    })
    if (average !== null) facts.phases.total = average
    return facts
  },
})

export const icmp = icmpBy(ownPingWays)

async function pinged(one: Attempt, ways: PingWays, target: string, given: IcmpOptions): Promise<PingReport> {
  const { around, facts } = one
  const asked = around.now()
  let vetted: VettedHost
  try {
    vetted = await one.within(around.vet(target, echoPort, given.ip_family), 'the name was not resolved')
  } catch (error) {
    throw connectFailure(error, 'connecting')
  }
  one.spent('dns', asked)
  facts.address = vetted.address
  const way = ways.of(vetted.family)
  if (!way) throw new CheckFailed('unsupported', `this hub may not send pings. ${howToAllow}`)
  return await way.run(
    {
      address: vetted.address,
      family: vetted.family,
      count: given.count ?? 1,
      gapMs: given.gap_ms ?? 200,
      size: given.packet_size ?? 56,
      dontFragment: given.dont_fragment ?? false,
      answerWithinMs: given.answer_within_ms ?? 2000,
    },
    around.signal,
  )
}

/** @throws CheckFailed */
function judge({ sent, times, error }: PingReport, given: IcmpOptions): void {
  const lost = sent - times.length
  if (times.length === 0) {
    if (error === 'EMSGSIZE') throw new CheckFailed('unreachable', 'packets of this size do not get there without being cut')
    if (error !== null) throw connectFailure({ code: error }, 'connecting')
    const requests = sent === 1 ? 'the echo request' : `any of ${sent} echo requests`
    throw new CheckFailed('timeout', `no answer to ${requests} within the time limit`)
  }
  const percent = (lost * 100) / sent
  const most = given.max_loss_percent ?? 50
  if (percent > most) throw new CheckFailed('content', `${lost} of ${sent} packets lost, more than ${most} %`)
}

function summary({ sent, times }: PingReport): string {
  const counts = `${sent} sent, ${times.length} received`
  if (times.length === 0) return counts
  const shown = [Math.min(...times), times.reduce((sum, ms) => sum + ms, 0) / times.length, Math.max(...times)]
  return `${counts}, least/average/most ${shown.map(ms => ms.toFixed(3)).join('/')} ms`
}
