import type { CheckedAccounts } from '../../../parts/account-check'

/** How checks of DNS providers are explained. */
export const checkedProviders: CheckedAccounts = { noun: 'provider', help: '/docs/dns-providers#health-checks' }
