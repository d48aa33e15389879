import { expect, test } from 'bun:test'
import { registrarKinds, type RegistrarKind } from './registrar-kinds'
import { contactRequirements } from './requirements'
import type { ContactData } from './shapes'

const company: ContactData = {
  label: 'Company',
  type: 'company',
  first_name: 'Ada',
  last_name: 'Example',
  organization: 'Example Ltd',
  email: 'hostmaster@example.com',
  phone: '+33123456789',
  address: ['5 Example Street'],
  city: 'Paris',
  state: '',
  postal_code: '75001',
  country: 'FR',
  fields: {},
  tags: [],
}
const lacks = (changes: Partial<ContactData>, tld: string, kind: RegistrarKind = 'epp') =>
  contactRequirements({ ...company, ...changes }, tld, kind).problems.map(one => `${one.pointer} ${one.detail}`)

test('registries without rules of their own require nothing in addition', () => {
  for (const tld of ['com', 'de', 'example', 'co.nl'])
    for (const kind of ['epp', 'manual', 'porkbun', 'gandi'] as const) expect(lacks({}, tld, kind)).toEqual([])
})

test('fields are required by registry, type, country, and other fields', () => {
  expect(lacks({}, 'us')).toEqual([
    '#/fields/us_nexus is required for .us domains.',
    '#/fields/us_purpose is required for .us domains.',
  ])
  const foreign = { us_nexus: 'C31', us_purpose: 'P1' } as const
  expect(lacks({ fields: foreign }, 'us')).toEqual(['#/fields/us_nexus_country is required for .us domains.'])
  expect(lacks({ fields: { ...foreign, us_nexus_country: 'FR' } }, 'us')).toEqual([])
  expect(lacks({ fields: { ...foreign, us_nexus: 'C21' } }, 'us')).toEqual([])

  expect(lacks({ fields: { uk_registrant_type: 'LTD' } }, 'co.uk')).toEqual([
    '#/fields/company_number is required for .uk domains.',
  ])
  expect(lacks({ fields: { uk_registrant_type: 'FOTHER' } }, 'co.uk')).toEqual([])

  const person = { type: 'individual', organization: '' } as const
  expect(lacks({}, 'fr')).toEqual([])
  expect(lacks({ ...person, fields: { birth_country: 'FR' } }, 'fr')).toEqual([
    '#/fields/birth_date is required for .fr domains.',
    '#/fields/birth_city is required for .fr domains.',
  ])
  expect(lacks({ ...person, fields: { birth_country: 'DE', birth_date: '1990-01-31' } }, 'fr')).toEqual([])
  expect(lacks({ ...person }, 'es')).toEqual(['#/fields/tax_id or `passport_number` is required for .es domains.'])
  expect(lacks({ ...person, fields: { passport_number: 'X1' } }, 'es')).toEqual([])
  expect(lacks({ ...person, country: 'FI', state: 'Uusimaa', fields: { fi_registrant_type: '0' } }, 'fi')).toEqual([
    '#/fields/tax_id or `passport_number` is required for .fi domains.',
  ])
  expect(lacks({ ...person, fields: { fi_registrant_type: '0' } }, 'fi')).toEqual([
    '#/state is required for .fi domains.',
    '#/fields/birth_date is required for .fi domains.',
  ])
})

test('some registries require a country, or a citizenship instead', () => {
  const person = { type: 'individual', organization: '', country: 'JP', state: 'Tokyo' } as const
  expect(lacks({ country: 'US' }, 'eu')).toEqual(['#/country is not eligible for .eu domains.'])
  expect(lacks(person, 'eu')).toEqual([
    '#/country is not eligible for .eu domains.',
    '#/fields/citizenship is required for .eu domains.',
  ])
  expect(lacks({ ...person, fields: { citizenship: 'IE' } }, 'eu')).toEqual([])
  expect(lacks({ ...person, fields: { citizenship: 'JP' } }, 'eu')).toEqual(['#/country is not eligible for .eu domains.'])
  expect(lacks({ country: 'CH', fields: { tax_id: '1' } }, 'br')).toEqual(['#/country is not eligible for .br domains.'])
})

test('registrars have limits of their own', () => {
  const bare = { postal_code: '', country: 'IE' }
  const required = ['#/state is required by the registrar.', '#/postal_code is required by the registrar.']
  const long = { ...bare, state: 'x'.repeat(51), postal_code: '1', address: ['1', '2', '3'] }
  const tooMany = '#/address must have at most 2 lines for the registrar.'
  const expected: Record<RegistrarKind, string[][]> = {
    porkbun: [[], []],
    cloudflare: [required, []],
    namecheap: [required, [tooMany, '#/state must have at most 50 characters for the registrar.']],
    namecom: [required, [tooMany]],
    gandi: [[], []],
    epp: [[], []],
    manual: [[], []],
  }
  expect(registrarKinds).toEqual(Object.keys(expected) as RegistrarKind[])
  for (const kind of registrarKinds)
    expect([kind, lacks(bare, 'com', kind), lacks(long, 'com', kind)]).toEqual([kind, ...expected[kind]])
})

test('the sources of both are returned', () => {
  expect(contactRequirements(company, 'us', 'epp').sources).toHaveLength(2)
  expect(contactRequirements(company, 'com', 'epp').sources).toEqual(['https://www.rfc-editor.org/rfc/rfc5733'])
  expect(contactRequirements(company, 'com', 'manual').sources).toEqual([])
})
