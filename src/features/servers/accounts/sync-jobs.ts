import type { JobDraft } from '../../../core/jobs/draft'

export const syncKind = 'cloud.sync-account'

/** The job that reads the servers of an account. @param at ms UTC */
export const syncJobFor = (accountId: string, at: number): JobDraft => ({
  kind: syncKind,
  payload: { cloud_account_id: accountId },
  runAt: at,
  lane: accountId,
  uniqueKey: accountId,
  replaces: true,
  earliest: true,
})
