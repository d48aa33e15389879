import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Button } from '../../../parts/button'
import { Confirm } from '../../../parts/dialog'
import { Card } from '../../../parts/page'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { KeepingForm, policiesOf } from './keeping-form'
import { SoaForm } from './soa-form'
import { Targets } from './targets'

// A form begins anew when somebody else has changed what it is about, and not with each change of a record.

/** What holds for a whole zone: where it is kept, how changes get there, its SOA; and its end. */
export default function ZoneSettings({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  return (
    <ZoneFrame zone={zone}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex flex-col gap-4">
          <Targets zone={zone} />
          <SoaForm key={JSON.stringify([zone.soa, zone.default_ttl])} zone={zone} />
        </div>
        <div className="flex flex-col gap-4">
          <KeepingForm key={JSON.stringify(policiesOf(zone))} zone={zone} />
          {mayWrite && <End zone={zone} />}
        </div>
      </div>
    </ZoneFrame>
  )
}

function End({ zone }: { zone: ZoneView }) {
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const path = `/dns/zones/${zone.id}`
  const isPaused = zone.status === 'paused'
  const status = useSend({
    done: isPaused ? 'Zone resumed' : 'Zone paused',
    stale: ['/dns/zones'],
    undo: () => ({ method: 'PATCH', path, body: { status: zone.status } }),
  })
  const remove = useSend({
    done: `Zone ${zone.unicode_name} deleted`,
    onDone: () => void navigate({ to: '/dns' }),
    stale: ['/dns/zones'],
  })
  return (
    <Card title="Pause or delete">
      <p className="text-muted">A zone that is paused is kept here, served by nobody here, and brought nowhere.</p>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          disabled={status.isPending}
          onClick={() => status.mutate({ method: 'PATCH', path, body: { status: isPaused ? 'active' : 'paused' } })}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <Button kind="bad" onClick={() => setAsking(true)}>
          Delete zone
        </Button>
      </div>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${zone.unicode_name}?`}
        action="Delete zone"
        typed={zone.name}
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        Its {zone.record_count.toLocaleString()} records and its history go, and the hub answers for it no more. What providers
        have of it stays there.
      </Confirm>
    </Card>
  )
}
