import { changesBetween } from '../../../core/audit'
import type { AuditAction } from '../../../core/audit-actions'
import { auditDrafts, type AuditDraft, type Changed, type Joining } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { MonitoringChange } from './shapes'

type Named = Pick<MonitoringChange, 'kind' | 'id' | 'key' | 'name'>

/** What an import did so far, for its one change to report. */
export class Applying {
  readonly changes: MonitoringChange[] = []
  private readonly audits: AuditDraft[] = []
  private readonly parts: Changed<unknown>[] = []

  constructor(
    readonly tx: Tx,
    readonly ctx: Ctx,
  ) {}

  /** Takes what a step did. One that changed nothing is left out. */
  take(op: MonitoringChange['op'], named: Named, action: AuditAction, part: Changed<unknown>): void {
    if (part.unchanged) return
    const { tag } = this.ctx.hub.keys
    const differing = changesBetween(part.before ?? {}, part.after ?? {}, tag)
    const options = op === 'update' ? changesBetween(optionsOf(differing?.before), optionsOf(differing?.after), tag) : null
    if (options) Object.assign(differing!.before, { options: options.before })
    if (options) Object.assign(differing!.after, { options: options.after })
    this.changes.push({
      op,
      ...named,
      before: (op === 'create' ? {} : (differing?.before ?? {})) as Record<string, unknown>,
      after: (op === 'delete' ? {} : (differing?.after ?? {})) as Record<string, unknown>,
    })
    this.audits.push(...auditDrafts(this.ctx, action, part))
    this.parts.push(part)
  }

  /** The caller's context for a verb whose change is to be part of this one. @param namedBy of what the verb gave */
  joining(op: MonitoringChange['op'], namedBy: (result: unknown) => Named): Ctx {
    const join = async ({ action, fn }: Joining) => {
      const part = await fn(this.tx)
      this.take(op, namedBy(part.result), action, part)
      return part.result
    }
    return { ...this.ctx, ifMatch: null, idempotency: null, join }
  }

  /** Everything that the steps left for the door. */
  get drafts() {
    return {
      unchanged: this.changes.length === 0,
      audits: this.audits,
      events: this.parts.flatMap(one => one.events ?? []),
      jobs: this.parts.flatMap(one => one.jobs ?? []),
      notices: this.parts.flatMap(one => one.notices ?? []),
      wakes: this.parts.flatMap(one => one.wakes ?? []),
    }
  }
}

const optionsOf = (members: Record<string, unknown> | undefined): object | null => (members?.options as object | null) ?? null
