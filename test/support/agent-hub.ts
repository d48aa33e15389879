import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { AgentConfig, AgentReport, AgentLiveMetrics, CommandsAnswer } from '../../src/wire/agent'
import type { CommandResult, SignedCommand } from '../../src/wire/agent-command'
import { parseSignature, signatureHeader } from '../../src/wire/request-signature'
import { isSignedBy, parsePublicKey, publicKeyText } from '../../src/wire/signed'

/** How the hub responds: as it should, with a status, a page instead of JSON, or never. */
type Behavior = 'ok' | 'page' | 'silent' | { status: number; code?: string; headers?: Record<string, string> }

/** The part of a hub that agents talk to. It keeps what they sent, and responds as a test asks it to. */
export class AgentHub implements AsyncDisposable {
  behavior: Behavior = 'ok'
  config: AgentConfig = { interval_seconds: 60, watched_units: [] }
  sendAll = false
  /** Enrolments are approved after this many requests. */
  approveAfter = 0
  /** Permissions that it refuses in enrolments, as older hubs do. */
  unknownPermissions: readonly string[] = []
  /** The number of the last report of each run. Earlier ones are refused. */
  readonly runs = new Map<string, number>()
  /** Refuses reports with errors at the pointers that this returns. */
  rejects: (report: AgentReport) => readonly string[] = () => []
  readonly enrolments: Record<string, unknown>[] = []
  readonly reports: AgentReport[] = []
  /** Every body that it received, decompressed. */
  readonly bodies: string[] = []
  /** Minutes by start, as averages by column. */
  readonly minutes = new Map<number, Record<string, number | null>>()
  /** `port`: of the agent, which tells connections apart. */
  readonly requests: { path: string; headers: Headers; at: number; port: number }[] = []
  readonly results: CommandResult[] = []
  /** Live metrics that it sent, by name. */
  readonly live: Record<string, number | null>[] = []
  readonly processes: AgentLiveMetrics['processes'][] = []
  private tasks = Promise.withResolvers<Pick<CommandsAnswer, 'commands' | 'live_seconds'>>()
  readonly token = `bw_agent_${'a'.repeat(36)}`
  readonly key = generateKeyPairSync('ed25519').privateKey
  publicKey: KeyObject | null = null
  private readonly server: Bun.Server<undefined>

  /** @param now time of the hub (ms UTC) */
  constructor(
    private readonly now: () => number,
    options: { port?: number; tls?: { cert: string; key: string } } = {},
  ) {
    this.server = Bun.serve({
      hostname: '127.0.0.1',
      port: options.port ?? 0,
      ...(options.tls && { tls: options.tls }),
      fetch: request => this.respond(request),
    })
  }

  get url(): string {
    return this.server.url.origin
  }

  get port(): number {
    return this.server.port!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(true)
  }

  private async respond(request: Request): Promise<Response> {
    const { pathname: path, search } = new URL(request.url)
    const body = new Uint8Array(await request.arrayBuffer())
    const { port } = this.server.requestIP(request)!
    this.requests.push({ path, headers: request.headers, at: this.now(), port })
    const { behavior } = this
    if (behavior === 'silent') return await new Promise<never>(() => {})
    if (behavior === 'page') return new Response('<h1>Sign in to the network</h1>', { headers: { 'content-type': 'text/html' } })
    if (behavior !== 'ok') return this.problem(behavior.status, behavior.code, behavior.headers)
    const signature = parseSignature(request.headers.get(signatureHeader) ?? '')
    const enrolls = path === '/v1/ingest/agents/enrol'
    if (path === '/healthz') return Response.json({ status: 'ok' })
    const json = request.headers.get('content-encoding') === 'gzip' ? Bun.gunzipSync(body) : body
    this.bodies.push(Buffer.from(json).toString())
    const sent = json.length > 0 ? JSON.parse(Buffer.from(json).toString()) : null
    if (enrolls) this.publicKey = sent.public_key === undefined ? null : parsePublicKey(sent.public_key)
    const { publicKey } = this
    if (!publicKey && !enrolls && request.headers.get('authorization') !== `Bearer ${this.token}`)
      return this.problem(401, 'invalid_token')
    const signed = { method: request.method, path: `${path}${search}`, body }
    if (publicKey && !(signature && isSignedBy(publicKey, { ...signed, ...signature }, signature.signature)))
      return this.problem(401, 'invalid_token')
    if (publicKey && Math.abs(signature!.time - this.now()) > 300_000) return this.problem(401, 'invalid_token')
    if (path.endsWith('/commands')) return await this.waitForCommands()
    if (path.endsWith('/command-results')) return this.storeResult(sent)
    if (path.endsWith('/live')) {
      this.live.push(Object.fromEntries(sent.columns.map((column: string, at: number) => [column, sent.values[at]])))
      this.processes.push(sent.processes)
      return Response.json({ live_seconds: 60 })
    }
    return enrolls ? this.enrol(sent) : this.report(sent)
  }

  /** Sends commands to the agent, which waits for them. */
  send(...commands: SignedCommand[]): void {
    this.tasks.resolve({ commands, live_seconds: 0 })
  }

  /** Asks the agent for live metrics. */
  look(seconds: number): void {
    this.tasks.resolve({ commands: [], live_seconds: seconds })
  }

  private async waitForCommands(): Promise<Response> {
    const tasks = await this.tasks.promise
    this.tasks = Promise.withResolvers()
    return Response.json({ time: this.now(), ...tasks })
  }

  private storeResult(result: CommandResult): Response {
    this.results.push(result)
    return new Response(null, { status: 204 })
  }

  private enrol(sent: Record<string, unknown>): Response {
    const pointers = ((sent.allow ?? []) as string[]).flatMap((one, at) =>
      this.unknownPermissions.includes(one) ? [`#/allow/${at}`] : [],
    )
    if (pointers.length > 0) return this.problem(422, 'validation_failed', {}, pointers)
    this.enrolments.push(sent)
    if (this.enrolments.length <= this.approveAfter) return Response.json({ state: 'awaiting_approval' }, { status: 202 })
    const hub_key = publicKeyText(this.key)
    return Response.json(
      { agent_id: 'agent_1', server_id: 'srv_1', token: this.token, hub_key, config: this.config },
      { status: 201 },
    )
  }

  private report(sent: AgentReport): Response {
    const pointers = this.rejects(sent)
    if (pointers.length > 0) return this.problem(422, 'validation_failed', {}, pointers)
    if (sent.seq < (this.runs.get(sent.run_id) ?? 0)) return this.problem(409, 'conflict', {}, ['#/seq'])
    this.runs.set(sent.run_id, sent.seq)
    this.reports.push(sent)
    for (const [start, , averages] of sent.minutes)
      this.minutes.set(start, Object.fromEntries(sent.columns.map((column, at) => [column, averages[at]!])))
    const send_all = this.sendAll
    this.sendAll = false
    return Response.json({ acknowledged: sent.seq, time: this.now(), config: this.config, send_all })
  }

  private problem(
    status: number,
    code?: string,
    headers: Record<string, string> = {},
    pointers: readonly string[] = [],
  ): Response {
    const date = new Date(this.now()).toUTCString()
    const errors = pointers.map(pointer => ({ pointer, code: 'invalid', detail: 'is invalid.' }))
    return Response.json(
      { ...(code && { code }), detail: 'The request failed.', errors },
      { status, headers: { date, ...headers } },
    )
  }
}
