import type { FieldProblem } from '../../core/problem'
import { eeaCountries } from './address-rules'
import type { ContactFieldName } from './fields'
import { registrarRules, type RegistrarKind, type RegistrarRule } from './registrar-kinds'
import type { ContactData, ContactType } from './shapes'

/** One of several fields is required. */
interface Need {
  anyOf: readonly ContactFieldName[]
  /** Only for these types of contacts. */
  of?: readonly ContactType[]
  /** Only if another field has one of these values. */
  if?: readonly [field: ContactFieldName, values: readonly string[]]
  /** Only for contacts in these countries, or in any other than these. */
  in?: readonly string[]
  notIn?: readonly string[]
}

/** What a registry requires of the registrant. */
interface RegistryRule {
  /** Labels of the top-level domains, in ASCII. */
  tlds: readonly string[]
  source: string
  needs?: readonly Need[]
  /** Countries that registrants must be in; `unless` is a field that exempts from it, such as the citizenship. */
  countries?: { codes: readonly string[]; unless?: ContactFieldName }
  requiresState?: true
}

const people = ['individual'] as const
const organizations = ['company', 'association', 'public_body'] as const

/**
 * Registries that require more of a registrant than the address that all require. The sources were read where they are marked [S];
 * entries marked [R] are from memory of the registry’s documentation, and still have to be compared with it.
 */
const registryRules: readonly RegistryRule[] = [
  {
    tlds: ['us'],
    source: 'https://www.namecheap.com/support/api/extended-attributes/', // [S]
    needs: [
      { anyOf: ['us_nexus'] },
      { anyOf: ['us_purpose'] },
      { anyOf: ['us_nexus_country'], if: ['us_nexus', ['C31', 'C32']] },
    ],
  },
  {
    tlds: ['ca'],
    source: 'https://www.cira.ca/ca-domains/register-your-ca/canadian-presence-requirements', // [R]
    needs: [{ anyOf: ['ca_legal_type'] }],
  },
  {
    tlds: ['uk'],
    source: 'https://registrars.nominet.uk/uk-namespace/registration-and-domain-management/field-definitions/', // [R]
    needs: [
      { anyOf: ['uk_registrant_type'] },
      { anyOf: ['company_number'], if: ['uk_registrant_type', ['LTD', 'PLC', 'LLP', 'IP', 'SCH', 'RCHAR']] },
    ],
  },
  {
    tlds: ['eu', 'xn--e1a4c', 'xn--qxa6a'],
    source: 'https://doc.openprovider.eu/API_Format_Extensions_Additional_Data_Customer', // [S]
    needs: [{ anyOf: ['citizenship'], of: people, notIn: eeaCountries }],
    countries: { codes: eeaCountries, unless: 'citizenship' },
  },
  {
    tlds: ['fr', 're', 'pm', 'tf', 'wf', 'yt'],
    source:
      'https://www.afnic.fr/en/domain-names-and-support/everything-there-is-to-know-about-domain-names/how-to-choose-and-create-my-domain-name/', // [R]
    needs: [
      { anyOf: ['birth_date'], of: people },
      { anyOf: ['birth_city'], of: people, if: ['birth_country', ['FR']] },
      { anyOf: ['birth_country'], of: people },
    ],
    countries: { codes: [...eeaCountries, 'CH'] },
  },
  {
    tlds: ['it'],
    source: 'https://domains.opensrs.guide/docs/tld', // [S]
    needs: [{ anyOf: ['it_entity_type'] }, { anyOf: ['tax_id'] }],
    countries: { codes: [...eeaCountries, 'CH', 'SM', 'VA'] },
  },
  {
    tlds: ['es'],
    source: 'https://doc.openprovider.eu/API_Format_Extensions_Additional_Data_Customer', // [S]
    needs: [
      { anyOf: ['tax_id', 'passport_number'], of: people },
      { anyOf: ['company_number', 'tax_id'], of: organizations },
    ],
  },
  {
    tlds: ['fi'],
    source: 'https://doc.openprovider.eu/API_Format_Extensions_Additional_Data_Customer', // [S]
    needs: [
      { anyOf: ['fi_registrant_type'] },
      { anyOf: ['company_number'], of: organizations },
      { anyOf: ['tax_id', 'passport_number'], of: people, in: ['FI'] },
      { anyOf: ['birth_date'], of: people, notIn: ['FI'] },
    ],
    requiresState: true,
  },
  {
    tlds: ['hu'],
    source: 'https://doc.openprovider.eu/API_Format_Extensions_Additional_Data_Customer', // [S]
    needs: [
      { anyOf: ['tax_id'], of: organizations },
      { anyOf: ['passport_number'], of: people },
    ],
  },
  {
    tlds: ['se', 'nu'],
    source: 'https://internetstiftelsen.se/en/domains/registrars/', // [R]
    needs: [
      { anyOf: ['tax_id', 'passport_number'], of: people },
      { anyOf: ['company_number'], of: organizations },
    ],
  },
  {
    tlds: ['no'],
    source: 'https://www.norid.no/en/om-domenenavn/regelverk-for-no/', // [R]
    needs: [
      { anyOf: ['tax_id'], of: people },
      { anyOf: ['company_number'], of: organizations },
    ],
    countries: { codes: ['NO', 'SJ', 'BV'] },
  },
  {
    tlds: ['ee'],
    source: 'https://www.internet.ee/domains/ee-domain-regulation', // [R]
    needs: [
      { anyOf: ['tax_id', 'birth_date'], of: people },
      { anyOf: ['company_number'], of: organizations },
    ],
  },
  {
    tlds: ['br'],
    source: 'https://manage.resellerclub.com/kb/answer/790', // [S]
    needs: [{ anyOf: ['tax_id'] }],
    countries: { codes: ['BR'] },
  },
  {
    tlds: ['au'],
    source: 'https://domains.opensrs.guide/docs/tld', // [S]
    needs: [{ anyOf: ['au_id_type'] }, { anyOf: ['au_id'] }],
  },
]

