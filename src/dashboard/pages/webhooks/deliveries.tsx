import { Page } from '../../parts/page'
import { Tabs } from '../../parts/tabs'
import { Deliveries as DeliveryTable } from './delivery-table'
import { webhookTabs } from './webhooks'

/** What all endpoints were sent. */
export default function Deliveries() {
  return (
    <Page title="Deliveries" lead="What endpoints were sent, and what came of it.">
      <Tabs label="Webhooks" tabs={webhookTabs} />
      <DeliveryTable />
    </Page>
  )
}
