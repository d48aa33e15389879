import type { TObject, TSchema } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import type { Hub } from '../core/hub'
import { Shape } from '../core/shapes'
import { bulkRoute, type Bulk } from './bulk'
import { serve, type Peer } from './serve'
import { deprecatedIn } from './deprecations'
import { expandParameter } from './expand'
import { fieldsParameter } from './fields'
import type { Route } from './route-declaration'

/** Declares a route with a handler typed by its schemas. Adds the parameters that operations of its kind have in common. */
export function route<Q extends TObject = TObject<{}>, B extends TSchema = TSchema>(declared: Route<Q, B>): Route {
  const spec = declared as unknown as Route
  const added = { ...fieldsParameter(spec), ...expandParameter(spec.expands) }
  return Object.keys(added).length > 0 ? { ...spec, query: Shape({ ...spec.query?.properties, ...added }) } : spec
}

/** The response schema of the operation with this audit action; undefined if there is none. */
export const responseSchemaOf = (action: string): TSchema | undefined => responseSchemas.get(action)

// Filled as the areas are declared.
const responseSchemas = new Map<string, TSchema>()

/**
 * Declares an area of the API as an Elysia plugin: its routes, under one tag. Every route of `/v1` is declared this way.
 * @param declared routes, and bulk endpoints for some of them
 * @throws InvalidDeprecation if a sunset is less than a year away
 */
export function area(name: string, tag: string, declared: readonly (Route | Bulk)[]): AnyElysia {
  let app: AnyElysia = new Elysia({ name })
  const routes = declared.filter((one): one is Route => !('operations' in one))
  for (const spec of declared.map(one => ('operations' in one ? bulkRoute(one, routes) : one))) {
    if (spec.action && spec.response) responseSchemas.set(spec.action, spec.response)
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
