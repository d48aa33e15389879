import type { JobDraft } from '../../../core/jobs/queue'

export const checkKind = 'dns.check-provider'

/** The job that looks whether a provider is well; it asks for the next one of its kind itself. @param at ms UTC */
export const checkJobFor = (providerId: string, at: number): JobDraft => ({
  kind: checkKind,
  payload: { provider_id: providerId },
  runAt: at,
  uniqueKey: providerId,
  replaces: true,
})
