import { Link } from '@tanstack/react-router'
import { wordsOf } from './status'

/** Where a resource has its page, by the first part of its id. What is left out has none of its own. */
const addresses: Record<string, (id: string) => string> = {
  mon: id => `/monitors/${id}`,
  hb: id => `/heartbeats/${id}`,
  inc: id => `/incidents/${id}`,
  mw: id => `/maintenance/${id}`,
  chan: id => `/channels/${id}`,
  zone: id => `/dns/zones/${id}`,
  tmpl: id => `/dns/templates/${id}`,
  prov: id => `/dns/providers/${id}`,
  whe: id => `/webhooks/${id}`,
  dlv: id => `/webhooks/deliveries/${id}`,
  tok: id => `/tokens/${id}`,
  act: id => `/actions/${id}`,
  aud: id => `/audit/${id}`,
  aus: () => '/audit-streams',
  usr: () => '/members',
  inv: () => '/members',
  ws: () => '/settings',
}

/** The address of a resource’s page; null when it has none. */
export const addressOfResource = (id: string): string | null => addresses[id.slice(0, id.indexOf('_'))]?.(id) ?? null

interface ResourceLinkProps {
  id: string
  /** Its type as the API words it: `dns_zone`. */
  type: string
  name?: string | null
}

/** A resource by its name, with the way to its page where it has one. */
export function ResourceLink({ id, type, name }: ResourceLinkProps) {
  const address = addressOfResource(id)
  const words = name ?? `${wordsOf(type)} …${id.slice(-6)}`
  if (address === null) return <span title={id}>{words}</span>
  return (
    <Link to={address} title={id} className="inline-block leading-[24px] text-accent underline decoration-1 underline-offset-2">
      {words}
    </Link>
  )
}
