import type { Rows } from './database'
import { pace, type Answered, type Wire } from './wire'

/** A heartbeat that is pinged: how often it was, and what the hub said of it. */
interface Pinged {
  id: string
  uuid: string
  sent: number
  acknowledged: number
  /** The numbers that the hub gave its pings, where it told them. */
  numbers: Set<number>
  lastSentAt: number
  /** The most that can lie between two pings as the hub saw them: from sending one to the answer of the next. */
  longestGapMs: number
}
/** A resource whose description is set to ever greater numbers, one edit at a time; a `switched` endpoint goes off and on too. */
interface Edited {
  path: string
  id: string
  sent: number
  acknowledged: number
  underWay: boolean
  switched: boolean
}
/** A webhook endpoint to make. */
interface Endpoint {
  url: string
  events: string[]
  switched?: boolean
}
/** A creation under an Idempotency-Key; `id` once the hub said which resource it made. */
interface Created {
  key: string
  name: string
  id: string | null
  underWay: boolean
  answers: number
}

/** How often a second. */
export interface Rates {
  pings: number
  flaps: number
  creates: number
  heartbeatEdits: number
  endpointEdits: number
}

// Several starts of the hub fit into it, even on a busy machine.
const steadily = { period_seconds: 15, grace_seconds: 5 }
/** A steady heartbeat is called missed this long after its last ping. */
export const dueAfterMs = (steadily.period_seconds + steadily.grace_seconds) * 1000

/**
 * Traffic on a hub that is killed over and over, with a book of what was sent and what was acknowledged. It goes on by itself
 * until `pause`, and with the next hub at `resume`.
 */
export class Traffic {
  readonly steady: Pinged[] = []
  readonly flapping: (Pinged & { fails: boolean })[] = []
  readonly heartbeats: Edited[] = []
  readonly endpoints: Edited[] = []
  readonly created: Created[] = []
  /** Answers that no kill explains. */
  readonly surprises: string[] = []
  acknowledged = { pings: 0, writes: 0 }
  private stops: (() => void)[] = []
  private turn = 0

  constructor(
    private readonly wire: Wire,
    private readonly token: string,
  ) {}

  /** Makes what the traffic is about; before the first kill. */
  async prepare(of: { steady: number; flapping: number; edited: number; endpoints: Endpoint[] }): Promise<void> {
    const make = (name: string, period_seconds: number, grace_seconds: number) =>
      this.expect(201, 'POST', '/v1/heartbeats', { name, schedule: { kind: 'period', period_seconds, grace_seconds } })
    for (const { url, events, switched = false } of of.endpoints) {
      const made = await this.expect(201, 'POST', '/v1/webhook-endpoints', { url, events })
      this.endpoints.push(edited('/v1/webhook-endpoints', made.id, switched))
    }
    for (let at = 0; at < of.steady; at++)
      this.steady.push(pinged(await make(`steady ${at}`, steadily.period_seconds, steadily.grace_seconds)))
    for (let at = 0; at < of.flapping; at++) {
      this.flapping.push({ ...pinged(await make(`flapping ${at}`, 3600, 60)), fails: true })
    }
    for (let at = 0; at < of.edited; at++) {
      const { id } = await make(`edited ${at}`, 3600, 60)
      this.heartbeats.push(edited('/v1/heartbeats', id))
    }
  }

  /** Starts the traffic on the hub that listens on `port`. Creations without an answer are asked for again, once. */
  resume(port: number, rates: Rates): void {
    this.wire.turnTo(port)
    for (const lost of this.unanswered()) void this.create(lost)
    const next = <T>(of: T[]): T => of[this.turn++ % of.length]!
    this.stops = [
      pace(rates.pings, () => void this.ping(next(this.steady), '')),
      pace(rates.flaps, () => {
        const one = next(this.flapping)
        one.fails = !one.fails
        void this.ping(one, one.fails ? '/fail' : '')
      }),
      pace(rates.creates, () => void this.create(this.newCreation())),
      pace(rates.heartbeatEdits, () => void this.edit(next(this.heartbeats))),
      pace(rates.endpointEdits, () => void this.edit(next(this.endpoints))),
    ]
  }

  /** Sends nothing more. What is under way gets its answer, or none. */
  pause(): void {
    for (const stop of this.stops.splice(0)) stop()
  }

  /** Cuts every connection. */
  cut(): void {
    this.pause()
    this.wire.close()
  }

  /** Creations whose answer was lost. */
  unanswered(): Created[] {
    return this.created.filter(one => one.id === null && !one.underWay)
  }

  /** Asks for every creation without an answer again, under the same key, until each has one. */
  async settle(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs
    while (this.created.some(one => one.id === null) && performance.now() < end) {
      await Promise.all(this.unanswered().map(one => this.create(one)))
      await Bun.sleep(200)
    }
  }

  /** Switches on again what was switched off and on. */
  async switchOn(): Promise<void> {
    for (const one of this.endpoints) if (one.switched) await this.expect(200, 'PATCH', one.path, { active: true })
  }

