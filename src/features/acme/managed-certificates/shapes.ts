import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { editable, Instant, Line, ListOf, Nullable, NullableInstant, Prose, Shape, Tags, Words } from '../../../core/shapes'
import { keyTypes } from '../../../core/x509/private-key'
import { profilePattern } from '../../../wire/agent-permissions'

export const managedStatuses = ['pending', 'issuing', 'delivering', 'valid', 'failing', 'revoked'] as const
/** While an action is running. */
export const runningStatuses = ['issuing', 'delivering'] as const
export const isRunning = (status: (typeof managedStatuses)[number]): boolean =>
  (runningStatuses as readonly string[]).includes(status)
export const keyModes = ['hub', 'csr', 'agent'] as const
export const keyRetentions = ['once', 'keep'] as const
const renewModes = ['auto', 'manual'] as const

/** Reasons of a revocation, with their numbers (RFC 5280 section 5.3.1). */
export const revocationReasons = {
  unspecified: 0,
  key_compromise: 1,
  affiliation_changed: 3,
  superseded: 4,
  cessation_of_operation: 5,
} as const
const reasons = Object.keys(revocationReasons) as (keyof typeof revocationReasons)[]

// Most certificate authorities allow as many.
const maxCertificateNames = 100

const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: maxCertificateNames, description })
const csr = (description: string) => Prose({ minLength: 1, maxLength: 32_768, description })

/** The fields that clients set and that are stored as they are. */
export const managedCertificateMembers = members({
  profile: {
    schema: Nullable(Line({ maxLength: 100 }), {
      description: 'Profile of the certificate authority, such as `shortlived`; null for its default.',
    }),
    default: null,
  },
  renew: {
    schema: Words(renewModes, {
      description: '`auto`: the certificate is renewed before it expires. `manual`: it is only renewed when you request it.',
    }),
    default: 'auto',
  },
  tags: { schema: Tags, default: [] },
  notes: { schema: Prose({ maxLength: 10_000, description: 'Notes, in Markdown.' }), default: '', clearable: true },
})

const pem = '-----BEGIN CERTIFICATE-----\nMIID…\n-----END CERTIFICATE-----\n'
const example = {
  id: 'mcert_01k3z9a1b2c3d4e5f6g7h8j9km',
  names: ['example.com', '*.example.com'],
  acme_account_id: 'acme_01k3z9a1b2c3d4e5f6g7h8j9km',
  profile: null,
  renew: 'auto',
  tags: [],
  notes: '',
  key: { mode: 'hub', type: 'ec-256', retention: 'once' },
  csr: null,
  deliver: { server_id: null, install_profile: null, installed_at: null },
  status: 'valid',
  paused: false,
  certificate_id: 'cert_01k3z9a1b2c3d4e5f6g7h8j9km',
  not_before: '2026-11-27T09:00:00.000Z',
  not_after: '2027-02-25T09:00:00.000Z',
  issued_at: '2026-11-27T10:00:20.000Z',
  revoked_at: null,
  key_available: true,
  next_renewal_at: '2027-01-24T04:11:00.000Z',
  ari: null,
  attempts: 0,
  last_error: null,
  action_id: 'act_01k3z9a1b2c3d4e5f6g7h8j9km',
  version: 3,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:20.000Z',
}

export const ManagedCertificate = Shape(
  {
    id: Type.String({ description: 'ID of the managed certificate.' }),
    names: Type.Array(Type.String(), { description: 'DNS names of the certificate.' }),
    acme_account_id: Type.String({ description: 'ID of the ACME account that it is issued with.' }),
    ...viewMembers(managedCertificateMembers),
    key: Shape(
      {
        mode: Words(keyModes, {
          description:
            '`hub`: a new private key is created here for each certificate. `csr`: the private key is elsewhere. `agent`: the agent of ' +
            'a server creates a new private key there for each certificate.',
        }),
        type: Type.String({ description: 'Type of the key, such as `ec-256`.' }),
        retention: Nullable(Words(keyRetentions), {
          description:
            'What happens to the private key after the first download: `once` destroys it, `keep` keeps it. Null if it is not here.',
        }),
      },
      { description: 'The key of the certificate.' },
    ),
    csr: Nullable(Type.String(), { description: 'Certificate request in PEM format; null unless `key.mode` is `csr`.' }),
    deliver: Shape(
      {
        server_id: Nullable(Type.String(), { description: 'ID of the server; null unless `key.mode` is `agent`.' }),
        install_profile: Nullable(Type.String(), { description: 'Install profile of the server.' }),
        installed_at: NullableInstant({
          description: 'When the agent installed the current certificate; null if it has not installed it yet.',
        }),
      },
      { description: 'Where the agent installs the certificate.' },
    ),
    status: Words(managedStatuses, {
      description:
        '`pending`: not issued yet. `issuing`: an action is running. `delivering`: issued, but not installed by the agent yet. ' +
        '`valid`: issued, and installed if an agent does that. `failing`: the last attempt failed; an earlier certificate can ' +
        'still be valid until `not_after`. `revoked`: revoked.',
    }),
    paused: Type.Boolean({ description: 'Whether automatic attempts are paused.' }),
    certificate_id: Nullable(Type.String(), {
      description: 'ID of the current certificate in the inventory; null before the first one.',
    }),
    not_before: NullableInstant({ description: 'Start of the validity period; null before the first certificate.' }),
    not_after: NullableInstant({ description: 'End of the validity period; null before the first certificate.' }),
    issued_at: NullableInstant({ description: 'When the current certificate was issued; null before the first one.' }),
    revoked_at: NullableInstant({ description: 'When the current certificate was revoked; null if it was not.' }),
    key_available: Type.Boolean({ description: 'Whether the private key can be downloaded.' }),
    next_renewal_at: NullableInstant({ description: 'When the next attempt starts; null if none is scheduled.' }),
    ari: Nullable(
      Shape({
        start: Instant({ description: 'Start of the window.' }),
        end: Instant({ description: 'End of the window.' }),
      }),
      { description: 'When the certificate authority suggests renewing (RFC 9773); null if it doesn’t.' },
    ),
    attempts: Type.Integer({ description: 'Number of failed attempts since the last success.' }),
    last_error: Nullable(
      Shape({
        code: Type.String({ description: 'Error code.' }),
        detail: Type.String({ description: 'Human-readable message.' }),
      }),
      { description: 'Why the last attempt failed; null if it succeeded.' },
    ),
    action_id: Nullable(Type.String(), { description: 'ID of the latest action; null if there was none.' }),
    ...editable,
  },
  {
    $id: 'ManagedCertificate',
    description: 'A certificate that is issued by ACME and renewed automatically.',
    examples: [example],
  },
)
export const ManagedCertificateList = ListOf(ManagedCertificate)

