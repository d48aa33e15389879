import { Type, type Static } from '@sinclair/typebox'
import { accountName, accountPatch, checkFields } from '../../../adapters/accounts/shapes'
import { accountStates } from '../../../adapters/accounts/columns'
import { editable, Nullable, Prose, Shape, SinglePageOf, Words } from '../../../core/shapes'
import { acmeFailures } from '../client/acme-error'
import { keyTypes } from '../../../core/x509/private-key'

export const acmeAccountStatuses = ['valid', 'deactivated'] as const

const contactEmail = (description: string) => Nullable(Type.String({ format: 'email', maxLength: 254 }), { description })
const caPem = (description: string) => Nullable(Prose({ maxLength: 65_536 }), { description })
const directoryUrl = Type.String({
  pattern: '^https://[^\\s\\\\?#@]+$',
  'x-rule': 'must be an https URL without credentials, query, or fragment.',
  maxLength: 2000,
  description: 'URL of the ACME directory of the certificate authority. `GET /v1/acme-directories` lists common ones.',
})
const keyType = (description: string) => Words(keyTypes, { description })

const example = {
  id: 'acme_01k3z9a1b2c3d4e5f6g7h8j9km',
  name: 'Let’s Encrypt',
  directory_url: 'https://acme-v02.api.letsencrypt.org/directory',
  contact_email: 'ops@example.com',
  eab: null,
  key_type: 'ec-256',
  ca_pem: null,
  account_url: 'https://acme-v02.api.letsencrypt.org/acme/acct/4711',
  status: 'valid',
  state: 'ok',
  detail: 'Registered at acme-v02.api.letsencrypt.org, profiles classic, shortlived, tlsserver',
  warnings: [],
  last_checked_at: '2026-11-27T10:05:00.000Z',
  last_ok_at: '2026-11-27T10:05:00.000Z',
  last_error: null,
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

export const AcmeAccount = Shape(
  {
    id: Type.String({ description: 'ID of the ACME account.' }),
    name: Type.String({ description: 'Name, unique within the workspace.' }),
    directory_url: Type.String({ description: 'URL of the ACME directory of the certificate authority.' }),
    contact_email: Nullable(Type.String(), { description: 'Email address that the certificate authority has for the account.' }),
    eab: Nullable(Shape({ kid: Type.String({ description: 'ID of the key.' }) }), {
      description: 'External account that this account was bound to; null if it was not. Its key is not stored.',
    }),
    key_type: keyType('Type of the account key.'),
    ca_pem: Nullable(Type.String(), { description: 'PEM certificates to trust instead of the public CAs.' }),
    account_url: Type.String({ description: 'URL of the account at the certificate authority.' }),
    status: Words(acmeAccountStatuses, { description: 'Whether the account can be used, or was deactivated.' }),
    ...checkFields(acmeFailures),
    ...editable,
  },
  {
    $id: 'AcmeAccount',
    description: 'An account at a certificate authority that issues certificates by ACME (RFC 8555).',
    examples: [example],
  },
)
export const AcmeAccountList = SinglePageOf(AcmeAccount)

export const AcmeAccountInput = Shape(
  {
    name: accountName,
    directory_url: directoryUrl,
    contact_email: Type.Optional(contactEmail('Email address for the certificate authority. Not all of them store it.')),
    terms_agreed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether you agree to the terms of service of the certificate authority. Required if it has any.',
      }),
    ),
    eab: Type.Optional(
      Nullable(
        Shape({
          kid: Type.String({ minLength: 1, maxLength: 2000, description: 'ID of the key.' }),
          hmac_key: Type.String({
            pattern: '^[A-Za-z0-9+/_-]{16,2000}={0,2}$',
            'x-rule': 'must be base64 or base64url with at least 16 characters.',
            description: 'The key, in base64url. Used once, and not stored.',
          }),
        }),
        {
          description:
            'External account binding (RFC 8555 section 7.3.4), for certificate authorities that require an account with them.',
        },
      ),
    ),
    key_type: Type.Optional({
      ...keyType('Type of the account key, which is created here and never leaves.'),
      default: 'ec-256',
    }),
    ca_pem: Type.Optional(caPem('PEM certificates to trust instead of the public CAs, for a private certificate authority.')),
  },
  {
    $id: 'AcmeAccountInput',
    description: 'An ACME account to register.',
    examples: [
      {
        name: example.name,
        directory_url: example.directory_url,
        contact_email: example.contact_email,
        terms_agreed: true,
      },
    ],
  },
)

export const AcmeAccountPatch = Shape(
  {
    name: accountPatch.name,
    contact_email: Type.Optional(contactEmail('Email address for the certificate authority. Updated there after the response.')),
    ca_pem: Type.Optional(caPem('PEM certificates to trust instead of the public CAs.')),
  },
  { $id: 'AcmeAccountPatch', description: 'Fields of an ACME account to update.', examples: [{ name: 'Production' }] },
)

export const AcmeAccountQuery = Shape({
  state: Type.Optional(Words(accountStates, { description: 'Only accounts in this state.' })),
  status: Type.Optional(Words(acmeAccountStatuses, { description: 'Only accounts with this status.' })),
})

const AcmeDirectory = Shape(
  {
    kind: Type.String({ description: 'Name of the preset.' }),
    title: Type.String({ description: 'Display name.' }),
    directory_url: Type.String({ description: 'URL of the ACME directory.' }),
    eab_required: Type.Boolean({ description: 'Whether accounts need an external account binding (`eab`).' }),
    is_staging: Type.Boolean({ description: 'Whether it is for tests: its certificates are not trusted.' }),
    website: Type.String({ description: 'Website of the certificate authority.' }),
  },
  {
    $id: 'AcmeDirectory',
    description: 'A certificate authority that issues certificates by ACME.',
    examples: [
      {
        kind: 'letsencrypt',
        title: 'Let’s Encrypt',
        directory_url: example.directory_url,
        eab_required: false,
        is_staging: false,
        website: 'https://letsencrypt.org',
      },
    ],
  },
)
export const AcmeDirectoryList = SinglePageOf(AcmeDirectory)

export type AcmeAccountView = Static<typeof AcmeAccount>
export type AcmeAccountInput = Static<typeof AcmeAccountInput>
export type AcmeAccountPatch = Static<typeof AcmeAccountPatch>
export type AcmeDirectoryView = Static<typeof AcmeDirectory>
