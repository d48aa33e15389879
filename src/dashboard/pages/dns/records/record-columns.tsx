import { Link } from '@tanstack/react-router'
import { Lock, Pencil } from 'lucide-react'
import type { DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { CopyButton } from '../../../parts/code'
import { Tag } from '../../../parts/status'
import type { Column } from '../../../parts/table'
import { RelativeTime } from '../../../parts/time'
import { RecordState } from './record-state'

interface ColumnOptions {
  zone: ZoneView
  /** Ids of records with the same name as the row above. */
  repeated: ReadonlySet<string>
  /** Null if the user can’t edit records. */
  onEdit: ((record: DnsRecordView) => void) | null
  onTag(tag: string): void
}

/** Columns of the records table. */
export function columnsOf({ zone, repeated, onEdit, onTag }: ColumnOptions): readonly Column<DnsRecordView>[] {
  const hasTargets = zone.sync.targets.length > 0
  return [
    {
      title: 'Name',
      sort: 'name',
      width: 'clamp(9rem, 22cqw, 30rem)',
      render: one => <Name record={one} isRepeated={repeated.has(one.id)} onTag={onTag} />,
    },
    {
      title: 'Type',
      sort: 'type',
      width: '5.5rem',
      onPhone: 'corner',
      render: one => <span className="text-[13px]">{one.type}</span>,
    },
    { title: 'Value', onPhone: 'line', render: one => <Value record={one} /> },
    { title: 'TTL', width: '6.5rem', alignRight: true, showFrom: 'md', render: one => formatTtl(one.ttl) },
    hasTargets
      ? {
          title: 'Status',
          width: '30cqw',
          showFrom: 'md',
          onPhone: 'line',
          render: one => <RecordState record={one} zone={zone} />,
        }
      : {
          title: 'Updated',
          sort: 'updated_at',
          width: '9rem',
          showFrom: 'lg',
          render: one => <RelativeTime at={one.updated_at} />,
        },
    {
      title: '',
      width: onEdit ? '5.5rem' : '4rem',
      alignRight: true,
      render: one => (
        <span className="inline-flex">
          <CopyButton text={lineOf(one)} label={`Copy ${one.type} of ${one.name} as a zone file line`} />
          {onEdit && one.managed && (
            <Button
              small
              kind="quiet"
              icon={Pencil}
              aria-label={`Edit ${one.type} record ${one.name}`}
              title="Edit"
              onClick={() => onEdit(one)}
            />
          )}
        </span>
      ),
    },
  ]
}

/** “3,600 s” */
export const formatTtl = (seconds: number): string => `${seconds.toLocaleString()}\u00a0s`

/** A record as a zone file line, with an absolute name. */
export const lineOf = ({ fqdn, ttl, type, content }: DnsRecordView): string => `${fqdn}. ${ttl} IN ${type} ${content}`

interface NameProps {
  record: DnsRecordView
  isRepeated: boolean
  onTag(tag: string): void
}

const Name = ({ record, isRepeated, onTag }: NameProps) => (
  <span className="flex flex-wrap items-center gap-x-1.5">
    <span className={`min-w-0 font-mono text-[13px] ${isRepeated ? 'text-muted' : 'font-medium'}`} title={record.unicode_fqdn}>
      {record.name}
    </span>
    <LockAndTags record={record} onTag={onTag} />
  </span>
)

/** Next to the name of a record: whether it is locked, and its tags. */
export const LockAndTags = ({ record, onTag }: Omit<NameProps, 'isRepeated'>) => (
  <>
    {record.locked && (
      <>
        <Lock className="size-3.5 shrink-0 text-muted" aria-hidden />
        <span className="sr-only">locked</span>
      </>
    )}
    {record.tags.slice(0, 2).map(tag => (
      <button key={tag} type="button" className="max-lg:hidden" aria-label={`Filter by tag ${tag}`} onClick={() => onTag(tag)}>
        <Tag>{tag}</Tag>
      </button>
    ))}
  </>
)

/** The value of a record, with what sets it and its comment. */
export const Value = ({ record }: { record: DnsRecordView }) => (
  <span className="flex flex-wrap items-baseline gap-x-3">
    <code className="line-clamp-3 min-w-0 font-mono text-[13px]" title={record.content}>
      {record.value ?? record.content}
    </code>
    {record.dynamic_ip_id !== null && <SourceLink id={record.dynamic_ip_id} />}
    {record.comment !== '' && <span className="line-clamp-2 text-[13px] text-muted">{record.comment}</span>}
  </span>
)

/** What sets the value of a record. */
export const SourceLink = ({ id }: { id: string }) => (
  <Link to="/dynamic-ips/$id" params={{ id }} className="text-[13px] text-accent hover:underline">
    Set by dynamic IP source
  </Link>
)