  /** What was acknowledged and is not in the database, a line for each. */
  async lost(rows: Rows): Promise<string[]> {
    const lines: string[] = []
    const found = await rows.all<{ id: string; name: string; description: string; ping_count: number; first: number | null }>(`
      select id, name, description, ping_count, (select min(n) from pings where heartbeat_id = heartbeats.id) as first
      from heartbeats`)
    const byId = new Map(found.map(row => [row.id, row]))
    const numbered = await rows.all<{ ping: string }>(`select heartbeat_id || ' ' || n as ping from pings`)
    const kept = new Set(numbered.map(row => row.ping))
    for (const { id, sent, acknowledged, numbers } of [...this.steady, ...this.flapping]) {
      const { name, ping_count: count, first } = byId.get(id)!
      if (count < acknowledged || count > sent)
        lines.push(`${name}: ${acknowledged} of ${sent} pings acknowledged, ${count} there`)
      // Those before the first were pruned.
      const gone = [...numbers].filter(n => n > count || (n >= first! && !kept.has(`${id} ${n}`)))
      lines.push(...gone.map(n => `${name}: ping ${n} was acknowledged and is not there`))
    }
    const endpoints = await rows.all<{ id: string; description: string }>('select id, description from webhook_endpoints')
    const descriptions = new Map([...found, ...endpoints].map(row => [row.id, Number(row.description)]))
    for (const { path, id, sent, acknowledged } of [...this.heartbeats, ...this.endpoints]) {
      const is = descriptions.get(id)!
      if (is < acknowledged || is > sent) lines.push(`${path}: edit ${acknowledged} acknowledged, ${sent} sent, ${is} is there`)
    }
    const named = Map.groupBy(found, row => row.name)
    for (const { name, id } of this.created) {
      const made = named.get(name) ?? []
      if (made.length > 1) lines.push(`${name}: made ${made.length} times under one key`)
      if (id !== null && made[0]?.id !== id) lines.push(`${name}: ${id} was acknowledged, ${made[0]?.id} is there`)
    }
    return lines
  }

  /** Sends a request that must be answered as said; for what happens between the kills. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.wire.ask(method, path, { Authorization: `Bearer ${this.token}` }, body)
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`)
    return answer.body && JSON.parse(answer.body)
  }

  private async ping(one: Pinged, action: string): Promise<void> {
    // Every fourth ping goes by the address that tells its number.
    const tells = one.sent++ % 4 === 0
    const sentAt = performance.now()
    const path = `${tells ? '/v1/ingest/heartbeats' : '/ping'}/${one.uuid}${action}`
    const answer = await this.wire.ask('GET', path).catch(() => null)
    if (!answer) return
    if (answer.status !== 200) {
      this.surprised('a ping', answer)
      return
    }
    if (one.acknowledged > 0) one.longestGapMs = Math.max(one.longestGapMs, performance.now() - one.lastSentAt)
    one.lastSentAt = Math.max(one.lastSentAt, sentAt)
    one.acknowledged++
    this.acknowledged.pings++
    if (!tells) return
    const { n } = JSON.parse(answer.body) as { n: number }
    if (one.numbers.has(n)) this.surprises.push(`two pings of ${one.id} got the number ${n}`)
    one.numbers.add(n)
  }

  private newCreation(): Created {
    const name = `created ${this.created.length}`
    const one: Created = { key: `key-${crypto.randomUUID()}`, name, id: null, underWay: false, answers: 0 }
    this.created.push(one)
    return one
  }

  private async create(one: Created): Promise<void> {
    one.underWay = true
    const headers = { Authorization: `Bearer ${this.token}`, 'Idempotency-Key': one.key }
    const schedule = { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
    const answer = await this.wire.ask('POST', '/v1/heartbeats', headers, { name: one.name, schedule }).catch(() => null)
    one.underWay = false
    if (!answer) return
    // The hub that took the key may be gone for some seconds before the others know.
    if (answer.status === 409 && answer.body.includes('idempotency_in_progress')) return
    if (answer.status !== 201) {
      this.surprised('a creation', answer)
      return
    }
    one.answers++
    one.id = JSON.parse(answer.body).id
    this.acknowledged.writes++
  }

  private async edit(one: Edited): Promise<void> {
    if (one.underWay) return
    one.underWay = true
    const value = ++one.sent
    const patch = { description: String(value), ...(one.switched && { active: value % 2 === 0 }) }
    const answer = await this.wire.ask('PATCH', one.path, { Authorization: `Bearer ${this.token}` }, patch).catch(() => null)
    one.underWay = false
    if (!answer) return
    if (answer.status !== 200) {
      this.surprised('an edit', answer)
      return
    }
    one.acknowledged = value
    this.acknowledged.writes++
  }

  private surprised(what: string, { status, body }: Answered): void {
    this.surprises.push(`${what} was answered ${status}: ${body.slice(0, 200)}`)
  }
}

const edited = (collection: string, id: string, switched = false): Edited => ({
  path: `${collection}/${id}`,
  id,
  sent: 0,
  acknowledged: 0,
  underWay: false,
  switched,
})

const pinged = ({ id, uuid }: { id: string; uuid: string }): Pinged => ({
  id,
  uuid,
  sent: 0,
  acknowledged: 0,
  numbers: new Set(),
  lastSentAt: 0,
  longestGapMs: 0,
})
