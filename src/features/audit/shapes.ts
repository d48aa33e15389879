import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { workspaceParameter } from '../../api/workspace-parameter'
import { namedResourceFields, Instant, ListOf, SinglePageOf, Nullable, Shape, Words } from '../../core/shapes'

/** An action, or a prefix that ends with `.*`. */
export const actionPattern = {
  maxLength: 100,
  pattern: '^[a-z_]+(\\.[a-z_]+)*(\\.\\*)?$',
  'x-rule': 'must be an action such as heartbeat.create or a prefix such as heartbeat.*',
}
const channels = ['api', 'dashboard', 'ingest', 'cli', 'job'] as const

export const AuditEvent = Shape(
  {
    id: Type.String({ description: 'ID of the audit event.' }),
    seq: Type.Integer({ description: 'Sequence number in the audit log of the workspace, without gaps.' }),
    occurred_at: Instant({ description: 'When the action happened.' }),
    action: Type.String({
      description: 'The action: `<area>.<resource>.<verb>` or `<resource>.<verb>`. See `GET /v1/audit-events/catalog`.',
    }),
    code: Nullable(Type.String(), {
      description: 'Six-character code of the action and its outcome; null for an action that this version no longer has.',
    }),
    outcome: Words(['success', 'failure', 'denied'], {
      description: 'Whether the action succeeded, failed, or was denied.',
    }),
    actor: Shape(
      {
        type: Words(['user', 'token', 'ingest', 'system', 'operator', 'anonymous'], {
          description:
            '`user` or `token`. `ingest`: a ping URL, or the acknowledge link of a notification. `system`: a job of Bailiwick. ' +
            '`operator`: a command on the server. `anonymous`: not signed in.',
        }),
        id: Type.String({
          description:
            'ID of the user or token; for `ingest`, of the heartbeat or notification channel; for `system`, the name of the job; for `operator`, `command line`; empty for `anonymous`.',
        }),
        name: Nullable(Type.String(), { description: 'Name of the actor; null if it has none.' }),
        hint: Nullable(Type.String(), { description: 'Masked form of the token; null for other actors.' }),
      },
      { description: 'Who performed the action.' },
    ),
    targets: Type.Array(Shape(namedResourceFields), {
      description: 'Resources the action was performed on.',
    }),
    context: Shape(
      {
        ip: Nullable(Type.String(), { description: 'IP address of the client; null if there was no request.' }),
        user_agent: Nullable(Type.String(), { description: 'User-Agent header of the request; null if there was none.' }),
        request_id: Nullable(Type.String(), { description: 'ID of the request; null if there was no request.' }),
        client_request_id: Nullable(Type.String(), {
          description: 'X-Request-Id header of the request; null if there was none.',
        }),
        idempotency_key: Nullable(Type.String(), {
          description: 'Idempotency-Key header of the request; null if there was none.',
        }),
        channel: Words(channels, {
          description:
            'Where the action came from. `ingest`: a ping or a link in a notification. `cli`: a command on the server. `job`: a background job.',
        }),
      },
      { description: 'Where the request came from.' },
    ),
    changes: Nullable(
      Shape({
        before: Type.Record(Type.String(), Type.Unknown(), { description: 'Previous values.' }),
        after: Type.Record(Type.String(), Type.Unknown(), { description: 'New values.' }),
      }),
      {
        description:
          'Fields that changed; null if there are none. Secrets appear as keyed hashes, which only show whether two values are equal.',
      },
    ),
    reason: Nullable(Type.String(), {
      description: 'Additional details, such as why the action was denied; null if there are none.',
    }),
  },
  {
    $id: 'AuditEvent',
    description: 'An event in the audit log.',
    examples: [
      {
        id: 'aud_01jd8f3q7eeb9bv0w0r8c7hq2m',
        seq: 42,
        occurred_at: '2026-11-21T10:00:00.000Z',
        action: 'heartbeat.pause',
        code: 'HB004S',
        outcome: 'success',
        actor: { type: 'token', id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'backup script', hint: 'bw_live_…7Kq2' },
        targets: [{ type: 'heartbeat', id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'nightly backup' }],
        context: {
          ip: '192.0.2.7',
          user_agent: 'curl/8.5.0',
          request_id: 'req_01jd8f3q7eeb9bv0w0r8c7hq2m',
          client_request_id: null,
          idempotency_key: null,
          channel: 'api',
        },
        changes: { before: { status: 'up' }, after: { status: 'paused' } },
        reason: null,
      },
    ],
  },
)
export const AuditEventList = ListOf(AuditEvent)
export type AuditEventView = Static<typeof AuditEvent>

