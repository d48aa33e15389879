import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { Ctx } from '../core/ctx'
import type { Permission } from '../core/permissions'
import type { Relation, Relations } from '../core/relation'
import { Words } from '../core/shapes'
import { resourceOf } from './fields'

const maxPaths = 4

/** The query parameter `expand` of an operation whose resource has relations. */
export function expandParameter(relations: Relations | undefined): Record<string, TSchema> {
  if (!relations) return {}
  const paths = Object.entries(relations).flatMap(([name, one]) => [
    name,
    ...Object.keys(one.expands ?? {}).map(next => `${name}.${next}`),
  ])
  const nested = paths.find(path => path.includes('.'))
  return {
    expand: Type.Optional(
      Type.Array(Words(paths), {
        minItems: 1,
        maxItems: Math.min(paths.length, maxPaths),
        uniqueItems: true,
        description:
          `Related resources to include in the field \`expanded\`${paths.length > maxPaths ? `; at most ${maxPaths}` : ''}.` +
          `${nested ? ` Use a dot to expand a relation of a related resource, as in \`${nested}\`.` : ''}` +
          ' A resource that was deleted or that you have no access to is null.',
      }),
    ),
  }
}

/** The permissions that the paths require in addition to the operation's own permission. */
export function permissionsForExpand(relations: Relations, paths: readonly string[]): Permission[] {
  return parsePaths(relations, paths).flatMap(({ relation, rest }) => [
    ...(relation.permission ? [relation.permission] : []),
    ...permissionsForExpand(relation.expands ?? {}, rest),
  ])
}

/** A response of the given shape with related resources in `expanded`. Runs one query per relation, not per resource. */
export async function withExpanded(
  ctx: Ctx,
  response: TSchema | undefined,
  relations: Relations,
  result: unknown,
  paths: readonly string[],
): Promise<unknown> {
  if (resourceOf(response) === response) return (await expanded(ctx, relations, [result as object], paths))[0]
  const page = result as { data: object[] }
  return { ...page, data: await expanded(ctx, relations, page.data, paths) }
}

async function expanded(ctx: Ctx, relations: Relations, resources: object[], paths: readonly string[]): Promise<object[]> {
  const found = await Promise.all(
    parsePaths(relations, paths).map(async ({ name, relation, rest }) => {
      const ids = resources.map(one => relation.idOf(one as never))
      const others = await relation.load(ctx, [...new Set(ids.flat().filter(id => id !== null))])
      const shown = rest.length > 0 ? await expanded(ctx, relation.expands!, [...others.values()], rest) : [...others.values()]
      const byId = new Map([...others.keys()].map((id, place) => [id, shown[place]!]))
      const shownOf = (id: string | null) => (id === null ? null : (byId.get(id) ?? null))
      return { name, of: ids.map(id => (isList(id) ? id.map(shownOf).filter(one => one !== null) : shownOf(id))) }
    }),
  )
  return resources.map((one, place) => ({
    ...one,
    expanded: Object.fromEntries(found.map(({ name, of }) => [name, of[place]])),
  }))
}

const isList = (ids: string | null | readonly string[]): ids is readonly string[] => Array.isArray(ids)

/** Groups the paths by their first relation, with the remaining path of each. */
function parsePaths(relations: Relations, paths: readonly string[]): { name: string; relation: Relation; rest: string[] }[] {
  return [...Map.groupBy(paths, path => path.split('.')[0]!)].map(([name, own]) => ({
    name,
    relation: relations[name]!,
    rest: own.flatMap(path => path.split('.').slice(1, 2)),
  }))
}
