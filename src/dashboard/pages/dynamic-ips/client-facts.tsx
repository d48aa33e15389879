import type { DynamicIpClient } from '../../../features/dynamic-ips/shapes'
import { Mono } from '../../parts/code'
import { Facts } from '../../parts/page'
import { clientName, dialectLabels, presentedByLabels } from './source-text'

/** The client that sent a report. */
export const ClientFacts = ({ client }: { client: DynamicIpClient }) => (
  <Facts
    rows={[
      ['Client', clientName(client)],
      ['User agent', client.user_agent],
      ['Sent from', client.address && <Mono>{client.address}</Mono>],
      ['Protocol', dialectLabels.get(client.dialect) ?? client.dialect],
      ['Token sent as', presentedByLabels.get(client.presented_by) ?? client.presented_by],
      ['Connection', client.https ? 'HTTPS' : 'HTTP, not encrypted'],
    ]}
  />
)