export const ExportQuery = Shape({
  ...workspaceParameter,
  format: Type.Optional(
    Words(['ndjson', 'csv'], {
      default: 'ndjson',
      description: '`ndjson`: one JSON object per line. `csv`: comma-separated values with a header line.',
    }),
  ),
})

const [example] = AuditEvent.examples as AuditEventView[]

const AuditAction = Shape(
  {
    action: Type.String({ description: 'Name of the action: `<area>.<resource>.<verb>` or `<resource>.<verb>`.' }),
    codes: Shape(
      {
        success: Type.String({ description: 'Code if the action succeeded.' }),
        failure: Type.String({ description: 'Code if the action failed.' }),
        denied: Type.String({ description: 'Code if the action was denied.' }),
      },
      { description: 'Codes of the events by outcome. Codes never change.' },
    ),
    description: Type.String({ description: 'What the action means.' }),
    sentences: Shape(
      {
        success: Type.String({ description: 'Sentence if the action succeeded.' }),
        failure: Type.String({ description: 'Sentence if the action failed.' }),
        denied: Type.String({ description: 'Sentence if the action was denied.' }),
      },
      {
        description:
          'Sentences that describe an event, by outcome. `{actor}` stands for the actor, and the type of a target, such as ' +
          '`{monitor}`, for the target. A denied action may have no target; then write “a monitor”.',
      },
    ),
    channels: Type.Array(Words(channels), { description: 'Where the action can come from.' }),
    target_types: Type.Array(Type.String(), {
      description: 'Types of the affected resources. Denied actions may have no target.',
    }),
    changes_schema: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'JSON Schema 2020-12 of `changes`; null if events of this action have none.',
    }),
    example: AuditEvent,
  },
  {
    $id: 'AuditAction',
    description: 'An action that can appear in the audit log.',
    examples: [
      {
        action: 'heartbeat.pause',
        codes: { success: 'HB004S', failure: 'HB004F', denied: 'HB004D' },
        description: 'A heartbeat was paused. Missing pings don’t trigger alerts while it is paused.',
        sentences: {
          success: '{actor} paused {heartbeat}',
          failure: '{actor} failed to pause {heartbeat}',
          denied: '{actor} was not allowed to pause {heartbeat}',
        },
        channels: ['api', 'dashboard'],
        target_types: ['heartbeat'],
        changes_schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: ['object', 'null'] },
        example,
      },
    ],
  },
)
export const AuditActionList = SinglePageOf(AuditAction)
export type AuditActionView = Static<typeof AuditAction>
export const CatalogQuery = Shape({
  action: Type.Optional(
    Type.String({
      ...actionPattern,
      description: 'Only this action, or all actions with a prefix, such as `heartbeat.*`.',
    }),
  ),
})

/** Example exports by media type. */
export const exportExamples: Readonly<Record<string, string>> = {
  'application/x-ndjson': `${JSON.stringify({
    ...example!,
    workspace_id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
    prev_hash: '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    hash: '4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a',
    mac: 'dbc1b4c900ffe48d575b5da5c638040125f65db0fe3e24494b76ea986457d986',
  })}\n`,
  'text/csv':
    'seq,id,occurred_at,action,code,…\r\n42,"aud_01jd8f3q7eeb9bv0w0r8c7hq2m","2026-11-21T10:00:00.000Z","heartbeat.pause","HB004S",…\r\n',
}
