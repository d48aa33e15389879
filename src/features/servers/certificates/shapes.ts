import { Type, type Static } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape } from '../../../core/shapes'
import { maxNames } from '../../../checks/certificate-details'
import { AgentCertificates } from '../../../wire/agent-certificates'
import { certificateLimits } from '../../../wire/agent-limits'

const file = AgentCertificates.properties.files.items.properties
const served = AgentCertificates.properties.served.items.properties
const text = (description: string) => Type.String({ description })

const key = { type: 'ec', bits: 256, spki_sha256: '5c2f6a2b9f0d4e1c8a7b6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a' }
const former = {
  sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  subject: 'CN=shop.example.com',
  issuer: "C=US, O=Let's Encrypt, CN=E7",
  serial_number: '05d1c7e2a94b3f60817263544536271809ab',
  names: ['shop.example.com'],
  not_before: '2026-09-01T00:00:00.000Z',
  not_after: '2026-11-30T00:00:00.000Z',
  key,
}
const renewed = {
  ...former,
  sha256: 'fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
  serial_number: '06a2c7e2a94b3f60817263544536271809cd',
  not_before: '2026-11-26T00:00:00.000Z',
  not_after: '2027-02-24T00:00:00.000Z',
}

const ServerCertificate = Shape(
  {
    sha256: text('SHA-256 of its DER form, in hexadecimal.'),
    subject: text('Name of the subject.'),
    issuer: text('Name of the issuer.'),
    serial_number: text('Serial number in hexadecimal.'),
    names: Type.Array(Type.String(), {
      description: `DNS names and IP addresses for which it is valid, the first ${maxNames} of them.`,
    }),
    not_before: Instant({ description: 'Start of its validity.' }),
    not_after: Instant({ description: 'End of its validity.' }),
    key: Shape(
      {
        type: Nullable(Type.String(), { description: 'Type of the key, such as `rsa` or `ec`. Null if unknown.' }),
        bits: Nullable(Type.Integer(), { description: 'Size of the key in bits. Null if the type has only one size.' }),
        spki_sha256: Nullable(Type.String(), {
          description: 'SHA-256 of the public key (SubjectPublicKeyInfo as DER), in hexadecimal. Null if unknown.',
        }),
      },
      { description: 'Its public key.' },
    ),
  },
  { $id: 'ServerCertificate', description: 'A certificate on a server.', examples: [renewed] },
)
export type ServerCertificateView = Static<typeof ServerCertificate>

const firstSeenAt = Instant({ description: 'When it was first reported with this certificate.' })

const ServerCertificateFile = Shape(
  {
    ...file,
    modified_at: NullableInstant({ description: 'When the file was last modified. Null if unknown.' }),
    first_seen_at: firstSeenAt,
  },
  { $id: 'ServerCertificateFile', description: 'A file with a certificate, or a file or folder that could not be read.' },
)

const ServedCertificate = Shape(
  {
    ...served,
    on_disk_not_served: Type.Boolean({
      description:
        'Whether a file contains a newer certificate for the same names by the same CA. The service has to be reloaded to use it.',
    }),
    newer_file: Nullable(
      Shape({ path: text('Path of the file.'), sha256: text('SHA-256 of the certificate, in hexadecimal.') }),
      {
        description: 'The file with the newer certificate. Null if there is none.',
      },
    ),
    first_seen_at: firstSeenAt,
  },
  { $id: 'ServedCertificate', description: 'The certificate that a port presents for a server name.' },
)

const at = '2026-11-27T10:05:00.000Z'

export const ServerCertificates = Shape(
  {
    agent_id: Nullable(Type.String(), { description: 'ID of the agent that reports them; null if the server has none.' }),
    observed_at: NullableInstant({ description: 'When the last report of the agent was stored; null if none was.' }),
    stale: Type.Boolean({ description: 'Whether the agent no longer reports, so that all of it may be outdated.' }),
    reported_at: NullableInstant({
      description:
        'When the agent last sent its certificates, which it does when something has changed. They were still the same at `observed_at`. Null if the agent never did.',
    }),
    reason: Nullable(Type.String(), { description: 'Why there are no certificates; null if there are some.' }),
    files: Type.Array(ServerCertificateFile, { description: 'Files with certificates, at most 500.' }),
    served: Type.Array(ServedCertificate, {
      description: 'Certificates that TCP ports present, for each server name, at most 500.',
    }),
    certificates: Type.Array(ServerCertificate, {
      description: `The certificates in \`chain\` and \`newer_file\`, each once, at most ${certificateLimits.certificates.toLocaleString('en')}.`,
    }),
  },
  {
    $id: 'ServerCertificates',
    description: 'The certificates that the agent of a server found in files and on ports.',
    examples: [
      {
        ...{ agent_id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km', observed_at: at, stale: false, reported_at: at, reason: null },
        files: [
          {
            path: '/etc/letsencrypt/live/shop.example.com/fullchain.pem',
            kind: 'certbot' as const,
            chain: [renewed.sha256],
            modified_at: '2026-11-26T00:00:11.000Z',
            mode: '0644',
            owner: 'root',
            references: ['nginx: shop.example.com'],
            key: { path: '/etc/letsencrypt/live/shop.example.com/privkey.pem', mode: '0600', owner: 'root', matches: true },
            error: null,
            first_seen_at: '2026-11-26T00:41:00.000Z',
          },
        ],
        served: [
          {
            ...{ address: '0.0.0.0', port: 443, process: 'nginx', starttls: null, sni: 'shop.example.com', protocol: '1.3' },
            ...{ chain: [former.sha256], error: null, on_disk_not_served: true },
            newer_file: { path: '/etc/letsencrypt/live/shop.example.com/fullchain.pem', sha256: renewed.sha256 },
            first_seen_at: '2026-09-01T00:38:00.000Z',
          },
        ],
        certificates: [former, renewed],
      },
    ],
  },
)
export type ServerCertificatesView = Static<typeof ServerCertificates>
