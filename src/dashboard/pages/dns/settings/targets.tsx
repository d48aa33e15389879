import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { TargetView } from '../../../../features/dns/targets/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { Select } from '../../../parts/input'
import { confirm } from '../../../parts/open-dialog'
import { Card } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { useProviderNames } from '../provider-names'
import { Throttled } from '../throttled'

/** Sync targets of a zone: list, add and remove. */
export function Targets({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const nameOf = useProviderNames()
  const found = useOne<{ data: TargetView[] }>(`/dns/zones/${zone.id}/targets`, {}, { refetchMs: 15_000 })
  const targets = found.data?.data ?? zone.sync.targets
  const remove = ({ id, provider_id }: TargetView) =>
    confirm({
      title: `Remove sync target ${nameOf(provider_id)}?`,
      text: 'The records at the provider are kept, but are no longer synced or checked for drift.',
      action: 'Remove target',
      call: { method: 'DELETE', path: `/dns/zones/${zone.id}/targets/${id}` },
      send: { toast: 'Sync target removed', invalidates: ['/dns/zones'] },
    })
  return (
    <Card title="Sync targets">
      <ul className="divide-y divide-line">
        <li className="flex items-center gap-3 pb-2">
          <span className="grow font-medium">Built-in name server</span>
          <span className="text-muted">{zone.served ? 'enabled' : 'disabled'}</span>
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
            <Status status={one.state} />
            <span className="text-[13px] text-muted">
              checked <RelativeTime at={one.checked_at} fallback="never" />
            </span>
            {canWrite && (
              <Button small kind="danger" onClick={() => remove(one)}>
                Remove
              </Button>
            )}
            <Throttled target={one} />
            {one.error && <p className="w-full text-[13px] text-bad wrap-anywhere">{one.error.detail}</p>}
          </li>
        ))}
      </ul>
      {canWrite && <AddTarget zone={zone} />}
    </Card>
  )
}

function AddTarget({ zone }: { zone: ZoneView }) {
  const { data } = useOne<{ data: { id: string; name: string; kind: string }[] }>('/dns/providers')
  const available = (data?.data ?? []).filter(
    one => one.kind !== 'builtin' && !zone.sync.targets.some(target => target.provider_id === one.id),
  )
  const [selected, setSelected] = useState('')
  const add = useSend({
    toast: 'Sync target added. Its records are being read.',
    invalidates: ['/dns/zones'],
    onSuccess: () => setSelected(''),
  })
  // While they load, the form keeps its place.
  if (data && available.length === 0) {
    return (
      <p className="mt-2 text-[13px] text-muted">
        To sync this zone to another provider,{' '}
        <Link to="/dns/providers" className="text-accent underline">
          add a provider
        </Link>{' '}
        first.
      </p>
    )
  }
  return (
    <form
      className="mt-2 flex flex-wrap gap-2"
      onSubmit={event => {
        event.preventDefault()
        add.mutate({ method: 'POST', path: `/dns/zones/${zone.id}/targets`, body: { provider_id: selected } })
      }}
    >
      <Select
        aria-label="Provider to add"
        value={selected}
        onText={setSelected}
        choices={[['', 'Choose a provider'], ...available.map(one => [one.id, one.name] as const)]}
        className="h-9 flex-1"
      />
      <Button type="submit" disabled={selected === '' || add.isPending}>
        Add sync target
      </Button>
    </form>
  )
}
