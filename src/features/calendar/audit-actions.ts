import { Type } from '@sinclair/typebox'
import type { AuditActionDrafts } from '../../core/audit-actions'

const created = { name: 'Operations', include: ['certificates', 'maintenance'], tags: [] }

export const calendarActions = {
  'domains.calendar.create': { example: { before: {}, after: created } },
  'domains.calendar.update': { example: { before: { tags: [] }, after: { tags: ['production'] } } },
  'domains.calendar.delete': { description: 'A calendar feed was deleted. Its URL stopped working.' },
  'domains.calendar.rotate': {
    number: 'DO304',
    description: 'The URL of a calendar feed was replaced.',
    phrase: 'rotate the URL of {calendar_feed}',
    changes: { fields: { secret: Type.String({ description: 'The secret in the URL, as a keyed hash.' }) } },
    example: { before: { secret: 'hmac:0123456789abcdef' }, after: { secret: 'hmac:fedcba9876543210' } },
  },
} satisfies AuditActionDrafts
