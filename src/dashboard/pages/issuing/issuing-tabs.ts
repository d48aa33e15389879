import type { PagePath } from '../../pages'

/** The pages about issuing certificates. */
export const issuingTabs: readonly PagePath[] = ['/managed-certificates', '/acme-accounts']
