import type { Family } from './addresses'

/** A change of the address of one family. */
export interface AddressChange {
  at: number
  family: Family
  /** Null: removed. */
  address: string | null
  /** Who reported it. */
  client: { address: string; userAgent: string | null }
}

type HoldReason =
  { reason: 'two_clients'; family: Family; clients: [TurnClient, TurnClient] } | { reason: 'flapping'; changes: number }

/** One of two clients that report different addresses alternately. */
interface TurnClient {
  reported: string | null
  address: string
  userAgent: string | null
}

const turnsToHold = 6
const turnWindowMs = 30 * 60_000
const changesToHold = 20
const changeWindowMs = 60 * 60_000

/** How long a source stays on hold after the last turn. */
export const holdMs = turnWindowMs
/** How far back changes matter. */
export const changesSince = (now: number): number => now - changeWindowMs

/**
 * Why changes of a source are held: two clients alternately report different addresses, or the address changes too often.
 * @param changes oldest first, since the hold was last lifted
 */
export function holdReason(changes: readonly AddressChange[], now: number): HoldReason | null {
  for (const family of ['ipv4', 'ipv6'] as const) {
    const own = changes.filter(one => one.family === family && one.at > now - turnWindowMs)
    const turns = own.filter((_, at) => isTurn(own, at))
    if (turns.length < turnsToHold) continue
    const [first, second] = own.slice(-2)
    return { reason: 'two_clients', family, clients: [clientOf(first!), clientOf(second!)] }
  }
  const recent = changes.filter(one => one.at > changesSince(now))
  return recent.length > changesToHold ? { reason: 'flapping', changes: recent.length } : null
}

/** Whether a change brings back the address before the previous one. */
const isTurn = (changes: readonly AddressChange[], at: number): boolean =>
  at >= 2 && changes[at]!.address === changes[at - 2]!.address

const clientOf = ({ address, client }: AddressChange): TurnClient => ({ reported: address, ...client })
