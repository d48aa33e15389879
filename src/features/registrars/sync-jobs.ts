import type { JobDraft } from '../../core/jobs/draft'

export const syncKind = 'registrars.sync'

/** The job that reads the domains of an account. @param at ms UTC */
export const syncJobFor = (accountId: string, at: number): JobDraft => ({
  kind: syncKind,
  payload: { registrar_account_id: accountId },
  runAt: at,
  lane: accountId,
  uniqueKey: accountId,
  replaces: true,
  earliest: true,
})
