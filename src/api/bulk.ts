import type { AuditAction } from '../core/audit-actions'
import type { TObject, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { changeInBulk, type Outcome } from '../core/bulk'
import type { Ctx } from '../core/ctx'
import { invalid, Problem, problemBody, type FieldProblem } from '../core/problem'
import { discriminator, Nullable, Shape, Words } from '../core/shapes'
import { fieldProblems } from '../core/validate'
import { entryOfId } from '../registry'
import { exampleIdIn } from './example-id'
import { withSecretsOmitted } from './response'
import type { RouteInput, Route } from './route-declaration'

const maxOperations = 500
const operationsPerRequest = 50
// Caps the errors reported for each operation of a failed bulk request.
const maxErrorsPerOperation = 5

/** A bulk endpoint of an area, declared by the routes that perform its operations one at a time. */
export interface Bulk {
  /** Must end in `/bulk`. */
  path: string
  operationId: string
  summary: string
  description: string
  /**
   * Audit action of a bulk request that is refused as a whole; operations that are performed are audited under their own action.
   */
  action: AuditAction
  /** Prefix of the schema names, such as Heartbeat. */
  of: string
  /** Name of each operation, with the operationId of the route that performs it. */
  operations: Readonly<Record<string, string>>
  /** Example IDs of operations whose `id` belongs to another resource, such as the zone of a new record. */
  exampleIds?: Readonly<Record<string, string>>
}

/** One operation of a bulk request, after validation. */
interface Operation {
  op: string
  id?: string
  if_match?: string
  body?: unknown
}

/** The result of one operation. */
interface BulkResult {
  index: number
  op: string | null
  status: number
  id: string | null
  body?: unknown
  problem: Record<string, unknown> | null
}

interface BulkResponse {
  mode: 'atomic' | 'partial'
  succeeded: number
  failed: number
  results: BulkResult[]
}

/**
 * Builds the route of a bulk endpoint. Each operation runs through its own route: same rules, same audit event, same plan limits.
 * @throws Error if an operation has no route, or if the routes require different permissions
 */
export function bulkRoute(bulk: Bulk, routes: readonly Route[]): Route {
  const singles = new Map(Object.entries(bulk.operations).map(([op, id]) => [op, routeOf(bulk, routes, id)]))
  const guards = new Set([...singles.values()].map(one => one.guard))
  if (guards.size !== 1) throw new Error(`The operations of ${bulk.path} require different permissions.`)
  const shapes = shapesOf(bulk, singles, routes)
  return {
    method: 'POST',
    path: bulk.path,
    guard: [...guards][0]!,
    action: bulk.action,
    operationId: bulk.operationId,
    summary: bulk.summary,
    description:
      `${bulk.description} Up to ${maxOperations} operations run in order in one transaction, each as if it were sent on its ` +
      `own. With \`mode=atomic\`, all operations succeed or none are applied: if one fails, the response is 422 ` +
      `\`bulk_failed\` with a pointer to each failed operation. With \`mode=partial\`, failed operations are skipped, and the ` +
      `response is 207 with a result for each operation. Every ${operationsPerRequest} operations count as one request against ` +
      'rate limits. Not available to tokens that are restricted to specific resources.' +
      ([...singles.values()].some(one => one.secretFields)
        ? ' A response that is replayed for an Idempotency-Key omits secrets.'
        : ''),
    query: Shape({
      mode: Type.Optional(
        Words(['atomic', 'partial'], {
          default: 'atomic',
          description: '`atomic`: apply all operations, or none if one fails. `partial`: apply the operations that succeed.',
        }),
      ),
    }),
    body: shapes.body,
    envelope,
    response: shapes.response,
    otherStatus: { status: 207, applies: result => (result as BulkResponse).mode === 'partial' },
    problems: ['bulk_failed'],
    cost: body => Math.ceil((body as { operations: unknown[] }).operations.length / operationsPerRequest),
    ...([...singles.values()].some(one => one.sealsReplays) && { sealsReplays: true }),
    forReplay: result => withoutSecrets(result as BulkResponse, singles, routes),
    run: (ctx, input) => run(ctx, input as never, singles, shapes.operation),
  }
}

function routeOf(bulk: Bulk, routes: readonly Route[], operationId: string): Route {
  const found = routes.find(one => one.operationId === operationId)
  if (!found) throw new Error(`${bulk.path} names ${operationId}, which is not a route of its area.`)
  return found
}

/** Validated first. The operations are validated one by one, so that in partial mode an invalid operation fails alone. */
const envelope = Shape({ operations: Type.Array(Type.Object({}), { minItems: 1, maxItems: maxOperations }) })

function shapesOf(
  bulk: Bulk,
  singles: ReadonlyMap<string, Route>,
  routes: readonly Route[],
): { operation: TSchema; body: TSchema; response: TObject } {
  const operations = [...singles].map(([op, single]) => {
    const example = {
      op,
      ...(hasId(single) && { id: bulk.exampleIds?.[op] ?? exampleIdIn(routes, single.path) }),
      ...(single.body && { body: (single.body.examples as unknown[])[0] }),
    }
    return Shape(
      {
        op: Type.Literal(op, { description: 'The operation.' }),
        ...(hasId(single) && {
          id: Type.String({
            minLength: 1,
            maxLength: 100,
            description: `ID of the ${entryOfId(example.id ?? '')?.name ?? 'resource'}, as in the path of the single request.`,
          }),
          ...(op !== 'create' && {
            if_match: Type.Optional(
              Type.String({
                maxLength: 1000,
                description:
                  'ETag of the version to change, as in the If-Match header. If the resource has changed since, the operation fails with the status 412.',
              }),
            ),
          }),
        }),
        ...(single.body && { body: single.body }),
      },
      { $id: `${bulk.of}Bulk${capital(op)}`, description: `${single.summary}.`, examples: [example] },
    )
  })
  const operation = Type.Union(operations, { [discriminator]: 'op' })
  const responses = [...new Set([...singles.values()].flatMap(one => one.response ?? []))]
  const result = Shape(
    {
      index: Type.Integer({ minimum: 0, description: 'Position of the operation in the request.' }),
      op: Nullable(Words([...singles.keys()]), { description: 'Operation; null if the requested one is unknown.' }),
      status: Type.Integer({ description: 'HTTP status that the operation would return on its own.' }),
      id: Nullable(Type.String(), {
        description: 'The `id` of the operation, or the ID of the resource that it created; null if there is none.',
      }),
      ...(responses.length > 0 && {
        body: Nullable(Type.Union(responses), {
          description: 'Response body that the operation would return on its own; null if it has none.',
        }),
      }),
      problem: Nullable(Type.Unsafe({ $ref: '#/components/schemas/Problem' }), {
        description: 'Why the operation failed; null if it succeeded. Pointers are relative to the whole request body.',
      }),
    },
    { $id: `${bulk.of}BulkResult`, description: 'Result of one operation.' },
  )
  const last = [...singles].at(-1)!
  const answer = Shape(
    {
      mode: Words(['atomic', 'partial'], { description: 'Mode of the request.' }),
      succeeded: Type.Integer({ minimum: 0, description: 'Number of operations that succeeded.' }),
      failed: Type.Integer({ minimum: 0, description: 'Number of operations that failed; always 0 with `atomic`.' }),
      results: Type.Array(result, { description: 'One result per operation, in request order.' }),
    },
    {
      $id: `${bulk.of}BulkResponse`,
      description: 'Results of the operations.',
      examples: [
        {
          mode: 'atomic',
          succeeded: 1,
          failed: 0,
          results: [
            {
              index: 0,
              op: last[0],
              status: last[1].status ?? 200,
              id: exampleIdIn(routes, last[1].path),
              ...(responses.length > 0 && { body: ((last[1].response?.examples ?? [null]) as unknown[])[0] }),
              problem: null,
            },
          ],
        },
      ],
    },
  )
  const body = Shape(
    {
      operations: Type.Array(operation, {
        minItems: 1,
        maxItems: maxOperations,
        description: 'Operations to run, in order.',
      }),
    },
    {
      $id: `${bulk.of}Bulk`,
      description: 'Operations to run together.',
      examples: [{ operations: operations.map(one => (one.examples as unknown[])[0]) }],
    },
  )
  return { operation, body, response: answer }
}

const hasId = (single: Route): boolean => single.path.includes('/:id')
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)

