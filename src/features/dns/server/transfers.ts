import { CLASS, message, OPCODE, type Question, type ResourceRecord } from '../../../dns/message'
import { encodeTransfer } from '../../../dns/message-encode'
import { isAhead } from '../../../dns/serial'
import { transferSigner, tsigLength, type TsigKey } from '../../../dns/tsig'
import { typeName } from '../../../dns/type-codes'
import { WireReader } from '../../../dns/wire-reader'
import { increment, type ServerCounters } from './server-counters'
import type { HubRequests } from './hub-requests'
import type { Delta, Transferred } from './messages'
import { TYPE, type IndexedSet } from './indexed-set'
import { serialOf, type Node, type ZoneIndex } from './zone-index'

/** An authorized transfer: its key was verified and may transfer the zone. */
interface TransferRequest {
  /** The current zone; undefined if it was removed. */
  zone(): ZoneIndex | undefined
  hidden: boolean
  id: number
  question: Question
  key: TsigKey
  /** MAC of the query. */
  mac: Uint8Array
  /** Serial of the client (IXFR, RFC 1995 section 3); null for a full transfer. */
  from: number | null
  /** Address of the client. */
  peer: string
  /** Owner of the zone. */
  owner: string
  /** Builds a signed response with only this RCODE. */
  emptyAnswer(rcode: 'REFUSED' | 'SERVFAIL'): Uint8Array
}

/** Limits of concurrent transfers. */
interface TransferLimits {
  /** Maximum number of active transfers; others wait. */
  maxActive: number
  /** Limits per client address and per zone owner, so that slow readers can't block everyone. */
  maxPerAddress: number
  maxPerOwner: number
  /** Maximum number of waiting transfers. */
  waiting: number
  /** Maximum wait in milliseconds. */
  waitMs: number
}

export const transferLimits: TransferLimits = { maxActive: 10, maxPerAddress: 5, maxPerOwner: 7, waiting: 500, waitMs: 30_000 }

// Limit of compression pointers; also keeps signing each message to a few milliseconds.
const MESSAGE_AIM = 0x4000
// Maximum number of records in deltas; clients further behind get a full transfer.
const DELTA_RECORDS_MAX = 10_000

/** Sends full (AXFR, RFC 5936) and incremental (IXFR, RFC 1995) zone transfers, interleaved with other queries. */
export class Transfers {
  #active: Pick<TransferRequest, 'peer' | 'owner'>[] = []
  readonly #waiting = new Set<() => void>()

  constructor(
    private readonly context: {
      hub: Pick<HubRequests, 'request'>
      counters: Pick<ServerCounters, 'transfers'>
      /** Seconds since 1970. */
      now(): number
      done(transfer: Transferred): void
      limits?: Partial<TransferLimits>
    },
  ) {}

