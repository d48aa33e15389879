import type { Figure } from './bench'
import { nameNumber } from './dns-fill'
import type { InProcessApi } from './in-process-api'

const pagesPerList = 100
const pageSize = 100
const depth = 0.9

/** Long lists, with their share of all records. */
const longLists: { name: string; query: string; share: number }[] = [
  { name: 'all', query: '', share: 1 },
  { name: 'name h*', query: 'name=h*', share: 1 },
  { name: 'name *.dev', query: 'name=*.dev', share: 0.5 },
  { name: 'type', query: 'type=A', share: 1 },
  { name: 'content 10.0.*', query: 'content=10.0.*', share: 1 },
]

/** Lists filtered to a few records. */
const shortLists: { name: string; query(n: number): string }[] = [
  { name: 'name', query: n => `name=${nameNumber(n)}` },
  { name: 'q', query: n => `q=${nameNumber(n)}` },
  { name: 'q of 100 names', query: n => `q=${nameNumber(n).slice(0, 6)}*` },
]

/** Measures pages of the lists of a filled zone: first pages, and pages after 90% of the records. */
export async function listFigures(api: InProcessApi, id: string, records: number): Promise<Figure[]> {
  const figures: Figure[] = []
  const list = (query: string) => api.call('GET', `/v1/dns/zones/${id}/records?${query}`)
  for (const { name, query, share } of longLists) {
    const page = `limit=${pageSize}&${query}`
    const skipped = Math.floor(records * share * depth)
    const cursor = await cursorAfter(list, query, skipped)
    figures.push(...(await listTimes(`${name}, first page`, () => list(page))))
    figures.push(...(await listTimes(`${name}, after ${skipped}`, () => list(`${page}&cursor=${cursor}`))))
  }
  for (const { name, query } of shortLists)
    figures.push(...(await listTimes(name, n => list(`limit=${pageSize}&${query((n * 7919) % records)}`))))
  return figures
}

type List = (query: string) => Promise<{ data: unknown[]; pagination: { next_cursor: string | null } }>

/** Pages through a list to get the cursor after that many records. */
async function cursorAfter(list: List, query: string, skipped: number): Promise<string> {
  let cursor = ''
  for (let remaining = skipped; remaining > 0;) {
    const { data, pagination } = await list(
      `limit=${Math.min(remaining, 1000)}&fields=id&${query}${cursor && `&cursor=${cursor}`}`,
    )
    if (pagination.next_cursor === null) break
    cursor = pagination.next_cursor
    remaining -= data.length
  }
  return cursor
}

/** Requests pages of a list. */
export async function listTimes(name: string, request: (n: number) => Promise<unknown>): Promise<Figure[]> {
  const durations: number[] = []
  for (let n = 0; n < pagesPerList; n++) {
    const startedAt = performance.now()
    await request(n)
    durations.push(performance.now() - startedAt)
  }
  durations.sort((a, b) => a - b)
  return [
    { name: `${name}, p50`, value: durations[pagesPerList / 2]!, unit: 'ms' },
    { name: `${name}, p99`, value: durations[Math.floor(pagesPerList * 0.99)]!, unit: 'ms' },
  ]
}
