import { ChevronRight } from 'lucide-react'
import type { ChangesetView, ChangesetWholeView } from '../../../../features/dns/history/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Menu } from '../../../parts/menu'
import { Problem } from '../../../parts/problem'
import { Tag } from '../../../parts/status'
import { clockTime, wholeTime } from '../../../parts/time'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ChangedRrsets } from './changed-rrsets'

interface ChangesetProps {
  zone: ZoneView
  change: ChangesetView
  /** Only what was done to these is shown. */
  asked: { name: string; type: string }
  isOpen: boolean
  onOpen(): void
  onUndo(): void
  onBack(): void
  onCompare(): void
}

/** One change: who, when, how much and why, with what it did when it is opened. */
export function Changeset({ zone, change, asked, isOpen, onOpen, onUndo, onBack, onCompare }: ChangesetProps) {
  const { mayWrite } = usePerson()
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
              <time dateTime={change.occurred_at} title={wholeTime(change.occurred_at)} className="text-muted">
                {clockTime(change.occurred_at)}
              </time>
              <span className="font-medium group-hover:underline">{inWords(change)}</span>
              <span>by {change.actor.name ?? change.actor.type}</span>
              <Tag>{change.origin}</Tag>
            </span>
            {change.note && <span className="block wrap-anywhere">«{change.note}»</span>}
            <span className="block text-[13px] text-muted">
              version {change.version} · {serialWords(change)}
            </span>
          </span>
        </button>
        <Menu
          label={`More with version ${change.version}`}
          items={[
            mayWrite ? { label: 'Undo this change…', onSelect: onUndo } : null,
            mayWrite && !isLatest ? { label: `Go back to version ${change.version}…`, onSelect: onBack } : null,
            change.version > 1 ? { label: 'Compare what was before with now', onSelect: onCompare } : null,
          ]}
        />
      </div>
      {isOpen && (
        <div id={panel} className="px-4 pb-4 pl-10 max-sm:pl-4">
          <Records path={`/dns/zones/${zone.id}/history/${change.id}`} asked={asked} />
        </div>
      )}
    </li>
  )
}

function Records({ path, asked }: { path: string; asked: { name: string; type: string } }) {
  const found = useOne<ChangesetWholeView>(path, asked)
  if (found.error) return <Problem error={found.error} onAgain={() => void found.refetch()} />
  if (!found.data) return <div className="h-16 animate-pulse rounded-md bg-hover" />
  return <ChangedRrsets {...found.data} beforeLabel="Before" afterLabel="After" />
}

function inWords({ created, updated, deleted, soa, rrset_count }: ChangesetView): string {
  const parts = [
    [created, 'added'],
    [updated, 'changed'],
    [deleted, 'removed'],
  ] as const
  const told = parts.filter(([count]) => count > 0).map(([count, word]) => `${count.toLocaleString()} ${word}`)
  if (soa) told.push('SOA edited')
  if (told.length > 0) return told.join(', ')
  return rrset_count > 0 ? 'Notes edited' : 'Nothing that is served'
}

const serialWords = ({ serial_before: before, serial_after: after }: ChangesetView) =>
  before === after ? `serial ${after}` : `serial ${before} → ${after}`
