import { and, eq, inArray } from 'drizzle-orm'
import { operatorWorkspace } from '../../../access/workspaces'
import { record } from '../../../core/change'
import { formatUtcSecond, instant } from '../../../core/clock'
import { hubs, notices } from '../../../core/db/tables'
import type { Hub } from '../../../core/hub'
import type { NoticeKind } from '../../../core/notices'

// Long enough to ignore a resolver restart, and not to report an intermittent problem several times.
const notifyAfterMs = 120_000
const restoredAfterMs = 30_000

/**
 * Sends operators a notice when results of this hub have been discarded for two minutes, and another when they count again. Each is
 * sent once per outage, even across restarts. Without it, an impaired hub would look like everything is fine.
 */
export class ImpairmentNotices {
  private reason: string | null = null
  /** ms UTC; null while not impaired. */
  private since: number | null = null
  /** When it recovered, if that was too recently to count. */
  private recoveringSince: number | null = null
  private isNotified = false
  private host: string | null = null

  constructor(private readonly hub: Hub) {}

  /** Called with the reason why the engine discards results; null if it doesn't. */
  update(impaired: string | null): void {
    const now = this.hub.clock.now()
    if (impaired === null) {
      this.recoveringSince ??= now
      return
    }
    this.reason = impaired
    this.since ??= now
    this.recoveringSince = null
  }

  /** Sends notices that are due. @param monitors how many this hub runs; none is sent for a hub without monitors */
  async notifyDue(monitors: number): Promise<void> {
    this.host ??= await this.restore()
    const now = this.hub.clock.now()
    // The clock may have been set back.
    if (this.since !== null) this.since = Math.min(this.since, now)
    if (this.recoveringSince !== null) this.recoveringSince = Math.min(this.recoveringSince, now)
    if (this.since === null) return
    if (this.recoveringSince !== null) {
      if (now - this.recoveringSince < restoredAfterMs) return
      if (this.isNotified) await this.sendNotice('monitoring.restored', this.since, this.recoveringSince)
      this.since = null
      this.isNotified = false
    } else if (!this.isNotified && monitors > 0 && now - this.since >= notifyAfterMs) {
      await this.sendNotice('monitoring.impaired', this.since, null)
      this.isNotified = true
    }
  }

  /** Restores an outage that was reported before a restart. @returns the hostname of this hub */
  private async restore(): Promise<string> {
    const [row] = await this.hub.read.select({ host: hubs.host }).from(hubs).where(eq(hubs.id, this.hub.id))
    const host = row?.host ?? 'hub'
    const { id } = await operatorWorkspace(this.hub.read)
    const sent = await this.hub.read
      .select({ kind: notices.kind, occurredAt: notices.occurredAt, details: notices.details })
      .from(notices)
      .where(and(eq(notices.workspaceId, id), inArray(notices.dedupKey, [`${impaired} ${host}`, `${restored} ${host}`])))
    const started = sent.find(one => one.kind === impaired)
    const ended = sent.find(one => one.kind === restored)
    if (started && started.occurredAt > (ended?.occurredAt ?? 0)) {
      this.since = Date.parse(String(started.details['since']))
      this.isNotified = true
    }
    return host
  }

  private async sendNotice(kind: NoticeKind, since: number, until: number | null): Promise<void> {
    const { id: workspaceId } = await operatorWorkspace(this.hub.read)
    const text =
      until === null
        ? `Check results of the hub on ${this.host} have been discarded since ${formatUtcSecond(since)}: ${this.reason} Until this is resolved, this hub reports no outages or recoveries, and monitors that no other hub checks become unknown.`
        : `Check results of the hub on ${this.host} count again. They were discarded from ${formatUtcSecond(since)} to ${formatUtcSecond(until)}.`
    await record(this.hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId,
          kind,
          resource: null,
          text,
          details: { host: this.host, since: instant(since), until: until === null ? null : instant(until), reason: this.reason },
          dedupKey: this.host!,
        },
      ],
    }))
  }
}

const impaired = 'monitoring.impaired'
const restored = 'monitoring.restored'
