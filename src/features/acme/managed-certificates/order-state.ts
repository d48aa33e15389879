import type { ChallengeValue } from '../../dns/challenges/challenges'

/** Where an action that issues a certificate continues. Everything is stored before the next call to the authority. */
export interface IssueState extends Record<string, unknown> {
  step: 'order' | 'publish' | 'wait' | 'validate' | 'key' | 'finalize' | 'store'
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
  /** Attempts of the current chunk that failed. */
  tries: number
}

export const firstState: IssueState = {
  step: 'order',
  accountId: null,
  orderUrl: null,
  values: [],
  deadline: 0,
  isAsked: false,
  csr: null,
  tries: 0,
}
