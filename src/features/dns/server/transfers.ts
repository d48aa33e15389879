import { CLASS, message, OPCODE, type Question, type ResourceRecord } from '../../../core/dns/message'
import { encodeTransfer } from '../../../core/dns/message-encode'
import { isAhead } from '../../../core/dns/serial'
import { transferSigner, tsigLength, type TsigKey } from '../../../core/dns/tsig'
import { typeName } from '../../../core/dns/type-codes'
import { WireReader } from '../../../core/dns/wire-reader'
import { countUp, type Counted } from './counted'
import type { HubLine } from './hub-line'
import type { Delta, Transferred } from './messages'
import type { Told } from './resolve'
import { serialOf, TYPE, type IndexedSet, type ZoneIndex } from './zone-index'

/** A transfer that may be given: its key was verified and opens the zone. */
export interface TransferAsked {
  /** The zone as it is when this is called; undefined when it is gone. */
  zone(): ZoneIndex | undefined
  hidden: boolean
  id: number
  question: Question
  key: TsigKey
  /** The MAC of the query. */
  mac: Uint8Array
  /** The serial that the client has (IXFR, RFC 1995 3); null for all of the zone. */
  from: number | null
  /** The address it goes to. */
  peer: string
  /** Whose zone it is. */
  owner: string
  /** A signed answer with nothing but this code. */
  bare(rcode: 'REFUSED' | 'SERVFAIL'): Uint8Array
}

/** How much of the thread transfers may take. */
export interface TransferLimits {
  /** Transfers under way at once; others wait. */
  atOnce: number
  /** Of these for one address, and of the zones of one owner: nobody keeps all others waiting by reading slowly. */
  perAddress: number
  perOwner: number
  /** That wait at once. */
  waiting: number
  /** Milliseconds that one waits for its turn. */
  waitMs: number
}

export const transferLimits: TransferLimits = { atOnce: 10, perAddress: 5, perOwner: 7, waiting: 500, waitMs: 30_000 }

// Compression pointers reach no further, and what is signed in one step keeps others waiting for no longer than some milliseconds.
const MESSAGE_AIM = 0x4000
// Deltas with more records than this are not read; a client that is so far behind takes the whole zone.
const DELTA_RECORDS_MAX = 10_000

/** Sends whole zones (AXFR, RFC 5936) and what changed in them (IXFR, RFC 1995), in turns with everything else that is asked. */
export class Transfers {
  #underWay: Pick<TransferAsked, 'peer' | 'owner'>[] = []
  readonly #waiting = new Set<() => void>()

  constructor(
    private readonly around: {
      hub: Pick<HubLine, 'ask'>
      counted: Pick<Counted, 'transfers'>
      /** Seconds since 1970. */
      now(): number
      done(transfer: Transferred): void
      limits?: Partial<TransferLimits>
    },
  ) {}

