import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const withSecret = {
  of: 'dns.provider.update',
  fields: { secret: Type.String({ description: 'The secrets in the settings, as a keyed hash.' }) },
}
const recordShown = { type: 'A', name: 'www', ttl: 300, content: '192.0.2.10' }
const counts = { serial: Type.Integer(), created: Type.Integer(), updated: Type.Integer(), deleted: Type.Integer() }

const withAllowed = { of: 'dns.template.apply', fields: { allowed: Type.Array(Type.String()) } }

export const dnsActions = {
  'dns.zone.create': {
    description: 'A DNS zone was created.',
    example: { before: {}, after: { name: 'example.com', status: 'active' } },
  },
  'dns.zone.update': {
    description: 'The settings of a DNS zone were updated.',
    example: { before: { status: 'active' }, after: { status: 'paused' } },
  },
  'dns.zone.delete': {
    description: 'A DNS zone was deleted with all its records.',
    example: { before: { name: 'example.com' }, after: {} },
  },
  'dns.record.create': { example: { before: {}, after: recordShown } },
  'dns.record.update': { example: { before: { content: '192.0.2.10' }, after: { content: '192.0.2.20' } } },
  'dns.rrsets.replace': {
    phrase: 'replace record sets of {zone}',
    number: 'DN007',
    description: 'Record sets of a zone were replaced. The changed records are in the `dns.records_changed` event.',
    targets: ['zone'],
    changes: { fields: counts },
    example: { before: { serial: 7 }, after: { serial: 8, created: 2, updated: 0, deleted: 1 } },
  },
  'dns.zone.import': {
    phrase: 'import a zone file into {zone}',
    number: 'DN009',
    description: 'A zone file was imported into a zone. The changed records are in the `dns.records_changed` event.',
    changes: { fields: { ...counts, mode: Type.String(), allowed: Type.Array(Type.String()) } },
    example: { before: { serial: 1 }, after: { serial: 2026112101, created: 12, updated: 0, deleted: 2, mode: 'replace' } },
  },
  'dns.plan.create': {
    phrase: 'create a plan for {zone}',
    number: 'DN040',
    description: 'A plan for a DNS zone was created.',
    targets: ['plan', 'zone'],
  },
  'dns.plan.apply': {
    phrase: 'apply a plan to {zone}',
    number: 'DN041',
    description: 'A plan for a DNS zone was applied. `allowed` lists the safety checks that were overridden.',
    targets: ['plan', 'zone'],
    changes: { fields: { ...counts, allowed: Type.Array(Type.String()) } },
    example: {
      before: { serial: 7 },
      after: { serial: 8, created: 0, updated: 0, deleted: 4, allowed: ['deletes_over_limit'] },
    },
  },
  'dns.zone.import_from': {
    phrase: 'import {zone} from another server',
    number: 'DN030',
    description:
      'A zone was imported from another name server or a provider. The changed records are in the `dns.records_changed` event.',
    changes: { fields: { ...counts, mode: Type.String(), from: Type.String(), allowed: Type.Array(Type.String()) } },
    example: {
      before: { serial: 1 },
      after: { serial: 2026112101, created: 12, updated: 0, deleted: 2, mode: 'replace', from: 'ns1.example.com 53' },
    },
  },
  'dns.zone.sync': {
    phrase: 'sync {zone} to {dns_provider}',
    number: 'DN042',
    description: 'Changes to a DNS zone were synced to a provider. The counts are record sets.',
    channels: ['job'],
    targets: ['zone', 'dns_provider'],
    changes: {
      fields: { created: Type.Integer(), updated: Type.Integer(), deleted: Type.Integer(), failed: Type.Integer() },
    },
    example: { before: {}, after: { created: 1, updated: 2, deleted: 0, failed: 0 } },
  },
  'dns.zone.block': {
    sentence: 'A sync of {zone} was blocked',
    number: 'DN105',
    description: 'A sync of a DNS zone to a provider was blocked. `reasons` are the codes of the failed safety checks.',
    channels: ['job'],
    targets: ['zone', 'plan'],
    changes: { fields: { plan_id: Type.String(), provider_id: Type.String(), reasons: Type.Array(Type.String()) } },
    example: {
      before: {},
      after: {
        plan_id: 'plan_01k3z8q4g7e2wv5m9x0c6hbtfn',
        provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
        reasons: ['deletes_over_limit'],
      },
    },
  },
  'dns.zone.unblock': {
    sentence: 'A blocked sync of {zone} was completed or is no longer needed',
    number: 'DN106',
    description: 'A blocked sync of a DNS zone was completed or is no longer needed.',
    channels: ['job'],
    targets: ['zone', 'dns_provider'],
    changes: { fields: { provider_id: Type.String(), reasons: Type.Array(Type.String()) } },
    example: { before: { provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn', reasons: ['deletes_over_limit'] }, after: {} },
  },
  'dns.target.create': {
    phrase: 'add {zone_target} to {zone}',
    description: 'A sync target was added to a DNS zone.',
    example: { before: {}, after: { provider_id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn' } },
  },
  'dns.target.delete': { phrase: 'remove {zone_target} from {zone}', description: 'A sync target was removed from a DNS zone.' },
  'dns.zone.refresh': {
    number: 'DN045',
    description: 'A DNS zone was refreshed from its providers. With `force`, implausible data was accepted.',
    changes: { fields: { force: Type.Boolean() } },
    example: { before: {}, after: { force: false } },
  },
  'dns.zone.adopt': {
    phrase: 'adopt records of {zone} from a provider',
    number: 'DN046',
    description: 'Records of a DNS zone were adopted from a provider.',
    changes: { fields: counts },
    example: { before: { serial: 7 }, after: { serial: 8, created: 2, updated: 0, deleted: 1 } },
  },
  'dns.records.expire': {
    sentence: 'Records of {zone} expired and were deleted',
    number: 'DN100',
    description: 'Records were deleted because they expired (`expires_at`). They are listed in the `dns.records_changed` event.',
    channels: ['job'],
    targets: ['zone'],
    changes: { fields: { serial: Type.Integer(), deleted: Type.Integer() } },
    example: { before: { serial: 7 }, after: { serial: 8, deleted: 1 } },
  },
  'dns.challenge.publish': {
    sentence: 'Records for a certificate were published in {zone}',
    number: 'DN101',
    description: 'TXT records that prove control of names to a certificate authority were published.',
    channels: ['job'],
    targets: ['zone'],
    changes: { fields: { serial: Type.Integer() } },
    example: { before: { serial: 7 }, after: { serial: 8 } },
  },
  'dns.challenge.remove': {
    sentence: 'Records for a certificate were removed from {zone}',
    number: 'DN102',
    description: 'TXT records that proved control of names to a certificate authority were removed.',
    channels: ['job'],
    targets: ['zone'],
    changes: { fields: { serial: Type.Integer() } },
    example: { before: { serial: 8 }, after: { serial: 9 } },
  },
  'dns.zone.revert': {
    phrase: 'revert changes to {zone}',
    number: 'DN060',
    description: 'A revert of changes to a zone was planned, and applied if the serial changed.',
    targets: ['plan', 'zone'],
    changes: { fields: counts },
    example: { before: { serial: 8 }, after: { serial: 9, created: 0, updated: 1, deleted: 1 } },
  },
  'dns.template.create': { example: { before: {}, after: { name: 'Web site' } } },
  'dns.template.update': {
    description: 'A DNS template was updated. Zones don’t change until it is rolled out.',
    example: { before: { name: 'Web site' }, after: { name: 'Shop' } },
  },
  'dns.template.delete': { description: 'A DNS template was deleted. Records created from it are kept.' },
  'dns.record.check': {
    phrase: 'validate a DNS record',
    number: 'DN010',
    description: 'Validating a DNS record was denied. Successful validations are not logged.',
    targets: [],
  },
  'dns.template.preview': {
    phrase: 'preview a DNS template',
    number: 'DN083',
    description: 'A preview of a DNS template was denied. Successful previews are not logged.',
    targets: [],
  },
  'dns.template.apply': {
    phrase: 'apply {dns_template} to {zone}',
    number: 'DN084',
    description: 'A DNS template was applied to a zone. The changed records are in the `dns.records_changed` event.',
    targets: ['template_binding', 'dns_template', 'zone'],
    changes: withAllowed,
    example: { before: {}, after: { mode: 'linked', host: '@', serial: 8, created: 2, updated: 0, deleted: 0 } },
  },
  'dns.template.roll_out': {
    number: 'DN085',
    description: 'A rollout of the latest version of a DNS template to its linked zones was started.',
    targets: ['dns_template', 'action'],
    channels: [...requestChannels, 'job'],
  },
  'dns.template_binding.update': {
    phrase: 'update the binding of {dns_template} to {zone}',
    description:
      'The variables or the mode of a template binding were updated. The zone doesn’t change until the binding is applied.',
    example: { before: { mode: 'linked' }, after: { mode: 'once' } },
  },
  'dns.template_binding.apply': {
    phrase: 'apply the latest version of {dns_template} to {zone}',
    number: 'DN087',
    description: 'The latest version of a template was applied to a zone.',
    channels: [...requestChannels, 'job'],
    changes: withAllowed,
    example: { before: { template_version: 1 }, after: { template_version: 2, serial: 9, created: 0, updated: 1, deleted: 0 } },
  },
  'dns.template_binding.delete': {
    phrase: 'delete the binding of {dns_template} to {zone}',
    description: 'A template binding was deleted. The records of the template were kept, or deleted if requested.',
    changes: withAllowed,
    example: { before: { mode: 'linked' }, after: { serial: 10, created: 0, updated: 0, deleted: 2 } },
  },
  'dns.provider.create': {
    changes: withSecret,
    example: { before: {}, after: { kind: 'powerdns', name: 'PowerDNS in Falkenstein' } },
  },
  'dns.provider.update': {
    changes: withSecret,
    example: { before: { name: 'PowerDNS' }, after: { name: 'PowerDNS in Falkenstein' } },
  },
  'dns.provider.delete': {
    description: 'A DNS provider was deleted with its secrets.',
    example: { before: { name: 'PowerDNS in Falkenstein' }, after: {} },
  },
  'dns.provider.validate': {
    phrase: 'validate the settings of a DNS provider',
    number: 'DN026',
    description: 'Validating the settings of a DNS provider was denied. Successful validations are not logged.',
    targets: [],
  },
  'dns.provider.check': {
    number: 'DN023',
    description: 'A DNS provider was checked manually. The reason contains the result.',
    changes: { of: 'dns.provider.update' },
    example: { before: { state: 'unknown' }, after: { state: 'ok' } },
  },
  'dns.provider.fail': {
    sentence: '{dns_provider} became unreachable or rejected its settings',
    number: 'DN024',
    description: 'A DNS provider became unreachable or rejected its settings.',
    channels: ['job'],
    changes: { of: 'dns.provider.update' },
    example: {
      before: { state: 'ok', last_error: null },
      after: { state: 'failing', last_error: { code: 'unreachable', detail: 'The host refused the connection.' } },
    },
  },
  'dns.provider.recover': {
    sentence: '{dns_provider} recovered',
    number: 'DN025',
    description: 'A failing DNS provider recovered.',
    channels: ['job'],
    changes: { of: 'dns.provider.update' },
    example: { before: { state: 'failing' }, after: { state: 'ok' } },
  },
  'dns.tsig_key.create': { example: { before: {}, after: { name: 'secondary1.example.com', algorithm: 'hmac-sha256' } } },
  'dns.tsig_key.delete': { description: 'A TSIG key was deleted and can no longer be used.' },
  'dns.builtin.update': {
    phrase: 'update the zone transfer settings of {dns_provider}',
    number: 'DN072',
    description: 'The zone transfer settings of the built-in name server were updated.',
    targets: ['dns_provider'],
    changes: 'response',
    example: { before: { transfer_key_ids: null }, after: { transfer_key_ids: [] } },
  },
} satisfies AuditActionDrafts
