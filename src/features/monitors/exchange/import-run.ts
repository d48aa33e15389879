import { changesBetween } from '../../../core/audit'
import type { AuditAction } from '../../../core/audit-actions'
import { auditDrafts } from '../../../core/change'
import type { PendingChange, Ctx } from '../../../core/ctx'
import type { AuditDraft, ChangeResult } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { MonitoringChange } from './shapes'

type Named = Pick<MonitoringChange, 'kind' | 'id' | 'key' | 'name'>

/** Collects what an import changes, to be reported as a single change. */
export class ImportRun {
  readonly changes: MonitoringChange[] = []
  private readonly audits: AuditDraft[] = []
  private readonly parts: ChangeResult<unknown>[] = []

  constructor(
    readonly tx: Tx,
    readonly ctx: Ctx,
  ) {}

  /** Records the outcome of a step, unless it changed nothing. */
  record(op: MonitoringChange['op'], named: Named, action: AuditAction, part: ChangeResult<unknown>): void {
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

  /** The caller's context, for running an operation as part of this change. @param namedBy identifies the result of the operation */
  contextFor(op: MonitoringChange['op'], namedBy: (result: unknown) => Named): Ctx {
    const join = async ({ action, fn }: PendingChange) => {
      const part = await fn(this.tx)
      this.record(op, namedBy(part.result), action, part)
      return part.result
    }
    return { ...this.ctx, ifMatch: null, idempotency: null, join }
  }

  /** The drafts of all steps, to be written with the change. */
  get drafts() {
    return {
      unchanged: this.changes.length === 0,
      audits: this.audits,
      events: this.parts.flatMap(one => one.events ?? []),
      jobs: this.parts.flatMap(one => one.jobs ?? []),
      notices: this.parts.flatMap(one => one.notices ?? []),
      wakeTopics: this.parts.flatMap(one => one.wakeTopics ?? []),
    }
  }
}

const optionsOf = (members: Record<string, unknown> | undefined): object | null => (members?.options as object | null) ?? null
