import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { recordGoodbye, recordReport, type AgentReport } from '../../src/features/servers/agents/agents'
import { recordMinutes, type AgentMinutes } from '../../src/features/servers/agents/minutes'
import { sha256Hex } from '../../src/core/crypto'
import type { AgentEnrolment, AgentFacts, EnrolmentAnswer, StopReason } from '../../src/wire/agent'
import { publicKeyText, signatureHeader, signRequest } from '../../src/wire/signed'
import type { ApiResponse, World } from './world'

/** A machine on which an agent runs, with what belongs to its file system. */
export class Machine {
  readonly id = sha256Hex(randomUUID())
  readonly key: KeyObject = generateKeyPairSync('ed25519').privateKey
  token = ''
  private count = 0

  /** @param address from which it sends its requests */
  constructor(
    private readonly here: World,
    readonly facts: AgentFacts = { hostname: 'web-1' },
    readonly address = '192.0.2.20',
  ) {}

  /** Asks to be enrolled. */
  async enrol(key: string, changed: Partial<AgentEnrolment> = {}): Promise<ApiResponse> {
    const message: AgentEnrolment = {
      ...{ v: 1, machine_id_hash: this.id, public_key: publicKeyText(this.key) },
      ...{ version: '0.3.0', allow: ['collect'], facts: this.facts, ...changed },
    }
    const response = await this.send('POST', '/v1/ingest/agents/enrol', JSON.stringify(message), {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
    })
    if (response.status === 201) this.token = (response.body as EnrolmentAnswer).token
    return response
  }

  /** Sends a request, signed unless it has other headers. */
  async send(
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ): Promise<ApiResponse> {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const response = await this.here.app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: headers ?? this.signed(method, path, bytes),
        ...(method !== 'GET' && { body: bytes }),
      }),
    )
    const text = await response.text()
    return { status: response.status, text, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }

  /** The headers of a signed request. */
  signed(method: string, path: string, body: Uint8Array): Record<string, string> {
    const request = { method, path, time: this.here.clock.now(), count: ++this.count, body }
    return {
      Authorization: `Bearer ${this.token}`,
      'Content-Type': 'application/json',
      [signatureHeader]: signRequest(this.key, request),
    }
  }
}

/** An agent on a server. */
export class AgentDouble {
  readonly report: AgentReport = { version: '0.3.0', intervalSeconds: 60, allow: ['collect'] }

  private constructor(
    private readonly here: World,
    readonly machine: Machine,
    readonly id: string,
    readonly serverId: string,
  ) {}

  /** Enrolls an agent on a server, which has just reported for the first time. */
  static async enroll(here: World, serverId: string, report: Partial<AgentReport> = {}): Promise<AgentDouble> {
    const key = await here.acme.call('POST', '/v1/enrolment-keys', { name: 'test', server_id: serverId })
    const machine = new Machine(here)
    const { status, body } = await machine.enrol(key.body.key)
    if (status !== 201) throw new Error(`The agent was not enrolled: ${JSON.stringify(body)}`)
    const double = new AgentDouble(here, machine, body.agent_id, body.server_id)
    await double.reports(report)
    return double
  }

  /** Sends a report. */
  async reports(changed: Partial<AgentReport> = {}): Promise<void> {
    const { facts, ...rest } = Object.assign(this.report, changed)
    await recordReport(this.here.hub, this.id, { ...rest, ...(changed.facts && { facts }) })
  }

  /** Says why it stops, as on SIGTERM. */
  async stops(reason: StopReason): Promise<void> {
    await recordGoodbye(this.here.hub, this.id, reason)
  }

  /**
   * Sends minutes in which all samples had the same values, such as those of a backlog.
   * @param starts start of each minute (ms UTC)
   */
  async measured(values: Readonly<Record<string, number>>, ...starts: number[]): Promise<void> {
    const columns = Object.keys(values)
    const row = Object.values(values)
    await this.sends({ columns, minutes: starts.map(start => [start, 6, row, row]) })
  }

  async sends(minutes: AgentMinutes): Promise<number> {
    return await recordMinutes(this.here.hub, this, minutes)
  }
}
