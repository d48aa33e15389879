import type { TObject } from '@sinclair/typebox'
import type { StoredAnswer } from '../core/ctx'
import type { Hub } from '../core/hub'
import { isOptional } from '../core/validate'
import type { Route } from './route'

/**
 * A verb's result as the answer that is sent; headers of the route's own are added to `headers`.
 * @param params those of the path that was asked, for the place of what was made below it
 * @param shown what is sent of the result, where that is not all: its ETag still has the version
 */
export function answerOf(
  hub: Hub,
  spec: Route,
  result: unknown,
  headers: Record<string, string>,
  params: Readonly<Record<string, string>>,
  shown: unknown = result,
): StoredAnswer {
  Object.assign(headers, spec.headers?.(hub, result))
  const status = spec.otherStatus?.applies(result) ? spec.otherStatus.status : (spec.status ?? 200)
  const body = shown === undefined ? '' : JSON.stringify(shown)
  const { id } = (result ?? {}) as { id?: string }
  return {
    status,
    body,
    location: id && isMade(spec) ? `${filled(spec.addsTo ?? spec.path, params)}/${id}` : null,
    etag: etagOf(spec, result, body),
  }
}

const filled = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** Whether the answer names something new that can be read: what was made, or the action that was started. */
export const isMade = (spec: Route): boolean =>
  (spec.status === 201 && !spec.nowhere) || (spec.status === 202 && spec.addsTo !== undefined)

/** The answer as it is kept for replays: secrets are left out, or null where the shape always has the member. */
export function keptAnswerOf(hub: Hub, spec: Route, result: unknown, params: Readonly<Record<string, string>>): StoredAnswer {
  const { etag } = answerOf(hub, spec, result, {}, params)
  return { ...answerOf(hub, spec, withoutSecrets(spec, result), {}, params), etag }
}

/**
 * `"<version>.<state>"` of a single resource: the state is all that is shown, so it moves with what moves by itself. What is never
 * edited has version 1.
 */
function etagOf(spec: Route, result: unknown, body: string): string | null {
  const { id, version } = (result ?? {}) as { id?: string; version?: number }
  if (typeof version !== 'number' && !(typeof id === 'string' && spec.method === 'GET')) return null
  return `"${version ?? 1}.${Bun.hash(body).toString(36)}"`
}

function withoutSecrets(spec: Route, result: unknown): unknown {
  if (spec.kept) return spec.kept(result)
  if (!spec.once || typeof result !== 'object' || result === null) return result
  return hidden(spec.answer as TObject, spec.once, result)
}

/** A resource without the members that are told once. */
export function hidden(shape: TObject, once: readonly string[], resource: object): object {
  const kept = { ...resource } as Record<string, unknown>
  for (const name of once) {
    if (isOptional(shape.properties[name]!)) delete kept[name]
    else kept[name] = null
  }
  return { ...kept, secret_shown_before: true }
}
