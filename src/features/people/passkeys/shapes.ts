import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Line, ListOf, NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'

const base64url = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[A-Za-z0-9_-]*$', 'x-rule': 'must be base64url without padding.', description })

const credentialId = base64url(1400, 'Credential ID of the passkey.')
const transports = Type.Array(Type.String({ maxLength: 20 }), {
  maxItems: 10,
  description: 'Transports of the authenticator, such as `internal`, `hybrid`, or `usb`.',
})
// Browsers add fields as the standard grows; unknown ones are ignored.
const open = { additionalProperties: true }
const credentialMembers = {
  id: credentialId,
  rawId: credentialId,
  type: Words(['public-key'], { description: 'Always `public-key`.' }),
  clientExtensionResults: Type.Optional(Type.Object({}, { ...open, description: 'Ignored.' })),
  authenticatorAttachment: Type.Optional(Nullable(Type.String({ maxLength: 20 }), { description: 'Ignored.' })),
}
const clientDataJSON = base64url(4000, 'Client data with the challenge and origin, in base64url.')

/** The result of `PublicKeyCredential.toJSON()` after `navigator.credentials.create()`. */
const PasskeyAttestation = Type.Object(
  {
    ...credentialMembers,
    response: Type.Object(
      {
        clientDataJSON,
        attestationObject: base64url(40_000, 'The public key and information about the authenticator, in base64url.'),
        transports: Type.Optional(transports),
      },
      { ...open, description: 'Response of the authenticator.' },
    ),
  },
  {
    ...open,
    $id: 'PasskeyAttestation',
    description: 'A passkey created by a browser: RegistrationResponseJSON of WebAuthn level 3.',
    examples: [
      {
        id: 'AAECAwQFBgcICQoLDA0ODw',
        rawId: 'AAECAwQFBgcICQoLDA0ODw',
        type: 'public-key',
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
          attestationObject: 'o2NmbXRkbm9uZQ',
          transports: ['internal'],
        },
        clientExtensionResults: {},
      },
    ],
  },
)

/** The result of `PublicKeyCredential.toJSON()` after `navigator.credentials.get()`. */
export const PasskeyAssertion = Type.Object(
  {
    ...credentialMembers,
    response: Type.Object(
      {
        clientDataJSON,
        authenticatorData: base64url(4000, 'Signed authenticator data, in base64url.'),
        signature: base64url(8000, 'Signature, in base64url.'),
        userHandle: Type.Optional(
          Nullable(base64url(100, 'User handle.'), {
            description: 'User handle of the owner, in base64url; null if there is none.',
          }),
        ),
      },
      { ...open, description: 'Response of the authenticator.' },
    ),
  },
  {
    ...open,
    $id: 'PasskeyAssertion',
    description: 'An assertion by a passkey: AuthenticationResponseJSON of WebAuthn level 3.',
    examples: [
      {
        id: 'AAECAwQFBgcICQoLDA0ODw',
        rawId: 'AAECAwQFBgcICQoLDA0ODw',
        type: 'public-key',
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
          authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA',
          signature: 'MEUCIQ',
          userHandle: 'dXNyXzAxamQ4ZjNxN2VlYjlidjB3MHI4YzdocTJt',
        },
        clientExtensionResults: {},
      },
    ],
  },
)
export type PasskeyAssertion = Static<typeof PasskeyAssertion>

const known = Type.Object(
  {
    id: Type.String({ description: 'Credential ID in base64url.' }),
    type: Type.String({ description: 'Always `public-key`.' }),
    transports: Type.Optional(
      Type.Array(Type.String(), { description: 'Transports of the authenticator, such as `internal`, `hybrid`, or `usb`.' }),
    ),
  },
  { additionalProperties: false },
)
const challenge = Type.String({ description: 'Challenge in base64url, valid once and for 5 minutes.' })
const timeout = Type.Integer({ description: 'How long the user has to respond to the browser dialog, in milliseconds.' })

