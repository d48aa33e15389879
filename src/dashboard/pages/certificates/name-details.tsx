import type { CertificateCoverageView, CertificateGapView } from '../../../features/coverage/shapes'
import { Card, Facts } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status } from '../../parts/status'
import { TextWithCode } from '../../parts/text-with-code'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'
import { ZoneLink } from '../dns/zone-link'
import { IssueButton } from './gap-details'
import { causeTitles, coverTitles, gapTitles, severityTitles, toneOfGap } from './gap-text'
import { TextWithDates } from '../../parts/text-with-dates'

/** The certificate of a name, and its gaps with what to do about them. */
export function NameDetails({ of: one }: { of: CertificateCoverageView }) {
  const gaps = useList<CertificateGapView>('/certificate-gaps', { name: one.name, status: 'open,acknowledged', sort: 'severity' })
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={[
          ['Certificate', coverTitles[one.covered]],
          [
            'Covered by',
            one.certificate_id && <ResourceLink type="certificate" id={one.certificate_id} name="Show certificate" />,
          ],
          ['Expires', one.valid_until && <RelativeTime at={one.valid_until} />],
          ['Source', one.sources.map(source => causeTitles[source]).join(', ')],
          ['Zone', one.zone_id && <ZoneLink id={one.zone_id} />],
        ]}
      />
      {gaps.rows.map(gap => (
        <Card
          key={gap.id}
          title={gapTitles[gap.kind]}
          actions={<Status status={gap.severity} tone={toneOfGap(gap)} label={severityTitles[gap.severity]} />}
        >
          <div className="flex flex-col gap-3">
            <p className="wrap-anywhere">
              <TextWithDates text={gap.detail} />
            </p>
            <p className="font-medium wrap-anywhere">
              <TextWithCode text={gap.fix} />
            </p>
            <IssueButton gap={gap} />
          </div>
        </Card>
      ))}
    </div>
  )
}
