import type { TSchema } from '@sinclair/typebox'
import { answerOf } from '../../access/route'
import { auditActions, codeOf, type AuditActionEntry } from '../../core/audit-actions'
import { changesSchema } from '../../core/audit-changes'
import type { Page } from '../../core/shapes'
import { isMeant } from './actions-filter'
import { AuditEvent, type AuditActionView, type AuditEventView } from './shapes'

/** Every action there is, or those that a word or a prefix such as `heartbeat.*` means, on one page. */
export const auditCatalog = (pattern?: string): Page<AuditActionView> => ({
  data: auditActions.filter(one => pattern === undefined || isMeant(one.action, pattern)).map(actionView),
  pagination: { has_more: false, next_cursor: null },
})

function actionView(entry: AuditActionEntry): AuditActionView {
  const { action, number, description, channels, targets } = entry
  const members = membersOf(entry)
  return {
    action,
    codes: { success: `${number}S`, failure: `${number}F`, denied: `${number}D` },
    description,
    channels: [...channels],
    target_types: [...targets],
    changes_schema: members && changesSchema(members),
    example: exampleOf(entry),
  }
}

/** The members that an entry may show as changed; null when it shows none. */
function membersOf({ changes }: AuditActionEntry): Record<string, TSchema> | null {
  if (!changes) return null
  const answer = changes.answerOf === null ? undefined : answerOf(changes.answerOf)
  return { ...(answer?.properties as Record<string, TSchema> | undefined), ...changes.members }
}

const [event] = AuditEvent.examples as AuditEventView[]

function exampleOf({ action, channels, targets, example }: AuditActionEntry): AuditEventView {
  return {
    ...event!,
    action,
    code: codeOf(action, 'success'),
    targets: targets.slice(0, 1).map(type => ({ type, id: '01jd8f3q7eeb9bv0w0r8c7hq2m', name: null })),
    context: { ...event!.context, channel: channels[0]! },
    changes: example,
  }
}
