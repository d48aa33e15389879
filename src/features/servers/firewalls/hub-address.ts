import type { Hub } from '../../../core/hub'
import { parseAddress } from '../../../core/net/address'
import type { HubAddress } from './guards'

/** How agents reach the hub, as far as its URL tells. */
export function hubAddress({ baseUrl }: Pick<Hub, 'baseUrl'>): HubAddress {
  const { hostname, port, protocol } = new URL(baseUrl)
  const name = hostname.replace(/^\[|\]$/g, '')
  return {
    address: parseAddress(name) ? name : null,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
