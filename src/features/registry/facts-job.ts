import type { JobDraft } from '../../core/jobs/draft'

export const factsJobKind = 'domains.apply_facts'

/** Applies what the registry says about a name to the domains with this name. */
export const factsJobFor = (name: string): JobDraft => ({ kind: factsJobKind, payload: { name }, uniqueKey: name })
