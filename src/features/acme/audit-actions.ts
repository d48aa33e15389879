import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const ofUpdate = { of: 'certificates.acme_account.update' }
const ofManaged = { of: 'certificates.managed_certificate.update' }
const withSecret = {
  ...ofUpdate,
  fields: { secret: Type.String({ description: 'The account key, as a keyed hash.' }) },
}

export const acmeActions = {
  'certificates.acme_account.create': {
    description: 'An ACME account was registered at a certificate authority.',
    changes: withSecret,
    example: { before: {}, after: { name: 'Let’s Encrypt', key_type: 'ec-256' } },
  },
  'certificates.acme_account.update': {
    channels: [...requestChannels, 'job'],
    changes: withSecret,
    example: { before: { contact_email: null }, after: { contact_email: 'ops@example.com' } },
  },
  'certificates.acme_account.delete': {
    description: 'An ACME account was deleted with its key. It stays valid at the certificate authority.',
    example: { before: { name: 'Let’s Encrypt' }, after: {} },
  },
  'certificates.acme_account.check': {
    number: 'CE104',
    description: 'An ACME account was checked manually. The reason contains the result.',
    changes: ofUpdate,
    example: { before: { state: 'unknown' }, after: { state: 'ok' } },
  },
  'certificates.acme_account.fail': {
    sentence: '{acme_account} could not be used at its certificate authority',
    number: 'CE105',
    description: 'The certificate authority of an ACME account became unreachable, or rejected the account.',
    channels: ['job'],
    changes: ofUpdate,
    example: {
      before: { state: 'ok', last_error: null },
      after: { state: 'failing', last_error: { code: 'unreachable', detail: 'The connection was refused.' } },
    },
  },
  'certificates.acme_account.recover': {
    sentence: '{acme_account} recovered',
    number: 'CE106',
    description: 'A failing ACME account recovered.',
    channels: ['job'],
    changes: ofUpdate,
    example: { before: { state: 'failing' }, after: { state: 'ok' } },
  },
  'certificates.acme_account.deactivate': {
    number: 'CE107',
    description: 'An ACME account was deactivated at its certificate authority, and its key destroyed.',
    changes: ofUpdate,
    example: { before: { status: 'valid' }, after: { status: 'deactivated' } },
  },
  'certificates.managed_certificate.create': { example: { before: {}, after: { names: ['example.com'], status: 'issuing' } } },
  'certificates.managed_certificate.update': { example: { before: { renew: 'auto' }, after: { renew: 'manual' } } },
  'certificates.managed_certificate.delete': {
    description: 'A managed certificate was deleted with its private key.',
    example: { before: { names: ['example.com'] }, after: {} },
  },
  'certificates.managed_certificate.renew': {
    number: 'CE204',
    description: 'The renewal of a managed certificate was started manually.',
    targets: ['managed_certificate', 'action'],
    changes: ofManaged,
    example: { before: { status: 'valid' }, after: { status: 'issuing' } },
  },
  'certificates.managed_certificate.issue': {
    sentence: 'A certificate was issued for {managed_certificate}',
    phrase: 'issue a certificate for {managed_certificate}',
    number: 'CE205',
    description: 'A certificate was issued or renewed. A failure is logged when the action ends with an error.',
    targets: ['managed_certificate', 'action'],
    channels: ['job'],
    changes: ofManaged,
    example: { before: { status: 'issuing' }, after: { status: 'valid' } },
  },
  'certificates.managed_certificate.revoke': {
    number: 'CE206',
    description: 'The revocation of a certificate was started. A failure is logged when the action ends with an error.',
    targets: ['managed_certificate', 'action'],
    channels: [...requestChannels, 'job'],
    changes: { fields: { reason: Type.String({ description: 'Reason of the revocation.' }) } },
    example: { before: {}, after: { reason: 'key_compromise' } },
  },
  'certificates.managed_certificate.download': {
    number: 'CE207',
    description: 'A certificate was downloaded with its private key.',
    changes: ofManaged,
    example: { before: { key_available: true }, after: { key_available: false } },
  },
  'certificates.managed_certificate.pause': {
    number: 'CE208',
    description: 'Automatic renewals of a managed certificate were paused.',
    changes: ofManaged,
    example: { before: { paused: false }, after: { paused: true } },
  },
  'certificates.managed_certificate.resume': {
    number: 'CE209',
    description: 'Automatic renewals of a managed certificate were resumed.',
    changes: ofManaged,
    example: { before: { paused: true }, after: { paused: false } },
  },
  'certificates.managed_certificate.deliver': {
    sentence: 'The certificate for {managed_certificate} was installed on {server}',
    phrase: 'install the certificate for {managed_certificate} on {server}',
    number: 'CE210',
    description: 'The agent of a server installed a certificate.',
    targets: ['managed_certificate', 'server'],
    channels: ['job'],
    changes: ofManaged,
    example: { before: { status: 'delivering' }, after: { status: 'valid' } },
  },
} satisfies AuditActionDrafts
