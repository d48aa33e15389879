import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { TargetView } from '../../../../features/dns/sync/sync-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Button } from '../../../parts/button'
import { Confirm } from '../../../parts/dialog'
import { Card } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { useProviderNames } from '../provider-names'

/** The providers that a zone is kept at beside the hub: to add one, and to let go of one. */
export function Targets({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const nameOf = useProviderNames()
  const [leaving, setLeaving] = useState<TargetView | null>(null)
  const path = `/dns/zones/${zone.id}/targets`
  const remove = useSend({ done: 'Kept there no longer', stale: ['/dns/zones'], onDone: () => setLeaving(null) })
  const { targets } = zone.sync
  return (
    <Card title="Kept at">
      <ul className="divide-y divide-line">
        <li className="flex items-center gap-3 pb-2">
          <span className="grow font-medium">This hub</span>
          <span className="text-muted">{zone.served ? 'answers for it' : 'does not answer for it'}</span>
        </li>
        {targets.map(one => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
            <Link
              to="/dns/providers/$id"
              params={{ id: one.provider_id }}
              className="min-w-0 grow font-medium wrap-anywhere hover:underline"
            >
              {nameOf(one.provider_id)}
            </Link>
            <Status state={one.state} />
            <span className="text-[13px] text-muted">
              read <Ago at={one.checked_at} />
            </span>
            {mayWrite && (
              <Button small kind="bad" onClick={() => setLeaving(one)}>
                Let go
              </Button>
            )}
            {one.error && <p className="w-full text-[13px] text-bad wrap-anywhere">{one.error.detail}</p>}
          </li>
        ))}
      </ul>
      {mayWrite && <Adding zone={zone} />}
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={`Keep it at ${leaving ? nameOf(leaving.provider_id) : ''} no longer?`}
        action="Let go"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path: `${path}/${leaving!.id}` })}
      >
        What is there stays there, and is not looked at any more.
      </Confirm>
    </Card>
  )
}

function Adding({ zone }: { zone: ZoneView }) {
  const { data } = useOne<{ data: { id: string; name: string; kind: string }[] }>('/dns/providers')
  const others = data?.data.filter(
    one => one.kind !== 'builtin' && !zone.sync.targets.some(target => target.provider_id === one.id),
  )
  const [chosen, setChosen] = useState('')
  const add = useSend({
    done: 'Kept there too; it is being read',
    stale: ['/dns/zones'],
    onDone: () => setChosen(''),
  })
  if (!others || others.length === 0) {
    return (
      <p className="mt-2 text-[13px] text-muted">
        Other providers are added{' '}
        <Link to="/dns/providers" className="text-accent underline">
          with their accounts
        </Link>
        .
      </p>
    )
  }
  return (
    <form
      className="mt-2 flex flex-wrap gap-2"
      onSubmit={event => {
        event.preventDefault()
        add.mutate({ method: 'POST', path: `/dns/zones/${zone.id}/targets`, body: { provider_id: chosen } })
      }}
    >
      <select
        aria-label="Provider to add"
        value={chosen}
        onChange={event => setChosen(event.target.value)}
        className="h-9 min-w-0 grow rounded-md border border-strong-line bg-surface px-2"
      >
        <option value="">Choose a provider</option>
        {others.map(one => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
      <Button type="submit" disabled={chosen === '' || add.isPending}>
        Keep it there too
      </Button>
    </form>
  )
}
