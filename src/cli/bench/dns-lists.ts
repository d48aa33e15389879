import type { Figure } from './bench'
import { filledName, fillZone, removeZone } from './dns-fill'
import type { OwnApi } from './own-api'

const pagesAsked = 100
const pageSize = 100
const depth = 0.9

/** Lists whose pages go on for long: how they are asked for, and what share of the records they have. */
const long: { name: string; query: string; share: number }[] = [
  { name: 'all', query: '', share: 1 },
  { name: 'name h*', query: 'name=h*', share: 1 },
  { name: 'name *.dev', query: 'name=*.dev', share: 0.5 },
  { name: 'type', query: 'type=A', share: 1 },
  { name: 'content 10.0.*', query: 'content=10.0.*', share: 1 },
]

/** Lists that are looked up anew by something that few records have. */
const short: { name: string; query(n: number): string }[] = [
  { name: 'name', query: n => `name=${filledName(n)}` },
  { name: 'q', query: n => `q=${filledName(n)}` },
  { name: 'q of 100 names', query: n => `q=${filledName(n).slice(0, 6)}*` },
]

/**
 * Fills a zone with so many records, and asks for pages of 100 of the list of all records: the first ones, and those behind nine tenths
 * of what there is. A page at depth is behind a cursor that was walked to.
 */
export async function listFigures(api: OwnApi, records: number): Promise<Figure[]> {
  const { id } = await api.call('POST', '/v1/dns/zones', { name: `list-${crypto.randomUUID().slice(0, 8)}.test` })
  try {
    const startedAt = performance.now()
    await fillZone(api.hub, id, records)
    const figures: Figure[] = [{ name: `fill with ${records} records`, value: (performance.now() - startedAt) / 1000, unit: 's' }]
    const list = (query: string) => api.call('GET', `/v1/dns/zones/${id}/records?${query}`)
    for (const { name, query, share } of long) {
      const page = `limit=${pageSize}&${query}`
      const skipped = Math.floor(records * share * depth)
      const cursor = await walked(list, query, skipped)
      figures.push(...(await times(`${name}, first page`, () => list(page))))
      figures.push(...(await times(`${name}, behind ${skipped}`, () => list(`${page}&cursor=${cursor}`))))
    }
    for (const { name, query } of short)
      figures.push(...(await times(name, n => list(`limit=${pageSize}&${query((n * 7919) % records)}`))))
    return figures
  } finally {
    await removeZone(api.hub, id)
  }
}

type List = (query: string) => Promise<{ data: unknown[]; pagination: { next_cursor: string | null } }>

/** The cursor behind so many records. */
async function walked(list: List, query: string, skipped: number): Promise<string> {
  let cursor = ''
  for (let left = skipped; left > 0;) {
    const { data, pagination } = await list(`limit=${Math.min(left, 1000)}&fields=id&${query}${cursor && `&cursor=${cursor}`}`)
    if (pagination.next_cursor === null) break
    cursor = pagination.next_cursor
    left -= data.length
  }
  return cursor
}

async function times(name: string, ask: (n: number) => Promise<unknown>): Promise<Figure[]> {
  const took: number[] = []
  for (let n = 0; n < pagesAsked; n++) {
    const startedAt = performance.now()
    await ask(n)
    took.push(performance.now() - startedAt)
  }
  took.sort((a, b) => a - b)
  return [
    { name: `${name}, p50`, value: took[pagesAsked / 2]!, unit: 'ms' },
    { name: `${name}, p99`, value: took[Math.floor(pagesAsked * 0.99)]!, unit: 'ms' },
  ]
}
