import { systemClock } from '../../../core/clock'
import { Answerer } from './answerer'
import { ServerCounters } from './server-counters'
import type { HubRequests } from './hub-requests'
import { SignedAnswers, type AnswerStream } from './signed-answers'
import type { ListenOptions, Transferred } from './messages'
import { IncomingNotifies } from './incoming-notifies'
import { ResponseRateLimit } from './rate-limit'
import { openTcp, type TcpPort } from './tcp'
import type { TransferKeys } from './transfer-keys'
import { Transfers, transferLimits } from './transfers'
import { openUdp } from './udp'
import type { ZoneSet } from './zone-index'

/** A name server on one port for UDP and TCP. */
export interface DnsListener {
  readonly answerer: Answerer<AnswerStream>
  readonly counters: ServerCounters
  readonly host: string
  readonly port: number
  close(): void
}

const tries = 20
// Secondaries query many zones at once. Still limited: any customer has keys, and could spoof a victim's address.
const signedShare = 10

/** State shared with the thread. */
interface ListenerContext {
  zones: ZoneSet
  /** Zones that are visible only with their keys. */
  hidden: ZoneSet
  keys: TransferKeys
  hub: Pick<HubRequests, 'request'>
  transferred(transfer: Transferred): void
}

/** Opens both ports. @throws Error with a code such as EADDRINUSE or EACCES */
export async function openListener(context: ListenerContext, options: ListenOptions): Promise<DnsListener> {
  const { zones, hub } = context
  const counters = new ServerCounters()
  const answerer = new Answerer<AnswerStream>(zones, counters.rcodes)
  const now = () => Math.floor(systemClock.now() / 1000)
  const limits = { maxActive: options.transfers ?? transferLimits.maxActive }
  const transfers = new Transfers({ hub, counters, now, done: context.transferred, limits })
  const keyed = new SignedAnswers(answerer, {
    ...context,
    transfers,
    notifies: new IncomingNotifies(hub, counters),
    counters,
    now,
  })
  answerer.keyed = keyed
  const limit = options.responsesPerSecond === null ? null : new ResponseRateLimit(options.responsesPerSecond)
  const signedLimit = limit && new ResponseRateLimit(limit.perSecond * signedShare)
  const parts = { answerer, keyed, counters, limit, signedLimit, limitLoopback: options.limitLoopback, stallMs: options.stallMs }
  let { port } = options
  if (options.isShared && options.isFirst) {
    // Any process of the same user may share a shared port.
    const alone = await openPorts(options.host, port, { ...parts, isShared: false })
    port = alone.port
    alone.close()
  }
  const ports = await openPorts(options.host, port, { ...parts, isShared: options.isShared ?? false })
  return { answerer, counters, ...ports }
}

/** Opens UDP and TCP on the same port. */
async function openPorts(
  host: string,
  wanted: number,
  parts: Parameters<typeof openUdp>[2] & Parameters<typeof openTcp>[2],
): Promise<Pick<DnsListener, 'host' | 'port' | 'close'>> {
  for (let tried = 1; ; tried++) {
    const udp = await openUdp(host, wanted, parts)
    let tcp: TcpPort
    try {
      tcp = openTcp(host, udp.port, parts)
    } catch (error) {
      udp.close()
      // A port that is free for UDP may be in use for TCP.
      if (wanted === 0 && tried < tries) continue
      throw error
    }
    return {
      host: udp.hostname,
      port: udp.port,
      close() {
        udp.close()
        tcp.close()
      },
    }
  }
}
