import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { PlanView } from '../../../features/dns/sync/shapes'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { call, type Call } from '../../client'
import { toast } from '../../parts/toast'
import { staleAt } from '../../queries'

export interface RrsetName {
  name: string
  type: string
}

interface ZoneChange {
  call: Call
  /** What the toast says. */
  done: string
  /** What it touches, and undoing puts back; null is the whole zone. */
  rrsets: readonly RrsetName[] | null
}

const mostUndone = 1000

/**
 * Changes records of a zone, and offers to take it back: the names and types that were touched become as they were before.
 * Errors are thrown for whoever asks to tell them.
 */
export function useZoneChange(zone: Pick<ZoneView, 'id'>) {
  const client = useQueryClient()
  const [isPending, setPending] = useState(false)
  const path = `/dns/zones/${zone.id}`
  const afresh = () => Promise.all(['/dns/zones', '/dns/records'].map(one => staleAt(client, one)))
  const change = async <Answer>({ call: asked, done, rrsets }: ZoneChange): Promise<Answer> => {
    setPending(true)
    try {
      const { version } = await call<ZoneView>({ method: 'GET', path })
      const answer = await call<Answer>(asked)
      const again = rrsets && rrsets.length <= mostUndone ? { rrsets: unique(rrsets) } : {}
      toast.done(done, async () => {
        const body = { version, ...again, apply: true, note: `Undone: ${done}`.slice(0, 500) }
        const plan = await call<PlanView>({ method: 'POST', path: `${path}/revert`, body })
        await afresh()
        if (plan.status !== 'applied') throw new Error(plan.blocked.map(one => one.detail).join(' '))
      })
      await afresh()
      return answer
    } finally {
      setPending(false)
    }
  }
  return { change, isPending }
}

const unique = (rrsets: readonly RrsetName[]): RrsetName[] => [
  ...new Map(rrsets.map(({ name, type }) => [`${name} ${type}`, { name, type }])).values(),
]
