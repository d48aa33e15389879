import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { entryOf, resourceTypes, type ResourceType } from '../../../registry'
import { call, type Page, type Query } from '../../client'
import { resourcePath } from '../../pages'
import { useDebounced } from '../../parts/debounced'
import { nameIn } from '../../parts/name-in'
import { capitalize } from '../../parts/status'
import { formatDate } from '../../parts/time'
import { useOne } from '../../queries'
import { usePerson } from '../../session'
import { verbs, verbsIn, type Fields } from './verbs'

/** A resource that the palette can open. */
export interface Found {
  id: string
  type: ResourceType
  name: string
  /** Tells it apart from others of the same name: its zone, target, email address, or date. */
  detail: string | null
  to: string
  fields: Fields
  /** Whether it was found by the current text, also in fields that aren’t shown. */
  isMatch: boolean
}

/** How the palette finds resources of a type. */
interface Source {
  type: ResourceType
  path: string
  fields: readonly string[]
  /** The search parameters for some words. Null if it can’t find them. */
  search(terms: readonly string[]): Query | null
  name(resource: Fields): string
  /** Path of its page. Null leaves it out. */
  to(resource: Fields): string | null
  /** There are so few that the list has no pages: all of them are read. */
  isWhole?: true
}

const maxResults = 10
/** More results that only resemble the text, because the browser picks the best. */
const maxSimilar = 30
const debounceMs = 150

const details: Partial<Record<ResourceType, { fields: readonly string[]; text(resource: Fields): string | null }>> = {
  monitor: { fields: ['target'], text: one => (one.target as string | null) || null },
  incident: { fields: ['started_at'], text: one => `Started ${formatDate(one.started_at as string)}` },
  webhook_endpoint: { fields: ['url'], text: one => (one.description ? (one.url as string) : null) },
  record: {
    fields: ['type', 'content', 'zone'],
    text: one => `${String(one.type)} ${String(one.content)} in ${String(one.zone)}`,
  },
  user: { fields: ['email'], text: one => one.email as string },
}

const named = (type: ResourceType): Source | [] => {
  const { path, page, namedBy } = entryOf(type)
  if (!path || !page || !namedBy) return []
  return {
    type,
    path,
    fields: [...namedBy, 'created_at'],
    search: terms => ({ q: terms.join(' ') }),
    name: one => nameIn(one) ?? one.id,
    to: one => resourcePath(one.id),
  }
}

const whole = (type: ResourceType): Source => ({
  type,
  path: entryOf(type).path!,
  fields: ['name', 'created_at'],
  search: () => ({}),
  isWhole: true,
  name: one => one.name as string,
  to: one => resourcePath(one.id),
})

const sources: readonly Source[] = [
  ...resourceTypes.flatMap(named),
  {
    type: 'record',
    path: entryOf('record').path!,
    fields: ['name', 'fqdn', 'zone_id', 'created_at'],
    search: terms => (terms.some(term => term.includes('*')) ? null : { q: `${terms.join('.')}*` }),
    name: one => one.fqdn as string,
    to: one => `/dns/zones/${String(one.zone_id)}?q=${encodeURIComponent(String(one.name))}`,
  },
  {
    type: 'user',
    path: entryOf('user').path!,
    fields: ['name'],
    search: terms => ({ q: terms.join(' ') }),
    name: one => one.name as string,
    to: one => `/members?q=${encodeURIComponent(String(one.email))}`,
  },
  // The built-in name server is one of the pages of providers.
  whole('dns_provider'),
  whole('registrar_account'),
  whole('cloud_account'),
]

const fieldsOf = ({ type, fields }: Source) =>
  [
    ...new Set([
      'id',
      ...fields,
      ...(details[type]?.fields ?? []),
      ...verbs.flatMap(one => (one.type === type ? (one.fields ?? []) : [])),
    ]),
  ].join()

/** Finds resources whose names or other texts contain the words, or resemble them if there are none. */
export function useFound(text: string): { found: Found[]; isLoading: boolean } {
  const { canReadAccount, canWrite } = usePerson()
  const wanted = text.trim()
  const q = useDebounced(wanted, debounceMs)
  const { found: asked, rest } = verbsIn(q)
  const own = sources.filter(one => canReadAccount || entryOf(one.type).area !== 'account')
  const terms = rest.split(' ').filter(Boolean)
  const listed = (query: (source: Source) => Query | null) => own.map(source => (q === '' ? null : query(source)))
  const exact = useLists(
    own,
    listed(source => source.search(terms.length > 0 ? terms : [q])),
    maxResults,
  )
  // For a verb without a name, offers what it is for.
  const offered = useLists(
    own,
    listed(source => {
      const verb = canWrite && terms.length === 0 && asked.find(one => one.type === source.type)
      return verb ? (verb.query ?? {}) : null
    }),
    maxResults,
  )
  const similar = terms.filter(term => term.length > similarLength).map(term => term.slice(0, similarLength))
  const isMissing = !exact.isLoading && !exact.found.some(one => one.isMatch) && similar.length > 0
  const others = useLists(
    own,
    listed(source => (isMissing && source.type !== 'record' ? source.search(similar) : null)),
    maxSimilar,
  )
  const isCurrent = q === wanted
  const found = [
    ...exact.found.map(one => ({ ...one, isMatch: isCurrent && one.isMatch && asked.length === 0 })),
    ...offered.found,
    ...others.found,
  ]
  return {
    found: [...new Map(found.toReversed().map(one => [one.id, one])).values()].toReversed(),
    isLoading: !isCurrent || [exact, offered, others].some(one => one.isLoading),
  }
}

// Most typos are after the first letters of a word.
const similarLength = 2

/** The results of all queries. Those of the previous text are kept until the new ones have loaded. */
function useLists(own: readonly Source[], queries: readonly (Query | null)[], limit: number) {
  return useQueries({
    queries: own.map((source, at) => {
      const query = { ...queries[at], ...(!source.isWhole && { limit }), fields: fieldsOf(source) }
      return {
        queryKey: [source.path, query],
        queryFn: ({ signal }: { signal: AbortSignal }) => call<Page<Fields>>({ method: 'GET', path: source.path, query }, signal),
        enabled: queries[at] !== null,
        placeholderData: keepPreviousData<Page<Fields>>,
      }
    }),
    combine: results => ({
      isLoading: results.some((one, at) => queries[at] !== null && (one.isPending || one.isPlaceholderData)),
      found: own.flatMap((source, at) => {
        const { data, isPlaceholderData } = results[at]!
        if (queries[at] === null || !data) return []
        return data.data.flatMap(one => foundOf(source, one, !isPlaceholderData && limit === maxResults && 'q' in queries[at]!))
      }),
    }),
  })
}

function foundOf({ type, name, to }: Source, fields: Fields, isMatch: boolean): Found | [] {
  const path = to(fields)
  if (path === null) return []
  return { id: fields.id, type, name: name(fields), detail: details[type]?.text(fields) ?? null, to: path, fields, isMatch }
}

/** The resource with this id. Null while it loads, and if the palette doesn’t find such resources. */
export function useFoundById(id: string | null): Found | null {
  const source = id === null ? undefined : sources.find(one => entryOf(one.type).prefix === id.slice(0, id.indexOf('_')))
  const { data } = useOne<Fields>(source ? `${source.path}/${id}` : null, source && { fields: fieldsOf(source) })
  const [found = null] = source && data ? [foundOf(source, data, false)].flat() : []
  return found
}

/** What the palette shows next to a name: the type. */
export const kindOf = (type: ResourceType): string => (type === 'user' ? 'Member' : capitalize(entryOf(type).name))
