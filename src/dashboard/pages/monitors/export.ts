import { useQuery } from '@tanstack/react-query'
import { call, type ApiError } from '../../client'
import { saveFile } from '../../parts/files'
import { toast } from '../../parts/toast'

const types = { yaml: 'application/yaml', json: 'application/json' } as const

const exported = (format: keyof typeof types, monitor?: string): Promise<string> =>
  call<string>({ method: 'GET', path: '/monitoring/export', query: { format, monitor }, accept: types[format] })

/** One monitor as an import document. */
export const useExport = (id: string) =>
  useQuery<string, ApiError>({ queryKey: ['/monitoring/export', { monitor: id }], queryFn: () => exported('yaml', id) })

/** Downloads all monitors and maintenance windows as an import document. */
export async function exportAll(format: keyof typeof types): Promise<void> {
  try {
    saveFile(await exported(format), `monitoring.${format}`, types[format])
  } catch (error) {
    toast.error(error)
  }
}
