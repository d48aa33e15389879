import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { AgentReport } from '../../src/features/servers/agents/agents'
import { recordMinutes, type AgentMinutes } from '../../src/features/servers/agents/minutes'
import { sha256Hex } from '../../src/core/crypto'
import type {
  AgentEnrolment,
  AgentFacts,
  AgentLiveMetrics,
  AgentReport as WireReport,
  CommandsAnswer,
  EnrolmentAnswer,
  LiveAnswer,
  StopReason,
} from '../../src/wire/agent'
import { isCommandOf, type AgentCommand, type CommandResult } from '../../src/wire/agent-command'
import { maxMinutes } from '../../src/wire/agent-limits'
import { signatureHeader } from '../../src/wire/request-signature'
import { parsePublicKey, publicKeyText, signRequest } from '../../src/wire/signed'
import type { ApiResponse, Caller, World } from './world'

/** A hub that agents send their requests to. */
export interface ReachedHub {
  /** Absent if it is another process. */
  hub?: Pick<World['hub'], 'read'>
  clock: Pick<World['clock'], 'now' | 'after'>
  app: { handle(request: Request): Response | Promise<Response> }
  acme: Pick<Caller, 'call'>
}

/** A machine on which an agent runs, with what belongs to its file system. */
export class Machine {
  readonly id = sha256Hex(randomUUID())
  readonly key: KeyObject = generateKeyPairSync('ed25519').privateKey
  token = ''
  /** With which commands are signed. */
  hubKey = ''
  runId = randomUUID()
  bootId = randomUUID()
  seq = 0
  private count = 0

  /** @param address from which it sends its requests */
  constructor(
    private readonly here: Pick<ReachedHub, 'app'> & { clock: Pick<World['clock'], 'now'> },
    readonly facts: AgentFacts = { hostname: 'web-1' },
    readonly address = '192.0.2.20',
  ) {}

  /** Asks to be enrolled. */
  async enrol(key: string, changed: Partial<AgentEnrolment> = {}): Promise<ApiResponse> {
    const message: AgentEnrolment = {
      ...{ v: 1, machine_id_hash: this.id, public_key: publicKeyText(this.key) },
      ...{ version: '0.3.0', allow: ['collect'], facts: this.facts, ...changed },
    }
    const response = await this.post('/v1/ingest/agents/enrol', gzipSync(JSON.stringify(message)), { token: key })
    if (response.status === 201) {
      const { token, hub_key } = response.body as EnrolmentAnswer
      this.token = token
      this.hubKey = hub_key
    }
    return response
  }

  /** Sends a report with these fields. */
  async report(changed: Record<string, unknown> = {}, options: Sent = {}): Promise<ApiResponse> {
    const report: WireReport = {
      ...{ v: 1, run_id: this.runId, seq: ++this.seq, sent_at: this.here.clock.now(), clock_offset_ms: 0, boot_id: this.bootId },
      ...{ uptime_seconds: 600, interval_seconds: 60, version: '0.3.0', allow: ['collect'], columns: [], minutes: [] },
      ...{ backlog: false, spooled: 0, dropped: 0 },
    }
    return await this.post('/v1/ingest/agents/reports', gzipSync(JSON.stringify({ ...report, ...changed })), options)
  }

  /** Sends live metrics. @returns for how many seconds it must continue */
  async sendLive(
    metrics: Record<string, number | null>,
    changed: Record<string, unknown> = {},
  ): Promise<ApiResponse<LiveAnswer>> {
    const [columns, values] = [Object.keys(metrics), Object.values(metrics)]
    const message: AgentLiveMetrics = { v: 1, run_id: this.runId, columns, values }
    return await this.post('/v1/ingest/agents/live', gzipSync(JSON.stringify({ ...message, ...changed })))
  }

  /** Sends a compressed message. @param options null as `signature`: without one */
  async post(path: string, body: Uint8Array<ArrayBuffer>, options: Sent = {}): Promise<ApiResponse> {
    const { token = this.token, signature = this.sign('POST', path, body), headers = {} } = options
    const response = await this.here.app.handle(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Content-Encoding': 'gzip',
          'X-Forwarded-For': this.address,
          ...(signature !== null && { [signatureHeader]: signature }),
          ...headers,
        },
        body,
      }),
    )
    return { status: response.status, headers: response.headers, ...(await bodyOf(response)) }
  }

  /** Sends a request without a body. */
  async get(path: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    const request = new Request(`http://localhost${path}`, {
      headers: {
        ...{ Authorization: `Bearer ${this.token}`, 'X-Forwarded-For': this.address },
        [signatureHeader]: this.sign('GET', path, new Uint8Array(0)),
        ...headers,
      },
    })
    const response = await this.here.app.handle(request)
    return { status: response.status, headers: response.headers, ...(await bodyOf(response)) }
  }

  /** The signature of a request. */
  sign(method: string, path: string, body: Uint8Array, time: number = this.here.clock.now()): string {
    return signRequest(this.key, { method, path, time, count: ++this.count, body })
  }
}

