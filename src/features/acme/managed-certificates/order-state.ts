import type { Hub } from '../../../core/hub'
import type { CommitChunk, Next, Work } from '../../actions/kind'
import type { ChallengeValue } from '../../dns/challenges/challenges'
import type { AcmeAccountRow } from '../accounts/accounts'
import type { ManagedCertificateRow } from './tables'

/** Where an action that issues a certificate continues. Everything is stored before the next call to the authority. */
export interface IssueState extends Record<string, unknown> {
  step: 'check' | 'order' | 'publish' | 'wait' | 'validate' | 'key' | 'finalize' | 'store' | 'deliver'
  /** The ACME account of the order, which stays the same if another one is set meanwhile; null before the first step. */
  accountId: string | null
  orderUrl: string | null
  /** Published values. */
  values: ChallengeValue[]
  /** When the current step fails (ms UTC). */
  deadline: number
  /** Whether the authority was asked to validate. */
  isAsked: boolean
  /** PEM of the certificate request. */
  csr: string | null
  /** The command that the agent runs; null if there is none. */
  commandId: string | null
  /** Attempts of the current chunk that failed. */
  tries: number
}

export const firstState: IssueState = {
  step: 'check',
  accountId: null,
  orderUrl: null,
  values: [],
  deadline: 0,
  isAsked: false,
  csr: null,
  commandId: null,
  tries: 0,
}

/** What the action was started for. */
export type IssueInput = {
  is_renewal: boolean
  /** Whether the current certificate is only delivered. */
  is_delivery?: boolean
}
export type IssueWork = Work<IssueInput, IssueState>
export type IssueCommit = CommitChunk<IssueState>

/** What a chunk works with. */
export interface Scene {
  hub: Hub
  work: IssueWork
  row: ManagedCertificateRow
  account: AcmeAccountRow
  state: IssueState
}

/** What follows a chunk that succeeded. */
export const next = (
  state: IssueState,
  changes: Partial<IssueState>,
  more: Omit<Extract<Next<IssueState>, { state: unknown }>, 'state'> = {},
): Next<IssueState> => ({ state: { ...state, tries: 0, ...changes }, ...more })
