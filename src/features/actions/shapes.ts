import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../core/shapes'
import { actionStates, stepStates } from './tables'

const ActionStep = Shape(
  {
    name: Type.String({ description: 'Which part of the work it is.' }),
    status: Words(stepStates, { description: 'How it stands.' }),
    started_at: MaybeInstant({ description: 'When it began; null before.' }),
    finished_at: MaybeInstant({ description: 'When it ended; null before, and where it was skipped.' }),
    detail: Nullable(Type.String(), { description: 'What it is about, in words.' }),
  },
  {
    $id: 'ActionStep',
    description: 'A part of an action.',
    examples: [{ name: 'queue', status: 'running', started_at: '2026-11-21T10:00:00.000Z', finished_at: null, detail: null }],
  },
)

const ActionError = Shape(
  {
    type: Type.String({ format: 'uri-reference', description: 'Page that explains the code.' }),
    title: Type.String({ description: 'The code in words.' }),
    status: Type.Integer({ description: 'The HTTP status that the code has.' }),
    detail: Type.String({ description: 'What went wrong.' }),
    code: Type.String({ description: 'Machine-readable code, such as `interrupted`.' }),
  },
  {
    $id: 'ActionError',
    description: 'Why an action did not succeed.',
    examples: [
      {
        type: '/problems/conflict',
        title: 'Conflict',
        status: 409,
        detail: 'The endpoint is disabled. Enable it first.',
        code: 'conflict',
      },
    ],
  },
)

export const Action = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    type: Type.String({ description: 'What is done, `<resource>.<verb>`.' }),
    area: Type.String({ description: 'Area of the API it belongs to: who may read that sees it.' }),
    status: Words(actionStates, { description: 'How it stands; the last three are ends.' }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'How much of it is done, in hundredths.' }),
    resources: Type.Array(Shape({ type: Type.String(), id: Type.String() }), {
      description: 'What it works on. No other action may, until it has ended.',
    }),
    steps: Type.Array(ActionStep, { description: 'Its parts, in order; empty where it has none.' }),
    result: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'What came of it, such as counts, which may grow while it runs.',
    }),
    error: Nullable(ActionError, { description: 'Why it did not succeed; null unless the status is `error`.' }),
    cancellable: Type.Boolean({ description: 'Whether it may be called off now; false once it has ended.' }),
    cancel_requested_at: MaybeInstant({ description: 'When it was asked to end early; null when nobody did.' }),
    actor: Shape(
      { type: Type.String(), id: Type.String(), name: Nullable(Type.String()) },
      { description: 'Who started it, as in the audit log.' },
    ),
    created_at: Instant({ description: 'When it was asked for.' }),
    started_at: MaybeInstant({ description: 'When the work began; null before.' }),
    finished_at: MaybeInstant({ description: 'When it ended; null before.' }),
  },
  {
    $id: 'Action',
    description: 'Work that goes on in the background.',
    examples: [
      {
        id: 'act_01jd8f3q7eeb9bv0w0r8c7hq2m',
        type: 'webhook_endpoint.recover',
        area: 'webhooks',
        status: 'running',
        progress: 27,
        resources: [{ type: 'webhook_endpoint', id: 'whe_01jd8f3q7eeb9bv0w0r8c7hq2m' }],
        steps: [],
        result: { matched: 1_840, queued: 500, skipped: 0 },
        error: null,
        cancellable: true,
        cancel_requested_at: null,
        actor: { type: 'token', id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'ci' },
        created_at: '2026-11-21T10:00:00.000Z',
        started_at: '2026-11-21T10:00:00.040Z',
        finished_at: null,
      },
    ],
  },
)
export const ActionList = ListOf(Action)
export type ActionView = Static<typeof Action>
