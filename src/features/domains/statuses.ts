export const domainStatuses = [
  'pending_registration',
  'pending_transfer',
  'active',
  'suspended',
  'expired',
  'redemption',
  'pending_delete',
  'deleted',
  'transferred_out',
  'unknown',
] as const
export type DomainStatus = (typeof domainStatuses)[number]

export const managements = ['manual', 'registrar'] as const
export const delegationStates = ['match', 'mismatch', 'lame', 'no_zone', 'unknown'] as const
export const syncStates = ['pending', 'fresh', 'stale', 'error'] as const
export const readingSources = ['registrar', 'rdap', 'whois'] as const
export const moveSources = [...readingSources, 'clock', 'order', 'hand'] as const
export const expirySources = ['registrar', 'rdap', 'whois', 'given'] as const
export const expiryConfidences = ['certain', 'likely', 'provisional', 'given', 'unknown'] as const
