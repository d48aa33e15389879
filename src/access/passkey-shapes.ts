import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../core/shapes'

const base64url = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[A-Za-z0-9_-]*$', 'x-rule': 'must be base64url without padding.', description })

const credentialId = base64url(1400, 'Id of the passkey.')
const transports = Type.Array(Type.String({ maxLength: 20 }), {
  maxItems: 10,
  description: 'How the authenticator can be reached: `internal`, `hybrid`, `usb` and such.',
})
// Browsers add members as the standard grows: what is not known is not looked at.
const open = { additionalProperties: true }
const credentialMembers = {
  id: credentialId,
  rawId: credentialId,
  type: Words(['public-key'], { description: 'The one kind there is.' }),
  clientExtensionResults: Type.Optional(Type.Object({}, { ...open, description: 'Not looked at.' })),
  authenticatorAttachment: Type.Optional(Nullable(Type.String({ maxLength: 20 }), { description: 'Not looked at.' })),
}
const clientDataJSON = base64url(4000, 'What the browser saw: challenge and origin.')

/** What `PublicKeyCredential.toJSON()` gives after `navigator.credentials.create()`. */
export const NewCredential = Type.Object(
  {
    ...credentialMembers,
    response: Type.Object(
      {
        clientDataJSON,
        attestationObject: base64url(40_000, 'The public key, and what the authenticator says of itself.'),
        transports: Type.Optional(transports),
      },
      { ...open, description: 'The answer of the authenticator.' },
    ),
  },
  {
    ...open,
    $id: 'NewCredential',
    description: 'A passkey that a browser made: RegistrationResponseJSON of WebAuthn level 3.',
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

/** What `PublicKeyCredential.toJSON()` gives after `navigator.credentials.get()`. */
export const CredentialAnswer = Type.Object(
  {
    ...credentialMembers,
    response: Type.Object(
      {
        clientDataJSON,
        authenticatorData: base64url(4000, 'What the authenticator signed beside it.'),
        signature: base64url(8000, 'The signature.'),
        userHandle: Type.Optional(Nullable(base64url(100, 'Whose passkey it is.'))),
      },
      { ...open, description: 'The answer of the authenticator.' },
    ),
  },
  {
    ...open,
    $id: 'CredentialAnswer',
    description: 'The answer of a passkey: AuthenticationResponseJSON of WebAuthn level 3.',
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
export type CredentialAnswer = Static<typeof CredentialAnswer>

const known = Type.Object(
  { id: Type.String(), type: Type.String(), transports: Type.Optional(Type.Array(Type.String())) },
  { additionalProperties: false },
)
const challenge = Type.String({ description: 'Good once, for five minutes, in base64url.' })
const timeout = Type.Integer({ description: 'How long the browser may take, in milliseconds.' })

export const PasskeyCreation = Shape(
  {
    challenge,
    rp: Shape({ name: Type.String(), id: Type.String() }, { description: 'The site that the passkey is bound to.' }),
    user: Shape({ id: Type.String(), name: Type.String(), displayName: Type.String() }, { description: 'Whose it will be.' }),
    pubKeyCredParams: Type.Array(Shape({ alg: Type.Integer(), type: Type.String() }), {
      description: 'Algorithms that are known here.',
    }),
    timeout,
    attestation: Type.String({ description: '`none`: any authenticator will do.' }),
    excludeCredentials: Type.Array(known, { description: 'The passkeys that the user has.' }),
    authenticatorSelection: Type.Object({}, { ...open, description: 'Discoverable, and with user verification.' }),
    extensions: Type.Object({}, { ...open, description: 'Extensions that are asked for.' }),
    hints: Type.Array(Type.String(), { description: 'Empty.' }),
  },
  {
    $id: 'PasskeyCreation',
    description:
      'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes: PublicKeyCredentialCreationOptionsJSON of WebAuthn level 3.',
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
export const PasskeyRequest = Shape(
  {
    challenge,
    rpId: Type.String({ description: 'The site that the passkey is bound to.' }),
    timeout,
    userVerification: Type.String({ description: '`required`, or `preferred` beside a password.' }),
    allowCredentials: Type.Optional(Type.Array(known, { description: 'Absent: any that the browser has for the site.' })),
  },
  {
    $id: 'PasskeyRequest',
    description:
      'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes: PublicKeyCredentialRequestOptionsJSON of WebAuthn level 3.',
    examples: [exampleRequest],
  },
)
export type PasskeyRequest = Static<typeof PasskeyRequest>

export const Passkey = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    name: Type.String({ description: 'What its owner calls it.' }),
    transports,
    backed_up: Type.Boolean({ description: 'Whether it is kept in an account of its maker, and so on other devices too.' }),
    last_used_at: MaybeInstant({ description: 'When it last signed its owner in.' }),
    ...editable,
  },
  {
    $id: 'Passkey',
    description: 'A passkey of a person.',
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

const name = Line({
  minLength: 1,
  maxLength: 100,
  description: 'What its owner calls it; the browser it was made with when absent.',
})
export const PasskeyInput = Shape(
  { name: Type.Optional(name), credential: NewCredential },
  {
    $id: 'PasskeyInput',
    description: 'A passkey to keep.',
    examples: [{ name: 'Laptop', credential: NewCredential.examples[0] }],
  },
)
export type PasskeyInput = Static<typeof PasskeyInput>
export const PasskeyPatch = Shape(
  { name: Type.Optional(name) },
  { $id: 'PasskeyPatch', description: 'What of a passkey can be changed.', examples: [{ name: 'Old laptop' }] },
)
export const PasskeySignIn = Shape(
  { credential: CredentialAnswer },
  { $id: 'PasskeySignIn', description: 'A sign-in by passkey.', examples: [{ credential: CredentialAnswer.examples[0] }] },
)
