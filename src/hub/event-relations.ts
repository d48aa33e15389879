import type { Ctx } from '../core/ctx'
import { rowsById, type Relation, type Relations } from '../core/relation'
import { zoneListing } from '../features/dns/zones/zones'
import { zoneViews } from '../features/dns/zones/views'
import type { EventView } from '../features/events/shapes'
import { heartbeatListing, heartbeatViewFor } from '../features/heartbeats/heartbeats'
import { incidentListing } from '../features/incidents/incidents'
import { incidentViews } from '../features/incidents/view'
import { monitorListing } from '../features/monitors/listing'
import { monitorView } from '../features/monitors/view'
import { entryOf, type ResourceType } from '../registry'
import { endpointListing, viewEndpoint } from '../features/webhooks/endpoints/endpoints'

type Read = (ctx: Ctx, ids: readonly string[]) => Promise<{ id: string }[]>

/** Loads resources that events are about. */
const readers: Partial<Record<ResourceType, Read>> = {
  heartbeat: async (ctx, ids) => Promise.all((await rowsById(ctx, heartbeatListing, ids)).map(row => heartbeatViewFor(ctx, row))),
  monitor: async (ctx, ids) => (await rowsById(ctx, monitorListing, ids)).map(row => monitorView(ctx.hub, row)),
  incident: async (ctx, ids) => incidentViews(ctx.hub.read, await rowsById(ctx, incidentListing, ids), ctx.hub.clock.now()),
  zone: async (ctx, ids) => zoneViews(ctx.hub.read, await rowsById(ctx, zoneListing, ids)),
  webhook_endpoint: async (ctx, ids) => (await rowsById(ctx, endpointListing, ids)).map(row => viewEndpoint(ctx, row)),
}

/** The resource of an event. Its area differs from event to event; resources that the caller may not read are left out. */
const resource: Relation = {
  idOf: (event: EventView) => event.resource.id,
  permission: null,
  async load(ctx, ids) {
    const found = await Promise.all(
      Object.entries(readers).map(([type, read]) => {
        const { prefix, area } = entryOf(type as ResourceType)
        return ctx.permissions.has(`${area}.read`)
          ? read(
              ctx,
              ids.filter(id => id.startsWith(`${prefix}_`)),
            )
          : []
      }),
    )
    return new Map(found.flat().map(view => [view.id, view]))
  },
}

export const eventRelations: Relations = { resource }
