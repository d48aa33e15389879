import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { confirm } from '../../../parts/open-dialog'
import { Card } from '../../../parts/page'
import { pluralize } from '../../../parts/plural'
import { SendButton } from '../../../parts/send-button'
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
  const path = `/dns/zones/${zone.id}`
  const isPaused = zone.status === 'paused'
  const setStatus = (status: ZoneView['status']) => ({ method: 'PATCH', path, body: { status } }) as const
  const remove = () =>
    confirm({
      title: `Delete ${zone.unicode_name}?`,
      action: 'Delete zone',
      typeToConfirm: zone.name,
      call: { method: 'DELETE', path },
      send: { toast: `Zone ${zone.unicode_name} deleted`, invalidates: ['/dns/zones'] },
      next: '/dns',
      text: `This deletes the zone, its ${pluralize(zone.record_count, 'record', 'records')}, and its history. The built-in name server stops answering for it. Records at providers are kept. This can’t be undone.`,
    })
  return (
    <Card title="Pause or delete">
      <p className="text-muted">While a zone is paused, its records are kept, but it isn’t served or synced.</p>
      <div className="mt-4 flex flex-wrap gap-2">
        <SendButton
          call={setStatus(isPaused ? 'active' : 'paused')}
          send={{
            toast: isPaused ? 'Zone resumed' : 'Zone paused',
            undo: () => setStatus(zone.status),
            invalidates: ['/dns/zones'],
          }}
        >
          {isPaused ? 'Resume zone' : 'Pause zone'}
        </SendButton>
        <Button kind="danger" onClick={remove}>
          Delete zone
        </Button>
      </div>
    </Card>
  )
}
