import { FileDown } from 'lucide-react'
import { Link } from '@tanstack/react-router'
import type { CertificatePresenceView, CertificateView } from '../../features/certificates/shapes'
import { call } from '../client'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { saveFile } from '../parts/files'
import { ListField, TextareaField } from '../parts/form'
import { ListCard } from '../parts/list-card'
import { Menu } from '../parts/menu'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Status, Tags } from '../parts/status'
import { formatDate, formatDateTime, RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { CertificateGaps } from './certificates/certificate-gaps'
import {
  describeFile,
  describeKey,
  describePlace,
  findingTones,
  invalidates,
  nameOf,
  statusTitleOf,
  toneOfCertificate,
  trustTitles,
} from './certificates/certificate-text'
import { Lineage } from './certificates/lineage'
import { ServerLink } from './cloud/server-link'

/** A certificate: where it is, its chain, its predecessors, and its problems. */
export default resourcePage<CertificateView>({ path: '/certificates', parent: '/certificates' }, ({ resource: one }) => {
  const { canWrite } = usePerson()
  return (
    <Page
      title={nameOf(one)}
      parent="/certificates"
      description={one.notes}
      aside={<Status status={one.status} tone={toneOfCertificate(one)} label={statusTitleOf(one)} />}
      actions={<Actions certificate={one} canWrite={canWrite} />}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Replacement certificate={one} />
          <CertificateGaps ids={one.gap_ids} />
          {one.findings.length > 0 && (
            <ListCard title="Findings" rows={one.findings} keyOf={finding => finding.detail}>
              {finding => (
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <Status status={finding.severity} tone={findingTones[finding.severity]} />
                  <span className="min-w-0 wrap-anywhere">{finding.detail}</span>
                </div>
              )}
            </ListCard>
          )}
          <Places
            title="Locations"
            rows={one.presences.filter(place => place.ended_at === null)}
            empty="It isn’t used anywhere."
          />
          <Places title="Former locations" rows={one.presences.filter(place => place.ended_at !== null)} />
          <Lineage certificate={one} />
          <Chain certificate={one} />
          <ListCard
            title={`Names (${one.name_count})`}
            rows={[...one.dns_names, ...one.ip_addresses]}
            keyOf={name => name}
            empty="It has no names."
          >
            {name => <span className="font-mono text-[13px] wrap-anywhere">{name}</span>}
          </ListCard>
        </div>
        <Card
          title="Details"
          facts={[
            ['Valid from', formatDateTime(one.not_before)],
            ['Expires', formatDateTime(one.not_after)],
            [
              'Revoked',
              one.revoked_at &&
                [formatDateTime(one.revoked_at), one.revocation_reason?.replaceAll('_', ' ')].filter(Boolean).join(', '),
            ],
            [
              'Revocation list',
              one.revocation_error ??
                (one.revocation_checked_at && (
                  <>
                    Checked <RelativeTime at={one.revocation_checked_at} />
                  </>
                )),
            ],
            ['Trust', trustTitles[one.trust]],
            ['Issuer', one.issuer],
            ['Subject', one.subject],
            ['Key', describeKey(one)],
            ['Signature', one.signature_algorithm],
            ['Key usage', one.key_usage?.join(', ')],
            ['Extended key usage', one.extended_key_usage?.join(', ')],
            ['SCTs', String(one.sct_count)],
            ['Must staple', one.must_staple && 'Yes'],
            ['Precertificate', one.precertificate && 'Only the precertificate is known'],
            ['Tags', one.tags.length > 0 && <Tags tags={one.tags} />],
            ['Serial number', <CopyableText text={one.serial_number} label="serial number" />],
            ['SHA-256', <CopyableText text={one.fingerprint_sha256} label="fingerprint" />],
            ['Key SHA-256', one.key.spki_sha256 && <CopyableText text={one.key.spki_sha256} label="key fingerprint" />],
            ['ID', <CopyableText text={one.id} />],
          ]}
        />
      </div>
    </Page>
  )
})

function Actions({ certificate: one, canWrite }: { certificate: CertificateView; canWrite: boolean }) {
  const path = `/certificates/${one.id}`
  const save = async (format: 'leaf' | 'chain' | 'full') => {
    const accept = 'application/x-pem-file'
    const text = await call<string>({ method: 'GET', path: `/certificates/${one.id}/chain`, query: { format }, accept })
    saveFile(text, `${nameOf(one).replaceAll(/[^\w.-]/g, '_')}.pem`, accept)
  }
  const edit = () =>
    openForm<CertificateView>({
      title: 'Edit certificate',
      submitLabel: 'Save changes',
      initial: { tags: one.tags, notes: one.notes },
      call: values => ({ method: 'PATCH', path, ifMatch: one.version, body: values }),
      send: { toast: 'Certificate saved', invalidates },
      fields: (
        <>
          <ListField name="tags" label="Tags" />
          <TextareaField name="notes" label="Notes" />
        </>
      ),
    })
  const remove = () =>
    confirmDelete({
      noun: 'certificate',
      name: nameOf(one),
      path,
      invalidates,
      next: '/certificates',
      text: 'It is removed from the inventory, and added again if it is seen again.',
    })
  const isSomewhere = one.presences.some(place => place.ended_at === null && place.kind !== 'upload' && place.kind !== 'ct')
  return (
    <>
      <Menu
        label="Download"
        items={[
          { label: 'Certificate and issuers', icon: FileDown, onSelect: () => void save('chain') },
          { label: 'Certificate only', icon: FileDown, onSelect: () => void save('leaf') },
          { label: 'With the root', icon: FileDown, onSelect: () => void save('full') },
        ]}
      />
      {canWrite && <Button onClick={edit}>Edit</Button>}
      {canWrite && (
        <Button
          kind="danger"
          disabled={isSomewhere}
          title={isSomewhere ? 'It is still in use somewhere.' : undefined}
          onClick={remove}
        >
          Delete
        </Button>
      )}
    </>
  )
}

/** What has to be done, and when. */
function Replacement({ certificate: one }: { certificate: CertificateView }) {
  if (one.superseded_by !== null)
    return (
      <Card title="Replacement">
        A newer certificate replaced it everywhere.{' '}
        <Link to="/certificates/$id" params={{ id: one.superseded_by }} className="text-accent hover:underline">
          Show the newer certificate
        </Link>
      </Card>
    )
  if (!one.in_use) return null
  return (
    <Card
      title="Renewal"
      facts={[
        ['Days left', String(one.days_left)],
        [
          'Renewal',
          one.auto_renewing ? (one.renewal_overdue ? 'Automatic, overdue' : 'Automatic') : 'Not automatic, as far as known',
        ],
        [
          one.auto_renewing ? 'Renewal due' : 'Expiring from',
          <RelativeTime at={one.auto_renewing ? one.renewal_due_at : one.expiring_at} />,
        ],
        ['Critical from', <RelativeTime at={one.critical_at} />],
      ]}
    />
  )
}

interface PlacesProps {
  title: string
  rows: readonly CertificatePresenceView[]
  empty?: string
}

function Places({ title, rows, empty }: PlacesProps) {
  if (rows.length === 0 && empty === undefined) return null
  return (
    <ListCard title={title} rows={rows} keyOf={place => JSON.stringify(place)} {...(empty !== undefined && { empty })}>
      {place => (
        <>
          <div className="wrap-anywhere">
            {place.server_id !== null && (
              <>
                <ServerLink id={place.server_id} />
                {': '}
              </>
            )}
            {describePlace(place)}
          </div>
          <div className="text-[13px] wrap-anywhere text-muted">
            {place.kind === 'file' && describeFile(place)} {place.kind === 'file' && '· '}since {formatDate(place.first_seen_at)}
            {place.ended_at !== null && `, until ${formatDate(place.ended_at)}`}
          </div>
        </>
      )}
    </ListCard>
  )
}

/** The issuers, as far as they are known. */
const Chain = ({ certificate: { chain } }: { certificate: CertificateView }) => (
  <ListCard title="Issuers" rows={chain} keyOf={id => id} empty="Its issuer is not known.">
    {id => <Issuer id={id} />}
  </ListCard>
)

function Issuer({ id }: { id: string }) {
  const { data: issuer } = useOne<CertificateView>(`/certificates/${id}`)
  return (
    <>
      <Link to="/certificates/$id" params={{ id }} className="wrap-anywhere text-accent hover:underline">
        {issuer ? nameOf(issuer) : id}
      </Link>
      <div className="text-[13px] text-muted">{issuer ? `Expires ${formatDate(issuer.not_after)}` : 'Loading…'}</div>
    </>
  )
}
