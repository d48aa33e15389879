import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { changed } from '../record-shapes'
import { allowed } from '../sync/shapes'
import { Op } from '../sync/sync-shapes'
import { Reason } from '../sync/sync-shapes'
import { VariableValue } from './content'
import { bindingModes } from './tables'

export const bindingStates = ['current', 'outdated', 'edited_away', 'failed'] as const
export type BindingState = (typeof bindingStates)[number]

const variables = Type.Record(Type.String({ minLength: 1, maxLength: 40 }), VariableValue, {
  maxProperties: 100,
  description: 'Values by the names of the template’s variables.',
})
const otherVariables = Type.Record(Type.String({ minLength: 1, maxLength: 40 }), Nullable(VariableValue), {
  maxProperties: 100,
  description: 'Values to change; null takes one back. The others stay.',
})
const mode = Words(bindingModes, {
  description: '`linked`: it follows the template, whose edits are brought to it; `once`: it stays as it was applied.',
})
const zone_id = Type.String({ maxLength: 100, description: 'The zone.' })
const host = Type.String({
  maxLength: 1024,
  description: 'Name within the zone at which the template is applied; the apex, `@`, when absent.',
})

const example = {
  id: 'tbnd_01k3z8x3d5f7h9k1n3q5s7v9xy',
  template_id: 'tmpl_01k3z8w2c4e6g8j0m2p4r6t8vw',
  template_version: 1,
  zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
  zone: 'example.com',
  host: '@',
  mode: 'linked' as const,
  variables: { address: '192.0.2.10' },
  state: 'current' as const,
  error: null,
  applied_at: '2026-11-21T10:00:00.000Z',
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

const RrsetEdit = Shape({
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
  kind: Words(['missing', 'changed'], { description: '`missing`: nothing of this name and type is left.' }),
  essential: Type.Boolean({ description: 'Whether it makes the binding `edited_away`.' }),
  missing: Type.Array(Type.String(), { description: 'Values that the template made and that are gone; of SPF the terms.' }),
  extra: Type.Array(Type.String(), { description: 'Values that are there where the template has all.' }),
  ttl: Nullable(Shape({ expected: Type.Integer(), found: Type.Integer() }), {
    description: 'The TTL of the template and that of the zone, in seconds; null where they do not differ.',
  }),
})

const Placed = Shape({
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
  ttl: Nullable(Type.Integer(), {
    description: 'The TTL that the template says; null where it says none, or others have a share.',
  }),
  essential: Type.Boolean({ description: 'Whether an edit makes the binding `edited_away`.' }),
  values: Type.Array(Type.String(), { description: 'The values.' }),
  spf_terms: Type.Array(Type.String(), { description: 'The terms that it has in an SPF record which others may share.' }),
})

const members = {
  id: Type.String({ description: 'Identifier.' }),
  template_id: Type.String({ description: 'The template.' }),
  template_version: Type.Integer({ minimum: 1, description: 'The `content_version` of the template that was applied.' }),
  zone_id,
  zone: Type.String({ description: 'Name of the zone.' }),
  host: Type.String({ description: 'Name within the zone at which it was applied; the apex is `@`.' }),
  mode,
  variables,
  state: Words(bindingStates, {
    description:
      '`outdated`: it is linked, and template or variables were edited since; `edited_away`: what it put into the zone was edited or ' +
      'removed there; `failed`: it could not be brought to the newest version.',
  }),
  error: Nullable(Shape({ code: Type.String(), detail: Type.String() }), {
    description: 'Why the last rollout did not reach it; null when it did.',
  }),
  applied_at: Instant({ description: 'When its records were last put into the zone.' }),
  ...editable,
}

export const Binding = Shape(members, {
  $id: 'DnsTemplateBinding',
  description: 'A template that was applied to a zone.',
  examples: [example],
})
export const BindingList = ListOf(Binding)

export const BindingDetail = Shape(
  {
    ...members,
    rrsets: Type.Array(Placed, { description: 'What it put into the zone, by name and type.' }),
    edits: Type.Array(RrsetEdit, { description: 'How the zone differs from what the template made there.' }),
  },
  {
    $id: 'DnsTemplateBindingDetail',
    description: 'A template that was applied to a zone, and what was edited there since.',
    examples: [
      {
        ...example,
        rrsets: [{ name: '@', type: 'A', ttl: 300, essential: true, values: ['192.0.2.10'], spf_terms: [] }],
        edits: [],
      },
    ],
  },
)

const overriding = {
  allow: Type.Optional(allowed),
  note: Type.Optional(
    Line({ maxLength: 500, description: 'Why, for the history and the audit log; required where a reason is allowed.' }),
  ),
}
const where = { zone_id, host: Type.Optional(host), variables: Type.Optional(variables) }

export const PreviewInput = Shape(where, {
  $id: 'DnsTemplatePreviewInput',
  description: 'Where a template would be applied, and with which values.',
  examples: [{ zone_id: example.zone_id, host: '@', variables: example.variables }],
})

export const ApplyInput = Shape(
  { ...where, mode: Type.Optional(mode), ...overriding },
  {
    $id: 'DnsTemplateApplyInput',
    description: 'Where a template is to be applied, and with which values; `once` when `mode` is absent.',
    examples: [{ zone_id: example.zone_id, host: '@', variables: example.variables, mode: 'linked' }],
  },
)

export const BindingApplyInput = Shape(
  { variables: Type.Optional(otherVariables), ...overriding },
  {
    $id: 'DnsTemplateBindingApplyInput',
    description: 'Values to change before it is applied.',
    examples: [{ variables: { address: '192.0.2.20' } }],
  },
)

export const BindingPreviewInput = Shape(
  { variables: Type.Optional(otherVariables) },
  {
    $id: 'DnsTemplateBindingPreviewInput',
    description: 'Values that would be changed before.',
    examples: [{ variables: { address: '192.0.2.20' } }],
  },
)

export const BindingPatch = Shape(
  { variables: Type.Optional(otherVariables), mode: Type.Optional(mode) },
  {
    $id: 'DnsTemplateBindingPatch',
    description: 'What of a binding is to change.',
    examples: [{ variables: { address: '192.0.2.20' } }],
  },
)

const outcomes = ['create', 'keep', 'merge', 'replace', 'skip', 'left', 'conflict'] as const
const Outcome = Shape({
  record: Type.Integer({ minimum: 0, description: 'Its place in the template’s `records`.' }),
  name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
  type: Type.String({ description: 'Record type.' }),
  content: Type.String({ description: 'The value with the variables put in.' }),
  outcome: Words(outcomes, {
    description:
      '`create`; `keep`: it is there; `merge` and `replace` write it where something else is; `skip`: it is left out for that; `left`: it ' +
      'is not essential and was edited by hand; `conflict`: because of it nothing is applied.',
  }),
  others: Type.Array(
    Shape({
      name: Type.String({ description: 'Name within the zone.' }),
      type: Type.String({ description: 'Record type.' }),
      content: Type.String({ description: 'The value.' }),
    }),
    { description: 'What else is there, at most 20.' },
  ),
  detail: Nullable(Type.String(), { description: 'The reason, for people.' }),
})

const plan = {
  records: Type.Array(Outcome, {
    description: 'What becomes of each record of the template; those that are left out by `when` are not here.',
  }),
  changes: Type.Array(Op, { description: 'What changes in the zone, by name and type.' }),
  warnings: Type.Array(
    Shape({
      rule: Type.String({ description: 'The rule of the lint.' }),
      name: Type.String({ description: 'Name within the zone.' }),
      type: Type.String({ description: 'Record type.' }),
      detail: Type.String({ description: 'What is wrong, for people.' }),
    }),
    { description: 'What is allowed and most often a mistake.' },
  ),
}
const planExample = {
  records: [{ record: 0, name: '@', type: 'A', content: '192.0.2.10', outcome: 'create' as const, others: [], detail: null }],
  changes: [{ action: 'create' as const, name: '@', type: 'A', before: null, after: { ttl: 300, values: ['192.0.2.10'] } }],
  warnings: [],
}

export const Preview = Shape(
  {
    template_id: Type.String({ description: 'The template.' }),
    template_version: Type.Integer({ description: 'The version of its content.' }),
    zone_id,
    zone: Type.String({ description: 'Name of the zone.' }),
    host: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
    serial: Type.Integer({ description: 'The serial of the zone that it was held against.' }),
    applicable: Type.Boolean({ description: 'False when a record is in conflict: then applying answers 409.' }),
    blocked: Type.Array(Reason, { description: 'Why it is not applied unless each of these is allowed.' }),
    ...plan,
  },
  {
    $id: 'DnsTemplatePreview',
    description: 'What a template would change.',
    examples: [
      {
        template_id: example.template_id,
        template_version: 1,
        zone_id: example.zone_id,
        zone: example.zone,
        host: '@',
        serial: 7,
        applicable: true,
        blocked: [],
        ...planExample,
      },
    ],
  },
)

export const Applied = Shape(
  { ...members, ...changed, ...plan },
  {
    $id: 'DnsTemplateApplied',
    description: 'A binding, and what applying the template changed in the zone.',
    examples: [{ ...example, serial: 8, created: 1, updated: 0, deleted: 0, ...planExample }],
  },
)

export const RolloutInput = Shape(
  {
    edited: Type.Optional(
      Words(['skip', 'restore'], {
        default: 'skip',
        description: 'What to do with bindings that are `edited_away`: they stay as they are, or what was edited is restored.',
      }),
    ),
    ...overriding,
  },
  {
    $id: 'DnsTemplateRolloutInput',
    description: 'How linked bindings are brought to the newest version.',
    examples: [{ edited: 'skip' }],
  },
)

export const UnbindQuery = Shape({
  records: Type.Optional(
    Words(['keep', 'remove'], {
      default: 'keep',
      description:
        '`remove` takes what the template made out of the zone, but for what was edited and what other bindings rely on.',
    }),
  ),
  ...overriding,
})

export type BindingView = Static<typeof Binding>
export type BindingDetail = Static<typeof BindingDetail>
export type BindingPatch = Static<typeof BindingPatch>
export type BindingApplyInput = Static<typeof BindingApplyInput>
export type UnbindQuery = Static<typeof UnbindQuery>
export type RolloutInput = Static<typeof RolloutInput>
export type PreviewInput = Static<typeof PreviewInput>
export type ApplyInput = Static<typeof ApplyInput>
export type PreviewView = Static<typeof Preview>
export type AppliedView = Static<typeof Applied>
