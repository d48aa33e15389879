import type { PagePath } from '../../pages'

/** The lists of DNS, in a row of tabs. */
export const dnsTabs: readonly PagePath[] = ['/dns', '/dns/records', '/dns/templates', '/dns/providers']
