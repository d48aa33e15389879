import { entryOfId } from '../../registry'

/** The name in a resource of the API; null if it has none. */
export function nameIn(resource: { id: string }): string | null {
  const values = entryOfId(resource.id)?.namedBy?.map(field => (resource as Record<string, unknown>)[field])
  return (values?.find(Boolean) as string | undefined) ?? null
}