  /** Yields the signed messages of a transfer. */
  async *messages(request: TransferRequest): AsyncGenerator<Uint8Array, void> {
    const { transfers } = this.context.counters
    if (!(await this.#acquireSlot(request))) {
      increment(transfers, 'refused')
      yield request.emptyAnswer('REFUSED')
      return
    }
    let type: Transferred['type'] | 'aborted' = 'aborted'
    try {
      const deltas = request.from === null ? null : await this.#deltas(request, request.from)
      const zone = request.zone()
      if (!zone?.soa) {
        yield request.emptyAnswer('SERVFAIL')
        return
      }
      const soa = recordsOf(zone.name.octets, zone.soa)[0]!
      const { records, serial, kind } = content(zone, soa, deltas)
      const first = message({ id: request.id, opcode: OPCODE.QUERY, flags: { qr: true, aa: true }, question: [request.question] })
      const sign = transferSigner(request.key, request.mac)
      for (const octets of encodeTransfer(first, records, { aim: MESSAGE_AIM, reserve: tsigLength(request.key) })) {
        yield sign(octets, this.context.now())
        // Let other queries run between messages.
        await new Promise(resolve => setImmediate(resolve))
      }
      type = kind
      const { question, hidden, key, peer } = request
      this.context.done({ zone: question.name, hidden, key: key.name, peer, serial, type })
    } finally {
      increment(this.context.counters.transfers, type)
      this.#active.splice(this.#active.indexOf(request), 1)
      for (const retry of this.#waiting) retry()
    }
  }

  /** Waits for a free slot, and takes it. @returns false on a timeout, or if too many are waiting */
  async #acquireSlot(request: TransferRequest): Promise<boolean> {
    const { maxActive, maxPerAddress, maxPerOwner, waiting, waitMs } = { ...transferLimits, ...this.context.limits }
    const activeWithSame = (of: 'peer' | 'owner') => this.#active.filter(one => one[of] === request[of]).length
    const hasCapacity = () =>
      this.#active.length < maxActive && activeWithSame('peer') < maxPerAddress && activeWithSame('owner') < maxPerOwner
    if (!hasCapacity() && this.#waiting.size >= waiting) return false
    let retry = () => {}
    let isTimedOut = false
    const onTimeout = () => {
      isTimedOut = true
      retry()
    }
    const timer = setTimeout(onTimeout, waitMs)
    const wake = () => retry()
    try {
      while (!hasCapacity()) {
        this.#waiting.add(wake)
        await new Promise<void>(resolve => (retry = resolve))
        if (isTimedOut) return false
      }
      this.#active.push(request)
      return true
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(wake)
    }
  }

  async #deltas(request: TransferRequest, from: number): Promise<Delta[] | null> {
    const soa = request.zone()?.soa
    // A client with the current or a newer serial gets only the SOA (RFC 1995 section 2).
    if (!soa || !isAhead(serialOf(soa.rdata[0]!.octets), from)) return []
    const question = { kind: 'deltas', zone: request.question.name, from, maxRecords: DELTA_RECORDS_MAX } as const
    const deltas = request.hidden ? null : await this.context.hub.request(question)
    // Addresses of an ALIAS change with its target, which the history of the zone does not contain.
    const hasAlias = (list: readonly { type: string }[]) => list.some(({ type }) => type === 'ALIAS')
    const isWhole = deltas && !deltas.some(one => hasAlias(one.removed) || hasAlias(one.added)) && !request.zone()?.hasAliases
    return isWhole ? deltas : null
  }
}

interface Content {
  records: Iterable<ResourceRecord>
  serial: number
  kind: Transferred['type']
}

/** @param deltas since the client's serial, empty if it is up to date, null for a full transfer */
function content(zone: ZoneIndex, soa: ResourceRecord, deltas: Delta[] | null): Content {
  const serial = serialOf(soa.rdata)
  if (deltas?.length === 0) return { records: [soa], serial, kind: 'up_to_date' }
  if (deltas === null) return { records: whole(soa, zone.nodes()), serial, kind: 'axfr' }
  return { records: incremental(soa.name, deltas), serial: deltas.at(-1)!.toSerial, kind: 'ixfr' }
}

/**
 * All RRsets, with the SOA first and last (RFC 5936 section 2.2). An ALIAS is replaced by its stored addresses, since secondaries
 * don't know the type. Unlike in answers, they are not resolved again, because the content must match the serial.
 */
function* whole(soa: ResourceRecord, nodes: Iterable<Node>): Generator<ResourceRecord> {
  yield soa
  for (const { name, sets } of nodes)
    for (const set of sets.values()) if (set.type !== TYPE.SOA && set.type !== TYPE.ALIAS) yield* recordsOf(name.octets, set)
  yield soa
}

/** Current SOA; for each delta, old SOA, removed records, new SOA, added records; current SOA (RFC 1995 section 4). */
function* incremental(name: string, deltas: Delta[]): Generator<ResourceRecord> {
  const soa = ({ ttl, rdata }: Delta['soaAfter']): ResourceRecord => ({ name, type: 'SOA', class: CLASS.IN, ttl, rdata })
  const last = deltas.at(-1)!.soaAfter
  yield soa(last)
  for (const delta of deltas) {
    yield soa(delta.soaBefore)
    for (const record of delta.removed) yield { ...record, class: CLASS.IN }
    yield soa(delta.soaAfter)
    for (const record of delta.added) yield { ...record, class: CLASS.IN }
  }
  yield soa(last)
}

function recordsOf(owner: Uint8Array, { type, ttl, rdata }: IndexedSet): ResourceRecord[] {
  const name = new WireReader(owner).name()
  return rdata.map(({ octets }) => ({ name, type: typeName(type), class: CLASS.IN, ttl, rdata: octets }))
}
