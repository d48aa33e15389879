import { Link } from '@tanstack/react-router'
import { ShieldCheck } from 'lucide-react'
import type { CertificateCoverageView } from '../../features/coverage/shapes'
import { ListPage, type TableColumns } from '../parts/list'
import { resourcePicker } from '../parts/resource-search'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { SettingsButton } from './certificates/certificate-settings'
import { certificateTabs } from './certificates/certificate-text'
import { NameDetails } from './certificates/name-details'
import { causeTitles, coverTitles } from './certificates/gap-text'
import { ZoneLink } from './dns/zone-link'

const columns: TableColumns<CertificateCoverageView> = [
  {
    title: 'Name',
    render: one => <span className="font-medium wrap-anywhere">{one.name}</span>,
  },
  {
    title: 'Certificate',
    width: '12.5rem',
    onPhone: 'corner',
    render: one => <Status status={one.covered} tone={one.covered === 'none' ? 'warn' : 'ok'} label={coverTitles[one.covered]} />,
  },
  {
    title: 'Expires',
    width: '7rem',
    render: one =>
      one.certificate_id ? (
        <Link to="/certificates/$id" params={{ id: one.certificate_id }} className="text-accent hover:underline">
          <RelativeTime at={one.valid_until} />
        </Link>
      ) : null,
  },
  {
    title: 'Zone',
    width: '14rem',
    showFrom: 'lg',
    onPhone: 'hidden',
    render: one => one.zone_id && <ZoneLink id={one.zone_id} />,
  },
  {
    title: 'Source',
    width: '11rem',
    showFrom: 'md',
    onPhone: 'hidden',
    look: 'muted',
    render: one => one.sources.map(source => causeTitles[source]).join(', '),
  },
  {
    title: 'Gaps',
    width: '5rem',
    alignRight: true,
    showFrom: 'md',
    onPhone: 'hidden',
    render: one => (one.gap_ids.length > 0 ? String(one.gap_ids.length) : null),
  },
]

const ZonePicker = resourcePicker(one => one.prefix === 'zone')

/** The names that should have a certificate, with the one that covers each. */
export default function CertificateCoverage() {
  const { canWrite } = usePerson()
  return (
    <ListPage
      label="Names"
      description="The names of your zones, monitors, and servers that should have a certificate, and the valid certificate of each."
      path="/certificates/coverage"
      idOf={one => one.name}
      tabs={certificateTabs}
      columns={columns}
      search={{ label: 'Search names', name: 'q' }}
      counted
      filters={[
        { name: 'covered', label: 'Certificate', all: 'All names', choices: coverTitles },
        { name: 'zone_id', label: 'Zone', all: 'All zones', Picker: ZonePicker },
      ]}
      details={one => ({ title: one.name, content: <NameDetails of={one} /> })}
      actions={canWrite && <SettingsButton />}
      empty={{
        icon: ShieldCheck,
        title: 'No names yet',
        text: 'Names appear here when zones have records with addresses, or agents find certificates on servers.',
      }}
    />
  )
}