const KeyInput = Shape(
  {
    mode: Type.Optional(
      Words(keyModes, {
        default: 'hub',
        description:
          '`hub`: private keys are created here. `csr`: the private key stays elsewhere; requires `csr`. `agent`: private keys are ' +
          'created on a server and stay there; requires `deliver`.',
      }),
    ),
    type: Type.Optional(Words(keyTypes, { default: 'ec-256', description: 'Type of new keys. Not allowed with `csr`.' })),
    retention: Type.Optional(
      Words(keyRetentions, {
        default: 'once',
        description: 'What happens to the private key after the first download. Only allowed with `hub`.',
      }),
    ),
  },
  { description: 'The key of the certificate. By default, a new `ec-256` key that can be downloaded once.' },
)

const DeliverInput = Shape(
  {
    server_id: Type.String({ maxLength: 100, description: 'ID of a server with an agent.' }),
    install_profile: Type.String({
      pattern: profilePattern,
      description: 'Name of an install profile in `agent.conf` on the server, such as `web`.',
    }),
  },
  {
    description:
      'Where the agent creates the key and installs the certificate. Requires the key mode `agent` and the permission `cloud.write`. ' +
      'Paths, owner, and the service to reload are set by the owner of the server.',
  },
)

export const ManagedCertificateInput = Shape(
  {
    names: names(
      'DNS names, such as `example.com` and `*.example.com`. Each must be in a DNS zone of the workspace, or `_acme-challenge` of it must be a CNAME record to one.',
    ),
    acme_account_id: Type.String({ maxLength: 100, description: 'ID of the ACME account to issue it with.' }),
    key: Type.Optional(KeyInput),
    csr: Type.Optional(csr('Certificate request in PEM format, with exactly these names. Required with the key mode `csr`.')),
    deliver: Type.Optional(DeliverInput),
    ...inputMembers(managedCertificateMembers),
  },
  {
    $id: 'ManagedCertificateInput',
    description: 'A certificate to issue.',
    examples: [{ names: example.names, acme_account_id: example.acme_account_id }],
  },
)

export const ManagedCertificatePatch = Shape(
  {
    acme_account_id: Type.Optional(
      Type.String({ maxLength: 100, description: 'ID of the ACME account to use from the next certificate on.' }),
    ),
    csr: Type.Optional(
      csr('New certificate request with the same names, from the next certificate on. Only with the key mode `csr`.'),
    ),
    ...patchMembers(managedCertificateMembers),
  },
  {
    $id: 'ManagedCertificatePatch',
    description: 'Fields of a managed certificate to update.',
    examples: [{ renew: 'manual' }],
  },
)

export const ManagedCertificateRenewal = Shape(
  {
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to renew although a certificate with these names was issued within the last 24 hours.',
      }),
    ),
  },
  { $id: 'ManagedCertificateRenewal', description: 'How to renew.', examples: [{ force: false }] },
)

export const ManagedCertificateRevocation = Shape(
  {
    reason: Type.Optional(
      Words(reasons, { default: 'unspecified', description: 'Reason for the revocation, which is published.' }),
    ),
  },
  { $id: 'ManagedCertificateRevocation', description: 'Why to revoke.', examples: [{ reason: 'key_compromise' }] },
)

export const ManagedCertificateDownload = Shape(
  {
    certificate: Type.String({ description: 'The certificate in PEM format.' }),
    chain: Type.String({ description: 'The certificate and its issuers in PEM format, as servers need it.' }),
    private_key: Nullable(Type.String(), {
      description: 'The private key in PEM format (PKCS #8); null unless the key mode is `hub`, and if the request is replayed.',
    }),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the request was replayed, and the private key is therefore not included.' }),
    ),
  },
  {
    $id: 'ManagedCertificateDownload',
    description: 'A certificate with its private key.',
    examples: [
      {
        certificate: pem,
        chain: pem,
        private_key: '-----BEGIN PRIVATE KEY-----\nMIGH…\n-----END PRIVATE KEY-----\n',
      },
    ],
  },
)

export type ManagedCertificateView = Static<typeof ManagedCertificate>
export type ManagedCertificateInput = Static<typeof ManagedCertificateInput>
export type ManagedCertificatePatch = Static<typeof ManagedCertificatePatch>
export type ManagedCertificateRenewal = Static<typeof ManagedCertificateRenewal>
export type ManagedCertificateRevocation = Static<typeof ManagedCertificateRevocation>
export type ManagedCertificateDownload = Static<typeof ManagedCertificateDownload>