async function run(
  ctx: Ctx,
  input: RouteInput<{ mode?: 'atomic' | 'partial' }, { operations: Operation[] }>,
  singles: ReadonlyMap<string, Route>,
  operation: TSchema,
): Promise<BulkResponse> {
  const { operations } = input.body
  const verbs = operations.map((one, place) => async (shared: Ctx) => {
    // If the operation is unknown, its other fields cannot be validated.
    const unknown = singles.has(one.op) ? [] : [notAmong([...singles.keys()], one.op, place)]
    const problems = unknown.length > 0 ? unknown : fieldProblems(operation, one, pointerTo(place))
    if (problems.length > 0) throw invalid(problems)
    const params: Record<string, string> = one.id === undefined ? {} : { id: one.id }
    const single = { ...input, params, query: {}, body: one.body }
    return await singles.get(one.op)!.run({ ...shared, ifMatch: one.if_match ?? null }, single)
  })
  const mode = input.query.mode ?? 'atomic'
  return await changeInBulk(ctx, verbs, outcomes => {
    const failed = outcomes.filter(one => 'problem' in one).length
    if (mode === 'atomic' && failed > 0) throw bulkFailed(outcomes, failed)
    const results = outcomes.map((outcome, index) => resultOf(ctx, operations[index]!, index, outcome, singles))
    return { mode, succeeded: operations.length - failed, failed, results }
  })
}

