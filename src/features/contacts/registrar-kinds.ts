/** What a registrar’s API requires of contacts. */
export interface RegistrarRule {
  /** Null if nothing is sent to the registrar. */
  source: string | null
  requires?: readonly ('state' | 'postal_code')[]
  maxAddressLines?: number
  maxLengths?: Readonly<Partial<Record<'city' | 'state' | 'postal_code', number>>>
}

/** By kind of registrar account. What all contacts have is not repeated. */
export const registrarRules = {
  // Version 3.0 of the API sends no contacts: domains are registered to the owner of the account.
  porkbun: { source: 'https://porkbun.com/api/json/v3/documentation' },
  // Joins the lines of the address.
  cloudflare: { source: 'https://developers.cloudflare.com/api/resources/registrar/', requires: ['state', 'postal_code'] },
  namecheap: {
    source: 'https://www.namecheap.com/support/api/methods/domains/create.aspx',
    requires: ['state', 'postal_code'],
    maxAddressLines: 2,
    maxLengths: { city: 50, state: 50, postal_code: 50 },
  },
  namecom: { source: 'https://docs.name.com/', requires: ['state', 'postal_code'], maxAddressLines: 2 },
  gandi: { source: 'https://api.gandi.net/docs/domains/' },
  epp: { source: 'https://www.rfc-editor.org/rfc/rfc5733' },
  manual: { source: null },
} as const satisfies Record<string, RegistrarRule>

export type RegistrarKind = keyof typeof registrarRules
export const registrarKinds = Object.keys(registrarRules) as RegistrarKind[]
