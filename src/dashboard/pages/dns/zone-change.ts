import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { PlanView } from '../../../features/dns/plans/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { call, type Call } from '../../client'
import { toast } from '../../parts/toast'
import { invalidatePath } from '../../queries'

interface RrsetName {
  name: string
  type: string
}

interface ZoneChange {
  call: Call
  /** Message of the toast. */
  done: string
  /** Names and types the change touches, which undo restores; null for the whole zone. */
  rrsets: readonly RrsetName[] | null
}

const maxRrsetsUndone = 1000

/**
 * Changes records of a zone and offers to undo the change, which restores the touched names and types.
 * Throws errors for the caller to display.
 */
export function useZoneChange(zone: Pick<ZoneView, 'id'>) {
  const client = useQueryClient()
  const [isPending, setPending] = useState(false)
  const path = `/dns/zones/${zone.id}`
  const refresh = () => Promise.all(['/dns/zones', '/dns/records'].map(one => invalidatePath(client, one)))
  const change = async <Result>({ call: request, done, rrsets }: ZoneChange): Promise<Result> => {
    setPending(true)
    try {
      const { version } = await call<ZoneView>({ method: 'GET', path })
      const result = await call<Result>(request)
      const selection = rrsets && rrsets.length <= maxRrsetsUndone ? { rrsets: unique(rrsets) } : {}
      toast.success(done, {
        undo: async () => {
          const body = { version, ...selection, apply: true, note: `Undo: ${done}`.slice(0, 500) }
          const plan = await call<PlanView>({ method: 'POST', path: `${path}/revert`, body })
          await refresh()
          if (plan.status !== 'applied') throw new Error(plan.blocked.map(one => one.detail).join(' '))
        },
      })
      await refresh()
      return result
    } finally {
      setPending(false)
    }
  }
  return { change, isPending }
}

const unique = (rrsets: readonly RrsetName[]): RrsetName[] => [
  ...new Map(rrsets.map(({ name, type }) => [`${name} ${type}`, { name, type }])).values(),
]
