import { Type, type TSchema, type TUnsafe, type Static } from '@sinclair/typebox'
import { limitNames, limitTable, type LimitName } from '../../access/limit-table'
import { Line, Shape, NullableInstant, Nullable, editable, ListOf } from '../../core/shapes'

const name = Line({ minLength: 1, maxLength: 100, description: 'Name, unique in this installation.' })
const plan = Type.String({ minLength: 1, maxLength: 100, description: 'ID of the plan.' })
const network_policy = Shape(
  {
    allow_private: Type.Boolean({
      description: 'Whether outbound requests may reach private and loopback addresses, including over plain HTTP.',
    }),
    allow_ranges: Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 100,
      uniqueItems: true,
      description: 'CIDR ranges, IP addresses, hostnames, and patterns such as `*.example.com` that may also be reached.',
    }),
  },
  { description: 'Which addresses outbound requests of the workspace may reach.' },
)

const overridesShape = <T>(forms: TSchema[], note: string, description: string) =>
  Shape(
    Object.fromEntries(
      limitNames.map(one => [one, Type.Optional(Type.Union(forms, { description: `${limitTable[one].description} ${note}` }))]),
    ),
    { description },
  ) as unknown as TUnsafe<Partial<Record<LimitName, T>>>
const override = [Type.Integer({ minimum: 0 }), Type.Literal('unlimited')]
const limit_overrides = overridesShape<number | 'unlimited'>(
  override,
  '`unlimited` for no limit.',
  'Limits that override the plan’s limits.',
)
const limit_overrides_patch = overridesShape<number | 'unlimited' | null>(
  [...override, Type.Null()],
  '`unlimited` for no limit; null restores the plan’s limit.',
  'Limits that override the plan’s limits. Overrides that you leave out don’t change.',
)

const example = {
  id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'acme',
  plan: 'pro',
  operator: false,
  network_policy: { allow_private: false, allow_ranges: [] },
  limit_overrides: { heartbeats: 2000 },
  suspended_at: null,
  suspension_reason: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
export const Workspace = Shape(
  {
    id: Type.String({ description: 'ID of the workspace.' }),
    name,
    plan,
    operator: Type.Boolean({ description: 'Whether this is the operator’s workspace.' }),
    network_policy,
    limit_overrides,
    suspended_at: NullableInstant({
      description: 'When the operator suspended the workspace; null if it is not suspended.',
    }),
    suspension_reason: Nullable(Type.String(), {
      description: 'Reason for the suspension, shown to the members of the workspace; null if none was given.',
    }),
    ...editable,
  },
  { $id: 'Workspace', description: 'A workspace, which owns all resources of one customer or team.', examples: [example] },
)
export const WorkspaceList = ListOf(Workspace)
export const WorkspaceInput = Shape(
  { name, plan: Type.Optional({ ...plan, description: 'ID of the plan. Default: the plan with `default` set to true.' }) },
  { $id: 'WorkspaceInput', description: 'A workspace to create.', examples: [{ name: 'acme', plan: 'pro' }] },
)
export const WorkspacePatch = Shape(
  {
    name: Type.Optional(name),
    plan: Type.Optional(plan),
    network_policy: Type.Optional(network_policy),
    limit_overrides: Type.Optional(limit_overrides_patch),
  },
  {
    $id: 'WorkspacePatch',
    description: 'Changes to a workspace. The network policy is replaced as a whole; limit overrides are merged.',
    examples: [
      { network_policy: { allow_private: false, allow_ranges: ['192.0.2.0/24'] }, limit_overrides: { heartbeats: 2000 } },
    ],
  },
)
export const WorkspaceSuspension = Shape(
  {
    reason: Type.Optional(
      Nullable(Line({ minLength: 1, maxLength: 300, description: 'Reason for the suspension.' }), {
        description: 'Reason for the suspension, shown to the members of the workspace; null for none.',
      }),
    ),
  },
  {
    $id: 'WorkspaceSuspension',
    description: 'Reason for suspending a workspace.',
    examples: [{ reason: 'The October invoice is unpaid.' }],
  },
)
export type WorkspaceSuspension = Static<typeof WorkspaceSuspension>
export type WorkspaceView = Static<typeof Workspace>
export type WorkspaceInput = Static<typeof WorkspaceInput>
export type WorkspacePatch = Static<typeof WorkspacePatch>
