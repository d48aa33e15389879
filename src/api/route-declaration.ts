import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { Guarded } from '../access/guard'
import type { Ctx } from '../core/ctx'
import type { Deprecation } from '../core/deprecation'
import type { Hub } from '../core/hub'
import type { ProblemCode } from '../core/problem'
import type { Relations } from '../core/relation'
import type { Waiting } from './long-poll'

/** The input of a handler: path parameters, validated query and body, and the request itself for bodies that are not JSON. */
export interface RouteInput<Q, B> {
  params: Record<string, string>
  query: Q
  body: B
  request: Request
  ip: string
  /** Whether the client uses HTTPS, to the hub or to a trusted proxy. */
  isHttps: boolean
  /** The raw body, on a route with `textBody`. */
  bytes: Uint8Array
  /** On a route with `longPoll`: how long the client prefers to wait over an empty response. */
  waiting: Waiting | null
  /**
   * For a streaming response: reauthenticates the caller.
   * @throws Problem 401, 403, 404 if the caller is no longer allowed to use the route
   */
  reauthenticate(): Promise<Pick<Ctx, 'permissions' | 'resourceIds'>>
}

/** An operation of the API. Both the OpenAPI document and the request handling are derived from this declaration. */
export interface Route<Q extends TObject = TObject, B extends TSchema = TSchema> extends Guarded {
  operationId: string
  /** Title of the operation, a few words. */
  summary: string
  description: string
  query?: Q
  body?: B
  /** Validated instead of `body`, if the handler validates the rest of the body itself. */
  envelope?: TSchema
  /** The handler reads the body from the request, and validates it. Without `body`, any body is accepted. */
  rawBody?: boolean
  /**
   * Accepts a body of one of these media types, each with an example or, for JSON, its schema. The handler gets the bytes and
   * validates them.
   */
  textBody?: { types: Readonly<Record<string, string | TSchema>>; maxBytes: number; description: string }
  status?: 200 | 201 | 202 | 204
  /** A second status that some results use, with their shape if it is another one. */
  otherStatus?: { status: 200 | 202 | 207; response?: TSchema; applies(result: unknown): boolean }
  response?: TSchema
  /** On a GET: relations that can be included with `expand`. The shape has the same names in `expanded`. */
  expands?: Relations
  /** The resource has no version, so If-Match is not checked. */
  isUnversioned?: true
  /** Media types of a StreamedResponse or EventStream returned by `run`, each with an example. */
  streams?: Readonly<Record<string, string>>
  /** A streamed response has an ETag, and is 304 if it is in If-None-Match. */
  hasEtag?: true
  /** The resource created by a 201 cannot be read at `<path>/<id>`: the response has no Location. */
  noLocation?: boolean
  /** The collection below which the Location of a 201 or 202 response is, if it is not `path`. */
  collection?: string
  /** On a GET that changes something, with a POST at the same path: HEAD is not allowed, because programs send it to preview links. */
  noHead?: boolean
  /** Honors `Prefer: wait=N`. */
  longPoll?: boolean
  /** It spends money, so an Idempotency-Key is required, except with `dry_run`: a repeated request must not buy twice. */
  needsIdempotencyKey?: true
  /** Fields of the response that are shown only once and left out of replays. */
  secretFields?: readonly string[]
  /** The result as stored for replays, if leaving out top-level fields is not enough. */
  forReplay?(result: unknown): unknown
  /** The response contains personal data, so it is stored encrypted for replays. */
  sealsReplays?: true
  /** How many requests it counts as; 1 by default. */
  cost?(body: Static<B>): number
  /** Set for a deprecated operation; deprecated parameters and fields are marked in their schemas. */
  deprecated?: Deprecation
  /** Problem codes it can return in addition to those that all operations share. */
  problems?: readonly ProblemCode[]
  /** Response headers that depend on the result. */
  headers?(hub: Hub, result: unknown): Record<string, string>
  run(ctx: Ctx, asked: RouteInput<Static<Q>, Static<B>>): Promise<unknown>
}
