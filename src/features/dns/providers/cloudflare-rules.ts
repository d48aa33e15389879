import { DnsFormatError } from '../../../core/dns/format-error'
import { txtValue } from '../../../core/dns/rdata'
import { cloudflareTypes, membersOf } from './cloudflare-records'
import type { ProviderRrset, Unfit } from './provider'

/** What Cloudflare does not take, as far as that can be told without asking. */
export function unfitForCloudflare(rrset: ProviderRrset): Unfit[] {
  const { name, type } = rrset
  return rulesFor(rrset).map(detail => ({ name, type, detail }))
}

function rulesFor({ name, type, values }: ProviderRrset): string[] {
  if (!cloudflareTypes.has(type)) return [`Cloudflare keeps no records of type ${type}.`]
  const broken: string[] = []
  if (type === 'NS' && name === '@')
    broken.push('Cloudflare answers with name servers of its own at the apex, and those cannot be edited.')
  if (type === 'ALIAS' && name !== '@')
    broken.push('Cloudflare has no ALIAS below the apex: there it is a CNAME, which Cloudflare may be told to flatten.')
  if (name.includes('\\')) broken.push('Cloudflare takes only names of letters, digits, hyphens and underscores.')
  if (type === 'TXT') broken.push(...textRules(values))
  else if (values.some(value => !isTellable(type, value))) broken.push('Cloudflare takes only text in UTF-8 here.')
  return broken
}

// Cloudflare, DNS record types: TXT.
const longestText = 2048
const longestTexts = 8192

function textRules(values: readonly Uint8Array[]): string[] {
  const sizes = values.map(value => txtValue(value).length)
  const broken: string[] = []
  if (sizes.includes(0)) broken.push('Cloudflare takes no empty TXT.')
  if (sizes.some(size => size > longestText)) broken.push(`Cloudflare takes at most ${longestText} characters in a TXT.`)
  if (sizes.reduce((sum, size) => sum + size, 0) > longestTexts)
    broken.push(`Cloudflare takes at most ${longestTexts} characters in all TXT of a name.`)
  return broken
}

/** Octets that are no text are objects in fields, and nothing in JSON for Cloudflare. */
function isTellable(type: string, value: Uint8Array): boolean {
  try {
    return Object.values(membersOf(type, value).data ?? {}).every(member => typeof member !== 'object')
  } catch (error) {
    if (error instanceof DnsFormatError) return false
    throw error
  }
}
