import { type Static, Type } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { actorFields, editable, Instant, Line, ListOf, Shape } from '../../../core/shapes'
import { templateContent } from './content'

export const templateMembers = members({
  name: { schema: Line({ minLength: 1, maxLength: 200, description: 'Display name.' }), required: true },
  description: { schema: Line({ maxLength: 2000, description: 'Description of the template.' }), default: '', clearable: true },
})

const content = {
  variables: [{ name: 'address', type: 'ip' as const, description: 'The web server.' }],
  records: [
    { type: 'A', name: '@', content: '{{address}}', ttl: 300, on_conflict: 'replace' as const },
    { type: 'CNAME', name: 'www', content: '{{fqdn}}.', on_conflict: 'replace' as const },
  ],
}

const example = {
  id: 'tmpl_01k3z8w2c4e6g8j0m2p4r6t8vw',
  name: 'Website',
  description: 'Address of a website, with www.',
  builtin: false,
  ...content,
  version: 1,
  content_version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

export const Template = Shape(
  {
    id: Type.String({ description: 'ID of the template.' }),
    ...viewMembers(templateMembers),
    builtin: Type.Boolean({ description: 'Whether this is a built-in template. Built-in templates can’t be edited.' }),
    ...templateContent,
    content_version: Type.Integer({
      minimum: 1,
      description: 'Version that last changed the variables or records. Linked bindings of an earlier version are `outdated`.',
    }),
    ...editable,
  },
  { $id: 'DnsTemplate', description: 'A set of records with variables that can be applied to many zones.', examples: [example] },
)
export const TemplateList = ListOf(Template)

export const TemplateInput = Shape(
  {
    ...inputMembers(templateMembers),
    variables: Type.Optional(templateContent.variables),
    records: templateContent.records,
  },
  {
    $id: 'DnsTemplateInput',
    description: 'A template to create.',
    examples: [{ name: 'Website', description: 'Address of a website, with www.', ...content }],
  },
)

export const TemplatePatch = Shape(
  {
    ...patchMembers(templateMembers),
    variables: Type.Optional(templateContent.variables),
    records: Type.Optional(templateContent.records),
  },
  {
    $id: 'DnsTemplatePatch',
    description: 'Fields of a template to update. Lists are replaced as a whole; null resets `description`.',
    examples: [{ records: [{ type: 'A', name: '@', content: '{{address}}', ttl: 600, on_conflict: 'replace' }] }],
  },
)

const TemplateVersion = Shape(
  {
    template_id: Type.String({ description: 'ID of the template.' }),
    version: Type.Integer({ minimum: 1, description: 'Version of the template.' }),
    ...viewMembers(templateMembers),
    ...templateContent,
    actor: Shape(actorFields, { description: 'Who created this version.' }),
    created_at: Instant({ description: 'When this version was created.' }),
  },
  {
    $id: 'DnsTemplateVersion',
    description: 'A version of a template.',
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
