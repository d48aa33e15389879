import { Type, type Static } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, Prose, Shape } from '../../core/shapes'
import { exampleRootPem } from './examples'

const name = Line({ minLength: 1, maxLength: 100, description: 'Name of the certificate authority.' })

export const CertificateAuthority = Shape(
  {
    id: Type.String({ description: 'ID of the certificate authority.' }),
    name,
    subject: Type.String({ description: 'Subject of the root certificate.' }),
    fingerprint_sha256: Type.String({ description: 'SHA-256 of the root certificate as DER, in hexadecimal.' }),
    not_before: Instant({ description: 'Start of the validity period.' }),
    not_after: Instant({ description: 'End of the validity period.' }),
    pem: Type.String({ description: 'The root certificate as PEM.' }),
    ...editable,
  },
  {
    $id: 'CertificateAuthority',
    description: 'A certificate authority that a workspace trusts in addition to the public ones.',
    examples: [
      {
        id: 'ca_01jd8f3q7eeb9bv0w0r8c7hq2m',
        name: 'Office CA',
        subject: 'CN=Example Root CA',
        fingerprint_sha256: '5b1c0f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e',
        not_before: '2026-11-27T10:00:00.000Z',
        not_after: '2036-11-24T10:00:00.000Z',
        pem: exampleRootPem,
        version: 1,
        created_at: '2026-11-27T10:00:00.000Z',
        updated_at: '2026-11-27T10:00:00.000Z',
      },
    ],
  },
)
export const CertificateAuthorityList = ListOf(CertificateAuthority)
export const CertificateAuthorityInput = Shape(
  {
    name,
    pem: Prose({ minLength: 1, maxLength: 100_000, description: 'The root certificate as PEM, without a private key.' }),
  },
  {
    $id: 'CertificateAuthorityInput',
    description: 'A certificate authority to trust.',
    examples: [{ name: 'Office CA', pem: exampleRootPem }],
  },
)
export type CertificateAuthorityView = Static<typeof CertificateAuthority>
export type CertificateAuthorityInput = Static<typeof CertificateAuthorityInput>