const notAmong = (words: readonly string[], op: unknown, place: number): FieldProblem => ({
  pointer: `${pointerTo(place)}/op`,
  code: op === undefined ? 'required' : 'enum',
  detail: `must be ${words.length > 1 ? 'one of ' : ''}${words.map(word => JSON.stringify(word)).join(', ')}.`,
})

const pointerTo = (place: number): string => `#/operations/${place}`

function bulkFailed(outcomes: readonly Outcome[], failed: number): Problem {
  const count = `${failed} of ${outcomes.length} operation${outcomes.length === 1 ? '' : 's'}`
  return new Problem('bulk_failed', `Nothing was changed: ${count} failed. See errors for details.`, {
    errors: outcomes.flatMap((outcome, place) =>
      'problem' in outcome ? errorsOf(outcome.problem, place).slice(0, maxErrorsPerOperation) : [],
    ),
  })
}

function resultOf(
  ctx: Ctx,
  operation: Operation,
  index: number,
  outcome: Outcome,
  singles: ReadonlyMap<string, Route>,
): BulkResult {
  const single = singles.get(operation.op)
  const known = { index, op: single ? operation.op : null }
  const id = typeof operation.id === 'string' ? operation.id : null
  const hasBody = [...singles.values()].some(one => one.response)
  if ('value' in outcome) {
    const createdId = (outcome.value as { id?: string } | undefined)?.id
    return {
      ...known,
      status: single!.status ?? 200,
      id: id ?? createdId ?? null,
      ...bodyOf(hasBody, outcome.value),
      problem: null,
    }
  }
  const { problem } = outcome
  const body = problemBody(new Problem(problem.code, problem.detail, withPointers(problem, index)), ctx.context.request_id!)
  return { ...known, status: problem.status, id, ...bodyOf(hasBody, null), problem: body }
}

/** The `body` field of a result, if any operation of the bulk endpoint returns a body. */
const bodyOf = (hasBody: boolean, value: unknown): { body?: unknown } => (hasBody ? { body: value ?? null } : {})

const withPointers = (problem: Problem, place: number): Problem['extras'] => ({
  ...problem.extras,
  ...(problem.extras.errors && { errors: errorsOf(problem, place) }),
})

/** The errors of one operation, with pointers into the whole request. */
function errorsOf({ code, detail, extras }: Problem, place: number): FieldProblem[] {
  const own = pointerTo(place)
  if (!extras.errors) {
    const member = code === 'not_found' ? '/id' : code === 'precondition_failed' ? '/if_match' : ''
    return [{ pointer: own + member, code, detail }]
  }
  return extras.errors.map(one =>
    // The envelope is validated here; the body by the handler, whose pointers are relative to the body.
    one.pointer.startsWith(own) ? one : { ...one, pointer: `${own}/body${one.pointer.slice(1)}` },
  )
}

/** The response as stored for replays: secrets that a route of the area returns only once are omitted. */
function withoutSecrets(response: BulkResponse, singles: ReadonlyMap<string, Route>, routes: readonly Route[]): BulkResponse {
  const results = response.results.map(result => {
    const shape = singles.get(result.op ?? '')?.response as TObject | undefined
    const secretFields = routes.filter(one => one.response === shape).flatMap(one => one.secretFields ?? [])
    if (!shape || !result.body || secretFields.length === 0) return result
    return { ...result, body: withSecretsOmitted(shape, secretFields, result.body) }
  })
  return { ...response, results }
}
