import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, ListOf, Nullable, Shape, Words } from '../../core/shapes'

/** An action, or a prefix of actions with an asterisk behind its full stop. */
export const actionPattern = {
  maxLength: 100,
  pattern: '^[a-z_]+(\\.[a-z_]+)*(\\.\\*)?$',
  'x-rule': 'must be an action such as heartbeat.create, or a prefix such as heartbeat.*',
}
const channels = ['api', 'dashboard', 'ingest', 'cli', 'job'] as const
const Anything = Type.Record(Type.String(), Type.Unknown())

export const AuditEvent = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    seq: Type.Integer({ description: 'Place in the log of the workspace, without gaps.' }),
    occurred_at: Instant({ description: 'When it was done.' }),
    action: Type.String({
      description: 'What was done: `<area>.<thing>.<verb>`, or `<thing>.<verb>`; see /v1/audit-events/catalog.',
    }),
    code: Nullable(Type.String(), {
      description: 'Six characters for the action and its outcome; null for an action of an earlier version.',
    }),
    outcome: Words(['success', 'failure', 'denied'], { description: 'Whether it happened.' }),
    actor: Shape(
      {
        type: Words(['user', 'token', 'ingest', 'system', 'operator', 'anonymous']),
        id: Type.String(),
        name: Nullable(Type.String()),
        hint: Nullable(Type.String()),
      },
      { description: 'Who did it.' },
    ),
    targets: Type.Array(Shape({ type: Type.String(), id: Type.String(), name: Nullable(Type.String()) }), {
      description: 'What it was done to.',
    }),
    context: Shape(
      {
        ip: Nullable(Type.String()),
        user_agent: Nullable(Type.String()),
        request_id: Nullable(Type.String()),
        client_request_id: Nullable(Type.String(), { description: 'The X-Request-Id that the client sent, if it did.' }),
        idempotency_key: Nullable(Type.String()),
        channel: Words(channels),
      },
      { description: 'How it came about.' },
    ),
    changes: Nullable(Shape({ before: Anything, after: Anything }), {
      description: 'Members that changed. Secrets are keyed tags that only tell whether two are equal.',
    }),
    reason: Nullable(Type.String(), { description: 'Why, where the action does not say it.' }),
  },
  {
    $id: 'AuditEvent',
    description: 'An entry of the audit log.',
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
  format: Type.Optional(Words(['ndjson', 'csv'], { default: 'ndjson', description: 'One JSON object a line, or a table.' })),
})

const [example] = AuditEvent.examples as AuditEventView[]

export const AuditAction = Shape(
  {
    action: Type.String({ description: 'The word: `<area>.<thing>.<verb>`, or `<thing>.<verb>`.' }),
    codes: Shape(
      {
        success: Type.String({ description: 'It happened.' }),
        failure: Type.String({ description: 'It was tried and failed.' }),
        denied: Type.String({ description: 'It was refused.' }),
      },
      { description: 'The code of an entry, by its outcome. Codes never change.' },
    ),
    description: Type.String({ description: 'What it says.' }),
    channels: Type.Array(Words(channels), { description: 'The ways by which it comes about.' }),
    target_types: Type.Array(Type.String(), { description: 'Types of what it is done to; a refusal names none.' }),
    changes_schema: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'JSON Schema 2020-12 of `changes`; null where an entry shows none.',
    }),
    example: AuditEvent,
  },
  {
    $id: 'AuditAction',
    description: 'An action that the audit log may hold.',
    examples: [
      {
        action: 'heartbeat.pause',
        codes: { success: 'HB004S', failure: 'HB004F', denied: 'HB004D' },
        description: 'A heartbeat was paused: no ping is waited for.',
        channels: ['api', 'dashboard'],
        target_types: ['heartbeat'],
        changes_schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: ['object', 'null'] },
        example,
      },
    ],
  },
)
export const AuditActionList = ListOf(AuditAction)
export type AuditActionView = Static<typeof AuditAction>
export const CatalogQuery = Shape({
  action: Type.Optional(
    Type.String({ ...actionPattern, description: 'Only this action; `heartbeat.*` is all that begin with `heartbeat.`.' }),
  ),
})

/** What an export looks like, by media type. */
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
