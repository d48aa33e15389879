import type { AuditEventView } from '../../features/audit/shapes'
import { humanize } from './status'

const names: Record<string, string> = { system: 'Bailiwick', anonymous: 'unauthenticated user', operator: 'operator' }

/** How requests reach the hub, in the audit log. */
export const channelLabels: Record<AuditEventView['context']['channel'], string> = {
  api: 'API',
  dashboard: 'Dashboard',
  ingest: 'Ping or acknowledge URL',
  cli: 'Command line',
  job: 'Background job',
}

/** The name of the user, token, or other actor that did something. */
export const actorName = ({ type, name }: { type: string; name?: string | null }): string => names[type] ?? name ?? humanize(type)
