import type { ContactView } from '../../../features/contacts/shapes'

/** API paths to refetch after a change. */
export const contactPaths = ['/contacts'] as const

export const contactTypes: Record<ContactView['type'], string> = {
  individual: 'Individual',
  company: 'Company',
  association: 'Association',
  public_body: 'Public body',
}

export const personName = ({ first_name, last_name, organization }: ContactView): string =>
  [organization, `${first_name} ${last_name}`].filter(part => part !== '').join(', ')

const names = new Intl.DisplayNames('en', { type: 'region' })

/** The name of a country. @param code ISO 3166-1 alpha-2 code */
export const countryName = (code: string): string => names.of(code) ?? code

export const registrarNames: Record<string, string> = {
  porkbun: 'Porkbun',
  cloudflare: 'Cloudflare',
  namecheap: 'Namecheap',
  namecom: 'Name.com',
  gandi: 'Gandi',
  epp: 'EPP',
  manual: 'No account',
}
