import { Type } from '@sinclair/typebox'
import { Words, Shape } from '../../core/shapes'
import { extensionKind } from '../../core/event-kinds'
import { At, IdOf, MaybeText, Text, Texts } from '../../core/event-fields'

const certificate = Shape(
  {
    id: IdOf('cert', 'ID of the certificate.'),
    common_name: MaybeText('Common name of the subject; null if it has none.'),
    dns_names: Texts('DNS names that the certificate is valid for.'),
    issuer: Text('Issuer of the certificate.'),
    serial_number: Type.String({ pattern: '^[0-9a-f]+$', description: 'Serial number in hexadecimal.' }),
    fingerprint_sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 fingerprint of the DER encoding, in hexadecimal.',
    }),
    not_before: At('Start of the validity period.'),
    not_after: At('End of the validity period.'),
  },
  { description: 'The certificate.' },
)

const example = {
  id: 'cert_01k3zc1d3e5f7g9h1j3k5m7n9p',
  common_name: 'shop.example.com',
  dns_names: ['shop.example.com', 'www.shop.example.com'],
  issuer: 'Example Issuing CA 3',
  serial_number: '04d1f2a3b4c5d6e7f8091a2b3c4d5e6f7081',
  fingerprint_sha256: '5b1c0f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e',
  not_before: '2026-11-10T00:00:00.000Z',
  not_after: '2027-02-08T00:00:00.000Z',
}

export const certificateKinds = [
  extensionKind({
    kind: 'certificate.expiring',
    area: 'certificates',
    title: 'Certificate expiring',
    description:
      'A certificate in use is about to expire and has not been replaced. How early the event is sent depends on the certificate’s lifetime.',
    data: Shape({
      certificate,
      level: Words(['expiring', 'critical', 'expired'], { description: 'Urgency.' }),
      days_left: Type.Integer({ description: 'Whole days until `not_after`; negative if expired.' }),
      renewal_overdue: Type.Boolean({
        description: 'Whether an automatic renewal should have replaced the certificate already.',
      }),
      seen_at: Texts('Where the certificate is served or stored: `host:port` or `server:path`.'),
    }),
    example: {
      certificate: example,
      level: 'critical',
      days_left: 7,
      renewal_overdue: true,
      seen_at: ['shop.example.com:443', 'web-1:/etc/ssl/shop.pem'],
    },
  }),
  extensionKind({
    kind: 'certificate.issued',
    area: 'certificates',
    title: 'Certificate issued',
    description: 'A managed certificate was issued or renewed.',
    data: Shape({
      certificate,
      managed_certificate_id: IdOf('mcert', 'ID of the managed certificate.'),
      renewal: Type.Boolean({ description: 'Whether it replaces an earlier certificate.' }),
      issued_at: At('When it was issued.'),
    }),
    example: {
      certificate: example,
      managed_certificate_id: 'mcert_01k3zc1d3e5f7g9h1j3k5m7n9p',
      renewal: true,
      issued_at: '2026-11-10T01:00:00.000Z',
    },
  }),
] as const
