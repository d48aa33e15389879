import { useQuery } from '@tanstack/react-query'
import type { OutlinePage } from '../../../docs/outline'
import { readJson } from '../../client'

/** The pages of the handbook with their headings; empty until they have loaded. */
export const useHandbook = (): readonly OutlinePage[] =>
  useQuery({
    queryKey: ['handbook outline'],
    queryFn: ({ signal }) => readJson<OutlinePage[]>('/docs/outline.json', signal),
    staleTime: Infinity,
  }).data ?? noPages

const noPages: readonly OutlinePage[] = []
