import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { editableColumns, flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { AuditActor } from '../../../core/db/tables'
import { memberColumns } from '../../../core/members'
import { dnsZones } from '../zones/tables'
import type { TemplateContent } from './content'
import type { PlacedRrset } from './placed-rrsets'
import { templateMembers } from './shapes'

export const bindingModes = ['once', 'linked'] as const

export const dnsTemplates = table(
  'dns_templates',
  {
    ...resourceColumns(),
    ...memberColumns(templateMembers),
    content: json<TemplateContent>('content').notNull(),
    // Version that last changed the content; bindings of earlier versions are outdated.
    contentVersion: int('content_version').notNull(),
  },
  t => [index('dns_templates_workspace').on(t.workspaceId, t.id)],
)

/** Past and current versions of templates. */
export const dnsTemplateVersions = table(
  'dns_template_versions',
  {
    templateId: text('template_id')
      .notNull()
      .references(() => dnsTemplates.id, { onDelete: 'cascade' }),
    version: int('version').notNull(),
    ...memberColumns(templateMembers),
    content: json<TemplateContent>('content').notNull(),
    actor: json<AuditActor>('actor').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [primaryKey({ columns: [t.templateId, t.version] })],
)

/** Places where a template was applied. */
export const dnsTemplateBindings = table(
  'dns_template_bindings',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    // No reference: built-in templates have no row.
    templateId: text('template_id').notNull(),
    zoneId: text('zone_id')
      .notNull()
      .references(() => dnsZones.id, { onDelete: 'cascade' }),
    // Relative to the zone; `@` is the apex.
    host: text('host').notNull(),
    mode: text('mode', { enum: [...bindingModes] }).notNull(),
    variables: json<Record<string, string | number>>('variables').notNull(),
    // Content version that was applied.
    templateVersion: int('template_version').notNull(),
    // Whether variables changed since it was applied.
    pending: flag('pending').notNull(),
    // Whether essential records were edited or deleted in the zone.
    modified: flag('modified').notNull(),
    // Why the last rollout failed; null if it succeeded.
    error: json<{ code: string; detail: string } | null>('error'),
    appliedAt: time('applied_at').notNull(),
    ...editableColumns(),
  },
  t => [
    index('dns_template_bindings_workspace').on(t.workspaceId, t.id),
    index('dns_template_bindings_template').on(t.workspaceId, t.templateId, t.id),
    index('dns_template_bindings_zone').on(t.zoneId, t.id),
    uniqueIndex('dns_template_bindings_linked')
      .on(t.templateId, t.zoneId, t.host)
      .where(sql`${t.mode} = 'linked'`),
  ],
)

/** What a binding placed in its zone, by name and type. */
export const dnsTemplateRrsets = table(
  'dns_template_rrsets',
  {
    bindingId: text('binding_id')
      .notNull()
      .references(() => dnsTemplateBindings.id, { onDelete: 'cascade' }),
    zoneId: text('zone_id').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    placed: json<PlacedRrset>('placed').notNull(),
  },
  t => [primaryKey({ columns: [t.bindingId, t.name, t.type] }), index('dns_template_rrsets_name').on(t.zoneId, t.name)],
)
