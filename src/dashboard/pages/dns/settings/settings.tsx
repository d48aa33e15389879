import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { Confirm } from '../../../parts/dialog'
import { Card } from '../../../parts/page'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { SyncSettingsForm, policiesOf } from './sync-settings-form'
import { SoaForm } from './soa-form'
import { Targets } from './targets'

// The keys reset a form when its settings are changed elsewhere, but not on every record change.

/** Settings tab of a zone: sync targets, sync settings, SOA, and deletion. */
export default function ZoneSettings({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  return (
    <ZoneFrame zone={zone}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex flex-col gap-4">
          <Targets zone={zone} />
          <SoaForm key={JSON.stringify([zone.soa, zone.default_ttl])} zone={zone} />
        </div>
        <div className="flex flex-col gap-4">
          <SyncSettingsForm key={JSON.stringify(policiesOf(zone))} zone={zone} />
          {canWrite && <PauseOrDelete zone={zone} />}
        </div>
      </div>
    </ZoneFrame>
  )
}

function PauseOrDelete({ zone }: { zone: ZoneView }) {
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  const path = `/dns/zones/${zone.id}`
  const isPaused = zone.status === 'paused'
  const status = useSend({
    toast: isPaused ? 'Zone resumed' : 'Zone paused',
    invalidates: ['/dns/zones'],
    undo: () => ({ method: 'PATCH', path, body: { status: zone.status } }),
  })
  return (
    <Card title="Pause or delete">
      <p className="text-muted">A paused zone keeps its records but isn’t served or synced.</p>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          disabled={status.isPending}
          onClick={() => status.mutate({ method: 'PATCH', path, body: { status: isPaused ? 'active' : 'paused' } })}
        >
          {isPaused ? 'Resume zone' : 'Pause zone'}
        </Button>
        <Button kind="danger" onClick={() => setConfirming(true)}>
          Delete zone
        </Button>
      </div>
      <Confirm
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${zone.unicode_name}?`}
        confirmLabel="Delete zone"
        typeToConfirm={zone.name}
        call={() => ({ method: 'DELETE', path })}
        send={{
          toast: `Zone ${zone.unicode_name} deleted`,
          onSuccess: () => void navigate({ to: '/dns' }),
          invalidates: ['/dns/zones'],
        }}
      >
        This deletes the zone with its {zone.record_count.toLocaleString()} records and its history. The built-in name server
        stops answering for it. Records at providers are kept. This can’t be undone.
      </Confirm>
    </Card>
  )
}
