import { Type } from '@sinclair/typebox'
import { auditAction } from './entry'

const zone = ['zone']
const record = ['record', 'zone']
const recordShown = { type: 'A', name: 'www', ttl: 300, content: '192.0.2.10' }
const counts = {
  serial: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  deleted: Type.Integer(),
}

export const dnsActions = [
  auditAction({
    action: 'dns.zone.create',
    number: 'DN001',
    description: 'A DNS zone was made.',
    targets: zone,
    changes: 'answer',
    example: { before: {}, after: { name: 'example.com', status: 'active' } },
  }),
  auditAction({
    action: 'dns.zone.update',
    number: 'DN002',
    description: 'A DNS zone was edited, but for its records.',
    targets: zone,
    changes: 'answer',
    example: { before: { status: 'active' }, after: { status: 'paused' } },
  }),
  auditAction({
    action: 'dns.zone.delete',
    number: 'DN003',
    description: 'A DNS zone was deleted, with its records.',
    targets: zone,
    changes: { of: 'dns.zone.create' },
    example: { before: { name: 'example.com' }, after: {} },
  }),
  auditAction({
    action: 'dns.record.create',
    number: 'DN004',
    description: 'A DNS record was made.',
    targets: record,
    changes: 'answer',
    example: { before: {}, after: recordShown },
  }),
  auditAction({
    action: 'dns.record.update',
    number: 'DN005',
    description: 'A DNS record was edited.',
    targets: record,
    changes: 'answer',
    example: { before: { content: '192.0.2.10' }, after: { content: '192.0.2.20' } },
  }),
  auditAction({
    action: 'dns.record.delete',
    number: 'DN006',
    description: 'A DNS record was deleted.',
    targets: record,
    changes: { of: 'dns.record.create' },
    example: { before: recordShown, after: {} },
  }),
  auditAction({
    action: 'dns.rrsets.replace',
    number: 'DN007',
    description: 'Records of a zone were replaced by name and type; which ones, the event tells.',
    targets: zone,
    changes: { members: counts },
    example: { before: { serial: 7 }, after: { serial: 8, created: 2, updated: 0, deleted: 1 } },
  }),
  auditAction({
    action: 'dns.zone.import',
    number: 'DN009',
    description: 'A zone file was read into a zone; which records that changed, the event tells.',
    targets: zone,
    changes: { members: { ...counts, mode: Type.String(), allowed: Type.Array(Type.String()) } },
    example: { before: { serial: 1 }, after: { serial: 2026112101, created: 12, updated: 0, deleted: 2, mode: 'replace' } },
  }),
  auditAction({
    action: 'dns.plan.create',
    number: 'DN040',
    description: 'Changes of a DNS zone were planned; nothing was done.',
    targets: ['plan', 'zone'],
  }),
  auditAction({
    action: 'dns.plan.apply',
    number: 'DN041',
    description: 'A plan for a DNS zone was carried out; `allowed` are the reasons against it that were overridden.',
    targets: ['plan', 'zone'],
    changes: { members: { ...counts, allowed: Type.Array(Type.String()) } },
    example: {
      before: { serial: 7 },
      after: { serial: 8, created: 0, updated: 0, deleted: 4, allowed: ['deletes_over_limit'] },
    },
  }),
  auditAction({
    action: 'dns.record.bulk',
    number: 'DN008',
    description: 'Many changes of DNS records at once were refused; those that are made have entries of their own.',
    targets: [],
  }),
  auditAction({
    action: 'dns.records.expire',
    number: 'DN100',
    description: 'Records were removed because their `expires_at` had come; which ones, the event tells.',
    channels: ['job'],
    targets: zone,
    changes: { members: { serial: Type.Integer(), deleted: Type.Integer() } },
    example: { before: { serial: 7 }, after: { serial: 8, deleted: 1 } },
  }),
  auditAction({
    action: 'dns.zone.revert',
    number: 'DN060',
    description: 'The undoing of changes of a zone was planned; where the serial moved, it was done.',
    targets: ['plan', 'zone'],
    changes: { members: counts },
    example: { before: { serial: 8 }, after: { serial: 9, created: 0, updated: 1, deleted: 1 } },
  }),
] as const
