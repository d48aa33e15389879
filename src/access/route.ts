import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import type { AuditAction } from '../core/audit-actions'
import type { Ctx } from '../core/ctx'
import type { Deprecation } from '../core/deprecation'
import type { Hub } from '../core/hub'
import type { Permission } from '../core/permissions'
import type { ProblemCode } from '../core/problem'
import type { Relations } from '../core/relation'
import { Shape } from '../core/shapes'
import { bulkRoute, type Bulk } from './bulk'
import { serve, type Peer } from './door'
import type { Waiting } from './long-poll'
import { deprecatedIn } from './deprecations'
import { expandParameter } from './expand'
import { fieldsParameter } from './fields'

/**
 * Who may call a route: holders of a permission; `signed_in`, anyone with a valid credential; `operator`, those who run the
 * installation; `anyone`, without a credential; `ingest`, who knows the scoped secret in the address, which the verb checks.
 */
export type Guard = Permission | 'signed_in' | 'operator' | 'anyone' | 'ingest'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a handler is given: the path's parameters, the checked query and body, and the request for what is not JSON. */
export interface Asked<Q, B> {
  params: Record<string, string>
  query: Q
  body: B
  request: Request
  ip: string
  /** Of the body, on a route that `takes` one. */
  bytes: Uint8Array
  /** On a route that `waits`: how long the caller would rather wait than be answered with nothing. */
  waiting: Waiting | null
  /**
   * For an answer that goes on: what the caller may do by now.
   * @throws Problem 401, 403, 404 once they may not ask for it any more
   */
  again(): Promise<Pick<Ctx, 'permissions' | 'resourceIds'>>
}

/** An operation of the API: what the OpenAPI document says of it and what the door does with it come from this one place. */
export interface Route<Q extends TObject = TObject, B extends TSchema = TSchema> {
  method: Method
  /** With parameters as `:id`. */
  path: string
  guard: Guard
  operationId: string
  /** A few words; the heading of the operation. */
  summary: string
  description: string
  /** `<area>.<thing>.<verb>`: how the audit log names it, also when it is refused. Every operation that changes something has one. */
  action?: AuditAction
  query?: Q
  body?: B
  /** What the door holds the body to, where the verb looks at the rest of it piece by piece; else it is `body`. */
  envelope?: TSchema
  /** The body is anything, and the verb reads it from the request. */
  rawBody?: boolean
  /**
   * The body is a text of one of these media types: an example of each, or the schema of what is JSON, and how long it may be. The verb
   * gets its bytes, and holds them to the schema.
   */
  takes?: { types: Readonly<Record<string, string | TSchema>>; mostBytes: number; description: string }
  status?: 200 | 201 | 202 | 204
  /** Another status that some of its results are answered with. */
  otherStatus?: { status: 202 | 207; applies(result: unknown): boolean }
  answer?: TSchema
  /** On a GET: what can be sent along with the resource. Its shape has the same names in `expanded`. */
  expands?: Relations
  /** Media types that `run` answers with as a Streamed or an EventStream, each with an example. */
  streams?: Readonly<Record<string, string>>
  /** Open to anyone, and a session, where the request has one that stands, is known. Tokens are not looked at. */
  session?: 'welcome'
  /** Answered while the workspace is suspended too: people still see who they are, and get to another workspace. */
  whileSuspended?: boolean
  /** What a 201 made cannot be read at `<path>/<id>`: the answer has no Location. */
  nowhere?: boolean
  /** The collection that a 201 adds to, where it is not `path` itself, or a 202: the answer's Location is below it. */
  addsTo?: string
  /** The query may name the workspace, as `workspace`: for clients that cannot send Bailiwick-Workspace. */
  workspaceInQuery?: boolean
  /** Honours `Prefer: wait=N`. */
  waits?: boolean
  /**
   * Where narrowed tokens are let through: `open`, to what belongs to no workspace; `verb`, to what has an id of its own but belongs
   * to a resource, and to what is made of all that they reach, which the verb looks at. Else they get to lists, which are filtered,
   * and to paths whose `:id` they are narrowed to.
   */
  narrowed?: 'open' | 'verb'
  /** Members of the answer that are told once and left out of a replay. */
  once?: readonly string[]
  /** The result as it is kept for replays, where leaving out members of its own is not enough. */
  kept?(result: unknown): unknown
  /** How many requests it counts as; one when absent. */
  cost?(body: Static<B>): number
  /** Set for an operation that goes away; parameters and members are marked in their schemas. */
  deprecated?: Deprecation
  /** Codes it can answer with beyond those that every operation shares. */
  problems?: readonly ProblemCode[]
  /** Headers of the answer that depend on the result. */
  headers?(hub: Hub, result: unknown): Record<string, string>
  run(ctx: Ctx, asked: Asked<Static<Q>, Static<B>>): Promise<unknown>
}

/** Types a route's handler by its schemas, and adds the parameters that every operation of its form has. */
export function route<Q extends TObject = TObject<{}>, B extends TSchema = TSchema>(given: Route<Q, B>): Route {
  const spec = given as unknown as Route
  const added = { ...fieldsParameter(spec), ...expandParameter(spec.expands) }
  return Object.keys(added).length > 0 ? { ...spec, query: Shape({ ...spec.query?.properties, ...added }) } : spec
}

/** What an operation with this action answers; undefined when there is none, or it answers nothing. */
export const answerOf = (action: string): TSchema | undefined => answers.get(action)

// Of every area of the program, filled in as they are made.
const answers = new Map<string, TSchema>()

/**
 * One area of the API as an Elysia plugin: its routes under one tag. Every route of `/v1` is made here.
 * @param declared routes, and bulks of operations that are among them
 * @throws BadDeprecation for what is to go away within less than a year
 */
export function area(name: string, tag: string, declared: readonly (Route | Bulk)[]): AnyElysia {
  let app: AnyElysia = new Elysia({ name })
  const routes = declared.filter((one): one is Route => !('operations' in one))
  for (const spec of declared.map(one => ('operations' in one ? bulkRoute(one, routes) : one))) {
    if (spec.action && spec.answer) answers.set(spec.action, spec.answer)
    deprecatedIn(spec)
    app = app.route(
      spec.method,
      spec.path,
      (context: unknown) => {
        const { request, params, server, hub } = context as {
          request: Request
          params: Record<string, string>
          server: Peer | null
          hub: Hub
        }
        return serve(hub, spec, request, params, server)
      },
      { parse: 'none', detail: { operationId: spec.operationId, tags: [tag], 'x-route': spec } as never },
    )
  }
  return app
}
