import type { TObject } from '@sinclair/typebox'
import type { StoredResponse } from '../core/ctx'
import type { Hub } from '../core/hub'
import { jsonText } from '../core/kept-text'
import { isOptional } from '../core/validate'
import type { Route } from './route-declaration'

/**
 * Builds the response for the result of a handler. Adds the route's own headers to `headers`.
 * @param params of the request path, for the Location of a resource created below it
 * @param shown the part of the result that is sent, if not all of it; the ETag still uses the version of the whole result
 */
export function responseOf(
  hub: Hub,
  spec: Route,
  result: unknown,
  headers: Record<string, string>,
  params: Readonly<Record<string, string>>,
  shown: unknown = result,
): StoredResponse {
  Object.assign(headers, spec.headers?.(hub, result))
  const status = spec.otherStatus?.applies(result) ? spec.otherStatus.status : (spec.status ?? 200)
  const body = shown === undefined ? '' : isObject(shown) ? jsonText(shown) : JSON.stringify(shown)
  const { id } = (result ?? {}) as { id?: string }
  return {
    status,
    body,
    location: id && hasLocation({ ...spec, status }) ? `${filled(spec.collection ?? spec.path, params)}/${id}` : null,
    etag: etagOf(spec, result, body),
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const filled = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** Whether the response has a Location: of the created resource, or of the action that was started. */
export const hasLocation = (spec: Pick<Route, 'noLocation' | 'collection'> & { status?: number }): boolean =>
  (spec.status === 201 && !spec.noLocation) || (spec.status === 202 && spec.collection !== undefined)

/** The response as stored for replays: secrets are left out, or null if the shape requires the field. */
export function storedResponseOf(
  hub: Hub,
  spec: Route,
  result: unknown,
  params: Readonly<Record<string, string>>,
): StoredResponse {
  const { etag } = responseOf(hub, spec, result, {}, params)
  return { ...responseOf(hub, spec, withoutSecrets(spec, result), {}, params), etag }
}

/**
 * `"<version>.<hash>"` of a single resource. The hash covers the whole body, so the ETag also changes with values that are not
 * part of an update. A resource without a version counts as version 1.
 */
function etagOf(spec: Route, result: unknown, body: string): string | null {
  const { id, version } = (result ?? {}) as { id?: string; version?: number }
  if (typeof version !== 'number' && !(typeof id === 'string' && spec.method === 'GET')) return null
  return `"${version ?? 1}.${Bun.hash(body).toString(36)}"`
}

function withoutSecrets(spec: Route, result: unknown): unknown {
  if (spec.forReplay) return spec.forReplay(result)
  if (!spec.secretFields || typeof result !== 'object' || result === null) return result
  return withSecretsOmitted(spec.response as TObject, spec.secretFields, result)
}

/** A resource without the fields that are shown only once. */
export function withSecretsOmitted(shape: TObject, secretFields: readonly string[], resource: object): object {
  const copy = { ...resource } as Record<string, unknown>
  for (const name of secretFields) {
    if (isOptional(shape.properties[name]!)) delete copy[name]
    else copy[name] = null
  }
  return { ...copy, secret_shown_before: true }
}

export function matchesEtag(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.trim() === '*' || header.split(',').some(one => one.trim().replace(/^W\//, '') === etag)
}
