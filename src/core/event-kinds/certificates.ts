import { Type } from '@sinclair/typebox'
import { Words, Shape } from '../shapes'
import { extensionKind } from './entry'
import { At, IdOf, MaybeText, Text, Texts } from './members'

export const certificateKinds = [
  extensionKind({
    kind: 'certificate.expiring',
    area: 'certificates',
    title: 'Certificate expiring',
    description: 'A certificate in use is about to expire, measured against its own lifetime, and has not been replaced.',
    data: Shape({
      certificate: Shape(
        {
          id: IdOf('cert', 'Its id.'),
          common_name: MaybeText('Common name of its subject.'),
          dns_names: Texts('Names it is valid for.'),
          issuer: Text('Who issued it.'),
          serial_number: Type.String({ pattern: '^[0-9a-f]+$', description: 'Its serial number, in hex.' }),
          fingerprint_sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of its DER form, in hex.' }),
          not_before: At('Begin of its validity.'),
          not_after: At('End of its validity.'),
        },
        { description: 'The certificate.' },
      ),
      level: Words(['expiring', 'critical', 'expired'], { description: 'How pressing it is.' }),
      days_left: Type.Integer({ description: 'Whole days until `not_after`; negative when past.' }),
      renewal_overdue: Type.Boolean({ description: 'Whether an automatic renewal should have replaced it by now.' }),
      seen_at: Texts('Where it is served or stored: `host:port`, or `server:path`.'),
    }),
    example: {
      certificate: {
        id: 'cert_01k3zc1d3e5f7g9h1j3k5m7n9p',
        common_name: 'shop.example.com',
        dns_names: ['shop.example.com', 'www.shop.example.com'],
        issuer: 'Example Issuing CA 3',
        serial_number: '04d1f2a3b4c5d6e7f8091a2b3c4d5e6f7081',
        fingerprint_sha256: '5b1c0f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e',
        not_before: '2026-11-10T00:00:00.000Z',
        not_after: '2027-02-08T00:00:00.000Z',
      },
      level: 'critical',
      days_left: 7,
      renewal_overdue: true,
      seen_at: ['shop.example.com:443', 'web-1:/etc/ssl/shop.pem'],
    },
  }),
] as const
