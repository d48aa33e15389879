import { ShieldCheck } from 'lucide-react'
import type { CertificateGapView } from '../../features/coverage/shapes'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useSend } from '../queries'
import { usePerson } from '../session'
import { certificateTabs } from './certificates/certificate-text'
import { SettingsButton } from './certificates/certificate-settings'
import { acknowledgeGap, GapDetails, showGap } from './certificates/gap-details'
import { isIssuable, issueForGap } from './certificates/issue-for-gap'
import { gapInvalidates, gapTitles, severityTitles, statusTitles, toneOfGap } from './certificates/gap-text'
import { TextWithDates } from '../parts/text-with-dates'

const unresolved = 'open,acknowledged'

/** What is wrong with the certificates of the workspace’s names, the most severe problems first. */
export default function CertificateGaps() {
  const { canWrite } = usePerson()
  const unacknowledge = useSend({ toast: 'Gap is open again', invalidates: gapInvalidates })
  const columns: TableColumns<CertificateGapView> = [
    {
      title: 'Gap',
      render: one => (
        <>
          <div className="font-medium">{gapTitles[one.kind]}</div>
          <div className="text-[13px] font-normal wrap-anywhere text-muted">
            <TextWithDates text={one.detail} />
          </div>
        </>
      ),
    },
    { title: 'Name', sort: 'name', width: '22cqw', showFrom: 'md', onPhone: 'line', render: one => one.name },
    {
      title: 'Severity',
      sort: 'severity',
      width: '8rem',
      onPhone: 'corner',
      render: one => <Status status={one.severity} tone={toneOfGap(one)} label={severityTitles[one.severity]} />,
    },
    { title: 'Status', width: '9rem', showFrom: 'lg', onPhone: 'hidden', render: one => statusTitles[one.status] },
    {
      title: 'Opened',
      sort: 'opened_at',
      width: '8rem',
      showFrom: 'lg',
      onPhone: 'hidden',
      render: one => <RelativeTime at={one.opened_at} />,
    },
    canWrite &&
      menuColumn<CertificateGapView>(
        one => one.name,
        one =>
          one.status === 'resolved'
            ? []
            : [
                isIssuable(one) ? { label: 'Issue certificate', onSelect: () => issueForGap(one, () => showGap(one)) } : null,
                { label: 'Acknowledge gap', onSelect: () => acknowledgeGap(one) },
                one.status === 'acknowledged'
                  ? {
                      label: 'Unacknowledge gap',
                      onSelect: () => unacknowledge.mutate({ method: 'POST', path: `/certificate-gaps/${one.id}/unacknowledge` }),
                    }
                  : null,
              ],
      ),
  ]
  return (
    <ListPage
      label="Gaps"
      description="Names without a valid certificate, and certificates that are not served, stored, or renewed as they should be."
      path="/certificate-gaps"
      tabs={certificateTabs}
      columns={columns}
      sort="severity"
      search={{ label: 'Search names', name: 'q' }}
      counted
      filters={[
        {
          name: 'status',
          label: 'Status',
          initial: unresolved,
          choices: { [unresolved]: 'Unresolved', open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved' },
        },
        { name: 'severity', label: 'Severity', all: 'All severities', choices: severityTitles },
        { name: 'kind', label: 'Kind', all: 'All kinds', choices: gapTitles },
        { name: 'zone_id', label: 'Zone' },
      ]}
      details={one => ({ title: gapTitles[one.kind], content: <GapDetails gap={one} /> })}
      actions={canWrite && <SettingsButton />}
      empty={{
        icon: ShieldCheck,
        title: 'No gaps',
        text: 'The names of your zones, monitors, and agents are compared with the certificates that are known. Problems appear here.',
      }}
    />
  )
}
