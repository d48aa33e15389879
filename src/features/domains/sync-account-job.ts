import type { JobDraft } from '../../core/jobs/draft'

export const syncKind = 'registrars.sync'

/** The job of registrar accounts that reads the domains of one. @param at ms UTC */
export const syncJobFor = (accountId: string, at: number): JobDraft => ({
  kind: syncKind,
  payload: { registrar_account_id: accountId },
  runAt: at,
  lane: accountId,
  uniqueKey: accountId,
  replaces: true,
  earliest: true,
})
