import { relationTo, type Relations } from '../../core/relation'
import { relationToEvent } from '../events/relations'
import { endpointListing, endpointSeenBy } from './endpoints'
import type { WebhookDeliveryView } from './delivery-shapes'

export const deliveryRelations: Relations = {
  endpoint: relationTo(endpointListing, {
    idOf: (delivery: WebhookDeliveryView) => delivery.endpoint_id,
    permission: 'webhooks.read',
    view: endpointSeenBy,
  }),
  event: relationToEvent((delivery: WebhookDeliveryView) => delivery.event_id),
}
