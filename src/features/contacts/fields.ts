import { Type, type TSchema } from '@sinclair/typebox'
import { grouped, Line, Words } from '../../core/shapes'

const identifier = (title: string, description: string) =>
  Type.String({
    title,
    pattern: '^[A-Za-z0-9][A-Za-z0-9 ./-]{0,39}$',
    'x-rule': 'must have at most 40 letters, digits, spaces, or the characters . / -, and start with a letter or digit.',
    description,
  })
const country = (title: string, description: string) =>
  Type.String({ title, pattern: '^[A-Z]{2}$', 'x-rule': 'must be an ISO 3166-1 country code, such as FR.', description })

const person = grouped('Person', {
  birth_date: Type.String({ title: 'Date of birth', format: 'date', description: 'Date of birth: `YYYY-MM-DD`.' }),
  birth_city: Line({ title: 'City of birth', minLength: 1, maxLength: 100, description: 'City of birth.' }),
  birth_country: country('Country of birth', 'Country of birth: ISO 3166-1 code.'),
  citizenship: country('Citizenship', 'Country of citizenship: ISO 3166-1 code.'),
  passport_number: identifier('Passport number', 'Number of the passport or identity card.'),
})
const numbers = grouped('Registration numbers', {
  tax_id: identifier('Tax number', 'Tax or personal identification number, such as a codice fiscale, NIF, CPF, or VAT number.'),
  company_number: identifier('Company number', 'Number of the organization in its public register.'),
})
const au = grouped('.au domains', {
  au_id_type: Words(['ACN', 'ABN', 'TM', 'ARBN', 'OTHER'], {
    title: 'Type of ID',
    description: 'Type of the ID of the registrant of an .au domain.',
  }),
  au_id: identifier('ID of the registrant', 'ID of the registrant of an .au domain, of the type in `au_id_type`.'),
})
const ca = grouped('.ca domains', {
  ca_legal_type: Words(
    [
      'CCO',
      'CCT',
      'RES',
      'GOV',
      'EDU',
      'ASS',
      'HOP',
      'PRT',
      'TDM',
      'TRD',
      'PLT',
      'LAM',
      'TRS',
      'ABO',
      'INB',
      'LGR',
      'OMK',
      'MAJ',
    ],
    {
      title: 'Legal type',
      description:
        'Canadian presence of the registrant of a .ca domain, as CIRA abbreviates it: CCT is a citizen, CCO a corporation.',
    },
  ),
})
const fi = grouped('.fi domains', {
  fi_registrant_type: Words(['0', '1', '2', '3', '4', '5', '6', '7'], {
    title: 'Type of .fi registrant',
    description:
      'Type of the registrant of a .fi domain: 0 private person, 1 company, 2 corporation, 3 institution, 4 political party, 5 township, 6 government, 7 public community.',
  }),
})
const it = grouped('.it domains', {
  it_entity_type: Words(['1', '2', '3', '4', '5', '6', '7'], {
    title: 'Type of .it registrant',
    description:
      'Type of the registrant of an .it domain: 1 natural person, 2 company, 3 freelancer, 4 nonprofit organization, 5 public organization, 6 other entity, 7 foreign entity.',
  }),
})
const uk = grouped('.uk domains', {
  uk_registrant_type: Words(
    ['LTD', 'PLC', 'PTNR', 'LLP', 'STRA', 'IND', 'IP', 'SCH', 'RCHAR', 'GOV', 'CRC', 'STAT', 'OTHER', 'FIND', 'FCORP', 'FOTHER'],
    {
      title: 'Type of .uk registrant',
      description:
        'Type of the registrant of a .uk domain, as Nominet abbreviates it: IND is a UK individual, LTD a limited company.',
    },
  ),
})
const us = grouped('.us domains', {
  us_nexus: Words(['C11', 'C12', 'C21', 'C31', 'C32'], {
    title: 'Nexus',
    description:
      'Connection of the registrant of a .us domain to the United States: C11 citizen, C12 permanent resident, C21 US organization, C31 foreign organization with business there, C32 foreign organization with an office there.',
  }),
  us_nexus_country: country(
    'Nexus country',
    'Country of the registrant of a .us domain, if the nexus is C31 or C32: ISO 3166-1 code.',
  ),
  us_purpose: Words(['P1', 'P2', 'P3', 'P4', 'P5'], {
    title: 'Purpose',
    description: 'Purpose of a .us domain: P1 business, P2 nonprofit, P3 personal, P4 educational, P5 government.',
  }),
})

/** What some registries require in addition to the address of a registrant, by name. One value can serve several registries. */
export const contactFields = { ...person, ...numbers, ...au, ...ca, ...fi, ...it, ...uk, ...us } satisfies Record<string, TSchema>

export type ContactFieldName = keyof typeof contactFields

/** The fields whose values are country codes. */
export const countryFields = ['birth_country', 'citizenship', 'us_nexus_country'] as const satisfies ContactFieldName[]
