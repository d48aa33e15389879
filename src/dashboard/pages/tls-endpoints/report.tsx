import { useState } from 'react'
import type { TlsGradeView } from '../../../features/tls-endpoints/grades/shapes'
import { Card } from '../../parts/page'
import { Meter } from '../../parts/meter'
import { ToggleGroup } from '../../parts/toggle-group'
import { AddressDetails } from './address-report'
import { GradeBadge, gradeMeaning } from './grade'
import { Reasons } from './reasons'

/** What a scan found, without what was scanned. */
type Report = Omit<TlsGradeView, 'host' | 'port' | 'protocol' | 'servername' | 'scanned_at' | 'duration_ms'>

const parts = [
  ['protocol', 'Protocols', '30 %'],
  ['key_exchange', 'Key exchange', '30 %'],
  ['cipher', 'Ciphers', '40 %'],
] as const

const profileTexts = {
  modern: 'Meets Mozilla’s “modern” configuration.',
  intermediate: 'Meets Mozilla’s “intermediate” configuration.',
  old: 'Meets Mozilla’s “old” configuration.',
  none: 'Meets none of Mozilla’s configurations.',
} as const

/** The report of a scan: the grade, what to change, and what was found. */
export function TlsReport({ report, protocol }: { report: Report; protocol: string }) {
  const { addresses } = report
  const worst = addresses.find(one => one.grade === report.grade) ?? addresses[0]
  const [chosen, choose] = useState<string | null>(null)
  const shown = addresses.find(one => one.address === chosen) ?? worst
  return (
    <>
      <Summary report={report} />
      {report.grade !== null && <Reasons reasons={report.reasons} protocol={protocol} />}
      {addresses.length > 1 && (
        <Card title="Addresses">
          <ToggleGroup
            label="Address"
            value={shown?.address ?? ''}
            onChange={choose}
            choices={addresses.map(one => [one.address, `${one.address} (${one.grade ?? 'failed'})`] as const)}
          />
          {shown?.error && <p className="mt-2 text-bad">{shown.error}</p>}
        </Card>
      )}
      {shown && shown.grade !== null && <AddressDetails key={shown.address} report={shown} />}
    </>
  )
}

function Summary({ report: { grade, score, parts: points, profile, opportunistic, error } }: { report: Report }) {
  if (grade === null || points === null)
    return (
      <Card title="Grade">
        <p className="text-bad">{error ?? 'The server could not be scanned.'}</p>
      </Card>
    )
  const meaning = gradeMeaning(grade)
  return (
    <Card title="Grade">
      <div className="flex flex-wrap items-center gap-6">
        <div className="flex items-center gap-4">
          <GradeBadge grade={grade} large />
          <div>
            <div className="text-2xl font-semibold">{score} of 100</div>
            {meaning && <div className="text-bad">Certificate {meaning}</div>}
          </div>
        </div>
        <dl className="grid min-w-0 grow basis-64 grid-cols-[auto_minmax(4rem,1fr)_auto] items-center gap-x-3 gap-y-1.5">
          {parts.map(([name, label, weight]) => (
            <div key={name} className="contents">
              <dt>
                {label} <span className="text-muted">({weight})</span>
              </dt>
              <dd>
                <Meter label={label} value={points[name]} max={100} isGood />
              </dd>
              <dd className="text-right tabular-nums">{points[name]}</dd>
            </div>
          ))}
        </dl>
      </div>
      <p className="mt-3 text-muted">
        {profile && profileTexts[profile]}
        {opportunistic && ' Encryption starts with a command, which attackers on the network can suppress (STARTTLS).'}
      </p>
    </Card>
  )
}
