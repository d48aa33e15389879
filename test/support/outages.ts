import { record } from '../../src/core/change'
import { openIncident, resolveIncident, type Outage, type Resolution } from '../../src/features/incidents/outages/outages'
import type { World } from './world'

/** An outage of one of acme's monitors, started 15 s ago and confirmed now. */
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

/** Opens an incident, as after a failure. */
export const openOutage = (w: World, id: string, more?: Partial<Outage>) =>
  record(w.hub, async tx => {
    const { incident, opened, reopened, ...drafts } = await openIncident(tx, w.hub, outageOf(w, id, more))
    return { result: { incident, opened, reopened }, ...drafts }
  })

/** Resolves an incident, as after a recovery or when monitoring stops. */
export const endOutage = (w: World, id: string, reason: Resolution = 'recovered') =>
  record(w.hub, async tx => {
    const { incident, ...drafts } = await resolveIncident(tx, w.hub, { subject: id, at: w.clock.now(), reason })
    return { result: incident, ...drafts }
  })
