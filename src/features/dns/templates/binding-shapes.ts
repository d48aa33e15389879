import { type Static, Type } from '@sinclair/typebox'
import { editable, Instant, Line, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { changed } from '../records/shapes'
import { allowed, rrsetName, Op, Reason } from '../plans/op-shapes'
import { VariableValue } from './content'
import { bindingModes } from './tables'

export const bindingStates = ['current', 'outdated', 'modified', 'failed'] as const
export type BindingState = (typeof bindingStates)[number]

const variables = Type.Record(Type.String({ minLength: 1, maxLength: 40 }), VariableValue, {
  maxProperties: 100,
  description: 'Variable values, by name.',
})
const variablesPatch = Type.Record(Type.String({ minLength: 1, maxLength: 40 }), Nullable(VariableValue), {
  maxProperties: 100,
  description: 'Variables to change, by name. Null removes the value. Omitted variables keep their values.',
})
const mode = Words(bindingModes, {
  description:
    '`linked`: when the template changes, the binding becomes `outdated` and can be updated with a rollout. `once`: later versions of the template don’t affect the binding.',
})
const zone_id = Type.String({ maxLength: 100, description: 'ID of the zone.' })
const host = Type.String({
  maxLength: 1024,
  description: 'Name in the zone to apply the template to. Default: `@`, the apex.',
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

const RrsetDifference = Shape({
  ...rrsetName,
  kind: Words(['missing', 'changed'], {
    description: '`missing`: the record set does not exist in the zone. `changed`: it has other values or another TTL.',
  }),
  essential: Type.Boolean({ description: 'Whether this difference marks the binding as `modified`.' }),
  missing: Type.Array(Type.String(), {
    description: 'Values of the template that are missing from the zone. For SPF: missing terms.',
  }),
  extra: Type.Array(Type.String(), { description: 'Values in the zone that aren’t in the template.' }),
  ttl: Nullable(
    Shape({
      expected: Type.Integer({ description: 'TTL in the template, in seconds.' }),
      actual: Type.Integer({ description: 'TTL in the zone, in seconds.' }),
    }),
    {
      description: 'TTL in the template and in the zone, in seconds. Null if they are equal.',
    },
  ),
})

const PlacedRrset = Shape({
  ...rrsetName,
  ttl: Nullable(Type.Integer(), {
    description: 'TTL set by the template, in seconds. Null if it sets none, or if the record set also has other values.',
  }),
  essential: Type.Boolean({ description: 'Whether manual edits mark the binding as `modified`.' }),
  values: Type.Array(Type.String(), { description: 'Record values.' }),
  spf_terms: Type.Array(Type.String(), { description: 'Terms the template added to a shared SPF record.' }),
})

const bindingFields = {
  id: Type.String({ description: 'ID of the binding.' }),
  template_id: Type.String({ description: 'ID of the template.' }),
  template_version: Type.Integer({ minimum: 1, description: '`content_version` of the template when it was last applied.' }),
  zone_id,
  zone: Type.String({ description: 'Name of the zone.' }),
  host: Type.String({ description: 'Name in the zone the template was applied to. The apex is `@`.' }),
  mode,
  variables,
  state: Words(bindingStates, {
    description:
      '`current`: the zone has the records that the binding added, and there is nothing to update. `outdated`: the variables were changed, or the mode is `linked` and the template has changed; apply the binding again. ' +
      '`modified`: the records of the binding were edited or deleted in the zone. `failed`: the last rollout failed. If several apply: `failed`, then `modified`, then `outdated`.',
  }),
  error: Nullable(
    Shape({
      code: Type.String({ description: 'Error code.' }),
      detail: Type.String({ description: 'Human-readable message.' }),
    }),
    {
      description: 'Why the last rollout failed. Null if it succeeded.',
    },
  ),
  applied_at: Instant({ description: 'When the template was last applied.' }),
  ...editable,
}

export const Binding = Shape(bindingFields, {
  $id: 'DnsTemplateBinding',
  description: 'A template applied to a zone.',
  examples: [example],
})
export const BindingList = ListOf(Binding)

export const BindingDetail = Shape(
  {
    ...bindingFields,
    rrsets: Type.Array(PlacedRrset, { description: 'Records the template added to the zone, by record set.' }),
    differences: Type.Array(RrsetDifference, {
      description: 'Differences between the records that the binding added and the zone.',
    }),
  },
  {
    $id: 'DnsTemplateBindingDetail',
    description: 'A template applied to a zone, with its records and their differences.',
    examples: [
      {
        ...example,
        rrsets: [{ name: '@', type: 'A', ttl: 300, essential: true, values: ['192.0.2.10'], spf_terms: [] }],
        differences: [],
      },
    ],
  },
)

const overriding = {
  allow: Type.Optional(allowed),
  note: Type.Optional(Line({ maxLength: 500, description: 'Reason, for the history and the audit log. Required with `allow`.' })),
}
const placement = { zone_id, host: Type.Optional(host), variables: Type.Optional(variables) }

export const PreviewInput = Shape(placement, {
  $id: 'DnsTemplatePreviewInput',
  description: 'Where to apply the template, and with which variables.',
  examples: [{ zone_id: example.zone_id, host: '@', variables: example.variables }],
})

export const ApplyInput = Shape(
  { ...placement, mode: Type.Optional({ ...mode, default: 'once' }), ...overriding },
  {
    $id: 'DnsTemplateApplyInput',
    description: 'Where to apply the template, and with which variables.',
    examples: [{ zone_id: example.zone_id, host: '@', variables: example.variables, mode: 'linked' }],
  },
)

export const BindingApplyInput = Shape(
  { variables: Type.Optional(variablesPatch), ...overriding },
  {
    $id: 'DnsTemplateBindingApplyInput',
    description: 'Variables to change before applying.',
    examples: [{ variables: { address: '192.0.2.20' } }],
  },
)

export const BindingPreviewInput = Shape(
  { variables: Type.Optional(variablesPatch) },
  {
    $id: 'DnsTemplateBindingPreviewInput',
    description: 'Variables to change for the preview.',
    examples: [{ variables: { address: '192.0.2.20' } }],
  },
)

export const BindingPatch = Shape(
  { variables: Type.Optional(variablesPatch), mode: Type.Optional(mode) },
  {
    $id: 'DnsTemplateBindingPatch',
    description: 'Fields of a binding to update.',
    examples: [{ variables: { address: '192.0.2.20' } }],
  },
)

const outcomes = ['create', 'keep', 'merge', 'replace', 'skip', 'keep_modified', 'conflict'] as const
const Outcome = Shape({
  record_index: Type.Integer({ minimum: 0, description: 'Index of the record in the template’s `records`.' }),
  ...rrsetName,
  content: Type.String({ description: 'Value with variables filled in.' }),
  outcome: Words(outcomes, {
    description:
      '`create`: the record is added. `keep`: it already exists. `merge`, `replace`: it is added next to or instead of ' +
      'conflicting records. `skip`: it is skipped because of them. `keep_modified`: it is not essential and was edited ' +
      'manually. `conflict`: it prevents the template from being applied.',
  }),
  existing: Type.Array(
    Shape({
      ...rrsetName,
      content: Type.String({ description: 'Record value.' }),
    }),
    { description: 'Existing records it conflicts with, at most 20.' },
  ),
  detail: Nullable(Type.String(), { description: 'Explanation of the outcome; null if there is nothing to add.' }),
})

const planFields = {
  records: Type.Array(Outcome, {
    description: 'Outcome for each record of the template, except records skipped by `when`.',
  }),
  changes: Type.Array(Op, { description: 'Changes to the zone, by record set.' }),
  warnings: Type.Array(
    Shape({
      rule: Type.String({ description: 'Lint rule.' }),
      ...rrsetName,
      detail: Type.String({ description: 'Description of the problem.' }),
    }),
    { description: 'Settings that are valid but usually a mistake.' },
  ),
}
const planExample = {
  records: [
    { record_index: 0, name: '@', type: 'A', content: '192.0.2.10', outcome: 'create' as const, existing: [], detail: null },
  ],
  changes: [{ action: 'create' as const, name: '@', type: 'A', before: null, after: { ttl: 300, values: ['192.0.2.10'] } }],
  warnings: [],
}

export const Preview = Shape(
  {
    template_id: Type.String({ description: 'ID of the template.' }),
    template_version: Type.Integer({ description: '`content_version` of the template.' }),
    zone_id,
    zone: Type.String({ description: 'Name of the zone.' }),
    host: Type.String({ description: 'Name relative to the zone. The apex is `@`.' }),
    serial: Type.Integer({ description: 'Serial of the zone when the preview was created.' }),
    applicable: Type.Boolean({ description: 'False if a record is in conflict. Applying then fails with a 409.' }),
    blocked: Type.Array(Reason, { description: 'Safety checks that block applying the template unless each is allowed.' }),
    ...planFields,
  },
  {
    $id: 'DnsTemplatePreview',
    description: 'Changes a template would make.',
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

export const ApplyResult = Shape(
  { ...bindingFields, ...changed, ...planFields },
  {
    $id: 'DnsTemplateApplyResult',
    description: 'A binding, and the changes made by applying the template.',
    examples: [{ ...example, serial: 8, created: 1, updated: 0, deleted: 0, ...planExample }],
  },
)

export const RolloutInput = Shape(
  {
    modified: Type.Optional(
      Words(['skip', 'restore'], {
        default: 'skip',
        description:
          'What to do with bindings whose records were edited in the zone (`modified`): `skip` them, or `restore` the records of the template.',
      }),
    ),
    ...overriding,
  },
  {
    $id: 'DnsTemplateRolloutInput',
    description: 'Options of a rollout.',
    examples: [{ modified: 'skip' }],
  },
)

export const UnbindQuery = Shape({
  records: Type.Optional(
    Words(['keep', 'remove'], {
      default: 'keep',
      description:
        'Whether to keep or remove the records the template created. Edited records and records that other bindings use are ' +
        'always kept.',
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
export type ApplyResultView = Static<typeof ApplyResult>
