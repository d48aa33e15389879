import { Type, type Static, type TOptional } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { editable, Line, ListOf, Nullable, Shape, Tags, Words } from '../../core/shapes'
import { contactFields } from './fields'
import { registrarKinds } from './registrar-kinds'

const contactTypes = ['individual', 'company', 'association', 'public_body'] as const
export type ContactType = (typeof contactTypes)[number]

/** The members that are stored as they are. */
export const openMembers = members({
  label: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Your name for the contact. Not sent to registrars.' }),
    required: true,
  },
  country: {
    schema: Type.String({
      pattern: '^[A-Z]{2}$',
      'x-rule': 'must be an ISO 3166-1 country code in capital letters, such as FR.',
      description: 'Country: ISO 3166-1 alpha-2 code.',
    }),
    required: true,
  },
  tags: { schema: Tags, default: [] },
})

export const Fields = Shape(
  Object.fromEntries(Object.entries(contactFields).map(([name, schema]) => [name, Type.Optional(schema)])) as {
    [N in keyof typeof contactFields]: TOptional<(typeof contactFields)[N]>
  },
  {
    $id: 'ContactFields',
    description: 'What some registries require in addition, as `GET /v1/contacts/{id}/requirements` returns.',
    examples: [{ us_nexus: 'C21', us_purpose: 'P1' }],
  },
)
const FieldsPatch = Shape(
  Object.fromEntries(Object.entries(contactFields).map(([name, schema]) => [name, Type.Optional(Nullable(schema))])),
  {
    $id: 'ContactFieldsPatch',
    description: 'Fields to set. Null removes a field. Omitted fields are kept.',
    examples: [{ us_purpose: 'P3', birth_date: null }],
  },
)

// The lengths are those of EPP (RFC 5733), so that no registry has to cut anything.
/** The members that are stored encrypted, together. */
export const personalMembers = members({
  type: {
    schema: Words(contactTypes, { description: 'Type of the registrant. All but individuals need an `organization`.' }),
    required: true,
  },
  first_name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'First name of the person.' }),
    required: true,
  },
  last_name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Last name of the person.' }),
    required: true,
  },
  organization: {
    schema: Line({ maxLength: 255, description: 'Legal name of the organization; empty for an individual.' }),
    default: '',
    clearable: true,
  },
  email: {
    schema: Type.String({
      maxLength: 254,
      pattern:
        "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])$",
      'x-rule': 'must be an email address with a domain name, such as hostmaster@example.com.',
      description: 'Email address. Registries send confirmations to it.',
    }),
    required: true,
  },
  phone: {
    schema: Type.String({ description: 'Phone number in E.164 format, such as +33123456789.' }),
    input: Line({
      minLength: 1,
      maxLength: 40,
      description: 'Phone number with country code, such as +33 1 23 45 67 89. Stored in E.164 format.',
    }),
    required: true,
  },
  address: {
    schema: Type.Array(Line({ minLength: 1, maxLength: 255 }), {
      minItems: 1,
      maxItems: 3,
      description: 'Street address, one to three lines.',
    }),
    required: true,
  },
  city: { schema: Line({ minLength: 1, maxLength: 255, description: 'City.' }), required: true },
  state: {
    schema: Line({
      maxLength: 255,
      description: 'State, province, or region. Required in countries whose addresses have one, such as US, CA, AU, IT, and JP.',
    }),
    default: '',
    clearable: true,
  },
  postal_code: {
    schema: Line({ maxLength: 16, description: 'Postal code. Required in countries that have them.' }),
    default: '',
    clearable: true,
  },
  fields: { schema: Fields, default: {} },
})
export type PersonalData = { [K in keyof typeof personalMembers]: Static<(typeof personalMembers)[K]['schema']> }

/** The data of a contact, as clients set it. */
export type ContactData = PersonalData & { [K in keyof typeof openMembers]: Static<(typeof openMembers)[K]['schema']> }

const example = {
  label: 'Company',
  type: 'company' as const,
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
}
const { country, tags, ...label } = viewMembers(openMembers)
const { fields, ...person } = viewMembers(personalMembers)

