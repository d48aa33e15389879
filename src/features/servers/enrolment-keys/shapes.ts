import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, viewMembers } from '../../../core/members'
import { editable, Instant, Line, ListOf, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { maxPermissions, permissionPattern } from '../../../wire/agent-permissions'
import { Labels } from '../labels'

const maxLifeSeconds = 30 * 86_400
export const defaultLifeSeconds = 3600

const permissions = Type.Array(
  Type.String({
    maxLength: 210,
    pattern: permissionPattern,
    'x-rule': 'must be `collect`, `update`, `reboot`, `firewall`, `wake`, or `restart:` with the name of a unit.',
  }),
  {
    maxItems: maxPermissions,
    uniqueItems: true,
    description:
      'What the install command allows the agent to do on the server, such as `reboot`, `firewall`, or `restart:nginx.service`. It is written to a file on the server, which the hub can’t change.',
  },
)

/** The fields that clients set. They can’t be updated: create another key instead. */
export const enrolmentKeyMembers = members({
  name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the enrolment key, such as what it is for.' }),
    required: true,
  },
  uses: {
    schema: Nullable(Type.Integer({ minimum: 1, maximum: 1000 }), {
      description: 'How many agents can be enrolled with it. Null: any number.',
    }),
    default: 1,
  },
  labels: { schema: Labels, default: {} },
  approve: {
    schema: Words(['auto', 'manual'], {
      description:
        '`auto`: agents are enrolled immediately, unless one could take over a server that Bailiwick already knows. `manual`: someone approves each agent.',
    }),
    default: 'auto',
  },
  match: {
    schema: Type.Boolean({
      description:
        'Whether an agent is linked without approval to a server of a cloud account with the public address from which the agent connects. If false, someone has to approve the agent.',
    }),
    default: false,
  },
  allow: { schema: permissions, default: [] },
})

const enrolmentKeyStates = ['active', 'used_up', 'expired'] as const

const example = {
  id: 'enk_01k3z9a1b2c3d4e5f6g7h8j9km',
  name: 'Golden image of the web servers',
  uses: 20,
  labels: { role: 'web' },
  approve: 'auto' as const,
  match: false,
  allow: ['reboot'],
  server_id: null,
  hint: 'bw_enrol_…7Kq2',
  state: 'active' as const,
  used: 3,
  last_used_at: '2026-11-27T10:05:00.000Z',
  expires_at: '2026-12-04T10:00:00.000Z',
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

const shape = {
  id: Type.String({ description: 'ID of the enrolment key.' }),
  ...viewMembers(enrolmentKeyMembers),
  labels: Type.Record(Type.String(), Type.String(), { description: 'Labels of servers that agents add with it.' }),
  server_id: Nullable(Type.String(), {
    description: 'ID of the server that agents enrolled with it report about; null if it is determined when an agent enrolls.',
  }),
  hint: Type.String({ description: 'Start and end of the key.' }),
  state: Words(enrolmentKeyStates, { description: 'Whether it can be used.' }),
  used: Type.Integer({ description: 'How many agents were enrolled with it, including those that await approval.' }),
  last_used_at: NullableInstant({ description: 'When an agent was last enrolled with it; null if none was.' }),
  expires_at: Instant({ description: 'When it expires.' }),
  ...editable,
}

export const EnrolmentKey = Shape(shape, {
  $id: 'EnrolmentKey',
  description: 'A key with which agents are enrolled.',
  examples: [example],
})
export const EnrolmentKeyList = ListOf(EnrolmentKey)

const exampleKey = 'bw_enrol_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2'

export const EnrolmentKeyWithSecret = Shape(
  {
    ...shape,
    key: Nullable(Type.String(), { description: 'The key. Shown only once; null in replayed responses.' }),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The key is then null.' }),
    ),
  },
  {
    $id: 'EnrolmentKeyWithSecret',
    description: 'An enrolment key that was just created.',
    examples: [{ ...example, used: 0, last_used_at: null, key: exampleKey }],
  },
)

const lifetime = Type.Optional(
  Type.Integer({
    minimum: 60,
    maximum: maxLifeSeconds,
    default: defaultLifeSeconds,
    description: 'Seconds until it expires. An agent that awaits approval can still be approved later.',
  }),
)
const monitor = Type.Optional(
  Type.Boolean({
    default: true,
    description: 'Whether servers that agents add get a monitor that follows the server, if you can create monitors.',
  }),
)

const input = inputMembers(enrolmentKeyMembers)
const labels = Type.Optional({
  ...enrolmentKeyMembers.labels.schema,
  description: `Labels of servers that agents add with it. ${enrolmentKeyMembers.labels.schema.description}`,
})

/** Fields of requests that create a key for a single agent. */
export const oneAgentInput = {
  ...{ approve: input.approve, allow: input.allow, match: input.match },
  ...{ labels, expires_in_seconds: lifetime, monitor },
}

export const EnrolmentKeyInput = Shape(
  {
    ...input,
    labels,
    server_id: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 64 }), {
        description: 'ID of the server that the agent reports about. Null or omitted: it is determined when the agent enrolls.',
      }),
    ),
    expires_in_seconds: lifetime,
    monitor,
  },
  {
    $id: 'EnrolmentKeyInput',
    description: 'An enrolment key to create.',
    examples: [{ name: example.name, uses: 20, expires_in_seconds: 604_800, labels: { role: 'web' }, allow: ['reboot'] }],
  },
)

export type EnrolmentKeyView = Static<typeof EnrolmentKey>
export type EnrolmentKeyInput = Static<typeof EnrolmentKeyInput>
