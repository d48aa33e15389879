import type { CertificateGapView } from '../../../features/coverage/shapes'
import { ListCard } from '../../parts/list-card'
import { Status } from '../../parts/status'
import { useList } from '../../queries'
import { showGap } from './gap-details'
import { gapTitles, severityTitles, toneOfGap } from './gap-text'

/** The open and acknowledged gaps of a certificate, with their details in a dialog. Empty without gaps. */
export function CertificateGaps({ ids }: { ids: readonly string[] }) {
  const path = ids.length > 0 ? '/certificate-gaps' : null
  const { rows } = useList<CertificateGapView>(path, { ids: ids.join(','), sort: 'severity' })
  if (rows.length === 0) return null
  return (
    <ListCard title="Gaps" rows={rows} keyOf={one => one.id}>
      {one => (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Status status={one.severity} tone={toneOfGap(one)} label={severityTitles[one.severity]} />
          <button
            type="button"
            className="min-w-0 text-left wrap-anywhere text-accent hover:underline"
            onClick={() => showGap(one)}
          >
            {gapTitles[one.kind]}: {one.name}
          </button>
        </div>
      )}
    </ListCard>
  )
}
