import type { DomainView } from '../../../features/domains/shapes'
import { pluralize } from '../../parts/plural'
import { capitalize, humanize, Status, type Tone } from '../../parts/status'

type Word = DomainView['status']

const statusTones: Partial<Record<Word, Tone>> = {
  active: 'ok',
  suspended: 'bad',
  expired: 'bad',
  redemption: 'bad',
  pending_delete: 'bad',
  pending_registration: 'busy',
  pending_transfer: 'busy',
}
const delegationTones: Record<DomainView['delegation']['state'], Tone> = {
  match: 'ok',
  mismatch: 'warn',
  lame: 'bad',
  no_zone: 'idle',
  unknown: 'idle',
}
const delegationLabels = { match: 'matches', mismatch: 'differs', lame: 'lame', no_zone: 'no zone', unknown: 'unknown' }

export const statusChoices = Object.fromEntries(
  (
    [
      ...['active', 'suspended', 'expired', 'redemption', 'pending_delete', 'deleted'],
      ...['transferred_out', 'pending_registration', 'pending_transfer', 'unknown'],
    ] as const
  ).map(one => [one, capitalize(humanize(one))]),
)
export const delegationChoices = Object.fromEntries(
  Object.entries(delegationLabels).map(([state, text]) => [state, capitalize(text)]),
)

export const DomainStatus = ({ status }: { status: Word }) => <Status status={status} tone={statusTones[status] ?? 'idle'} />

export const DelegationStatus = ({ state }: Pick<DomainView['delegation'], 'state'>) => (
  <Status status={state} tone={delegationTones[state]} label={delegationLabels[state]} />
)

const soonDays = 30

/** The date when the registration ends, with the days until then. */
export function Expiry({ domain: { expires_at: end, days_left: left } }: { domain: DomainView }) {
  if (end === null || left === null) return <span className="text-muted">Unknown</span>
  return (
    <>
      {end} <span className={left < soonDays ? 'text-bad' : 'text-muted'}>{daysText(left)}</span>
    </>
  )
}

const daysText = (left: number): string =>
  left === 0 ? 'today' : left > 0 ? `in ${pluralize(left, 'day', 'days')}` : `${pluralize(-left, 'day', 'days')} ago`
