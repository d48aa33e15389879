import { record } from '../../src/core/change'
import { newId } from '../../src/core/ids'
import { recordGoodbye, recordReport, type AgentReport } from '../../src/features/servers/agents/agents'
import type { StopReason } from '../../src/features/servers/agents/shapes'
import { recordMinutes, type AgentMinutes } from '../../src/features/servers/agents/minutes'
import { agents } from '../../src/features/servers/agents/tables'
import type { World } from './world'

/** An agent on a server. It reports as an agent does, without the program and its requests. */
export class AgentDouble {
  readonly id: string = newId('agent')
  readonly report: AgentReport = { version: '0.3.0', intervalSeconds: 60, allow: ['collect'] }

  private constructor(
    private readonly here: World,
    readonly serverId: string,
  ) {}

  /** Enrolls an agent on a server, which has just reported for the first time. */
  static async enroll(here: World, serverId: string, report: Partial<AgentReport> = {}): Promise<AgentDouble> {
    const double = new AgentDouble(here, serverId)
    Object.assign(double.report, report)
    const now = here.clock.now()
    await record(here.hub, async tx => {
      await tx.insert(agents).values({
        id: double.id,
        workspaceId: here.acme.workspaceId,
        serverId,
        state: 'stopped',
        version: double.report.version,
        intervalSeconds: double.report.intervalSeconds,
        allow: double.report.allow,
        lastSeenAt: now,
        dueAt: null,
        silentAt: null,
        unheard: false,
        notified: false,
        stopReason: null,
        pending: false,
        facts: null,
        factsAt: null,
        createdAt: now,
      })
      return { result: undefined }
    })
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
