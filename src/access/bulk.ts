import type { AuditAction } from '../core/audit-actions'
import type { TObject, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { changeTogether, type Outcome } from '../core/bulk'
import type { Ctx } from '../core/ctx'
import { invalid, Problem, problemBody, type FieldProblem } from '../core/problem'
import { discriminator, Nullable, Shape, Words } from '../core/shapes'
import { fieldProblems } from '../core/validate'
import { hidden } from './answer'
import type { Asked, Route } from './route'

const mostOperations = 500
const operationsPerRequest = 50
// A bulk that is refused names what is wrong with each operation, but not all of it.
const mostErrorsEach = 5

/** Operations of an area that can be done by the hundred, declared by the routes that do them singly. */
export interface Bulk {
  /** Ends in `/bulk`. */
  path: string
  operationId: string
  summary: string
  description: string
  /** How the audit log names one that is refused as a whole; what is done has the action of each operation. */
  action: AuditAction
  /** What its shapes are called after, such as Heartbeat. */
  of: string
  /** What an operation is called here, and the operationId of the route that does it singly. */
  operations: Readonly<Record<string, string>>
}

/** One operation of a bulk as it was asked for, once its shape is known to be right. */
interface Operation {
  op: string
  id?: string
  if_match?: string
  body?: unknown
}

/** What became of one operation. */
interface BulkResult {
  index: number
  op: string | null
  status: number
  id: string | null
  body?: unknown
  problem: Record<string, unknown> | null
}

interface BulkAnswer {
  mode: 'atomic' | 'partial'
  succeeded: number
  failed: number
  results: BulkResult[]
}

/**
 * The route of a bulk. Each operation is done by its single route: same rules, same audit entry, same plan limits.
 * @throws Error when an operation has no route, or the routes ask for different permissions
 */
export function bulkRoute(bulk: Bulk, routes: readonly Route[]): Route {
  const singles = new Map(Object.entries(bulk.operations).map(([op, id]) => [op, routeOf(bulk, routes, id)]))
  const guards = new Set([...singles.values()].map(one => one.guard))
  if (guards.size !== 1) throw new Error(`The operations of ${bulk.path} ask for different permissions.`)
  const shapes = shapesOf(bulk, singles, routes)
  return {
    method: 'POST',
    path: bulk.path,
    guard: [...guards][0]!,
    action: bulk.action,
    operationId: bulk.operationId,
    summary: bulk.summary,
    description:
      `${bulk.description} Up to ${mostOperations} operations in one transaction, in their order, each as if it were sent by itself. ` +
      'With `mode=atomic` all of them are done or none: one that fails makes the answer a 422 `bulk_failed` that points to each that ' +
      'failed. With `mode=partial` those that can be done are done, and the answer is a 207 that tells of each. Counts against rate ' +
      `limits as one request for every ${operationsPerRequest} operations. A token that is narrowed to some resources may not use it. ` +
      'A replay by Idempotency-Key does not tell secrets again.',
    query: Shape({
      mode: Type.Optional(Words(['atomic', 'partial'], { default: 'atomic', description: 'All or nothing, or each by itself.' })),
    }),
    body: shapes.body,
    envelope,
    answer: shapes.answer,
    otherStatus: { status: 207, applies: result => (result as BulkAnswer).mode === 'partial' },
    problems: ['bulk_failed'],
    cost: body => Math.ceil((body as { operations: unknown[] }).operations.length / operationsPerRequest),
    kept: result => withoutSecrets(result as BulkAnswer, singles, routes),
    run: (ctx, asked) => run(ctx, asked as never, singles, shapes.operation),
  }
}

function routeOf(bulk: Bulk, routes: readonly Route[], operationId: string): Route {
  const found = routes.find(one => one.operationId === operationId)
  if (!found) throw new Error(`${bulk.path} names ${operationId}, which is no route of its area.`)
  return found
}

/** What the door looks at; the operations are looked at one by one, so that in partial mode one that is wrong fails alone. */
const envelope = Shape({ operations: Type.Array(Type.Object({}), { minItems: 1, maxItems: mostOperations }) })

function shapesOf(
  bulk: Bulk,
  singles: ReadonlyMap<string, Route>,
  routes: readonly Route[],
): { operation: TSchema; body: TSchema; answer: TObject } {
  const id = exampleId(routes)
  const operations = [...singles].map(([op, single]) => {
    const example = {
      op,
      ...(named(single) && { id }),
      ...(single.body && { body: (single.body.examples as unknown[])[0] }),
    }
    return Shape(
      {
        op: Type.Literal(op),
        ...(named(single) && {
          id: Type.String({ minLength: 1, maxLength: 100, description: 'Identifier of the resource.' }),
          if_match: Type.Optional(
            Type.String({ maxLength: 1000, description: 'What the header If-Match would be: the ETag the edit starts from.' }),
          ),
        }),
        ...(single.body && { body: single.body }),
      },
      { $id: `${bulk.of}Bulk${capital(op)}`, description: `${single.summary}.`, examples: [example] },
    )
  })
  const operation = Type.Union(operations, { [discriminator]: 'op' })
  const answers = [...new Set([...singles.values()].flatMap(one => one.answer ?? []))]
  const result = Shape(
    {
      index: Type.Integer({ minimum: 0, description: 'Place of the operation in the request.' }),
      op: Nullable(Words([...singles.keys()]), { description: 'The operation; null when it is none of them.' }),
      status: Type.Integer({ description: 'HTTP status that the operation would have been answered with by itself.' }),
      id: Nullable(Type.String(), { description: 'Identifier of the resource; null when there is none.' }),
      ...(answers.length > 0 && {
        body: Nullable(Type.Union(answers), { description: 'What it would have been answered with; null for nothing.' }),
      }),
      problem: Nullable(Type.Unsafe({ $ref: '#/components/schemas/Problem' }), {
        description: 'Why it failed; null when it was done. Pointers lead into the whole request.',
      }),
    },
    { $id: `${bulk.of}BulkResult`, description: 'What became of one operation.' },
  )
  const last = [...singles].at(-1)!
  const answer = Shape(
    {
      mode: Words(['atomic', 'partial'], { description: 'As it was asked for.' }),
      succeeded: Type.Integer({ minimum: 0, description: 'Operations that were done.' }),
      failed: Type.Integer({ minimum: 0, description: 'Operations that were not done; 0 with `atomic`.' }),
      results: Type.Array(result, { description: 'One for each operation, in their order.' }),
    },
    {
      $id: `${bulk.of}BulkAnswer`,
      description: 'What became of the operations.',
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
              id,
              ...(answers.length > 0 && { body: ((last[1].answer?.examples ?? [null]) as unknown[])[0] }),
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
        maxItems: mostOperations,
        description: 'In the order they are to be done.',
      }),
    },
    {
      $id: `${bulk.of}Bulk`,
      description: 'Operations to do together.',
      examples: [{ operations: operations.map(one => (one.examples as unknown[])[0]) }],
    },
  )
  return { operation, body, answer }
}

