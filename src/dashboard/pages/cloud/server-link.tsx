import { ResourceLink } from '../../parts/resource'
import { useResourceNames } from '../../parts/resource-search'

/** A link to a server, with its name. */
export const ServerLink = ({ id }: { id: string }) => (
  <ResourceLink id={id} type="server" name={useResourceNames([id]).get(id) ?? null} />
)
