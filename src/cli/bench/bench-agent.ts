import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { systemClock } from '../../core/clock'
import { sha256Hex } from '../../core/crypto'
import { version } from '../../core/version'
import { metricUnits } from '../../features/servers/metrics/names'
import type { AgentEnrolment, AgentReport, EnrolmentAnswer } from '../../wire/agent'
import { signatureHeader } from '../../wire/request-signature'
import { publicKeyText, signRequest } from '../../wire/signed'
import type { InProcessApi } from './in-process-api'
import { requestBytes } from './load'
import { Wire } from './wire'

const minuteMs = 60_000
const names = Object.keys(metricUnits)
const intervalSeconds = 60
const waitSeconds = 30
const pauseMs = 1000

/** The metrics of a benchmark: each name without a device first, then with devices. */
const columnsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => {
    const round = Math.floor(n / names.length)
    return `${names[n % names.length]!}${round === 0 ? '' : `:device${round}`}`
  })

/** An agent that measures nothing, but sends signed requests as the program does. */
export class BenchAgent {
  readonly serverId: string
  private readonly runId = randomUUID()
  private readonly bootId = randomUUID()
  private readonly columns: string[]
  private readonly token: string
  private seq = 0
  private count = 0
  private wires: Wire[] = []

  private constructor(
    { server_id, token }: EnrolmentAnswer,
    private readonly key: ReturnType<typeof newKey>,
    columns: number,
  ) {
    this.serverId = server_id
    this.token = token
    this.columns = columnsOf(columns)
  }

  /** Enrolls an agent of a new server. @param key enrolment key */
  static async enroll(api: Pick<InProcessApi, 'call'>, key: string, name: string, columns: number): Promise<BenchAgent> {
    const own = newKey()
    const [method, path] = ['POST', '/v1/ingest/agents/enrol']
    const message: AgentEnrolment = {
      ...{ v: 1, machine_id_hash: sha256Hex(randomUUID()), public_key: publicKeyText(own), version, allow: ['collect'] },
      facts: { hostname: name, os: 'Debian GNU/Linux 12 (bookworm)', virtualization: 'kvm', cores: 2, memory_bytes: 2 ** 32 },
    }
    const body = Buffer.from(JSON.stringify(message))
    const signature = signRequest(own, { method, path, time: systemClock.now(), count: 0, body })
    const headers = { authorization: `Bearer ${key}`, [signatureHeader]: signature }
    return new BenchAgent(await api.call(method, path, message, headers), own, columns)
  }

  /** Opens connections of its own: one for reports, and one on which it waits for commands. */
  connect(port: number): void {
    this.wires = [new Wire(port), new Wire(port)]
  }

  disconnect(): void {
    for (const wire of this.wires) wire.close()
    this.wires = []
  }

  /**
   * Sends the minutes that start at these times (ms UTC).
   * @param more other fields of the report
   * @returns milliseconds until the hub had stored them @throws Error if it didn’t
   */
  async report(starts: readonly number[], more: Partial<AgentReport> = {}): Promise<number> {
    const report: AgentReport = {
      ...{ v: 1, run_id: this.runId, seq: ++this.seq, sent_at: systemClock.now(), clock_offset_ms: 0, boot_id: this.bootId },
      ...{ uptime_seconds: 86_400, interval_seconds: intervalSeconds, version, allow: ['collect'], columns: this.columns },
      ...{ minutes: starts.map(start => this.minute(start)), backlog: false, spooled: 0, dropped: 0, ...more },
    }
    const body = Bun.gzipSync(JSON.stringify(report))
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }
    const sentAt = performance.now()
    await this.send(this.wires[0]!, 'POST', '/v1/ingest/agents/reports', headers, body)
    return performance.now() - sentAt
  }

  /** Waits for commands until it is disconnected. */
  async waitForCommands(): Promise<void> {
    const [, wire] = this.wires
    while (this.wires[1] === wire) {
      await this.send(wire!, 'GET', `/v1/ingest/agents/commands?run_id=${this.runId}`, { Prefer: `wait=${waitSeconds}` }).catch(
        error => {
          if (this.wires[1] === wire) throw error
        },
      )
      await Bun.sleep(pauseMs)
    }
  }

  private minute(start: number): AgentReport['minutes'][number] {
    const averages = this.columns.map((_, n) => Number((Math.random() * 10 ** (n % 9)).toPrecision(6)))
    return [Math.floor(start / minuteMs) * minuteMs, 6, averages, averages.map(one => Number((one * 1.5).toPrecision(6)))]
  }

  private async send(
    wire: Wire,
    method: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array = new Uint8Array(0),
  ): Promise<void> {
    const signature = signRequest(this.key, { method, path, time: systemClock.now(), count: ++this.count, body })
    const all = { Authorization: `Bearer ${this.token}`, [signatureHeader]: signature, ...headers }
    const response = await wire.send(requestBytes(method, path, all, body))
    if (response.status !== 200) throw new Error(`The hub responded with ${response.status}: ${response.body.slice(0, 500)}`)
  }
}

const newKey = () => generateKeyPairSync('ed25519').privateKey
