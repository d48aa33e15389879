import { BadgeCheck } from 'lucide-react'
import type { CertificateView } from '../../features/certificates/shapes'
import { ListPage, type TableColumns } from '../parts/list'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import {
  certificateTabs,
  issuerName,
  nameOf,
  sourceTitles,
  statusTitleOf,
  statusTitles,
  toneOfCertificate,
  trustTitles,
} from './certificates/certificate-text'
import { uploadCertificate } from './certificates/upload-certificate'

const columns: TableColumns<CertificateView> = [
  {
    title: 'Certificate',
    sort: 'common_name',
    render: one => (
      <>
        <div className="font-medium wrap-anywhere">{nameOf(one)}</div>
        <div className="text-[13px] font-normal wrap-anywhere text-muted">{describeNames(one)}</div>
      </>
    ),
  },
  {
    title: 'Status',
    width: '9rem',
    onPhone: 'corner',
    render: one => <Status status={one.status} tone={toneOfCertificate(one)} label={statusTitleOf(one)} />,
  },
  { title: 'Expires', sort: 'not_after', width: '8rem', render: one => <RelativeTime at={one.not_after} /> },
  { title: 'Issuer', width: '20cqw', showFrom: 'md', onPhone: 'line', look: 'muted', render: issuerName },
  { title: 'Locations', width: '6rem', showFrom: 'lg', alignRight: true, render: one => String(one.presence_count) },
  {
    title: 'Sources',
    width: '11rem',
    showFrom: 'lg',
    onPhone: 'hidden',
    look: 'muted',
    render: one => one.sources.map(source => sourceTitles[source]).join(', '),
  },
]

function describeNames(one: CertificateView): string {
  const others = [...one.dns_names, ...one.ip_addresses].filter(name => name !== nameOf(one))
  const rest = one.name_count - 1 - Math.min(others.length, maxNames)
  return [others.slice(0, maxNames).join(', '), rest > 0 && `and ${rest} more`].filter(Boolean).join(' ')
}
const maxNames = 3

/** The certificates of the workspace, the next to expire first. */
export default function Certificates() {
  const { canWrite } = usePerson()
  return (
    <ListPage
      label="Certificates"
      description="All certificates that were found on your servers, issued, or uploaded."
      path="/certificates"
      page="/certificates/$id"
      tabs={certificateTabs}
      columns={columns}
      sort="not_after"
      search
      counted
      filters={[
        {
          name: 'in_use',
          label: 'Use',
          initial: 'true',
          choices: { true: 'In use', false: 'Not in use', '': 'All certificates' },
        },
        { name: 'status', label: 'Status', all: 'All statuses', choices: statusTitles },
        { name: 'source', label: 'Source', all: 'All sources', choices: sourceTitles },
        { name: 'trust', label: 'Trust', all: 'Any trust', choices: trustTitles },
      ]}
      create={canWrite && { label: 'Upload certificate', onClick: uploadCertificate }}
      empty={{
        icon: BadgeCheck,
        text: 'Certificates appear here when an agent finds them on a server, or when you upload them. You are alerted before they expire.',
      }}
    />
  )
}
