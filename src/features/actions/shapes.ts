import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { actorFields, resourceFields, Instant, ListOf, NullableInstant, Nullable, Shape, Words } from '../../core/shapes'
import { actionStates, stepStates } from './tables'

const ActionStep = Shape(
  {
    name: Type.String({ description: 'Name of the step.' }),
    status: Words(stepStates, { description: 'Status of the step.' }),
    started_at: NullableInstant({ description: 'When the step started; null if it has not started.' }),
    finished_at: NullableInstant({ description: 'When the step finished; null if it has not finished or was skipped.' }),
    detail: Nullable(Type.String(), { description: 'What the step is working on; null if there is nothing to report.' }),
  },
  {
    $id: 'ActionStep',
    description: 'A step of an action.',
    examples: [{ name: 'queue', status: 'running', started_at: '2026-11-21T10:00:00.000Z', finished_at: null, detail: null }],
  },
)

const ActionError = Shape(
  {
    type: Type.String({ format: 'uri-reference', description: 'Page that explains the error code.' }),
    title: Type.String({ description: 'Short description of the error code.' }),
    status: Type.Integer({ description: 'HTTP status code that corresponds to the error code.' }),
    detail: Type.String({ description: 'What went wrong.' }),
    code: Type.String({ description: 'Machine-readable error code, such as `interrupted`.' }),
    failure: Nullable(Type.String(), {
      description: 'For `provider_failed`, the reason, such as `out_of_stock` or `unauthorized`; null for other errors.',
    }),
  },
  {
    $id: 'ActionError',
    description: 'Why an action failed.',
    examples: [
      {
        type: '/problems/conflict',
        title: 'Conflict',
        status: 409,
        detail: 'The endpoint is disabled. Enable it first.',
        code: 'conflict',
        failure: null,
      },
    ],
  },
)

export const Action = Shape(
  {
    id: Type.String({ description: 'ID of the action.' }),
    type: Type.String({ description: 'What the action does, as `<resource>.<verb>`.' }),
    area: Type.String({
      description:
        'Permission area of the action. Read permission on this area is required to see the action, write permission to cancel it.',
    }),
    status: Words(actionStates, { description: 'Status of the action. `success`, `error`, and `canceled` are final.' }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Progress in percent.' }),
    resources: Type.Array(Shape(resourceFields), {
      description: 'Resources the action works on. Other actions can’t use them until this action has finished.',
    }),
    steps: Type.Array(ActionStep, { description: 'Steps of the action, in order; empty if it has none.' }),
    result: Nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: 'Result of the action, such as counts, which can increase while it is running; null if there is none.',
    }),
    error: Nullable(ActionError, { description: 'Why the action failed; null unless `status` is `error`.' }),
    cancelable: Type.Boolean({ description: 'Whether the action can be canceled now.' }),
    cancel_requested_at: NullableInstant({ description: 'When cancellation was requested; null if it was not.' }),
    actor: Shape(actorFields, { description: 'Who started the action, as in the audit log.' }),
    created_at: Instant({ description: 'When the action was created.' }),
    started_at: NullableInstant({ description: 'When work started; null if it has not started.' }),
    finished_at: NullableInstant({ description: 'When the action finished; null if it has not finished.' }),
  },
  {
    $id: 'Action',
    description: 'A long-running operation that runs in the background.',
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
        cancelable: true,
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