const named = (single: Route): boolean => single.path.includes('/:id')
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)

/** The identifier in the examples of the area. */
function exampleId(routes: readonly Route[]): string {
  const ids = routes.map(one => (one.answer?.examples as { id?: string }[] | undefined)?.[0]?.id)
  return ids.find(id => id !== undefined)!
}

async function run(
  ctx: Ctx,
  asked: Asked<{ mode?: 'atomic' | 'partial' }, { operations: Operation[] }>,
  singles: ReadonlyMap<string, Route>,
  operation: TSchema,
): Promise<BulkAnswer> {
  const { operations } = asked.body
  const verbs = operations.map((one, place) => async (shared: Ctx) => {
    // Of what is no operation here, no other member can be judged.
    const unknown = singles.has(one.op) ? [] : [notAmong([...singles.keys()], one.op, place)]
    const problems = unknown.length > 0 ? unknown : fieldProblems(operation, one, pointerTo(place))
    if (problems.length > 0) throw invalid(problems)
    const params: Record<string, string> = one.id === undefined ? {} : { id: one.id }
    const single = { ...asked, params, query: {}, body: one.body }
    return await singles.get(one.op)!.run({ ...shared, ifMatch: one.if_match ?? null }, single)
  })
  const mode = asked.query.mode ?? 'atomic'
  return await changeTogether(ctx, verbs, outcomes => {
    const failed = outcomes.filter(one => 'problem' in one).length
    if (mode === 'atomic' && failed > 0) throw refused(outcomes, failed)
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

function refused(outcomes: readonly Outcome[], failed: number): Problem {
  const count = `${failed} of ${outcomes.length} operation${outcomes.length === 1 ? '' : 's'}`
  return new Problem('bulk_failed', `Nothing was changed: ${count} would have failed. errors says which.`, {
    errors: outcomes.flatMap((outcome, place) =>
      'problem' in outcome ? errorsOf(outcome.problem, place).slice(0, mostErrorsEach) : [],
    ),
  })
}

function resultOf(ctx: Ctx, asked: Operation, index: number, outcome: Outcome, singles: ReadonlyMap<string, Route>): BulkResult {
  const single = singles.get(asked.op)
  const known = { index, op: single ? asked.op : null }
  const id = typeof asked.id === 'string' ? asked.id : null
  const answers = [...singles.values()].some(one => one.answer)
  if ('value' in outcome) {
    const made = (outcome.value as { id?: string } | undefined)?.id
    return { ...known, status: single!.status ?? 200, id: id ?? made ?? null, ...bodyOf(answers, outcome.value), problem: null }
  }
  const { problem } = outcome
  const told = problemBody(new Problem(problem.code, problem.detail, pointed(problem, index)), ctx.context.request_id!)
  return { ...known, status: problem.status, id, ...bodyOf(answers, null), problem: told }
}

/** The member `body` of a result, where any operation of the bulk is answered with one. */
const bodyOf = (answers: boolean, value: unknown): { body?: unknown } => (answers ? { body: value ?? null } : {})

const pointed = (problem: Problem, place: number): Problem['extras'] => ({
  ...problem.extras,
  ...(problem.extras.errors && { errors: errorsOf(problem, place) }),
})

/** What is wrong with one operation, with pointers into the request. */
function errorsOf({ code, detail, extras }: Problem, place: number): FieldProblem[] {
  const own = pointerTo(place)
  if (!extras.errors) {
    const member = code === 'not_found' ? '/id' : code === 'precondition_failed' ? '/if_match' : ''
    return [{ pointer: own + member, code, detail }]
  }
  return extras.errors.map(one =>
    // Its shape is checked here; what is in it, by the verb, which knows the body alone.
    one.pointer.startsWith(own) ? one : { ...one, pointer: `${own}/body${one.pointer.slice(1)}` },
  )
}

/** The answer as it is kept for replays: what any route of the area tells once of such a resource is left out. */
function withoutSecrets(answer: BulkAnswer, singles: ReadonlyMap<string, Route>, routes: readonly Route[]): BulkAnswer {
  const results = answer.results.map(result => {
    const shape = singles.get(result.op ?? '')?.answer as TObject | undefined
    const once = routes.filter(one => one.answer === shape).flatMap(one => one.once ?? [])
    if (!shape || !result.body || once.length === 0) return result
    return { ...result, body: hidden(shape, once, result.body) }
  })
  return { ...answer, results }
}
