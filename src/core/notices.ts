import { sql } from 'drizzle-orm'
import type { Clock } from './clock'
import type { AuditTarget } from './db/tables'
import { notices } from './db/tables'
import type { Tx } from './db/transaction'
import { newId } from './ids'

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

/** Every kind of notice: its title, and how much it matters where a draft says nothing else. */
export const noticeKinds = {
  'token.expiring': { title: 'A token is about to expire', severity: 'warning' },
  'token.leaked': { title: 'A token was reported as leaked and revoked', severity: 'critical' },
  'plan.limit_near': { title: 'A limit of the plan is nearly reached', severity: 'info' },
  'plan.limit_reached': { title: 'A limit of the plan is reached', severity: 'warning' },
  'plan.over_limit': { title: 'More is in use than the plan allows', severity: 'critical' },
  'action.failed': { title: 'An action failed', severity: 'warning' },
  'job.failed': { title: 'A job was set aside', severity: 'critical' },
  'dns_zone.drifted': { title: 'A DNS zone was changed at its provider', severity: 'warning' },
  'dns_zone.edit_war': { title: 'A DNS zone is changed again and again at its provider', severity: 'critical' },
  'dns_zone.blocked': { title: 'Changes of a DNS zone are held back', severity: 'warning' },
  'dns_zone.target_failing': { title: 'A DNS zone cannot be kept up at a provider', severity: 'critical' },
  'dns_provider.failing': { title: 'A DNS provider cannot be used', severity: 'warning' },
  'monitoring.impaired': { title: 'Monitoring cannot see', severity: 'warning' },
  'monitoring.restored': { title: 'Monitoring sees again', severity: 'info' },
  'monitor_results.set_aside': { title: 'Results of checks could not be read', severity: 'warning' },
  'notification_channel.failing': { title: 'A notification channel does not get through', severity: 'warning' },
  'notification_channel.disabled': { title: 'A notification channel was disabled', severity: 'critical' },
  'webhook_endpoint.failing': { title: 'A webhook endpoint takes no messages', severity: 'warning' },
  'webhook_endpoint.disabled': { title: 'A webhook endpoint was disabled', severity: 'critical' },
  'webhook_endpoint.resumed': { title: 'A webhook endpoint is within the plan again', severity: 'info' },
} as const satisfies Record<string, { title: string; severity: Severity }>

export type NoticeKind = keyof typeof noticeKinds
export const noticeKindNames = Object.keys(noticeKinds) as NoticeKind[]

/** Something the people of a workspace should know of. */
export interface NoticeDraft {
  workspaceId: string
  kind: NoticeKind
  /** That of the kind when absent. */
  severity?: Severity
  /** What it is about; null for the whole workspace. */
  resource: AuditTarget | null
  /** A sentence or two for people, with the figures in it. */
  text: string
  /** The same for programs. */
  details: Record<string, unknown>
  /** What tells one standing matter of the kind from another: a notice of the same matter is told again, and not beside it. */
  matter: string
}

const longestText = 1_000

/**
 * Writes notices down, as a step of the change that gives rise to them. A matter that has a notice already counts once more there,
 * and is unread again.
 * @returns the ids of the notices
 */
export async function writeNotices(tx: Tx, { clock }: { clock: Clock }, drafts: readonly NoticeDraft[]): Promise<string[]> {
  const now = clock.now()
  const ids: string[] = []
  // Two that lock in different orders wait for each other.
  const ordered = drafts.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
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
        text: draft.text.slice(0, longestText).toWellFormed(),
        details: draft.details,
        matter: keyOf(draft),
        count: 1,
        occurredAt: now,
        readAt: null,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoUpdate({
        target: [notices.workspaceId, notices.matter],
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

const keyOf = (draft: NoticeDraft): string => `${draft.kind} ${draft.matter}`
const placeOf = (draft: NoticeDraft): string => `${draft.workspaceId} ${keyOf(draft)}`
