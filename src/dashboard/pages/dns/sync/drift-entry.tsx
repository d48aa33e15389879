import type { Drift } from '../../../../features/dns/sync/shapes'
import { Button } from '../../../parts/button'
import { Menu } from '../../../parts/menu'
import { Status } from '../../../parts/status'
import { Since } from '../../../parts/time'
import { usePerson } from '../../../session'
import { RrsetDiff, RrsetName } from '../rrset-diff'
import type { Decisions } from './decisions'

export type DriftRow = Drift['rrsets'][number]

export const keyOf = ({ target_id, name, type }: DriftRow): string => `${target_id} ${name} ${type}`

/** Whether there is something of others to take over. */
export const mayAdopt = ({ state }: DriftRow): boolean => state === 'drifted' || state === 'conflict' || state === 'unmanaged'

const kinds = {
  changed: 'Others changed it there.',
  missing: 'Others took it away there.',
  added: 'Others added it there.',
} as const
const waits: Partial<Record<DriftRow['state'], string>> = {
  pending: 'Changed here, and not brought there yet.',
  conflict: 'Changed here and there. Neither wins by itself.',
  unknown: 'Never read there.',
}

interface DriftEntryProps {
  row: DriftRow
  isChosen: boolean
  onChosen(): void
  decide: Decisions
}

/** One name and type that differs at one provider: both sides, since when, and what to do. */
export function DriftEntry({ row, isChosen, onChosen, decide }: DriftEntryProps) {
  const { mayWrite } = usePerson()
  const { name, type, state, kind, detail, since } = row
  const why = detail ?? waits[state] ?? (kind && kinds[kind])
  return (
    <li className="min-w-0 p-4 [contain-intrinsic-size:auto_8rem] [content-visibility:auto]">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        {mayWrite && <input type="checkbox" aria-label={`Choose ${name} ${type}`} checked={isChosen} onChange={onChosen} />}
        <h3 className="font-medium">
          <RrsetName name={name} type={type} />
        </h3>
        <Status state={state} />
        <span className="text-[13px] text-muted">
          for <Since at={since} />
        </span>
        {mayWrite && (
          <span className="flex grow items-center justify-end gap-2">
            {mayAdopt(row) && (
              <Button small disabled={decide.isPending} onClick={() => decide.adopt([row])}>
                Take theirs
              </Button>
            )}
            <Button small disabled={decide.isPending} onClick={() => decide.enforce([row])}>
              Write ours…
            </Button>
            {state === 'unmanaged' && (
              <Menu
                label={`More with ${name} ${type}`}
                className="inline-flex size-7 items-center justify-center rounded-md border border-line hover:bg-hover"
                items={[{ label: 'Leave it alone from now on', onSelect: () => decide.ignore(row) }]}
              />
            )}
          </span>
        )}
      </div>
      {why && <p className="mb-2 text-muted wrap-anywhere">{why}</p>}
      <RrsetDiff before={row.desired} after={row.observed} beforeLabel="As it is to be" afterLabel="At the provider" />
    </li>
  )
}