  /** The messages of one transfer, signed. */
  async *messages(asked: TransferAsked): AsyncGenerator<Uint8Array, void> {
    const { transfers } = this.around.counted
    if (!(await this.#turn(asked))) {
      countUp(transfers, 'refused')
      yield asked.bare('REFUSED')
      return
    }
    let how: Transferred['how'] | 'cut_off' = 'cut_off'
    try {
      const deltas = asked.from === null ? null : await this.#deltas(asked, asked.from)
      const zone = asked.zone()
      if (!zone?.soa) {
        yield asked.bare('SERVFAIL')
        return
      }
      const soa = recordsOf(zone.name.octets, zone.soa)[0]!
      const { records, serial, kind } = content(zone, soa, deltas)
      const first = message({ id: asked.id, opcode: OPCODE.QUERY, flags: { qr: true, aa: true }, question: [asked.question] })
      const sign = transferSigner(asked.key, asked.mac)
      for (const octets of encodeTransfer(first, records, { aim: MESSAGE_AIM, reserve: tsigLength(asked.key) })) {
        yield sign(octets, this.around.now())
        // What came meanwhile is answered between two messages.
        await new Promise(resolve => setImmediate(resolve))
      }
      how = kind
      const { question, hidden, key, peer } = asked
      this.around.done({ zone: question.name, hidden, key: key.name, peer, serial, how })
    } finally {
      countUp(this.around.counted.transfers, how)
      this.#underWay.splice(this.#underWay.indexOf(asked), 1)
      for (const look of this.#waiting) look()
    }
  }

  /** Waits until there is room for one more like this, and takes it. @returns false when that takes too long, or too many wait */
  async #turn(asked: TransferAsked): Promise<boolean> {
    const { atOnce, perAddress, perOwner, waiting, waitMs } = { ...transferLimits, ...this.around.limits }
    const alike = (of: 'peer' | 'owner') => this.#underWay.filter(one => one[of] === asked[of]).length
    const hasRoom = () => this.#underWay.length < atOnce && alike('peer') < perAddress && alike('owner') < perOwner
    if (!hasRoom() && this.#waiting.size >= waiting) return false
    let look = () => {}
    let isLate = false
    const late = () => {
      isLate = true
      look()
    }
    const timer = setTimeout(late, waitMs)
    const wake = () => look()
    try {
      while (!hasRoom()) {
        this.#waiting.add(wake)
        await new Promise<void>(resolve => (look = resolve))
        if (isLate) return false
      }
      this.#underWay.push(asked)
      return true
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(wake)
    }
  }

  async #deltas(asked: TransferAsked, from: number): Promise<Delta[] | null> {
    const soa = asked.zone()?.soa
    // Whoever has what is served, or more (RFC 1995 2), is told the serial alone.
    if (!soa || !isAhead(serialOf(soa.rdata[0]!.octets), from)) return []
    const question = { kind: 'deltas', zone: asked.question.name, from, most: DELTA_RECORDS_MAX } as const
    const deltas = asked.hidden ? null : await this.around.hub.ask(question)
    // Addresses in the place of an ALIAS change with its target, of which the history of the zone knows nothing.
    const hasAlias = (list: readonly { type: string }[]) => list.some(({ type }) => type === 'ALIAS')
    const isWhole = deltas && !deltas.some(one => hasAlias(one.removed) || hasAlias(one.added)) && !asked.zone()?.hasAliases
    return isWhole ? deltas : null
  }
}

interface Content {
  records: Iterable<ResourceRecord>
  serial: number
  kind: Transferred['how']
}

/** @param deltas those from the client's serial, none when it is up to date, null when it takes the whole zone */
function content(zone: ZoneIndex, soa: ResourceRecord, deltas: Delta[] | null): Content {
  const serial = serialOf(soa.rdata)
  if (deltas?.length === 0) return { records: [soa], serial, kind: 'current' }
  if (deltas === null) return { records: whole(soa, setsOf(zone)), serial, kind: 'axfr' }
  return { records: incremental(soa.name, deltas), serial: deltas.at(-1)!.toSerial, kind: 'ixfr' }
}

/** The SOA stands at both ends (RFC 5936 2.2). */
function* whole(soa: ResourceRecord, sets: readonly Told[]): Generator<ResourceRecord> {
  yield soa
  for (const { owner, set } of sets) yield* recordsOf(owner.octets, set)
  yield soa
}

/**
 * Every set of the zone as it is now but for the SOA: what is put later changes nothing of it. In the place of an ALIAS are the addresses
 * that the zone was given along with it, since nobody else knows the type. They are not followed here as answers are: the serial says
 * what a secondary has, and moves with these.
 */
function setsOf(zone: ZoneIndex): Told[] {
  const found: Told[] = []
  for (const node of zone.nodes()) {
    for (const set of node.sets.values()) {
      if (set.type !== TYPE.SOA && set.type !== TYPE.ALIAS) found.push({ owner: node.name, set })
    }
  }
  return found
}

/** The SOA of now, for each delta the SOA before with what is removed and the SOA after with what is added, and the SOA of now (RFC 1995 4). */
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
