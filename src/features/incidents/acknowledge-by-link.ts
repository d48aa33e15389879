import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { AuditActor } from '../../core/db/tables'
import { forUpdate } from '../../core/db/dialect'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { readAcknowledgeLink } from '../notifications/acknowledge-link'
import { linkedChannel } from '../notifications/channel-references'
import { acknowledge } from './acknowledgement'
import { incidentTarget } from './incidents'
import type { IncidentRow } from './outages/outage'
import { incidents } from './tables'
import { auditView } from './view'

/** The incident a link points to, and the channel the link was sent through. */
export interface LinkedIncident {
  incident: IncidentRow
  /** `timezone`: IANA name of the time zone of its messages. */
  channel: { id: string; name: string; timezone: string }
}

/** Resolves a link. Returns null if it was tampered with or has expired, or its incident or channel was deleted. */
export async function findByLink(hub: Hub, token: string, read: Reader = hub.read): Promise<LinkedIncident | null> {
  const link = readAcknowledgeLink(hub, token)
  if (!link) return null
  const found = read.select().from(incidents).where(eq(incidents.id, link.thread))
  const [incident] = await (read === hub.read ? found : forUpdate(found))
  if (!incident) return null
  const channel = await linkedChannel(read, incident.workspaceId, link.channelId)
  return channel && { incident, channel }
}

/**
 * Acknowledges an incident on behalf of the channel the link was sent through. Does nothing if it is already acknowledged or resolved.
 * @returns the incident as it is now; null if the link is invalid
 */
export const acknowledgeByLink = (
  hub: Hub,
  token: string,
  from: { ip: string; userAgent: string | null; requestId: string },
): Promise<LinkedIncident | null> =>
  record(hub, async tx => {
    const linked = await findByLink(hub, token, tx)
    if (linked?.incident.status !== 'open') return { result: linked }
    const { incident: before, channel } = linked
    const by = { type: 'ingest' as const, id: channel.id, name: channel.name }
    const { incident, audits, ...drafts } = await acknowledge(tx, hub, before, { by })
    const actor: AuditActor = { ...by, hint: null }
    return {
      result: { incident, channel },
      ...drafts,
      audits: [
        ...audits,
        {
          workspaceId: before.workspaceId,
          action: 'incident.acknowledge',
          actor,
          context: {
            ip: from.ip,
            user_agent: from.userAgent,
            request_id: from.requestId,
            idempotency_key: null,
            channel: 'ingest',
          },
          targets: [incidentTarget(before)],
          before: auditView(before),
          after: auditView(incident),
          reason: `Acknowledged through the link sent to ${channel.name}.`,
        },
      ],
    }
  })
