import { Button } from '../../../parts/button'
import { Menu } from '../../../parts/menu'
import { Status } from '../../../parts/status'
import { ElapsedTime } from '../../../parts/time'
import { usePerson } from '../../../session'
import { RrsetDiff, RrsetName } from '../rrset-diff'
import type { Decisions, DriftRow } from './decisions'

export const keyOf = ({ target_id, name, type }: DriftRow): string => `${target_id} ${name} ${type}`

/** Whether there is an external change to adopt. */
export const canAdopt = ({ state }: DriftRow): boolean => state === 'drifted' || state === 'conflict' || state === 'unmanaged'

const kinds = { changed: 'Changed at the provider', deleted: 'Deleted at the provider', added: 'Added at the provider' } as const
const waits: Partial<Record<DriftRow['state'], string>> = {
  pending: 'Changed in Bailiwick, not applied yet',
  conflict: 'Bailiwick and the provider have different versions. Choose which one to keep.',
  unknown: 'Not checked yet',
}

interface DriftEntryProps {
  row: DriftRow
  isSelected: boolean
  onSelect(): void
  decide: Decisions
}

/** An rrset that is out of sync at one provider: both versions, since when, and the actions. */
export function DriftEntry({ row, isSelected, onSelect, decide }: DriftEntryProps) {
  const { canWrite } = usePerson()
  const { name, type, state, kind, detail, since_at } = row
  const why = detail ?? waits[state] ?? (kind && kinds[kind])
  return (
    <li className="min-w-0 p-4 [contain-intrinsic-size:auto_8rem] [content-visibility:auto]">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        {canWrite && <input type="checkbox" aria-label={`Select ${name} ${type}`} checked={isSelected} onChange={onSelect} />}
        <h3 className="font-medium">
          <RrsetName name={name} type={type} />
        </h3>
        <Status status={state} />
        <span className="text-[13px] text-muted">
          for <ElapsedTime at={since_at} />
        </span>
        {canWrite && (
          <span className="flex grow items-center justify-end gap-2">
            {canAdopt(row) && (
              <Button small disabled={decide.isPending} onClick={() => decide.adopt([row])}>
                Adopt change
              </Button>
            )}
            <Button small disabled={decide.isPending} onClick={() => decide.enforce([row])}>
              {state === 'drifted' || state === 'unmanaged' ? 'Revert change…' : 'Overwrite at provider…'}
            </Button>
            {state === 'unmanaged' && (
              <Menu
                label={`More actions for ${name} ${type}`}
                className="inline-flex size-7 items-center justify-center rounded-md border border-line hover:bg-hover"
                items={[{ label: 'Ignore record set', onSelect: () => decide.ignore(row) }]}
              />
            )}
          </span>
        )}
      </div>
      {why && <p className="mb-2 text-muted wrap-anywhere">{why}</p>}
      <RrsetDiff before={row.desired} after={row.observed} beforeLabel="Desired" afterLabel="At the provider" />
    </li>
  )
}
