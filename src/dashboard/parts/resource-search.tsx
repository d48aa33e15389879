import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { entryOfId, resourceEntries } from '../../registry'
import { call, type Page } from '../client'
import { usePerson } from '../session'
import { useDebounced } from './debounced'
import { FilterPicker, type FilterPickerProps } from './filter-picker'
import { nameIn } from './name-in'
import { capitalize } from './status'

type Entry = (typeof resourceEntries)[number]
/** Which types of resources a search finds. */
export type IsSearched = (entry: Entry) => unknown

interface FoundResource {
  id: string
  name: string
  /** “DNS template” */
  kind: string
}

const maxResults = 6
const debounceMs = 150

const fieldsOf = ({ namedBy = [] }: Entry) => ['id', ...namedBy].join()

interface FoundResources {
  found: FoundResource[]
  /** Whether more may follow. */
  isLoading: boolean
}

/** Finds resources whose name contains the text, a few of each type. An empty text finds nothing. */
export function useResourceSearch(text: string, isSearched: IsSearched): FoundResources {
  const { canReadAccount } = usePerson()
  const q = useDebounced(text.trim(), debounceMs)
  const searched = resourceEntries.filter(
    one => one.namedBy && isSearched(one) && (canReadAccount || one.area !== 'account') && q !== '',
  )
  return useQueries({
    queries: searched.map(entry => {
      const query = { q, limit: maxResults, fields: fieldsOf(entry) }
      return {
        queryKey: [entry.path, query],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          call<Page<{ id: string }>>({ method: 'GET', path: entry.path!, query }, signal),
        placeholderData: keepPreviousData,
      }
    }),
    combine: results => ({
      isLoading: q !== text.trim() || results.some(one => one.isPending || one.isPlaceholderData),
      found: searched.flatMap(({ name: kind }, at) => {
        const result = results[at]
        const found = (result?.data?.data ?? []).map(one => ({ id: one.id, name: nameIn(one) ?? one.id, kind: capitalize(kind) }))
        // Of the results of the previous text, show only those that match the new one: Enter picks the first.
        return result?.isPlaceholderData || q !== text.trim() ? found.filter(one => contains(one.name, text.trim())) : found
      }),
    }),
  })
}

const contains = (name: string, text: string): boolean => name.toLowerCase().includes(text.toLowerCase())

/** The names of resources by id, of those that exist. */
export const useResourceNames = (ids: readonly string[]): ReadonlyMap<string, string> =>
  useQueries({
    queries: ids.map(id => {
      const entry = entryOfId(id)
      const path = `${entry?.path}/${id}`
      const query = { fields: entry ? fieldsOf(entry) : '' }
      return {
        queryKey: [path, query],
        queryFn: ({ signal }: { signal: AbortSignal }) => call<{ id: string }>({ method: 'GET', path, query }, signal),
        enabled: entry?.namedBy !== undefined,
      }
    }),
    combine: results => new Map(results.flatMap(({ data }) => (data ? [[data.id, nameIn(data) ?? data.id] as const] : []))),
  })

/** A filter by a resource, found by name. @param isSearched types of resources that it finds */
export const resourcePicker = (isSearched: IsSearched) =>
  function ResourcePicker(props: FilterPickerProps) {
    const [text, setText] = useState('')
    const { found } = useResourceSearch(text, isSearched)
    const names = useResourceNames(props.value === '' ? [] : [props.value])
    return (
      <FilterPicker
        {...props}
        shown={names.get(props.value) ?? props.value}
        placeholder="Search by name"
        text={text}
        onText={setText}
        options={found.map(({ id, name, kind }) => ({ key: id, label: name, kind }))}
      />
    )
  }

/** A filter by the resource that events are about. */
export const EventResourcePicker = resourcePicker(one => one.hasEvents)
