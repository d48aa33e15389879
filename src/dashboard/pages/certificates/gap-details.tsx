import type { CertificateGapView } from '../../../features/coverage/shapes'
import { hubNow } from '../../hub-clock'
import { Button } from '../../parts/button'
import { SelectField, TextareaField } from '../../parts/form'
import { Json } from '../../parts/json'
import { openDialog, openForm } from '../../parts/open-dialog'
import { Facts } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { TextWithCode } from '../../parts/text-with-code'
import { formatDateTime } from '../../parts/time'
import { usePerson } from '../../session'
import { ZoneLink } from '../dns/zone-link'
import { GapTimeline } from './gap-timeline'
import { isIssuable, issueForGap } from './issue-for-gap'
import { gapInvalidates as invalidates, gapTitles, severityTitles, statusTitles } from './gap-text'
import { TextWithDates } from '../../parts/text-with-dates'

/** What was found, what to do about it, and the evidence. */
export function GapDetails({ gap: one }: { gap: CertificateGapView }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="wrap-anywhere">
        <TextWithDates text={one.detail} />
      </p>
      <p className="font-medium wrap-anywhere">
        <TextWithCode text={one.fix} />
      </p>
      <IssueButton gap={one} />
      <GapTimeline gap={one} />
      <Facts
        rows={[
          ['Name', one.name],
          ['Severity', severityTitles[one.severity]],
          ['Status', statusTitles[one.status]],
          ['Zone', one.zone_id && <ZoneLink id={one.zone_id} />],
          [
            'Certificate',
            one.certificate_id && <ResourceLink type="certificate" id={one.certificate_id} name="Show certificate" />,
          ],
          ['Server', one.server_id && <ResourceLink type="server" id={one.server_id} name="Show server" />],
          ['Incident', one.incident_id && <ResourceLink type="incident" id={one.incident_id} name="Show incident" />],
          ['Opened', formatDateTime(one.opened_at)],
          ['Acknowledged', one.acknowledged_at && formatDateTime(one.acknowledged_at)],
          ['Acknowledged by', one.acknowledged_by?.name ?? one.acknowledged_by?.id],
          ['Acknowledged until', one.acknowledged_until && formatDateTime(one.acknowledged_until)],
          ['Note', one.note],
          ['Resolved', one.resolved_at && formatDateTime(one.resolved_at)],
        ]}
      />
      {Object.keys(one.evidence).length > 0 && <Json label="Evidence" value={one.evidence} />}
    </div>
  )
}

/** Opens the details of a gap. */
export const showGap = (gap: CertificateGapView): void =>
  openDialog({ title: gapTitles[gap.kind], wide: true, content: <GapDetails gap={gap} /> })

/** Issues a certificate that closes a gap, if that is possible. */
export function IssueButton({ gap }: { gap: CertificateGapView }) {
  const { canWrite } = usePerson()
  return (
    canWrite &&
    isIssuable(gap) && (
      <div>
        <Button kind="primary" onClick={() => issueForGap(gap, () => showGap(gap))}>
          Issue certificate
        </Button>
      </div>
    )
  )
}

const dayMs = 86_400_000

/** Opens the dialog that acknowledges a gap. */
export const acknowledgeGap = ({ id, name }: CertificateGapView): void =>
  openForm({
    title: 'Acknowledge gap',
    description: `Accepts the gap of ${name} until it is resolved. It is opened again if it becomes more severe.`,
    submitLabel: 'Acknowledge gap',
    initial: { note: '', days: '30' },
    call: ({ note, days }) => ({
      method: 'POST',
      path: `/certificate-gaps/${id}/acknowledge`,
      body: { note, until: days === '' ? null : new Date(hubNow() + Number(days) * dayMs).toISOString() },
    }),
    send: { toast: 'Gap acknowledged', invalidates },
    fields: (
      <>
        <TextareaField name="note" label="Note" placeholder="e.g. The old server is shut down in January." />
        <SelectField
          name="days"
          label="Acknowledge for"
          choices={[
            ['7', '1 week'],
            ['30', '30 days'],
            ['90', '90 days'],
            ['365', '1 year'],
            ['', 'Until resolved'],
          ]}
        />
      </>
    ),
  })
