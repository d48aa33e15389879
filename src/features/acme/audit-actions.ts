import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const ofUpdate = { of: 'certificates.acme_account.update' }
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
} satisfies AuditActionDrafts
