import { Link } from '@tanstack/react-router'
import { entryOfId } from '../../registry'
import { resourcePath } from '../pages'
import { nameIn } from './name-in'
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

interface ExpandedLinkProps {
  id: string
  type: string
  /** As in `expanded`: null if it was deleted. */
  resource: unknown
  /** Shows the type after the name. */
  withType?: boolean
}

/** The name of an expanded resource, linked to its page. */
export function ExpandedLink({ id, type, resource, withType }: ExpandedLinkProps) {
  const noun = entryOfId(id)?.name ?? humanize(type)
  if (!resource) {
    return (
      <span className="text-muted" title={id}>
        Deleted {noun}
      </span>
    )
  }
  return (
    <>
      <ResourceLink id={id} type={type} name={nameIn(resource as { id: string })} />
      {withType && <span className="ml-2 text-muted">{noun}</span>}
    </>
  )
}

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
