import type { Hub } from '../../../core/hub'
import { parseAddress } from '../../../core/net/address'
import type { HubAddress } from './guards'

/** How agents reach the hub, as far as its URL tells. */
export function hubAddress({ baseUrl }: Pick<Hub, 'baseUrl'>): HubAddress & { name: string } {
  const { hostname, port, protocol } = new URL(baseUrl)
  const name = hostname.replace(/^\[|\]$/g, '')
  return {
    name,
    address: parseAddress(name) ? name : null,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
