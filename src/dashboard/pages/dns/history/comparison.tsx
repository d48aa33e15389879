import { X } from 'lucide-react'
import type { ZoneDiffView } from '../../../../features/dns/history/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { Input } from '../../../parts/input'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ChangedRrsets } from './changed-rrsets'

interface ComparisonProps {
  zone: ZoneView
  /** Versions, as in the URL. An empty `to` is the current version. */
  from: string
  to: string
  onChange(changed: { from?: string; to?: string }): void
  onRevert(version: number): void
}

/** Comparison of two versions of a zone. */
export function Comparison({ zone, from, to, onChange, onRevert }: ComparisonProps) {
  const { canWrite } = usePerson()
  const found = useOne<ZoneDiffView>(`/dns/zones/${zone.id}/diff`, { from, to }, { keepPrevious: true })
  const labelOf = (at: { version: number; serial: number }) => `Version ${at.version}, serial ${at.serial}`
  return (
    <Card
      title="Compare"
      className="mb-4"
      actions={
        <>
          <Version label="From version" value={from} max={zone.version} onChange={value => onChange({ from: value || '1' })} />
          <Version label="to" value={to} max={zone.version} placeholder="current" onChange={value => onChange({ to: value })} />
          {canWrite && to === '' && Number(from) < zone.version && (
            <Button small onClick={() => onRevert(Number(from))}>
              Restore version {from}…
            </Button>
          )}
          <Button small kind="quiet" aria-label="Close comparison" icon={X} onClick={() => onChange({ from: '', to: '' })} />
        </>
      }
    >
      {found.error ? (
        <Problem error={found.error} />
      ) : found.data ? (
        <ChangedRrsets {...found.data} beforeLabel={labelOf(found.data.from)} afterLabel={labelOf(found.data.to)} />
      ) : (
        <div className="h-24 animate-pulse rounded-md bg-hover" />
      )}
    </Card>
  )
}

interface VersionProps {
  label: string
  value: string
  max: number
  placeholder?: string
  onChange(value: string): void
}

const Version = ({ label, value, max, placeholder, onChange }: VersionProps) => (
  <label className="flex items-center gap-1.5 text-[13px] text-muted">
    {label}
    <Input type="number" min={1} max={max} value={value} placeholder={placeholder} onText={onChange} className="h-7 max-w-20" />
  </label>
)
