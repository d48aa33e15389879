import { and, eq, isNull, lte } from 'drizzle-orm'
import { createHash } from 'node:crypto'
import type { AgentCommand, CommandParams } from '../../src/wire/agent-command'
import { agentCommands } from '../../src/features/servers/agents/command-tables'
import { AgentDouble, type ReachedHub } from './agent-double'
import { NftModel, type HostPacket } from './nft-model'

const agentUid = 987

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
    private readonly here: ReachedHub,
    readonly agent: AgentDouble,
  ) {}

  static async enroll(here: ReachedHub, serverId: string): Promise<HostDouble> {
    const agent = await AgentDouble.enroll(here, serverId, {
      allow: ['collect', 'firewall'],
      facts: { uplinks: ['eth0'], agent_uid: agentUid },
    })
    return new HostDouble(here, agent)
  }

  /** The server gets another agent, after its first was deleted. What its firewall is stays the same. */
  async reenroll(): Promise<HostDouble> {
    const next = await HostDouble.enroll(this.here, this.agent.serverId)
    next.#ruleset = next.#saved = this.#ruleset
    return next
  }

  /** Fetches and obeys commands, and reports the result of each. */
  async work(): Promise<void> {
    if (!this.#reachesHub() || !(await this.#hasCommands())) return
    for (const command of await this.agent.commands()) {
      this.obeyed.push(command.name)
      const detail = this.#obey(command)
      if (!this.#reachesHub()) continue
      await this.agent.reportsResult({ command_id: command.id, outcome: detail === null ? 'done' : 'failed', detail })
    }
  }

  /** Agents wait for commands. Here, a request each second would be slow. */
  async #hasCommands(): Promise<boolean> {
    if (!this.here.hub) return true
    const own = and(eq(agentCommands.agentId, this.agent.id), lte(agentCommands.sendAt, this.here.clock.now()))
    return (await this.here.hub.read.$count(agentCommands, and(own, isNull(agentCommands.finishedAt)))) > 0
  }

  /** @returns why it failed; null if it didn’t */
  #obey(command: AgentCommand): string | null {
    if (command.name === 'firewall_apply') {
      if (this.failure !== null) return this.failure
      this.#apply(command.params)
    } else if (command.name === 'firewall_confirm') {
      if (command.params.digest !== this.#digest()) return 'Another rule set is in effect.'
      this.#keep()
    }
    return null
  }

  /** Reports the firewall, as with each report of the agent. */
  async reports(): Promise<void> {
    if (!this.#reachesHub()) return
    const counters = this.counters ? { counters: this.counters } : {}
    await this.agent.sendReport({ firewall: { digest: this.#digest(), confirmed: this.#timer === null, ...counters } })
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

  #apply({ ruleset, revert_after_seconds }: CommandParams['firewall_apply']): void {
    this.#timer?.cancel()
    this.#ruleset = ruleset
    // The table before it may not have been confirmed either.
    this.#timer = this.here.clock.after(revert_after_seconds * 1000, () => this.restart())
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
