import type { DynamicIpClient } from '../../../features/dynamic-ips/shapes'
import { Mono } from '../../parts/code'
import { Facts } from '../../parts/page'
import { authMethodLabels, clientName, protocolLabels } from './source-text'

/** The client that sent a report. */
export const ClientFacts = ({ client }: { client: DynamicIpClient }) => (
  <Facts
    rows={[
      ['Client', clientName(client)],
      ['User agent', client.user_agent],
      ['Sent from', client.address && <Mono>{client.address}</Mono>],
      ['Protocol', protocolLabels.get(client.protocol) ?? client.protocol],
      ['Token sent as', authMethodLabels.get(client.auth_method) ?? client.auth_method],
      ['Connection', client.https ? 'HTTPS' : 'HTTP, not encrypted'],
    ]}
  />
)
