import { Type } from '@sinclair/typebox'
import type { AuditActionDrafts } from '../../core/audit-actions'
import { viewMembers } from '../../core/members'
import { openMembers, personalMembers } from './shapes'

const changes = {
  fields: {
    ...viewMembers(openMembers),
    changed_fields: Type.Array(Type.String({ enum: Object.keys(personalMembers) }), {
      description: 'Names of the fields with personal data that changed. Their values are not recorded.',
    }),
  },
}

export const contactActions = {
  'domains.contact.create': {
    changes,
    example: {
      before: {},
      after: { label: 'Company', country: 'FR', tags: [], changed_fields: ['type', 'first_name', 'email'] },
    },
  },
  'domains.contact.update': { changes, example: { before: { changed_fields: null }, after: { changed_fields: ['phone'] } } },
  'domains.contact.delete': { changes, example: { before: { label: 'Company', country: 'FR', tags: [] }, after: {} } },
} satisfies AuditActionDrafts
