/** What happens after the registration of a domain ended. Days count from the end of the step before; null if there is no such step. */
export interface LifecycleProfile {
  /** The registrar can still renew it at the normal price. */
  renewal_grace_days: number | null
  /** It can only be restored, usually at a higher price. */
  redemption_days: number | null
  /** It can’t be kept any longer, and is then available to everyone. */
  pending_delete_days: number | null
  /** Other rules of the registry. */
  note: string | null
  /** Where this is stated. */
  source: string
}

const gtld: LifecycleProfile = {
  renewal_grace_days: 45,
  redemption_days: 30,
  pending_delete_days: 5,
  note: 'Registrars may end the renewal grace period earlier.',
  source: 'RFC 3915; ICANN Expired Registration Recovery Policy',
}

const days = (
  renewal: number | null,
  redemption: number | null,
  pendingDelete: number | null,
  source: string,
  note: string | null = null,
): LifecycleProfile => ({
  renewal_grace_days: renewal,
  redemption_days: redemption,
  pending_delete_days: pendingDelete,
  note,
  source,
})

/** Profiles by top-level domain. */
const profiles: Readonly<Record<string, LifecycleProfile>> = {
  be: days(null, 40, null, 'DNS Belgium, domain name life cycle', 'Deleted domains are in quarantine for 40 days.'),
  ca: days(
    30,
    null,
    null,
    'CIRA, “To Be Released” domains',
    'Deleted domains are released on the next Wednesday at 14:00 in Ottawa.',
  ),
  de: days(null, 30, null, 'DENIC, Redemption Grace Period', 'Registrations have no end. A deleted domain can be restored.'),
  eu: days(
    null,
    40,
    null,
    'EURid, domain name life cycle',
    'Registrations end on the last day of a month. Then the domain is in quarantine.',
  ),
  fr: days(null, 30, null, 'Afnic, redemption period'),
  it: days(15, 30, 5, 'Registro .it, domain statuses'),
  nl: days(null, 40, null, 'SIDN, quarantine', 'Counts from the cancellation.'),
  nu: days(null, null, null, 'The Swedish Internet Foundation, deactivation', 'The release date is published in a list.'),
  ru: days(null, 30, null, 'Coordination Center for TLD .RU', 'WHOIS shows the date of the release as `free-date`.'),
  se: days(null, null, null, 'The Swedish Internet Foundation, deactivation', 'The release date is published in a list.'),
  uk: days(30, 60, 5, 'Nominet, expiring domains', 'Nominet publishes the exact time of the release every day.'),
}

const notGeneric = ['arpa', 'edu', 'gov', 'int', 'mil']

/** The profile of a top-level domain; null if it is not known. */
export function profileOf(tld: string): LifecycleProfile | null {
  const own = Object.hasOwn(profiles, tld) ? profiles[tld] : undefined
  if (own) return own
  // Domains of countries have two letters. Internationalized ones can be either.
  return tld.length === 2 || tld.startsWith('xn--') || notGeneric.includes(tld) ? null : gtld
}

/** `gtld` for the rules of generic top-level domains, and otherwise the top-level domain that the rules belong to. */
export const profileNameOf = (profile: LifecycleProfile, tld: string): string => (profile === gtld ? 'gtld' : tld)
