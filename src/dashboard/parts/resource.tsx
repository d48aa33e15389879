import { Link } from '@tanstack/react-router'
import { resourcePath } from '../pages'
import { humanize } from './status'

interface ResourceLinkProps {
  id: string
  /** Type as in the API: `dns_zone`. */
  type: string
  name?: string | null
}

/** The names of resources, one per line. */
export const ResourceLinks = ({ of }: { of: readonly ResourceLinkProps[] }) =>
  of.map(one => (
    <div key={one.id}>
      <ResourceLink {...one} />
    </div>
  ))

/** The name of a resource, linked to its page if it has one. */
export function ResourceLink({ id, type, name }: ResourceLinkProps) {
  const path = resourcePath(id)
  const label = name ?? `${humanize(type)} …${id.slice(-6)}`
  if (path === null) return <span title={id}>{label}</span>
  return (
    <Link to={path} title={id} className="inline-block leading-[24px] text-accent underline decoration-1 underline-offset-2">
      {label}
    </Link>
  )
}
