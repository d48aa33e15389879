import { X } from 'lucide-react'
import type { ZoneDiffView } from '../../../../features/dns/history/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Button } from '../../../parts/button'
import { inputLook } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ChangedRrsets } from './changed-rrsets'

interface ComparisonProps {
  zone: ZoneView
  /** Versions, as they stand in the address; `to` empty is now. */
  from: string
  to: string
  onChange(changed: { from?: string; to?: string }): void
  onRevert(version: number): void
}

/** Two versions of a zone beside each other. */
export function Comparison({ zone, from, to, onChange, onRevert }: ComparisonProps) {
  const { mayWrite } = usePerson()
  const found = useOne<ZoneDiffView>(`/dns/zones/${zone.id}/diff`, { from, to }, { keep: true })
  const wordsOf = (at: { version: number; serial: number }) => `Version ${at.version}, serial ${at.serial}`
  return (
    <Card
      title="Compare"
      className="mb-4"
      actions={
        <>
          <Version label="From version" value={from} most={zone.version} onChange={value => onChange({ from: value || '1' })} />
          <Version label="to" value={to} most={zone.version} placeholder="now" onChange={value => onChange({ to: value })} />
          {mayWrite && to === '' && Number(from) < zone.version && (
            <Button small onClick={() => onRevert(Number(from))}>
              Go back to {from}…
            </Button>
          )}
          <Button
            small
            kind="quiet"
            aria-label="Close the comparison"
            icon={<X className="size-4" aria-hidden />}
            onClick={() => onChange({ from: '', to: '' })}
          />
        </>
      }
    >
      {found.error ? (
        <Problem error={found.error} />
      ) : found.data ? (
        <ChangedRrsets {...found.data} beforeLabel={wordsOf(found.data.from)} afterLabel={wordsOf(found.data.to)} />
      ) : (
        <div className="h-24 animate-pulse rounded-md bg-hover" />
      )}
    </Card>
  )
}

interface VersionProps {
  label: string
  value: string
  most: number
  placeholder?: string
  onChange(value: string): void
}

const Version = ({ label, value, most, placeholder, onChange }: VersionProps) => (
  <label className="flex items-center gap-1.5 text-[13px] text-muted">
    {label}
    <input
      type="number"
      min={1}
      max={most}
      value={value}
      placeholder={placeholder}
      onChange={event => onChange(event.target.value)}
      className={`h-7 max-w-20 ${inputLook}`}
    />
  </label>
)
