import { createHash } from 'node:crypto'
import { recordHostFirewall, type HostReport } from '../../src/features/servers/firewalls/enforce-host'
import type { HostCommands, HostRuleset } from '../../src/features/servers/firewalls/host-commands'
import { AgentDouble } from './agent-double'
import { NftModel, type HostPacket } from './nft-model'
import type { World } from './world'

type Command = { name: 'apply'; ruleset: HostRuleset } | { name: 'confirm'; digest: string }

const agentUid = 987

/** Where commands to agents wait until they fetch them. */
class CommandQueues implements HostCommands {
  readonly #queues = new Map<string, Command[]>()

  async apply(...[, , ruleset]: Parameters<HostCommands['apply']>) {
    this.of(ruleset.agentId).push({ name: 'apply', ruleset })
    return {}
  }

  async confirm(...[, , { agentId, digest }]: Parameters<HostCommands['confirm']>) {
    this.of(agentId).push({ name: 'confirm', digest })
    return {}
  }

  of(agentId: string): Command[] {
    const queue = this.#queues.get(agentId) ?? []
    this.#queues.set(agentId, queue)
    return queue
  }
}

/** A server with an agent that may change its firewall. It obeys commands as the agent and its root half do. */
export class HostDouble {
  /** Whether the network is down, so that the agent neither gets commands nor reports. */
  isCutOff = false
  /** Why rule sets can't be applied. */
  failure: string | null = null
  /** Packets that were counted, by the comments of rules. */
  counters: Record<string, number> | null = null
  /** Commands that were obeyed. */
  readonly obeyed: string[] = []
  #ruleset = ''
  /** Loaded when the host starts. */
  #saved = ''
  #timer: { cancel(): void } | null = null

  private constructor(
    private readonly here: World,
    private readonly queue: Command[],
    readonly agent: AgentDouble,
  ) {}

  static async enroll(here: World, serverId: string): Promise<HostDouble> {
    here.hub.hostCommands ??= new CommandQueues()
    const agent = await AgentDouble.enroll(here, serverId, {
      allow: ['collect', 'firewall'],
      facts: { uplinks: ['eth0'], agent_uid: agentUid },
    })
    return new HostDouble(here, (here.hub.hostCommands as CommandQueues).of(agent.id), agent)
  }

  /** Fetches and obeys commands, and reports the result of each. */
  async work(): Promise<void> {
    while (this.#reachesHub() && this.queue.length > 0) {
      const command = this.queue.shift()!
      this.obeyed.push(command.name)
      if (command.name === 'apply' && this.failure !== null) {
        await this.reports({ failed: { digest: command.ruleset.digest, detail: this.failure } })
        continue
      }
      if (command.name === 'apply') this.#apply(command.ruleset)
      else if (command.digest === this.#digest()) this.#keep()
      await this.reports()
    }
  }

  /** Reports the firewall, as with each report of the agent. */
  async reports(more: Partial<HostReport> = {}): Promise<void> {
    if (!this.#reachesHub()) return
    await recordHostFirewall(this.here.hub, this.agent.id, {
      ...{ digest: this.#digest(), isConfirmed: this.#timer === null },
      ...(this.counters && { counters: this.counters }),
      ...more,
    })
  }

  /** Whether a packet that opens a connection passes. */
  passes(port: number, source: string, more: Partial<HostPacket> = {}): boolean {
    const packet: HostPacket = { hook: 'input', protocol: 'tcp', source, destination: '192.0.2.1', port, ...more }
    return new NftModel(this.#ruleset).passes(packet)
  }

  /** Loses what was not confirmed. */
  restart(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#ruleset = this.#saved
  }

  /** Someone else removes the table. */
  flush(): void {
    this.#ruleset = ''
  }

  #apply({ ruleset, revertAfterSeconds }: HostRuleset): void {
    this.#timer?.cancel()
    this.#ruleset = ruleset
    // The table before it may not have been confirmed either.
    this.#timer = this.here.clock.after(revertAfterSeconds * 1000, () => this.restart())
  }

  #keep(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#saved = this.#ruleset
  }

  #digest(): string | null {
    return this.#ruleset === '' ? null : createHash('sha256').update(this.#ruleset).digest('hex')
  }

  #reachesHub(): boolean {
    const packet: HostPacket = { hook: 'output', protocol: 'tcp', source: '192.0.2.1', destination: '203.0.113.5', port: 8484 }
    const isSent = new NftModel(this.#ruleset).passes({ ...packet, uid: agentUid })
    return !this.isCutOff && isSent
  }
}
