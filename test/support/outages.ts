import { record } from '../../src/core/change'
import { openIncident, resolveIncident, type Outage, type Resolution } from '../../src/features/incidents/outages'
import type { World } from './world'

/** An outage of a monitor of acme that began 15 s ago and is confirmed now. */
export function outageOf(w: World, id: string, more: Partial<Outage> = {}): Outage {
  const now = w.clock.now()
  return {
    workspaceId: w.acme.workspaceId,
    subject: { type: 'monitor', id, name: 'Shop', tags: ['shop'], target: 'https://shop.example.com/' },
    kind: 'monitor.down',
    severity: 'critical',
    startedAt: now - 15_000,
    confirmedAt: now,
    cause: 'HTTP 503',
    locations: ['local'],
    evidence: { status: 503 },
    channelIds: null,
    link: null,
    ...more,
  }
}

/** What is done when something fails. */
export const openOutage = (w: World, id: string, more?: Partial<Outage>) =>
  record(w.hub, async tx => {
    const { incident, opened, reopened, ...drafts } = await openIncident(tx, w.hub, outageOf(w, id, more))
    return { result: { incident, opened, reopened }, ...drafts }
  })

/** What is done when it is well again, or not watched any more. */
export const endOutage = (w: World, id: string, reason: Resolution = 'recovered') =>
  record(w.hub, async tx => {
    const { incident, ...drafts } = await resolveIncident(tx, w.hub, { subject: id, at: w.clock.now(), reason })
    return { result: incident, ...drafts }
  })
