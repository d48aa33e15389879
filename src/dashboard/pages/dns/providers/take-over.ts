import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { call, Refused } from '../../../client'
import { toast } from '../../../parts/toast'
import { staleAt } from '../../../queries'

/** What came of each zone, by its name; a problem is told in words. */
export type Taken = ReadonlyMap<string, { problem: string | null }>

/** Makes zones of a provider zones of this workspace, with the records that are there. */
export function useTakeOver(providerId: string) {
  const client = useQueryClient()
  const [taken, setTaken] = useState<Taken>(new Map())
  const [isPending, setPending] = useState(false)
  const takeOver = async (names: readonly string[]) => {
    setPending(true)
    let done = 0
    // One after the other: each asks the provider.
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
        if (!(error instanceof Refused)) throw error
        problem = [error.message, ...error.errors.map(one => one.detail)].join(' ')
      }
      setTaken(before => new Map(before).set(name, { problem }))
    }
    setPending(false)
    await Promise.all(['/dns/zones', '/dns/providers'].map(one => staleAt(client, one)))
    if (done > 0) toast.done(done === 1 ? `${names[0]} was taken over` : `${done} zones were taken over`)
  }
  return { takeOver, taken, isPending }
}
