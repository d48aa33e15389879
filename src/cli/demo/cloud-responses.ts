/** A resource in a request or response of the demo’s cloud. */
export type Row = Record<string, any>

/** What a change is about. */
export interface Resource {
  id: number
  type: 'server' | 'volume'
}

/** A list on one page, filtered by the name and label in the query. */
export function listed(member: string, rows: readonly Row[], query = new URLSearchParams()): Response {
  const [label = '', value] = (query.get('label_selector') ?? '').split('=')
  const found = rows.filter(
    one => (value === undefined || one.labels[label] === value) && [null, one.name].includes(query.get('name')),
  )
  const pagination = { page: 1, per_page: 50, last_page: 1, total_entries: found.length }
  return Response.json({ [member]: found, meta: { pagination } })
}

export const refused = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } }, { status })

/** A time (ms UTC) as in responses. */
export const seconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}+00:00`
