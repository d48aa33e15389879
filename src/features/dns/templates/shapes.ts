import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, Nullable, Shape } from '../../../core/shapes'
import { templateContent } from './content'

const name = Line({ minLength: 1, maxLength: 200, description: 'Name for people.' })
const description = Line({ maxLength: 2000, description: 'What it is for, for people.' })

const content = {
  variables: [{ name: 'address', type: 'ip' as const, description: 'The web server.' }],
  records: [
    { type: 'A', name: '@', content: '{{address}}', ttl: 300, on_conflict: 'replace' as const },
    { type: 'CNAME', name: 'www', content: '{{fqdn}}.', on_conflict: 'replace' as const },
  ],
}

const example = {
  id: 'tmpl_01k3z8w2c4e6g8j0m2p4r6t8vw',
  name: 'Web site',
  description: 'The server of a site, with www.',
  builtin: false,
  ...content,
  version: 1,
  content_version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

export const Template = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    name,
    description,
    builtin: Type.Boolean({ description: 'Whether it comes with the program, and cannot be edited.' }),
    ...templateContent,
    content_version: Type.Integer({
      minimum: 1,
      description: 'The version that last changed variables or records: linked bindings of an earlier one are `outdated`.',
    }),
    ...editable,
  },
  { $id: 'DnsTemplate', description: 'Records that are put into many zones, with variables.', examples: [example] },
)
export const TemplateList = ListOf(Template)

export const TemplateInput = Shape(
  {
    name,
    description: Type.Optional(description),
    variables: Type.Optional(templateContent.variables),
    records: templateContent.records,
  },
  {
    $id: 'DnsTemplateInput',
    description: 'A template to make.',
    examples: [{ name: 'Web site', description: 'The server of a site, with www.', ...content }],
  },
)

export const TemplatePatch = Shape(
  {
    name: Type.Optional(name),
    description: Type.Optional(Nullable(description)),
    variables: Type.Optional(templateContent.variables),
    records: Type.Optional(templateContent.records),
  },
  {
    $id: 'DnsTemplatePatch',
    description: 'What of a template is to change. Lists are replaced as a whole.',
    examples: [{ records: [{ type: 'A', name: '@', content: '{{address}}', ttl: 600, on_conflict: 'replace' }] }],
  },
)

export const TemplateVersion = Shape(
  {
    template_id: Type.String({ description: 'The template.' }),
    version: Type.Integer({ minimum: 1, description: 'The version that the template had then.' }),
    name,
    description,
    ...templateContent,
    actor: Shape(
      { type: Type.String(), id: Type.String(), name: Nullable(Type.String()) },
      { description: 'Who made it, as in the audit log.' },
    ),
    created_at: Instant({ description: 'When.' }),
  },
  {
    $id: 'DnsTemplateVersion',
    description: 'A template as it was after an edit.',
    examples: [
      {
        template_id: example.id,
        version: 1,
        name: example.name,
        description: example.description,
        ...content,
        actor: { type: 'token', id: 'tok_01k3z8m2a4f6s8w0y1b3d5g7jk', name: 'deploy' },
        created_at: example.created_at,
      },
    ],
  },
)
export const TemplateVersionList = ListOf(TemplateVersion)

export type TemplateView = Static<typeof Template>
export type TemplateInput = Static<typeof TemplateInput>
export type TemplatePatch = Static<typeof TemplatePatch>
export type TemplateVersionView = Static<typeof TemplateVersion>
