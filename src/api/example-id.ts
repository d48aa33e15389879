import type { Route } from './route-declaration'

/** The id in the example of the resource whose id is the first parameter of a path; undefined if there is none. */
export function exampleIdIn(routes: Iterable<Route>, path: string): string | undefined {
  const place = path.indexOf('/:')
  if (place < 0) return undefined
  for (const { path: other, response } of routes) {
    if (!other.startsWith(path.slice(0, place)) || !response) continue
    const id = (response.examples as { id?: string }[] | undefined)?.[0]?.id
    if (id) return id
  }
  return undefined
}
