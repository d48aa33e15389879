import { and, eq, inArray } from 'drizzle-orm'
import { operatorWorkspace } from '../../../access/workspaces'
import { record } from '../../../core/change'
import { instant } from '../../../core/clock'
import { hubs, notices } from '../../../core/db/tables'
import type { Hub } from '../../../core/hub'
import type { NoticeKind } from '../../../core/notices'

// A resolver that is restarted is told of to nobody, nor is sight that comes and goes as two outages.
const toldAfterMs = 120_000
const sightedAfterMs = 30_000

/**
 * Tells those who run the installation that what this hub finds has not counted for two minutes, and that it counts again: each once
 * an outage, also where the hub is restarted within it. While it lasts, monitoring is silent, and silence looks like health.
 */
export class Blindness {
  private reason: string | null = null
  /** ms UTC; null while it sees. */
  private since: number | null = null
  /** Since when it sees again, as yet for too short a time to be believed. */
  private sightedSince: number | null = null
  private isTold = false
  private host: string | null = null

  constructor(private readonly hub: Hub) {}

  /** Hears of the engine why results do not count; null: they do. */
  hear(impaired: string | null): void {
    const now = this.hub.clock.now()
    if (impaired === null) {
      this.sightedSince ??= now
      return
    }
    this.reason = impaired
    this.since ??= now
    this.sightedSince = null
  }

  /** Tells what is to be told by now. @param monitors how many this hub runs: blindness that misses nothing is nobody's matter */
  async look(monitors: number): Promise<void> {
    this.host ??= await this.readBack()
    const now = this.hub.clock.now()
    // Of a clock that was set back since.
    if (this.since !== null) this.since = Math.min(this.since, now)
    if (this.sightedSince !== null) this.sightedSince = Math.min(this.sightedSince, now)
    if (this.since === null) return
    if (this.sightedSince !== null) {
      if (now - this.sightedSince < sightedAfterMs) return
      if (this.isTold) await this.tell('monitoring.restored', this.since, this.sightedSince)
      this.since = null
      this.isTold = false
    } else if (!this.isTold && monitors > 0 && now - this.since >= toldAfterMs) {
      await this.tell('monitoring.impaired', this.since, null)
      this.isTold = true
    }
  }

  /** Goes on with an outage that was told of before this hub was started. @returns the name of its machine */
  private async readBack(): Promise<string> {
    const [row] = await this.hub.read.select({ host: hubs.host }).from(hubs).where(eq(hubs.id, this.hub.id))
    const host = row?.host ?? 'hub'
    const { id } = await operatorWorkspace(this.hub.read)
    const told = await this.hub.read
      .select({ kind: notices.kind, occurredAt: notices.occurredAt, details: notices.details })
      .from(notices)
      .where(and(eq(notices.workspaceId, id), inArray(notices.matter, [`${impaired} ${host}`, `${restored} ${host}`])))
    const begun = told.find(one => one.kind === impaired)
    const ended = told.find(one => one.kind === restored)
    if (begun && begun.occurredAt > (ended?.occurredAt ?? 0)) {
      this.since = Date.parse(String(begun.details['since']))
      this.isTold = true
    }
    return host
  }

  private async tell(kind: NoticeKind, since: number, until: number | null): Promise<void> {
    const { id: workspaceId } = await operatorWorkspace(this.hub.read)
    const text =
      until === null
        ? `What the hub on ${this.host} finds has not counted since ${instant(since)}: ${this.reason} Until it does, no alarm is raised and no recovery told by it, and monitors that nobody else checks become unknown.`
        : `What the hub on ${this.host} finds counts again. It did not from ${instant(since)} to ${instant(until)}.`
    await record(this.hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId,
          kind,
          resource: null,
          text,
          details: { host: this.host, since: instant(since), until: until === null ? null : instant(until), reason: this.reason },
          matter: this.host!,
        },
      ],
    }))
  }
}

const impaired = 'monitoring.impaired'
const restored = 'monitoring.restored'
