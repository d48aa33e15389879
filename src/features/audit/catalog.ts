import type { TSchema } from '@sinclair/typebox'
import { responseSchemaOf } from '../../api/route'
import type { AuditActionEntry } from '../../core/audit-actions'
import { auditActions, codeOf } from '../audit-actions'
import { changesSchema } from '../../core/audit-changes'
import { onePage, type Page } from '../../core/shapes'
import { matchesAction } from './actions-filter'
import { AuditEvent, type AuditActionView, type AuditEventView } from './shapes'

/** Returns all actions, or those that match a pattern such as `heartbeat.*`, on one page. */
export const auditCatalog = (pattern?: string): Page<AuditActionView> =>
  onePage(auditActions.filter(one => pattern === undefined || matchesAction(one.action, pattern)).map(actionView))

function actionView(entry: AuditActionEntry): AuditActionView {
  const { action, number, description, sentences, channels, targets } = entry
  const fields = fieldsOf(entry)
  return {
    action,
    codes: { success: `${number}S`, failure: `${number}F`, denied: `${number}D` },
    description,
    sentences: { ...sentences },
    channels: [...channels],
    target_types: [...targets],
    changes_schema: fields && changesSchema(fields),
    example: exampleOf(entry),
  }
}

/** The fields that may appear in the changes of an event; null if it has no changes. */
function fieldsOf({ changes }: AuditActionEntry): Record<string, TSchema> | null {
  if (!changes) return null
  const response = changes.responseOf === null ? undefined : responseSchemaOf(changes.responseOf)
  return { ...(response?.properties as Record<string, TSchema> | undefined), ...changes.fields }
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