async function bodyOf(response: Response): Promise<{ text: string; body: any }> {
  const text = await response.text()
  return { text, body: text === '' ? null : JSON.parse(text) }
}

interface Sent {
  token?: string
  signature?: string | null
  headers?: Record<string, string>
}

/** An agent on a server. It sends the requests that an agent sends, without the program. */
export class AgentDouble {
  readonly report: AgentReport = { version: '0.3.0', intervalSeconds: 60, allow: ['collect'] }

  private constructor(
    private readonly here: ReachedHub,
    readonly machine: Machine,
    readonly id: string,
    readonly serverId: string,
  ) {}

  /** Enrolls an agent on a server, which has just reported for the first time. */
  static async enroll(here: ReachedHub, serverId: string, report: Partial<AgentReport> = {}): Promise<AgentDouble> {
    const key = await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', server_id: serverId })
    const machine = new Machine(here, {})
    const { status, body } = await machine.enrol(key.body.key)
    if (status !== 201) throw new Error(`The agent was not enrolled: ${JSON.stringify(body)}`)
    const double = new AgentDouble(here, machine, body.agent_id, body.server_id)
    await double.reports(report)
    return double
  }

  /** Sends a report. */
  async reports(changed: Partial<AgentReport> = {}): Promise<void> {
    const { facts } = Object.assign(this.report, changed)
    await this.sendAccepted(changed.facts && facts ? { facts } : {})
  }

  /** A user deletes it. */
  async isDeleted(): Promise<void> {
    const { status, text } = await this.here.acme.call('DELETE', `/v1/agents/${this.id}`)
    if (status !== 204) throw new Error(`The agent was not deleted: ${text}`)
  }

  /** Says why it stops, as on SIGTERM. */
  async stops(reason: StopReason): Promise<void> {
    await this.sendAccepted({ stopping: reason })
  }

  /**
   * Sends minutes in which all samples had the same values. They are those of a backlog, unless they are of the last two minutes.
   * @param starts start of each minute (ms UTC)
   */
  async measured(values: Readonly<Record<string, number>>, ...starts: number[]): Promise<void> {
    const columns = Object.keys(values)
    const row = Object.values(values)
    for (let at = 0; at < starts.length; at += maxMinutes) {
      const some = starts.slice(at, at + maxMinutes)
      await this.sendAccepted({ columns, minutes: some.map(start => [start, 6, row, row]), backlog: true })
    }
  }

  /** Sends a report with these fields. */
  async sendReport(changed: Record<string, unknown> = {}, options: Sent = {}): Promise<ApiResponse> {
    const { version, intervalSeconds, allow } = this.report
    return await this.machine.report({ version, interval_seconds: intervalSeconds, allow, ...changed }, options)
  }

  /** Fetches commands. @param wait seconds to wait for one; null to not wait */
  async fetchCommands(wait: number | null = null, runId: string = this.machine.runId): Promise<ApiResponse<CommandsAnswer>> {
    const headers: Record<string, string> = wait === null ? {} : { Prefer: `wait=${wait}` }
    return await this.machine.get(`/v1/ingest/agents/commands?run_id=${runId}`, headers)
  }

  /** Sends live metrics. */
  async sendLive(...sent: Parameters<Machine['sendLive']>): Promise<ApiResponse<LiveAnswer>> {
    return await this.machine.sendLive(...sent)
  }

  /** Fetches commands that the hub must have signed. */
  async commands(): Promise<AgentCommand[]> {
    const { status, body, text } = await this.fetchCommands()
    if (status !== 200) throw new Error(`The request for commands was refused: ${text}`)
    const key = parsePublicKey(this.machine.hubKey)!
    if (!body.commands.every(one => isCommandOf(key, one))) throw new Error('The hub did not sign a command.')
    return body.commands.map(one => JSON.parse(one.payload) as AgentCommand)
  }

  /** Reports the result of a command. */
  async reportsResult(result: Partial<CommandResult> & { command_id: string }): Promise<ApiResponse> {
    const body = gzipSync(JSON.stringify({ outcome: 'done', detail: null, output: null, ...result }))
    return await this.machine.post('/v1/ingest/agents/command-results', body)
  }

  private async sendAccepted(changed: Partial<WireReport>): Promise<void> {
    const { status, text } = await this.sendReport(changed)
    if (status !== 200) throw new Error(`The report was not accepted: ${text}`)
  }

  /** Stores minutes without a report. */
  async sends({ hub }: World, minutes: AgentMinutes): Promise<number> {
    return await recordMinutes(hub, this, minutes)
  }
}
