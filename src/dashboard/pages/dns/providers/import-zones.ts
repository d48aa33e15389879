import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { call, ApiError } from '../../../client'
import { toast } from '../../../parts/toast'
import { invalidatePath } from '../../../queries'

/** Result of each import by zone name, with an error message if it failed. */
export type ImportOutcomes = ReadonlyMap<string, { problem: string | null }>

/** Imports zones from a provider into the workspace, with their records. */
export function useZoneImport(providerId: string) {
  const client = useQueryClient()
  const [outcomes, setOutcomes] = useState<ImportOutcomes>(new Map())
  const [isPending, setPending] = useState(false)
  const importZones = async (names: readonly string[]) => {
    setPending(true)
    let done = 0
    // One by one: each import queries the provider.
    for (const name of names) {
      let problem: string | null = null
      try {
        const body = { name, provider_id: providerId }
        const zone = await call<ZoneView>({ method: 'POST', path: '/dns/zones', body })
        await call({
          method: 'POST',
          path: `/dns/zones/${zone.id}/import-from`,
          body: { provider_id: providerId, mode: 'replace' },
        })
        done++
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        problem = [error.message, ...error.errors.map(one => one.detail)].join(' ')
      }
      setOutcomes(before => new Map(before).set(name, { problem }))
    }
    setPending(false)
    await Promise.all(['/dns/zones', '/dns/providers'].map(one => invalidatePath(client, one)))
    if (done > 0) toast.success(done === 1 ? `${names[0]} imported` : `${done} zones imported`, { to: '/dns' })
  }
  return { importZones, outcomes, isPending }
}