export const Contact = Shape(
  {
    id: Type.String({ description: 'ID of the contact.' }),
    ...label,
    ...person,
    country,
    fields,
    registrar_ids: Type.Record(Type.String(), Type.String(), {
      description: 'ID of the contact at each registrar account that has it.',
    }),
    email_verified: Words(['yes', 'no', 'unknown'], {
      description: 'Whether the registrar has verified the email address, as ICANN requires.',
    }),
    used_by: Type.Integer({ minimum: 0, description: 'Number of domains that use the contact.' }),
    tags,
    ...editable,
  },
  {
    $id: 'Contact',
    description: 'The person or organization that a domain is registered to, or that manages it.',
    examples: [
      {
        id: 'con_01jd8f3q7eeb9bv0w0r8c7hq2m',
        ...example,
        registrar_ids: {},
        email_verified: 'unknown',
        used_by: 0,
        tags: [],
        version: 1,
        created_at: '2026-11-27T10:00:00.000Z',
        updated_at: '2026-11-27T10:00:00.000Z',
      },
    ],
  },
)
export const ContactList = ListOf(Contact)
export type ContactView = Static<typeof Contact>

export const ContactInput = Shape(
  { ...inputMembers(openMembers), ...inputMembers(personalMembers) },
  { $id: 'ContactInput', description: 'A contact to create.', examples: [example] },
)
export type ContactInput = Static<typeof ContactInput>

export const ContactPatch = Shape(
  { ...patchMembers(openMembers), ...patchMembers(personalMembers), fields: Type.Optional(FieldsPatch) },
  {
    $id: 'ContactPatch',
    description: 'Fields of the contact to update. Null resets a field to its default.',
    examples: [{ phone: '+33 1 98 76 54 32', fields: { birth_country: 'FR' } }],
  },
)
export type ContactPatch = Static<typeof ContactPatch>

export const RequirementsQuery = Shape({
  tld: Type.Optional(
    Type.String({
      pattern: '^\\.?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]\\.?$',
      maxLength: 253,
      'x-rule': 'must be a top-level domain in lowercase ASCII, such as fr, co.uk, or xn--p1ai.',
      description:
        'Top-level domain, such as `fr`, in its ASCII form. If it has several labels, the last one counts. Default: only the requirements of the registrar are checked.',
    }),
  ),
  registrar_kind: Type.Optional(
    Words(registrarKinds, {
      description: 'Kind of the registrar account. Default: only the requirements of the registry are checked.',
    }),
  ),
})
export type RequirementsQuery = Static<typeof RequirementsQuery>

export const ContactOptions = Shape(
  {
    countries: Type.Array(
      Shape({
        code: Type.String({ description: 'ISO 3166-1 alpha-2 code.' }),
        needs_state: Type.Boolean({ description: 'Whether addresses in the country need a `state`.' }),
        needs_postal_code: Type.Boolean({ description: 'Whether addresses in the country need a `postal_code`.' }),
      }),
      { description: 'Countries that a contact can be in.' },
    ),
    fields: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of `fields`.' }),
    registrar_kinds: Type.Array(Words(registrarKinds), {
      description: 'Kinds of registrars that contacts can be checked against.',
    }),
  },
  {
    $id: 'ContactOptions',
    description: 'What a form for contacts needs.',
    examples: [
      {
        countries: [{ code: 'FR', needs_state: false, needs_postal_code: true }],
        fields: { type: 'object', additionalProperties: false, properties: { birth_city: { type: 'string', minLength: 1 } } },
        registrar_kinds: ['namecheap', 'epp'],
      },
    ],
  },
)
export type ContactOptionsView = Static<typeof ContactOptions>

export const ContactRequirements = Shape(
  {
    tld: Nullable(Type.String(), { description: 'The top-level domain of the request; null if it has none.' }),
    registrar_kind: Nullable(Words(registrarKinds), {
      description: 'The kind of registrar of the request; null if it has none.',
    }),
    complete: Type.Boolean({ description: 'Whether nothing is missing.' }),
    missing: Type.Array(
      Shape({
        pointer: Type.String({ description: 'JSON pointer to the field of the contact.' }),
        code: Type.String({ description: 'Rule that the field breaks.' }),
        detail: Type.String({ description: 'What the registry or the registrar requires.' }),
      }),
      { description: 'What the contact lacks.' },
    ),
    sources: Type.Array(Type.String(), { description: 'Where the requirements are published.' }),
  },
  {
    $id: 'ContactRequirements',
    description: 'What a contact lacks to register domains of a top-level domain.',
    examples: [
      {
        tld: 'us',
        registrar_kind: 'namecheap',
        complete: false,
        missing: [{ pointer: '#/fields/us_nexus', code: 'required', detail: 'is required for .us domains.' }],
        sources: ['https://www.namecheap.com/support/api/extended-attributes/'],
      },
    ],
  },
)
export type ContactRequirementsView = Static<typeof ContactRequirements>
