import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { sealedIn } from '../../../core/outgoing/signing-secrets'
import { invalid, type FieldProblem } from '../../../core/problem'
import { pointerPart } from '../../../core/pointer'
import { maxHeaders, maxHeaderValueLength } from './shapes'
import { webhookEndpoints } from './tables'

/** Custom headers by name, in the case the caller used. Values are secrets: encrypted together and never returned. */
export type CustomHeaders = Record<string, string>
/** A JSON merge patch (RFC 7396): null removes a header, null as a whole removes all. */
type CustomHeadersPatch = Record<string, string | null> | null

/** The columns that opening the headers needs. */
export type HeadersRow = Pick<
  typeof webhookEndpoints.$inferSelect,
  'id' | 'workspaceId' | 'url' | 'headersSealed' | 'headerNames'
>

/** @throws DecryptionFailed */
export async function openHeaders(hub: Hub, row: HeadersRow, read?: Reader): Promise<CustomHeaders> {
  if (row.headersSealed === null) return {}
  return JSON.parse(
    await hub.keys.open(sealedIn(webhookEndpoints, row, 'headers_sealed'), row.headersSealed, read),
  ) as CustomHeaders
}

/** The columns that store `headers`. */
export async function headerColumns(
  tx: Tx,
  hub: Hub,
  row: Pick<HeadersRow, 'id' | 'workspaceId'>,
  headers: CustomHeaders,
): Promise<Pick<HeadersRow, 'headersSealed' | 'headerNames'>> {
  const headerNames = Object.keys(headers)
  const headersSealed =
    headerNames.length === 0
      ? null
      : await hub.keys.seal(tx, sealedIn(webhookEndpoints, row, 'headers_sealed'), JSON.stringify(headers))
  return { headersSealed, headerNames }
}

/**
 * Merges a patch into stored headers. Names are compared case-insensitively.
 * @throws Problem 422 for each invalid name or value
 */
export function mergeHeaders(stored: CustomHeaders, patch: CustomHeadersPatch): CustomHeaders {
  if (patch === null) return {}
  refuseInvalid(patch)
  const named = new Set(Object.keys(patch).map(name => name.toLowerCase()))
  const merged = Object.fromEntries([
    ...Object.entries(stored).filter(([name]) => !named.has(name.toLowerCase())),
    ...Object.entries(patch).filter((entry): entry is [string, string] => entry[1] !== null),
  ])
  if (Object.keys(merged).length > maxHeaders) {
    throw invalid([{ pointer: '#/headers', code: 'too_many', detail: `must contain at most ${maxHeaders} headers.` }])
  }
  return merged
}

/**
 * Header values are sent only to the origin they were set for. Otherwise, anyone who may edit an endpoint could read them by
 * changing its URL to their own server.
 * @throws Problem 422 that names the headers to set again for a URL of another origin
 */
export function refuseHeadersForNewOrigin(row: HeadersRow, patch: { url?: string; headers?: CustomHeadersPatch }): void {
  if (patch.url === undefined || patch.headers === null || originOf(patch.url) === originOf(row.url)) return
  const named = new Set(Object.keys(patch.headers ?? {}).map(name => name.toLowerCase()))
  const missing = row.headerNames.filter(name => !named.has(name.toLowerCase()))
  if (missing.length === 0) return
  const detail =
    `must include new values for ${missing.join(', ')}, or null to remove them: values are only sent to the server they were ` +
    'set for.'
  throw invalid([{ pointer: '#/headers', code: 'required', detail }])
}

// Invalid URLs were rejected before.
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)

// RFC 9110: a token (5.6.2), and a value (5.5) of visible ASCII with inner spaces. A line break would start another header.
const tokenForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const valueForm = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

// Set by Bailiwick, or connection headers.
const reserved =
  /^(?:content-.*|x-service-.*|webhook-.*|proxy-.*|host|user-agent|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect)$/i

function refuseInvalid(patch: Record<string, string | null>): void {
  const problems: FieldProblem[] = []
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(patch)) {
    const problem = problemOf(name, value, seen)
    seen.add(name.toLowerCase())
    const pointer = `#/headers/${encodeURIComponent(pointerPart(name))}`
    if (problem) problems.push({ pointer, ...problem })
  }
  if (problems.length > 0) throw invalid(problems)
}

function problemOf(name: string, value: string | null, seen: Set<string>): Omit<FieldProblem, 'pointer'> | null {
  if (!tokenForm.test(name))
    return { code: 'format', detail: 'is not a valid header name. Use letters, digits, and hyphens, such as X-Api-Key.' }
  if (reserved.test(name)) return { code: 'reserved', detail: 'is a reserved header that can’t be customized.' }
  if (seen.has(name.toLowerCase())) return { code: 'not_unique', detail: 'is a duplicate. Header names are case-insensitive.' }
  if (value === null || (value.length <= maxHeaderValueLength && valueForm.test(value))) return null
  return {
    code: 'format',
    detail: `must have a value of 1 to ${maxHeaderValueLength} visible ASCII characters, without leading or trailing spaces.`,
  }
}
