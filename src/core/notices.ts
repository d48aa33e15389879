import { sql } from 'drizzle-orm'
import type { Clock } from './clock'
import type { AuditTarget } from './db/tables'
import { notices } from './db/tables'
import type { Tx } from './db/transaction'
import type { Declared } from './declared'
import { newId } from './ids'

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

/** A kind of notice. All are declared in `src/features/notice-kinds.ts`. */
export interface NoticeKindEntry {
  title: string
  /** The default severity. */
  severity: Severity
}

export type NoticeKind = keyof Declared['noticeKinds']
export type NoticeKinds = Readonly<Record<NoticeKind, NoticeKindEntry>>

/** A notice to the members of a workspace. */
export interface NoticeDraft {
  workspaceId: string
  kind: NoticeKind
  /** Defaults to the severity of the kind. */
  severity?: Severity
  /** The resource it concerns; null for the whole workspace. */
  resource: AuditTarget | null
  /** One or two sentences, including the relevant numbers. */
  text: string
  /** The same information, machine-readable. */
  details: Record<string, unknown>
  /** Identifies the situation within the kind: a notice with the same key is updated instead of created again. */
  dedupKey: string
}

const maxTextLength = 1_000

/**
 * Creates notices within the transaction of the change that causes them. If a notice with the same key exists, its count is
 * increased and it becomes unread again.
 * @returns the ids of the notices
 */
export async function createNotices(
  tx: Tx,
  { clock, noticeKinds }: { clock: Clock; noticeKinds: NoticeKinds },
  drafts: readonly NoticeDraft[],
): Promise<string[]> {
  const now = clock.now()
  const ids: string[] = []
  // Inserts in a fixed order to avoid deadlocks.
  const ordered = drafts.toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1))
  for (const draft of ordered) {
    const [row] = await tx
      .insert(notices)
      .values({
        id: newId('ntc'),
        workspaceId: draft.workspaceId,
        kind: draft.kind,
        severity: draft.severity ?? noticeKinds[draft.kind].severity,
        resourceType: draft.resource?.type ?? null,
        resourceId: draft.resource?.id ?? null,
        resourceName: draft.resource?.name ?? null,
        text: draft.text.slice(0, maxTextLength).toWellFormed(),
        details: draft.details,
        dedupKey: keyOf(draft),
        count: 1,
        occurredAt: now,
        readAt: null,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoUpdate({
        target: [notices.workspaceId, notices.dedupKey],
        set: {
          severity: sql`excluded.severity`,
          resourceName: sql`excluded.resource_name`,
          text: sql`excluded.text`,
          details: sql`excluded.details`,
          count: sql`${notices.count} + 1`,
          occurredAt: sql`excluded.occurred_at`,
          readAt: null,
          version: sql`${notices.version} + 1`,
          updatedAt: sql`excluded.updated_at`,
        },
      })
      .returning({ id: notices.id })
    ids.push(row!.id)
  }
  return ids
}

const keyOf = (draft: NoticeDraft): string => `${draft.kind} ${draft.dedupKey}`
const sortKeyOf = (draft: NoticeDraft): string => `${draft.workspaceId} ${keyOf(draft)}`
