import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const withSecret = {
  of: 'domains.registrar.update',
  fields: { secret: Type.String({ description: 'The secrets in the settings, as a keyed hash.' }) },
}

export const registrarActions = {
  'domains.registrar.create': {
    changes: withSecret,
    example: { before: {}, after: { kind: 'porkbun', name: 'Porkbun' } },
  },
  'domains.registrar.update': {
    channels: [...requestChannels, 'job'],
    changes: withSecret,
    example: { before: { name: 'Porkbun' }, after: { name: 'Porkbun main' } },
  },
  'domains.registrar.delete': {
    description: 'A registrar account was deleted with its secrets.',
    example: { before: { name: 'Porkbun' }, after: {} },
  },
  'domains.registrar.check': {
    number: 'DO023',
    description: 'A registrar account was checked manually. The reason contains the result.',
    changes: { of: 'domains.registrar.update' },
    example: { before: { state: 'unknown' }, after: { state: 'ok' } },
  },
  'domains.registrar.fail': {
    sentence: '{registrar_account} became unreachable or rejected its settings',
    number: 'DO024',
    description: 'A registrar account became unreachable or rejected its settings.',
    channels: ['job'],
    changes: { of: 'domains.registrar.update' },
    example: {
      before: { state: 'ok', last_error: null },
      after: { state: 'failing', last_error: { code: 'unauthorized', detail: 'Porkbun rejected the API keys.' } },
    },
  },
  'domains.registrar.recover': {
    sentence: '{registrar_account} recovered',
    number: 'DO025',
    description: 'A failing registrar account recovered.',
    channels: ['job'],
    changes: { of: 'domains.registrar.update' },
    example: { before: { state: 'failing' }, after: { state: 'ok' } },
  },
  'domains.registrar.sync': {
    phrase: 'read the domains of {registrar_account}',
    number: 'DO027',
    description: 'Reading the domains of a registrar account was started.',
    targets: ['registrar_account', 'action'],
    channels: [...requestChannels, 'job'],
  },
  'domains.registrar.validate': {
    phrase: 'validate the settings of a registrar account',
    number: 'DO026',
    description: 'Validating the settings of a registrar account was denied. Successful validations are not logged.',
    targets: [],
  },
} satisfies AuditActionDrafts
