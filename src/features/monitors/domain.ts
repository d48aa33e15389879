import { parseHostPort } from '../../checks/host-port'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { declareInterest } from '../registry/interests'
import type { MonitorRow } from './view'

const everySeconds = 86_400

type Definition = Pick<MonitorRow, 'downIf' | 'degradedIf'>

/** Whether a condition uses when the domain of the target expires. */
export const usesDomain = ({ downIf, degradedIf }: Definition): boolean =>
  [...downIf, ...degradedIf].some(condition => condition.includes('DOMAIN_EXPIRATION'))

/**
 * Declares that a monitor wants to know about the domain of its target, or no longer does.
 * @param before its definition so far; null if it is new
 * @param after null if it is deleted
 */
export async function declareDomain(
  tx: Tx,
  hub: Hub,
  id: string,
  before: Definition | null,
  after: (Definition & Pick<MonitorRow, 'target'>) | null,
): Promise<void> {
  const isWanted = after !== null && usesDomain(after)
  if (!isWanted && (before === null || !usesDomain(before))) return
  await declareInterest(tx, hub, { type: 'monitor', id }, isWanted ? hostOf(after.target) : null, everySeconds)
}

/** The host of a target: a URL, `host:port`, or a name. */
const hostOf = (target: string): string =>
  target.includes('://') ? new URL(target).hostname : target.includes(':') ? parseHostPort(target, 1).host : target
