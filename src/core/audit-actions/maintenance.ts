import { auditAction } from './entry'

const targets = ['maintenance_window']
const made = { name: 'Database upgrades', kind: 'once', starts_at_local: '2026-11-28T23:00:00', timezone: 'Europe/Berlin' }

export const maintenanceActions = [
  auditAction({
    action: 'maintenance.window.create',
    number: 'MW001',
    description: 'Maintenance was planned: a window was made.',
    targets,
    changes: 'answer',
    example: { before: {}, after: made },
  }),
  auditAction({
    action: 'maintenance.window.update',
    number: 'MW002',
    description: 'A maintenance window was edited.',
    targets,
    changes: 'answer',
    example: { before: { duration_seconds: 3600 }, after: { duration_seconds: 7200 } },
  }),
  auditAction({
    action: 'maintenance.window.delete',
    number: 'MW003',
    description: 'A maintenance window was deleted; what was in force ended.',
    targets,
    changes: { of: 'maintenance.window.create' },
    example: { before: made, after: {} },
  }),
  auditAction({
    action: 'maintenance.window.start',
    number: 'MW004',
    description: 'Somebody put a maintenance window in force, beside its schedule.',
    targets,
    changes: 'answer',
    example: { before: { status: 'scheduled' }, after: { status: 'in_progress' } },
  }),
  auditAction({
    action: 'maintenance.window.stop',
    number: 'MW005',
    description: 'Somebody ended the maintenance that was in force.',
    targets,
    changes: 'answer',
    example: { before: { status: 'in_progress' }, after: { status: 'scheduled' } },
  }),
  auditAction({
    action: 'maintenance.window.bulk',
    number: 'MW006',
    description: 'Many changes of maintenance windows at once were refused; those that are made have entries of their own.',
    targets: [],
  }),
] as const
