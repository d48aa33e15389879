import { auditAction } from '../../core/audit-actions'

const targets = ['maintenance_window']
const created = { name: 'Database upgrades', kind: 'once', starts_at_local: '2026-11-28T23:00:00', timezone: 'Europe/Berlin' }

export const maintenanceActions = [
  auditAction({
    action: 'maintenance.window.create',
    number: 'MW001',
    description: 'A maintenance window was created.',
    targets,
    changes: 'response',
    example: { before: {}, after: created },
  }),
  auditAction({
    action: 'maintenance.window.update',
    number: 'MW002',
    description: 'A maintenance window was updated.',
    targets,
    changes: 'response',
    example: { before: { duration_seconds: 3600 }, after: { duration_seconds: 7200 } },
  }),
  auditAction({
    action: 'maintenance.window.delete',
    number: 'MW003',
    description: 'A maintenance window was deleted. If it was active, maintenance ended.',
    targets,
    changes: { of: 'maintenance.window.create' },
    example: { before: created, after: {} },
  }),
  auditAction({
    action: 'maintenance.window.start',
    number: 'MW004',
    description: 'A maintenance window was started manually, outside its schedule.',
    targets,
    changes: 'response',
    example: { before: { status: 'scheduled' }, after: { status: 'in_progress' } },
  }),
  auditAction({
    action: 'maintenance.window.stop',
    number: 'MW005',
    description: 'An active maintenance window was stopped manually.',
    targets,
    changes: 'response',
    example: { before: { status: 'in_progress' }, after: { status: 'scheduled' } },
  }),
  auditAction({
    action: 'maintenance.window.bulk',
    number: 'MW006',
    description: 'A bulk change of maintenance windows was denied. Successful changes have their own events.',
    targets: [],
  }),
] as const
