import { relationTo, type Relation, type Relations } from '../../core/relation'
import { eventListing, eventView, readableKinds } from './list'

/** A relation to an event; omitted if the caller may not read its area. @param expands relations of events */
export const relationToEvent = <From>(idOf: (from: From) => string | null, expands: Relations): Relation =>
  relationTo(eventListing, {
    idOf,
    permission: null,
    view: (ctx, row) => (readableKinds(ctx).includes(row.kind) ? eventView(row) : null),
    expands,
  })
