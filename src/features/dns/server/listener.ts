import { Answerer } from './answerer'
import { Counted } from './counted'
import type { ListenWish } from './messages'
import { ResponseRateLimit } from './rate-limit'
import { openTcp, type TcpPort } from './tcp'
import { openUdp } from './udp'
import type { ZoneSet } from './zone-index'

/** A name server that answers on UDP and TCP of one port. */
export interface DnsListener {
  readonly answerer: Answerer
  readonly counted: Counted
  readonly host: string
  readonly port: number
  close(): void
}

const tries = 20

/** Opens both ports. @throws Error with a code such as EADDRINUSE or EACCES */
export async function openListener(zones: ZoneSet, wish: ListenWish): Promise<DnsListener> {
  const counted = new Counted()
  const answerer = new Answerer(zones, counted.rcodes)
  const limit = wish.responsesPerSecond === null ? null : new ResponseRateLimit(wish.responsesPerSecond)
  const parts = { answerer, counted, limit, limitLoopback: wish.limitLoopback }
  for (let tried = 1; ; tried++) {
    const udp = await openUdp(wish.host, wish.port, parts)
    let tcp: TcpPort
    try {
      tcp = openTcp(wish.host, udp.port, parts)
    } catch (error) {
      udp.close()
      // A port that is free for UDP may be taken for TCP.
      if (wish.port === 0 && tried < tries) continue
      throw error
    }
    return {
      answerer,
      counted,
      host: udp.hostname,
      port: udp.port,
      close() {
        udp.close()
        tcp.close()
      },
    }
  }
}
