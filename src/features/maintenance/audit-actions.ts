import type { AuditActionDrafts } from '../../core/audit-actions'

const created = { name: 'Database upgrades', kind: 'once', starts_at_local: '2026-11-28T23:00:00', timezone: 'Europe/Berlin' }

export const maintenanceActions = {
  'maintenance.window.create': { example: { before: {}, after: created } },
  'maintenance.window.update': { example: { before: { duration_seconds: 3600 }, after: { duration_seconds: 7200 } } },
  'maintenance.window.delete': { description: 'A maintenance window was deleted. If it was active, maintenance ended.' },
  'maintenance.window.start': {
    number: 'MW004',
    description: 'A maintenance window was started manually, outside its schedule.',
    changes: 'response',
    example: { before: { status: 'scheduled' }, after: { status: 'in_progress' } },
  },
  'maintenance.window.stop': {
    number: 'MW005',
    description: 'An active maintenance window was stopped manually.',
    changes: 'response',
    example: { before: { status: 'in_progress' }, after: { status: 'scheduled' } },
  },
} satisfies AuditActionDrafts
