import { ChevronRight } from 'lucide-react'
import type { ChangesetView, ChangesetDetailView } from '../../../../features/dns/history/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { actorName } from '../../../parts/actor'
import { Menu } from '../../../parts/menu'
import { Problem } from '../../../parts/problem'
import { pluralize } from '../../../parts/plural'
import { Tag } from '../../../parts/status'
import { formatTime, formatDateTime } from '../../../parts/time'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { originLabels } from '../origins'
import { ChangedRrsets } from './changed-rrsets'

interface ChangesetProps {
  zone: ZoneView
  change: ChangesetView
  /** Show only changes to this name and type. */
  filter: { name: string; type: string }
  isOpen: boolean
  onOpen(): void
  onRevert(): void
  onGoBack(): void
  onCompare(): void
}

/** One changeset: time, actor, summary and note. Expands to show the changed records. */
export function Changeset({ zone, change, filter, isOpen, onOpen, onRevert, onGoBack, onCompare }: ChangesetProps) {
  const { canWrite } = usePerson()
  const isLatest = change.version === zone.version
  const panel = `records-of-${change.id}`
  return (
    <li className="min-w-0">
      <div className="flex items-start gap-2 px-4 py-2.5">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={panel}
          onClick={onOpen}
          className="group flex min-w-0 grow items-start gap-2 text-left"
        >
          <ChevronRight className={`mt-0.5 size-4 shrink-0 text-muted ${isOpen ? 'rotate-90' : ''}`} aria-hidden />
          <span className="min-w-0">
            <span className="flex flex-wrap items-baseline gap-x-2">
              <time dateTime={change.occurred_at} title={formatDateTime(change.occurred_at)} className="text-muted">
                {formatTime(change.occurred_at)}
              </time>
              <span className="font-medium group-hover:underline">{summaryOf(change)}</span>
              <span>by {actorName(change.actor)}</span>
              <Tag>{originLabels[change.origin]}</Tag>
            </span>
            {change.note && <span className="block wrap-anywhere">“{change.note}”</span>}
            <span className="block text-[13px] text-muted">
              version {change.version} · {serialText(change)}
            </span>
          </span>
        </button>
        <Menu
          label={`Actions for version ${change.version}`}
          items={[
            canWrite ? { label: 'Revert this change…', onSelect: onRevert } : null,
            canWrite && !isLatest ? { label: `Restore version ${change.version}…`, onSelect: onGoBack } : null,
            change.version > 1 ? { label: 'Compare previous version with current', onSelect: onCompare } : null,
          ]}
        />
      </div>
      {isOpen && (
        <div id={panel} className="px-4 pb-4 pl-10 max-sm:pl-4">
          <Records path={`/dns/zones/${zone.id}/history/${change.id}`} filter={filter} />
        </div>
      )}
    </li>
  )
}

function Records({ path, filter }: { path: string; filter: { name: string; type: string } }) {
  const found = useOne<ChangesetDetailView>(path, filter)
  if (found.error) return <Problem error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <div className="h-16 animate-pulse rounded-md bg-hover" />
  return <ChangedRrsets {...found.data} beforeLabel="Before" afterLabel="After" />
}

function summaryOf({ created, updated, deleted, soa, rrset_count }: ChangesetView): string {
  const parts = [
    [created, 'created'],
    [updated, 'updated'],
    [deleted, 'deleted'],
  ] as const
  const counts = parts
    .filter(([count]) => count > 0)
    .map(([count, word], at) => `${at === 0 ? pluralize(count, 'record', 'records') : count.toLocaleString()} ${word}`)
  if (soa) counts.push('SOA updated')
  if (counts.length > 0) return counts.join(', ')
  return rrset_count > 0 ? 'Metadata updated' : 'Settings updated'
}

const serialText = ({ serial_before: before, serial_after: after }: ChangesetView) =>
  before === after ? `serial ${after}` : `serial ${before} → ${after}`
