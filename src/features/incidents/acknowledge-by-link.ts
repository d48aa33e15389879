import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { AuditActor } from '../../core/db/tables'
import { locking } from '../../core/db/dialect'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { readAcknowledgeLink } from '../notifications/acknowledge-link'
import { channelNames } from '../notifications/known-channels'
import { acknowledge } from './acknowledgement'
import { incidentTarget } from './incidents'
import type { IncidentRow } from './outage'
import { incidents } from './tables'
import { edited } from './view'

/** An incident that a link leads to, and the channel that the link was sent over. */
export interface Linked {
  incident: IncidentRow
  channel: { id: string; name: string }
}

/** Where a link leads; null where it was altered, is too old, or its incident or channel is gone. */
export async function findByLink(hub: Hub, token: string, read: Reader = hub.read): Promise<Linked | null> {
  const link = readAcknowledgeLink(hub, token)
  if (!link) return null
  const found = read.select().from(incidents).where(eq(incidents.id, link.thread))
  const [incident] = await (read === hub.read ? found : locking(found))
  if (!incident) return null
  const name = (await channelNames(read, incident.workspaceId)).get(link.channelId)
  return name === undefined ? null : { incident, channel: { id: link.channelId, name } }
}

/**
 * Takes an incident on in the name of the channel that the link was sent over. One that is acknowledged or resolved stays as it is.
 * @returns the incident as it is now; null where the link leads nowhere
 */
export const acknowledgeByLink = (
  hub: Hub,
  token: string,
  from: { ip: string; userAgent: string | null; requestId: string },
): Promise<Linked | null> =>
  record(hub, async tx => {
    const linked = await findByLink(hub, token, tx)
    if (linked?.incident.status !== 'open') return { result: linked }
    const { incident: before, channel } = linked
    const by = { type: 'ingest' as const, ...channel }
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
          before: edited(before),
          after: edited(incident),
          reason: `By the link that was sent over ${channel.name}.`,
        },
      ],
    }
  })
