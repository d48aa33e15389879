import { ListPage } from '../parts/list'
import { useDeliveryList } from './webhooks/delivery-table'
import { webhookTabs } from './webhooks'

/** Lists the deliveries of all endpoints. */
export default function Deliveries() {
  const list = useDeliveryList()
  return <ListPage {...list} description="Messages sent to webhook endpoints, and their results." tabs={webhookTabs} />
}
