import type { Ctx } from '../../core/ctx'
import type { Permission } from '../../core/permissions'
import { relationTo, rowsById, type Relation, type Relations } from '../../core/relation'
import { zoneListing } from '../dns/zones'
import { zoneViews } from '../dns/views'
import { heartbeatListing, heartbeatSeenBy } from '../heartbeats/heartbeats'
import { incidentListing } from '../incidents/incidents'
import { incidentViews } from '../incidents/view'
import { monitorListing } from '../monitors/listing'
import { monitorView } from '../monitors/view'
import { endpointListing, endpointSeenBy } from '../webhooks/endpoints'
import { eventListing, eventView, readableKinds } from './list'
import type { EventView } from './shapes'

interface Reader {
  prefix: string
  permission: Permission
  read(ctx: Ctx, ids: readonly string[]): Promise<{ id: string }[]>
}

/** Every type of resource that events are about, by the prefix of its ids. */
const readers: readonly Reader[] = [
  {
    prefix: 'hb_',
    permission: 'monitoring.read',
    read: async (ctx, ids) => Promise.all((await rowsById(ctx, heartbeatListing, ids)).map(row => heartbeatSeenBy(ctx, row))),
  },
  {
    prefix: 'mon_',
    permission: 'monitoring.read',
    read: async (ctx, ids) => (await rowsById(ctx, monitorListing, ids)).map(row => monitorView(ctx.hub, row)),
  },
  {
    prefix: 'inc_',
    permission: 'monitoring.read',
    read: async (ctx, ids) => await incidentViews(ctx.hub.read, await rowsById(ctx, incidentListing, ids), ctx.hub.clock.now()),
  },
  {
    prefix: 'zone_',
    permission: 'dns.read',
    read: async (ctx, ids) => await zoneViews(ctx.hub.read, await rowsById(ctx, zoneListing, ids)),
  },
  {
    prefix: 'whe_',
    permission: 'webhooks.read',
    read: async (ctx, ids) => (await rowsById(ctx, endpointListing, ids)).map(row => endpointSeenBy(ctx, row)),
  },
]

/** What an event is about. Of which area that is differs from event to event: what the caller may not read is left out. */
const resource: Relation = {
  idOf: (event: EventView) => event.resource.id,
  permission: null,
  async load(ctx, ids) {
    const found = await Promise.all(
      readers
        .filter(one => ctx.permissions.has(one.permission))
        .map(one =>
          one.read(
            ctx,
            ids.filter(id => id.startsWith(one.prefix)),
          ),
        ),
    )
    return new Map(found.flat().map(view => [view.id, view]))
  },
}

export const eventRelations: Relations = { resource }

/** A relation to an event, if the caller may read its area. */
export const relationToEvent = <From>(idOf: (from: From) => string | null): Relation =>
  relationTo(eventListing, {
    idOf,
    permission: null,
    view: (ctx, row) => (readableKinds(ctx).includes(row.kind) ? eventView(row) : null),
    expands: eventRelations,
  })