/** What a contact lacks, with the published sources of the requirements. */
interface Verdict {
  problems: FieldProblem[]
  sources: string[]
}

/**
 * Compares a contact with what the registry of a top-level domain and the API of a registrar require. Pointers refer to the contact. An
 * unknown top-level domain requires nothing in addition; its registry may still refuse the contact.
 * @param tld in ASCII and lowercase; the last of several labels counts; null checks the registrar only
 * @param kind null checks the registry only
 */
export function contactRequirements(contact: ContactData, tld: string | null, kind: RegistrarKind | null): Verdict {
  const label = tld?.slice(tld.lastIndexOf('.') + 1) ?? ''
  const registry = registryRules.find(one => one.tlds.includes(label))
  const registrar: RegistrarRule | null = kind && registrarRules[kind]
  return {
    problems: [
      ...(registry ? registryProblems(contact, registry, label) : []),
      ...(registrar ? registrarProblems(contact, registrar) : []),
    ],
    sources: [registry?.source, registrar?.source].filter(one => typeof one === 'string'),
  }
}

function registryProblems(contact: ContactData, rule: RegistryRule, label: string): FieldProblem[] {
  const { needs = [], countries, requiresState } = rule
  const isExempt = countries?.unless !== undefined && countries.codes.includes(contact.fields[countries.unless] ?? '')
  return [
    ...(countries && !countries.codes.includes(contact.country) && !isExempt
      ? [{ pointer: '#/country', code: 'not_eligible', detail: `is not eligible for .${label} domains.` }]
      : []),
    ...(requiresState && contact.state === '' ? [missing('state', `for .${label} domains`)] : []),
    ...needs
      .filter(need => applies(need, contact) && need.anyOf.every(name => contact.fields[name] === undefined))
      .map(({ anyOf: [first, ...others] }) => missing(`fields/${first}`, `for .${label} domains`, others)),
  ]
}

const applies = ({ of, if: condition, in: inside, notIn }: Need, { type, fields, country }: ContactData): boolean =>
  (!of || of.includes(type)) &&
  (!condition || condition[1].includes(fields[condition[0]] ?? '')) &&
  (!inside || inside.includes(country)) &&
  (!notIn || !notIn.includes(country))

function registrarProblems(contact: ContactData, rule: RegistrarRule): FieldProblem[] {
  const { requires = [], maxAddressLines, maxLengths = {} } = rule
  return [
    ...requires.filter(name => contact[name] === '').map(name => missing(name, 'by the registrar')),
    ...(maxAddressLines !== undefined && contact.address.length > maxAddressLines
      ? [{ pointer: '#/address', code: 'too_many', detail: `must have at most ${maxAddressLines} lines for the registrar.` }]
      : []),
    ...Object.entries(maxLengths).flatMap(([name, max]) =>
      contact[name as keyof typeof maxLengths].length > max
        ? [{ pointer: `#/${name}`, code: 'too_long', detail: `must have at most ${max} characters for the registrar.` }]
        : [],
    ),
  ]
}

/** @param others fields that can be set instead */
const missing = (name: string, why: string, others: readonly string[] = []): FieldProblem => ({
  pointer: `#/${name}`,
  code: 'required',
  detail: `${others.map(other => `or \`${other}\` `).join('')}is required ${why}.`,
})
