import type { Rows } from './database'
import { Wire, pace, type Answered } from './wire'

/**
 * A heartbeat that is pinged: how often it was, and what the hub said of it. `longestGapMs` is the most that can lie between two pings as the hub
 * saw them: from sending one to the answer of the next.
 */
interface Pinged { id: string; uuid: string; sent: number; acknowledged: number; numbers: Set<number>; lastSentAt: number; longestGapMs: number }
/** A resource whose description is set to ever greater numbers, one edit at a time. */
interface Edited { path: string; id: string; sent: number; acknowledged: number; underWay: boolean }
/** A creation under an Idempotency-Key; `id` once the hub said which resource it made. */
interface Created { key: string; name: string; id: string | null; underWay: boolean; answers: number }

/** How often a second. */
export interface Rates { pings: number; flaps: number; creates: number; heartbeatEdits: number; endpointEdits: number }

/** A steady heartbeat is called missed this long after its last ping. */
export const dueAfterMs = 6000

/**
 * Traffic on a hub that is killed over and over, with a book of what was sent and what was acknowledged. It goes on by itself until `pause`, and
 * with the next hub at `resume`.
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

  constructor(private readonly wire: Wire, private readonly token: string) {}

  /** Makes what the traffic is about; before the first kill. */
  async prepare(of: { steady: number; flapping: number; edited: number; endpointUrls: { url: string; events: string[] }[] }): Promise<void> {
    const period = (seconds: number, grace: number) => ({ kind: 'period', period_seconds: seconds, grace_seconds: grace })
    for (const { url, events } of of.endpointUrls) {
      const made = await this.expect(201, 'POST', '/v1/webhook-endpoints', { url, events })
      this.endpoints.push({ path: `/v1/webhook-endpoints/${made.id}`, id: made.id, sent: 0, acknowledged: 0, underWay: false })
    }
    for (let at = 0; at < of.steady; at++) this.steady.push(pinged(await this.expect(201, 'POST', '/v1/heartbeats', { name: `steady ${at}`, schedule: period(5, 1) })))
    for (let at = 0; at < of.flapping; at++) {
      this.flapping.push({ ...pinged(await this.expect(201, 'POST', '/v1/heartbeats', { name: `flapping ${at}`, schedule: period(3600, 60) })), fails: true })
    }
    for (let at = 0; at < of.edited; at++) {
      const { id } = await this.expect(201, 'POST', '/v1/heartbeats', { name: `edited ${at}`, schedule: period(3600, 60) })
      this.heartbeats.push({ path: `/v1/heartbeats/${id}`, id, sent: 0, acknowledged: 0, underWay: false })
    }
  }

  /** Starts the traffic on the hub that listens on `port`. Creations without an answer are asked for again, once. */
  resume(port: number, rates: Rates): void {
    this.wire.turnTo(port)
    for (const lost of this.unanswered()) void this.create(lost)
    const next = <T>(of: T[]): T => of[this.turn++ % of.length]!
    this.stops = [
      pace(rates.pings, () => void this.ping(next(this.steady), '')),
      pace(rates.flaps, () => { const one = next(this.flapping); one.fails = !one.fails; void this.ping(one, one.fails ? '/fail' : '') }),
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

  /** What was acknowledged and is not in the database, a line for each. */
  async lost(rows: Rows): Promise<string[]> {
    const lines: string[] = []
    const found = await rows.all<{ id: string; name: string; description: string; ping_count: number; first: number | null }>(
      'select id, name, description, ping_count, (select min(n) from pings where heartbeat_id = heartbeats.id) as first from heartbeats')
    const byId = new Map(found.map(row => [row.id, row]))
    const named = Map.groupBy(found, row => row.name)
    const kept = new Set((await rows.all<{ key: string }>(`select heartbeat_id || ' ' || n as key from pings`)).map(row => row.key))
    for (const one of [...this.steady, ...this.flapping]) {
      const row = byId.get(one.id)!
      if (row.ping_count < one.acknowledged || row.ping_count > one.sent) lines.push(`${row.name}: ${one.acknowledged} pings acknowledged, ${one.sent} sent, ${row.ping_count} there`)
      for (const n of one.numbers) if (n > row.ping_count || (n >= row.first! && !kept.has(`${one.id} ${n}`))) lines.push(`${row.name}: ping ${n} was acknowledged and is not there`)
    }
    const endpoints = new Map((await rows.all<{ id: string; description: string }>('select id, description from webhook_endpoints')).map(row => [row.id, row]))
    for (const one of [...this.heartbeats, ...this.endpoints]) {
      const is = Number((byId.get(one.id) ?? endpoints.get(one.id))!.description)
      if (is < one.acknowledged || is > one.sent) lines.push(`${one.path}: edit ${one.acknowledged} was acknowledged, ${one.sent} sent, ${is} is there`)
    }
    for (const one of this.created) {
      const made = named.get(one.name) ?? []
      if (made.length > 1) lines.push(`${one.name}: made ${made.length} times under one key`)
      if (one.id !== null && made[0]?.id !== one.id) lines.push(`${one.name}: ${one.id} was acknowledged, ${made[0]?.id} is there`)
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
    const answer = await this.wire.ask('GET', `${tells ? '/v1/ingest/heartbeats' : '/ping'}/${one.uuid}${action}`).catch(() => null)
    if (!answer) return
    if (answer.status !== 200) { this.surprised('a ping', answer); return }
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
    const answer = await this.wire.ask('POST', '/v1/heartbeats', { Authorization: `Bearer ${this.token}`, 'Idempotency-Key': one.key },
      { name: one.name, schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 } }).catch(() => null)
    one.underWay = false
    if (!answer) return
    // The hub that took the key may be gone for some seconds before the others know.
    if (answer.status === 409 && answer.body.includes('idempotency_in_progress')) return
    if (answer.status !== 201) { this.surprised('a creation', answer); return }
    one.answers++
    one.id = JSON.parse(answer.body).id
    this.acknowledged.writes++
  }

  private async edit(one: Edited): Promise<void> {
    if (one.underWay) return
    one.underWay = true
    const value = ++one.sent
    const answer = await this.wire.ask('PATCH', one.path, { Authorization: `Bearer ${this.token}` }, { description: String(value) }).catch(() => null)
    one.underWay = false
    if (!answer) return
    if (answer.status !== 200) { this.surprised('an edit', answer); return }
    one.acknowledged = value
    this.acknowledged.writes++
  }

  private surprised(what: string, { status, body }: Answered): void {
    this.surprises.push(`${what} was answered ${status}: ${body.slice(0, 200)}`)
  }
}

const pinged = ({ id, uuid }: { id: string; uuid: string }): Pinged => ({
  id, uuid, sent: 0, acknowledged: 0, numbers: new Set(), lastSentAt: 0, longestGapMs: 0,
})
