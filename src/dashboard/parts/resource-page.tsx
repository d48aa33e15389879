import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Query } from '../client'
import type { PagePath } from '../pages'
import { useOne } from '../queries'
import { Loaded } from './page'

interface Options<Resource> {
  /** API path of the resources. The id is in the URL of the page. */
  path: string
  /** The page that lists them. */
  parent: PagePath
  query?: Query
  /** How often to refetch, also depending on the resource. */
  refetchMs?: number | ((resource: Resource) => number | false)
}

/** Creates the page of one resource, from a component that shows it once it has loaded. */
export const resourcePage = <Resource,>(
  { path, parent, query, refetchMs }: Options<Resource>,
  Shown: (props: { resource: Resource }) => ReactNode,
): (() => ReactNode) =>
  function ResourcePage() {
    const { id } = useParams({ strict: false })
    const found = useOne<Resource>(`${path}/${id}`, query, { ...(refetchMs && { refetchMs }) })
    return (
      <Loaded query={found} parent={parent}>
        {resource => <Shown key={id} resource={resource} />}
      </Loaded>
    )
  }
