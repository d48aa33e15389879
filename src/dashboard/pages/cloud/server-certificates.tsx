import { useState } from 'react'
import type { ServerCertificatesView, ServerCertificateView } from '../../../features/servers/certificates/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { Status, type Tone } from '../../parts/status'
import { requestedList, Table, type Column } from '../../parts/table'
import { formatDate, RelativeTime, useNow } from '../../parts/time'
import { useOne } from '../../queries'

type ServedView = ServerCertificatesView['served'][number]
type FileView = ServerCertificatesView['files'][number]

/** A certificate of a port or in a file, as a row. */
interface Row {
  id: string
  name: string
  tone: Tone
  state: string
  details: readonly (string | null | false)[]
  certificate: ServerCertificateView | null
}

const dayMs = 86_400_000
/** Certificates that are valid for a shorter time are marked. */
const soonMs = 7 * dayMs

/** Whether a certificate is valid. */
function validity(certificate: ServerCertificateView, now: number): Pick<Row, 'tone' | 'state'> {
  const end = Date.parse(certificate.not_after)
  if (end <= now) return { tone: 'bad', state: 'Expired' }
  if (Date.parse(certificate.not_before) > now) return { tone: 'warn', state: 'Not valid yet' }
  return end - now < soonMs ? { tone: 'warn', state: 'Expires soon' } : { tone: 'ok', state: 'Valid' }
}

const describeCertificate = ({ names, issuer, key }: ServerCertificateView): (string | null)[] => [
  names.join(', ') || null,
  `issued by ${issuer}`,
  key.type && [key.type.toUpperCase(), key.bits].filter(Boolean).join(' '),
]

/** Certificates by their SHA-256. */
type Certificates = ReadonlyMap<string, ServerCertificateView>
const leafOf = ({ chain }: { chain: readonly string[] }, all: Certificates) => all.get(chain[0] ?? '') ?? null

function servedRow(one: ServedView, all: Certificates, now: number): Row {
  const { address, port, process, starttls, sni, protocol, newer_file: newer, error } = one
  const certificate = leafOf(one, all)
  const renewed = newer && (all.get(newer.sha256) ?? null)
  return {
    id: `${address} ${port} ${sni ?? ''}`,
    name: `Port ${port}${sni === null ? '' : ` as ${sni}`}`,
    ...(certificate === null
      ? { tone: 'idle' as const, state: 'No certificate' }
      : newer
        ? { tone: 'bad' as const, state: 'Renewed on disk, not served' }
        : validity(certificate, now)),
    details: [
      newer &&
        renewed &&
        `${newer.path} contains a certificate that expires ${formatDate(renewed.not_after)}: reload ${process ?? 'the service'}`,
      process,
      address,
      starttls && `STARTTLS (${starttls})`,
      protocol && `TLS ${protocol}`,
      ...(certificate ? describeCertificate(certificate) : []),
      error,
    ],
    certificate,
  }
}

function fileRow(one: FileView, all: Certificates, now: number): Row {
  const certificate = leafOf(one, all)
  const { path, kind, key, references, mode, owner, error } = one
  return {
    id: path,
    name: path,
    ...(certificate ? validity(certificate, now) : { tone: 'warn' as const, state: 'Not read' }),
    details: [
      error,
      ...(certificate ? describeCertificate(certificate) : []),
      kind.replaceAll('_', ' '),
      references.length > 0 && `used by ${references.join(', ')}`,
      mode && `mode ${mode}`,
      owner && `owner ${owner}`,
      key && describeKey(key),
    ],
    certificate,
  }
}

function describeKey({ path, mode, owner, matches }: NonNullable<FileView['key']>): string {
  const state = matches === null ? 'key not read' : matches ? 'key matches' : 'key does not match'
  return [`${state}: ${path}`, mode && `mode ${mode}`, owner && `owner ${owner}`].filter(Boolean).join(', ')
}

const tones: readonly Tone[] = ['bad', 'warn', 'busy', 'ok', 'idle']
const sorted = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone))

const columnsFor = (title: string): readonly Column<Row>[] => [
  {
    title,
    render: one => (
      <>
        <div className="wrap-anywhere">{one.name}</div>
        <div className="text-[13px] font-normal wrap-anywhere text-muted">{one.details.filter(Boolean).join(' · ')}</div>
      </>
    ),
  },
  {
    title: 'State',
    width: '14rem',
    onPhone: 'corner',
    render: one => <Status status={one.state} tone={one.tone} label={one.state} />,
  },
  {
    title: 'Expires',
    width: '7.5rem',
    onPhone: 'plain',
    look: 'muted',
    render: one => one.certificate && <RelativeTime at={one.certificate.not_after} />,
  },
]

const shownAtFirst = 10

/** The certificates of a server, by port and by file. Those that need attention are first. */
export function ServerCertificates({ id }: { id: string }) {
  const found = useOne<ServerCertificatesView>(`/servers/${id}/certificates`, {}, { refetchMs: 60_000 })
  const now = useNow()
  const certificates = found.data
  if (certificates?.reason) {
    return (
      <Card title="Certificates">
        <p className="text-[13px] text-muted">{certificates.reason}</p>
      </Card>
    )
  }
  const all = new Map(certificates?.certificates.map(one => [one.sha256, one]))
  const list = (of: 'Port' | 'File', title: string, rows: readonly Row[]) => (
    <CertificateList of={of} title={title} rows={sorted(rows)} found={found} isStale={certificates?.stale ?? false} />
  )
  return (
    <>
      {list(
        'Port',
        'Certificates on ports',
        (certificates?.served ?? []).map(one => servedRow(one, all, now)),
      )}
      {list(
        'File',
        'Certificates in files',
        (certificates?.files ?? []).map(one => fileRow(one, all, now)),
      )}
    </>
  )
}

interface CertificateListProps {
  of: string
  title: string
  rows: readonly Row[]
  found: ReturnType<typeof useOne<ServerCertificatesView>>
  isStale: boolean
}

function CertificateList({ of, title, rows, found, isStale }: CertificateListProps) {
  const [isWhole, setWhole] = useState(false)
  return (
    <Card
      title={title}
      flush
      actions={
        <>
          {isStale && <span className="text-[13px] text-warn">The agent no longer reports</span>}
          {rows.length > shownAtFirst && (
            <Button small onClick={() => setWhole(!isWhole)}>
              {isWhole ? 'Show fewer' : `Show all ${rows.length}`}
            </Button>
          )}
        </>
      }
    >
      <Table
        label={title}
        columns={columnsFor(of)}
        list={requestedList(found, isWhole ? rows : rows.slice(0, shownAtFirst))}
        idOf={one => one.id}
        empty="None found."
      />
    </Card>
  )
}
