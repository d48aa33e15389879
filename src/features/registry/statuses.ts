/** The statuses of a domain in RDAP: the “RDAP JSON Values” registry of IANA (RFC 9083 section 10.2.2, RFC 8056 section 2). */
const words = [
  'validated',
  'renew prohibited',
  'update prohibited',
  'transfer prohibited',
  'delete prohibited',
  'proxy',
  'private',
  'removed',
  'obscured',
  'associated',
  'active',
  'inactive',
  'locked',
  'pending create',
  'pending renew',
  'pending transfer',
  'pending update',
  'pending delete',
  'add period',
  'auto renew period',
  'client delete prohibited',
  'client hold',
  'client renew prohibited',
  'client transfer prohibited',
  'client update prohibited',
  'pending restore',
  'redemption period',
  'renew period',
  'server delete prohibited',
  'server renew prohibited',
  'server transfer prohibited',
  'server update prohibited',
  'server hold',
  'transfer period',
  'administrative',
  'reserved',
]

const letters = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
// In EPP, two statuses have other names (RFC 8056 section 2).
const known = new Map([...words.map(word => [letters(word), word] as const), ['ok', 'active'], ['linked', 'associated']])

/** Entries of a response that are read. */
const maxStatuses = 50
const maxLength = 200

/**
 * Statuses of RDAP, EPP, and WHOIS in one spelling: `clientTransferProhibited https://icann.org/epp#clientTransferProhibited` becomes
 * `client transfer prohibited`. Words that are not statuses of RDAP are omitted.
 */
export function rdapStatuses(texts: readonly string[]): string[] {
  const found = texts.slice(0, maxStatuses).flatMap(text => {
    const plain = text.slice(0, maxLength).replace(/https?:\S*|\([^)]*\)/g, '')
    return plain.split(/[,/]/).flatMap(part => known.get(letters(part)) ?? [])
  })
  return [...new Set(found)]
}
