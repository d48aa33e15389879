import { Type } from '@sinclair/typebox'
import type { AuditActionDrafts } from '../../../core/audit-actions'

const ofUpdate = { of: 'cloud.controller.update' }
const withSecret = {
  ...ofUpdate,
  fields: { secret: Type.String({ description: 'The secrets in the settings, as a keyed hash.' }) },
}

export const controllerActions = {
  'cloud.controller.create': {
    changes: withSecret,
    example: { before: {}, after: { kind: 'ipmi', settings: { host: '192.0.2.5', user: 'bailiwick' } } },
  },
  'cloud.controller.update': {
    changes: withSecret,
    example: { before: { settings: { host: '192.0.2.5' } }, after: { settings: { host: '192.0.2.6' } } },
  },
  'cloud.controller.delete': {
    description: 'A controller of a server was deleted with its secrets.',
    example: { before: { kind: 'ipmi' }, after: {} },
  },
  'cloud.controller.check': {
    number: 'CO004',
    description: 'A controller of a server was checked manually. The reason contains the result.',
    changes: ofUpdate,
    example: { before: { state: 'unknown' }, after: { state: 'ok' } },
  },
  'cloud.controller.fail': {
    sentence: '{server_controller} became unreachable or rejected its settings',
    number: 'CO005',
    description: 'A controller of a server became unreachable or rejected its settings.',
    channels: ['job'],
    changes: ofUpdate,
    example: {
      before: { state: 'ok', last_error: null },
      after: { state: 'failing', last_error: { code: 'unreachable', detail: 'The host could not be reached.' } },
    },
  },
  'cloud.controller.recover': {
    sentence: '{server_controller} recovered',
    number: 'CO006',
    description: 'A failing controller of a server recovered.',
    channels: ['job'],
    changes: ofUpdate,
    example: { before: { state: 'failing' }, after: { state: 'ok' } },
  },
} satisfies AuditActionDrafts
