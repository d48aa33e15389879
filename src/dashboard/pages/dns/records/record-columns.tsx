import { Lock, Pencil } from 'lucide-react'
import type { DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { CopyButton } from '../../../parts/code'
import { StatusIcon, Tag } from '../../../parts/status'
import type { Column } from '../../../parts/table'
import { Ago } from '../../../parts/time'
import { isAsItIsToBe } from './record-reason'
import { RecordState } from './record-state'

interface Columns {
  zone: ZoneView
  /** Ids of those whose name stands in the row above as well. */
  repeated: ReadonlySet<string>
  /** Null for whoever may not. */
  onEdit: ((record: DnsRecordView) => void) | null
  onTag(tag: string): void
}

/** The columns of the records of a zone. */
export function columnsOf({ zone, repeated, onEdit, onTag }: Columns): readonly Column<DnsRecordView>[] {
  const isElsewhere = zone.sync.targets.length > 0
  return [
    {
      name: 'name',
      title: 'Name',
      sort: 'name',
      render: one => <Name record={one} isRepeated={repeated.has(one.id)} onTag={onTag} />,
    },
    {
      name: 'type',
      title: 'Type',
      sort: 'type',
      width: '5.5rem',
      from: 'sm',
      render: one => <span className="text-[13px]">{one.type}</span>,
    },
    { name: 'value', title: 'Value', from: 'sm', render: one => <Value record={one} /> },
    { name: 'ttl', title: 'TTL', width: '5.5rem', right: true, from: 'md', render: one => one.ttl },
    isElsewhere
      ? {
          name: 'state',
          title: 'State',
          width: '34%',
          from: 'md',
          render: one => <RecordState record={one} zone={zone} />,
        }
      : {
          name: 'changed',
          title: 'Changed',
          sort: 'updated_at',
          width: '9rem',
          from: 'lg',
          render: one => <Ago at={one.updated_at} />,
        },
    {
      name: 'do',
      title: '',
      width: onEdit ? '5.5rem' : '4rem',
      right: true,
      render: one => (
        <span className="inline-flex">
          <span className="max-sm:hidden">
            <CopyButton text={lineOf(one)} label={`Copy ${one.type} of ${one.name} as a line of a zone file`} />
          </span>
          {onEdit && one.managed && (
            <button
              type="button"
              aria-label={`Edit ${one.type} of ${one.name}`}
              title="Edit"
              onClick={() => onEdit(one)}
              className="inline-flex size-7 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink"
            >
              <Pencil className="size-4" aria-hidden />
            </button>
          )}
        </span>
      ),
    },
  ]
}

/** A record as zone files have it, its name absolute. */
export const lineOf = ({ fqdn, ttl, type, content }: DnsRecordView): string => `${fqdn}. ${ttl} IN ${type} ${content}`

interface NameProps {
  record: DnsRecordView
  isRepeated: boolean
  onTag(tag: string): void
}

// A phone has the name, and below it type and value.
const Name = ({ record, isRepeated, onTag }: NameProps) => (
  <>
    <span className="flex items-center gap-1.5">
      <span
        className={`min-w-0 truncate font-mono text-[13px] ${isRepeated ? 'text-muted' : 'font-medium'}`}
        title={record.unicode_fqdn}
      >
        {record.name}
      </span>
      {record.locked && (
        <>
          <Lock className="size-3.5 shrink-0 text-muted" aria-hidden />
          <span className="sr-only">locked</span>
        </>
      )}
      {!isAsItIsToBe(record.sync.state) && (
        <span className="shrink-0 md:hidden">
          <StatusIcon state={record.sync.state} />
          <span className="sr-only">{record.sync.state}</span>
        </span>
      )}
      {record.tags.slice(0, 2).map(tag => (
        <button key={tag} type="button" className="max-lg:hidden" aria-label={`Only the tag ${tag}`} onClick={() => onTag(tag)}>
          <Tag>{tag}</Tag>
        </button>
      ))}
    </span>
    <span className="block truncate text-[13px] text-muted sm:hidden">
      {record.type} <code className="font-mono">{record.value ?? record.content}</code>
    </span>
  </>
)

const Value = ({ record }: { record: DnsRecordView }) => (
  <span className="flex items-baseline gap-2">
    <code className="min-w-0 truncate font-mono text-[13px]" title={record.content}>
      {record.value ?? record.content}
    </code>
    {record.comment !== '' && (
      <span className="hidden min-w-12 shrink truncate text-[13px] text-muted lg:inline" title={record.comment}>
        {record.comment}
      </span>
    )}
  </span>
)