export const PasskeyCreationOptions = Shape(
  {
    challenge,
    rp: Shape(
      {
        name: Type.String({ description: 'Name of the site.' }),
        id: Type.String({ description: 'Domain of the site.' }),
      },
      { description: 'The site that the passkey is bound to.' },
    ),
    user: Shape(
      {
        id: Type.String({ description: 'User handle in base64url.' }),
        name: Type.String({ description: 'Email address of the user.' }),
        displayName: Type.String({ description: 'Name of the user.' }),
      },
      { description: 'Owner of the new passkey.' },
    ),
    pubKeyCredParams: Type.Array(
      Shape({
        alg: Type.Integer({ description: 'COSE algorithm identifier.' }),
        type: Type.String({ description: 'Always `public-key`.' }),
      }),
      {
        description: 'Supported algorithms.',
      },
    ),
    timeout,
    attestation: Type.String({ description: 'Always `none`: any authenticator is accepted.' }),
    excludeCredentials: Type.Array(known, { description: 'Existing passkeys of the user.' }),
    authenticatorSelection: Type.Object(
      {},
      { ...open, description: 'Requires a discoverable credential and user verification.' },
    ),
    extensions: Type.Object({}, { ...open, description: 'Requested extensions.' }),
    hints: Type.Array(Type.String(), { description: 'Always empty.' }),
  },
  {
    $id: 'PasskeyCreationOptions',
    description:
      'Input of `PublicKeyCredential.parseCreationOptionsFromJSON()`: PublicKeyCredentialCreationOptionsJSON of ' +
      'WebAuthn level 3.',
    examples: [
      {
        challenge: 'AAECAwQFBgcICQoLDA0ODw',
        rp: { name: 'Bailiwick', id: 'hub.example.com' },
        user: { id: 'dXNyXzAxamQ4ZjNxN2VlYjlidjB3MHI4YzdocTJt', name: 'ada@example.com', displayName: 'Ada' },
        pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
        timeout: 300_000,
        attestation: 'none',
        excludeCredentials: [],
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        extensions: { credProps: true },
        hints: [],
      },
    ],
  },
)

const exampleRequest = {
  challenge: 'AAECAwQFBgcICQoLDA0ODw',
  rpId: 'hub.example.com',
  timeout: 300_000,
  userVerification: 'required',
}
export const PasskeyRequestOptions = Shape(
  {
    challenge,
    rpId: Type.String({ description: 'Domain that the passkey is bound to.' }),
    timeout,
    userVerification: Type.String({ description: '`required`, or `preferred` if used as a second factor.' }),
    allowCredentials: Type.Optional(
      Type.Array(known, { description: 'Acceptable passkeys; any passkey of the site if omitted.' }),
    ),
  },
  {
    $id: 'PasskeyRequestOptions',
    description:
      'Input of `PublicKeyCredential.parseRequestOptionsFromJSON()`: PublicKeyCredentialRequestOptionsJSON of WebAuthn level 3.',
    examples: [exampleRequest],
  },
)
export type PasskeyRequestOptions = Static<typeof PasskeyRequestOptions>

export const Passkey = Shape(
  {
    id: Type.String({ description: 'ID of the passkey.' }),
    name: Type.String({ description: 'Name given by the owner.' }),
    transports,
    backed_up: Type.Boolean({
      description: 'Whether the passkey is backed up to a cloud account and therefore available on other devices.',
    }),
    last_used_at: NullableInstant({ description: 'When the passkey was last used to sign in; null if never.' }),
    ...editable,
  },
  {
    $id: 'Passkey',
    description: 'A passkey of a user.',
    examples: [
      {
        id: 'pkey_01jd8f3q7eeb9bv0w0r8c7hq2m',
        name: 'Firefox on Linux',
        transports: ['internal'],
        backed_up: false,
        last_used_at: null,
        version: 1,
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)
export const PasskeyList = ListOf(Passkey)
export type PasskeyView = Static<typeof Passkey>

const name = Type.Optional(
  Line({ minLength: 1, maxLength: 100, description: 'Name of the passkey. Default: the name of the browser.' }),
)
export const PasskeyInput = Shape(
  { name, credential: PasskeyAttestation },
  {
    $id: 'PasskeyInput',
    description: 'A passkey to register.',
    examples: [{ name: 'Laptop', credential: PasskeyAttestation.examples[0] }],
  },
)
export type PasskeyInput = Static<typeof PasskeyInput>
export const PasskeyPatch = Shape(
  { name: Type.Optional(Line({ minLength: 1, maxLength: 100, description: 'New name of the passkey.' })) },
  { $id: 'PasskeyPatch', description: 'Changes to a passkey.', examples: [{ name: 'Old laptop' }] },
)
export const PasskeySignInInput = Shape(
  { credential: PasskeyAssertion },
  {
    $id: 'PasskeySignInInput',
    description: 'A sign-in with a passkey.',
    examples: [{ credential: PasskeyAssertion.examples[0] }],
  },
)
