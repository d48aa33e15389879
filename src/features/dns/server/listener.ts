import { systemClock } from '../../../core/clock'
import { Answerer } from './answerer'
import { Counted } from './counted'
import type { HubLine } from './hub-line'
import { KeyedAnswers, type Later } from './keyed-answers'
import type { ListenWish, Transferred } from './messages'
import { Notifies } from './notifies'
import { ResponseRateLimit } from './rate-limit'
import { openTcp, type TcpPort } from './tcp'
import type { TransferKeys } from './transfer-keys'
import { Transfers, transferLimits } from './transfers'
import { openUdp } from './udp'
import type { ZoneSet } from './zone-index'

/** A name server that answers on UDP and TCP of one port. */
export interface DnsListener {
  readonly answerer: Answerer<Later>
  readonly counted: Counted
  readonly host: string
  readonly port: number
  close(): void
}

const tries = 20
// Secondaries ask for many zones at once. Without a limit one of the customers, who all have keys, could write a victim's address on it.
const signedShare = 10

/** What a listener answers from, and whom it asks and tells. */
export interface Held {
  zones: ZoneSet
  /** Zones that are told to holders of their keys alone. */
  hidden: ZoneSet
  keys: TransferKeys
  hub: Pick<HubLine, 'ask'>
  transferred(transfer: Transferred): void
}

/** Opens both ports. @throws Error with a code such as EADDRINUSE or EACCES */
export async function openListener(held: Held, wish: ListenWish): Promise<DnsListener> {
  const { zones, hub } = held
  const counted = new Counted()
  const answerer = new Answerer<Later>(zones, counted.rcodes)
  const now = () => Math.floor(systemClock.now() / 1000)
  const limits = { atOnce: wish.transfers ?? transferLimits.atOnce }
  const transfers = new Transfers({ hub, counted, now, done: held.transferred, limits })
  const keyed = new KeyedAnswers(answerer, { ...held, transfers, notifies: new Notifies(hub, counted), counted, now })
  answerer.keyed = keyed
  const limit = wish.responsesPerSecond === null ? null : new ResponseRateLimit(wish.responsesPerSecond)
  const signedLimit = limit && new ResponseRateLimit(limit.perSecond * signedShare)
  const parts = { answerer, keyed, counted, limit, signedLimit, limitLoopback: wish.limitLoopback, stallMs: wish.stallMs }
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
