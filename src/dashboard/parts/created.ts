import { entryOfId } from '../../registry'
import type { Call } from '../client'
import { nameIn } from './name-in'
import { capitalize } from './status'

interface Created {
  /** “shop.example.com created” */
  title: string
  /** The page of the resource, or of the list of several. */
  to: string
}

interface Resource {
  id: string
}

/** Describes what a request created. Null if it created nothing that has a page. */
export function createdIn({ method, path }: Call, result: unknown): Created | null {
  if (method !== 'POST' || typeof result !== 'object' || result === null) return null
  const created = 'results' in result ? createdInBulk(result.results as BulkResult[]) : 'id' in result ? [result as Resource] : []
  const [first] = created
  const entry = first && entryOfId(first.id)
  // The request was sent to the list, or to another resource of the type, which was cloned.
  const isFromList = path === entry?.path || path === `${entry?.path}/bulk`
  if (!first || !entry?.page || !(isFromList || (path.startsWith(`${entry.path}/`) && !path.includes(first.id)))) return null
  const page = created.length > 1 ? entry.page.replace('/$id', '') : entry.page.replace('$id', first.id)
  return {
    title:
      created.length > 1 ? `${created.length} ${entry.plural} created` : `${nameIn(first) ?? capitalize(entry.name)} created`,
    to: page,
  }
}

interface BulkResult {
  op: string | null
  body?: Resource
}

const createdInBulk = (results: readonly BulkResult[]): Resource[] =>
  results.flatMap(({ op, body }) => (op === 'create' && body ? [body] : []))
