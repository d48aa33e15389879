import { catchFormatError } from '../../../dns/format-error'
import { txtValue } from '../../../dns/rdata'
import { cloudflareTypes, membersOf } from './cloudflare-records'
import type { ProviderRrset, UnsupportedRrset } from './provider'

/** Finds what Cloudflare doesn't support, as far as that is known without asking. */
export function unsupportedAtCloudflare(rrset: ProviderRrset): UnsupportedRrset[] {
  const { name, type } = rrset
  return rulesFor(rrset).map(detail => ({ name, type, detail }))
}

function rulesFor({ name, type, values }: ProviderRrset): string[] {
  if (!cloudflareTypes.has(type)) return [`Cloudflare doesn’t support ${type} records.`]
  const broken: string[] = []
  if (type === 'NS' && name === '@') broken.push('Cloudflare manages the NS records at the apex.')
  if (type === 'ALIAS' && name !== '@')
    broken.push('Cloudflare supports ALIAS only at the apex. Use a CNAME, optionally with CNAME flattening.')
  if (name.includes('\\')) broken.push('Cloudflare supports only letters, digits, hyphens, and underscores in names.')
  if (type === 'TXT') broken.push(...textRules(values))
  else if (values.some(value => !isValidText(type, value))) broken.push('Cloudflare supports only UTF-8 text here.')
  return broken
}

// Cloudflare, DNS record types: TXT.
const maxTextLength = 2048
const maxTextsLength = 8192

function textRules(values: readonly Uint8Array[]): string[] {
  const sizes = values.map(value => txtValue(value).length)
  const broken: string[] = []
  if (sizes.includes(0)) broken.push('Cloudflare doesn’t support empty TXT records.')
  if (sizes.some(size => size > maxTextLength)) broken.push(`Cloudflare limits TXT records to ${maxTextLength} characters.`)
  if (sizes.reduce((sum, size) => sum + size, 0) > maxTextsLength)
    broken.push(`Cloudflare limits all TXT records of a name to ${maxTextsLength} characters.`)
  return broken
}

/** Octets that are not valid text become objects in fields, which the API can't represent. */
const isValidText = (type: string, value: Uint8Array): boolean =>
  catchFormatError(
    () => Object.values(membersOf(type, value).data ?? {}).every(member => typeof member !== 'object'),
    () => false,
  )
