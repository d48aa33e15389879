import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { AuditAction } from '../core/audit-actions'
import type { Ctx } from '../core/ctx'
import { listQuery } from '../core/list'
import type { Listing } from '../core/listing'
import { entryOf, withArticle, type ResourceType } from '../registry'
import type { Bulk } from './bulk'
import type { Route } from './route-declaration'
import { route } from './route'

/** What routes declare in addition to what follows from their operation. */
type Shared = Partial<Omit<Route, 'method' | 'path' | 'body' | 'run'>>
type More = Shared & { description: string }
type Query = Record<string, unknown>

interface Verb<Body extends TSchema> extends More {
  body?: Body
  /** Whether the bulk endpoint performs it too. */
  inBulk?: true
  run(ctx: Ctx, id: string, body: Static<Body>): Promise<unknown>
}

/** The operations of a resource. One that is absent has no route. */
interface Crud<Input extends TSchema, Patch extends TSchema, Bodies extends Record<string, TSchema>> extends Partial<
  Pick<ReturnType<typeof entryOf>, 'name' | 'plural' | 'path'>
> {
  /** Name, path, and the prefix of the audit actions follow from its entry in the registry, if they are not given. */
  type: ResourceType
  /** Prefix of the audit actions. */
  action?: string
  response: TSchema
  /** What all routes that read it declare, or all that change it. */
  reads?: Shared
  writes?: Shared
  list?: More & { listing?: Listing<never>; response: TObject; run(ctx: Ctx, query: Query): Promise<unknown> }
  create?: More & { body: Input; run(ctx: Ctx, input: Static<Input>): Promise<unknown> }
  get?: More & { run(ctx: Ctx, id: string, query: Query): Promise<unknown> }
  update?: More & { body: Patch; run(ctx: Ctx, id: string, patch: Static<Patch>): Promise<unknown> }
  delete?: More & { run(ctx: Ctx, id: string, query: Query): Promise<void> }
  /** Other operations on one, by their verb: `pause` is `POST …/:id/pause`. */
  verbs?: { [V in keyof Bodies]: Verb<Bodies[V]> }
  /** Description of the endpoint that creates, updates, and deletes many at once. */
  bulk?: string
}

/**
 * The routes of a resource: `GET` and `POST` of its list, `GET`, `PATCH`, and `DELETE` of one, and `POST` for other verbs. Names,
 * permissions, and audit actions follow from its entry in the registry.
 */
export function crud<
  Input extends TSchema = TSchema,
  Patch extends TSchema = TSchema,
  Bodies extends Record<string, TSchema> = Record<string, TSchema>,
>(of: Crud<Input, Patch, Bodies>): (Route | Bulk)[] {
  const entry = entryOf(of.type)
  const { name = entry.name, path = entry.path, action: prefix = entry.audit?.prefix } = of
  const { plural = of.name ? `${name}s` : entry.plural } = of
  const schema = of.response.$id!
  const one = withArticle(name)
  const list = `/v1${path}`
  const action = (verb: string) => `${prefix}.${verb}` as AuditAction
  const common = (method: Route['method'], verb: string, summary: string) => ({
    method,
    guard: `${entry.area}.${method === 'GET' ? 'read' : 'write'}` as const,
    operationId: verb === 'list' ? `list${schema}s` : verb + schema,
    summary,
    ...(method !== 'GET' && { action: action(verb) }),
    ...(verb !== 'delete' && { response: of.response }),
    ...(method === 'GET' ? of.reads : of.writes),
  })
  const routes: (Route | Bulk)[] = []
  if (of.list) {
    const { listing, run, ...more } = of.list
    routes.push(
      route({
        ...common('GET', 'list', `List ${plural}`),
        path: list,
        query: listing && listQuery(listing),
        run: (ctx, asked) => run(ctx, asked.query),
        ...more,
      }),
    )
  }
  if (of.create) {
    const { run, ...more } = of.create
    const declared = { ...common('POST', 'create', `Create ${one}`), path: list, status: 201 as const }
    routes.push(route({ ...declared, run: (ctx, { body }) => run(ctx, body as Static<Input>), ...more }))
  }
  if (of.get) {
    const { run, ...more } = of.get
    const declared = { ...common('GET', 'get', `Get ${one}`), path: `${list}/:id` }
    routes.push(route({ ...declared, run: (ctx, { params, query }) => run(ctx, params.id!, query), ...more }))
  }
  if (of.update) {
    const { run, ...more } = of.update
    const declared = { ...common('PATCH', 'update', `Update ${one}`), path: `${list}/:id` }
    routes.push(route({ ...declared, run: (ctx, { params, body }) => run(ctx, params.id!, body as Static<Patch>), ...more }))
  }
  if (of.delete) {
    const { run, ...more } = of.delete
    const declared = { ...common('DELETE', 'delete', `Delete ${one}`), path: `${list}/:id`, status: 204 as const }
    routes.push(route({ ...declared, run: (ctx, { params, query }) => run(ctx, params.id!, query), ...more }))
  }
  for (const [verb, { run, inBulk: _, ...more }] of Object.entries(of.verbs ?? {})) {
    const summary = `${verb[0]!.toUpperCase()}${verb.slice(1)} ${one}`
    const declared = { ...common('POST', verb, summary), path: `${list}/:id/${verb}` }
    routes.push(
      route({ ...declared, run: (ctx, { params, body }) => run(ctx, params.id!, body as Static<Bodies[string]>), ...more }),
    )
  }
  if (of.bulk) {
    const verbs = Object.keys(of.verbs ?? {}).filter(verb => of.verbs![verb]!.inBulk)
    const operations = ['create', 'update', 'delete', ...verbs]
    const words = [...operations.slice(0, -1), `and ${operations.at(-1)}`].join(', ')
    routes.push({
      path: `${list}/bulk`,
      operationId: `bulk${schema}s`,
      summary: `${words[0]!.toUpperCase()}${words.slice(1)} ${plural} in bulk`,
      description: of.bulk,
      action: action('bulk'),
      of: schema,
      operations: Object.fromEntries(operations.map(verb => [verb, verb + schema])),
    })
  }
  return routes
}
