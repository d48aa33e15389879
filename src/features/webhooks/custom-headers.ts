import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { invalid, type FieldProblem } from '../../core/problem'
import { sealedIn } from './live-secrets'
import { pointerPart } from '../../core/pointer'
import type { webhookEndpoints } from './tables'

/** Headers of a caller's own, by name as they wrote it. Values are secrets: sealed as one, and shown nowhere. */
export type CustomHeaders = Record<string, string>
/** What is asked of them: null drops one, and null for all drops every one (JSON merge patch, RFC 7396). */
export type CustomHeadersPatch = Record<string, string | null> | null

export const mostHeaders = 10
/** Most characters of a value: room for a token with claims. */
export const longestHeaderValue = 4_096

/** Where an endpoint's headers are kept. */
export type HeadersRow = Pick<
  typeof webhookEndpoints.$inferSelect,
  'id' | 'workspaceId' | 'url' | 'headersSealed' | 'headerNames'
>

/** @throws NotOpened */
export async function openHeaders(hub: Hub, row: HeadersRow, read?: Reader): Promise<CustomHeaders> {
  if (row.headersSealed === null) return {}
  return JSON.parse(await hub.keys.open(sealedIn(row, 'headers_sealed'), row.headersSealed, read)) as CustomHeaders
}

/** The columns that keep `headers`. */
export async function headerColumns(
  tx: Tx,
  hub: Hub,
  row: Pick<HeadersRow, 'id' | 'workspaceId'>,
  headers: CustomHeaders,
): Promise<Pick<HeadersRow, 'headersSealed' | 'headerNames'>> {
  const headerNames = Object.keys(headers)
  const headersSealed =
    headerNames.length === 0 ? null : await hub.keys.seal(tx, sealedIn(row, 'headers_sealed'), JSON.stringify(headers))
  return { headersSealed, headerNames }
}

/**
 * `kept` with a patch merged into it; names are compared without regard to case.
 * @throws Problem 422 at each name or value that is refused
 */
export function mergeHeaders(kept: CustomHeaders, patch: CustomHeadersPatch): CustomHeaders {
  if (patch === null) return {}
  refuseWrong(patch)
  const named = new Set(Object.keys(patch).map(name => name.toLowerCase()))
  const merged = Object.fromEntries([
    ...Object.entries(kept).filter(([name]) => !named.has(name.toLowerCase())),
    ...Object.entries(patch).filter((entry): entry is [string, string] => entry[1] !== null),
  ])
  if (Object.keys(merged).length > mostHeaders) {
    throw invalid([{ pointer: '#/headers', code: 'too_many', detail: `must have at most ${mostHeaders} headers.` }])
  }
  return merged
}

/**
 * Values go to the origin they were given for: whoever may edit an endpoint could otherwise read them by pointing it at themselves.
 * @throws Problem 422 naming the headers that have to be given again with a URL of another origin
 */
export function refuseCarriedAway(row: HeadersRow, patch: { url?: string; headers?: CustomHeadersPatch }): void {
  if (patch.url === undefined || patch.headers === null || originOf(patch.url) === originOf(row.url)) return
  const named = new Set(Object.keys(patch.headers ?? {}).map(name => name.toLowerCase()))
  const carried = row.headerNames.filter(name => !named.has(name.toLowerCase()))
  if (carried.length === 0) return
  const detail = `must give ${carried.join(', ')} again, or null to drop it: values go to the server they were given for only.`
  throw invalid([{ pointer: '#/headers', code: 'required', detail }])
}

// A target that cannot be read has been refused by then.
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)

/** A text with the values taken out, should a receiver have echoed them. */
export function withoutValues(text: string, headers: CustomHeaders): string {
  // A short one may stand anywhere by chance, and taking it out would tell what it is.
  const telling = Object.values(headers).filter(value => value.length >= 8)
  return telling.reduce((rest, value) => rest.replaceAll(value, '[redacted]'), text)
}

// RFC 9110: a token (5.6.2), and a value (5.5) of visible ASCII with blanks inside; line ends would begin another header.
const tokenForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const valueForm = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

// Ours to set, or the connection's.
const reserved =
  /^(?:content-.*|x-service-.*|webhook-.*|proxy-.*|host|user-agent|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect)$/i

function refuseWrong(patch: Record<string, string | null>): void {
  const problems: FieldProblem[] = []
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(patch)) {
    const wrong = problemOf(name, value, seen)
    seen.add(name.toLowerCase())
    const pointer = `#/headers/${encodeURIComponent(pointerPart(name))}`
    if (wrong) problems.push({ pointer, ...wrong })
  }
  if (problems.length > 0) throw invalid(problems)
}

function problemOf(name: string, value: string | null, seen: Set<string>): Omit<FieldProblem, 'pointer'> | null {
  if (!tokenForm.test(name)) return { code: 'format', detail: 'is no name of a header (RFC 9110 section 5.6.2).' }
  if (reserved.test(name)) return { code: 'reserved', detail: 'is set by the service, and cannot be chosen.' }
  if (seen.has(name.toLowerCase())) return { code: 'not_unique', detail: 'is given twice; case makes no difference.' }
  if (value === null || (value.length <= longestHeaderValue && valueForm.test(value))) return null
  return {
    code: 'format',
    detail: `must have a value of 1 to ${longestHeaderValue} visible ASCII characters, with blanks only between them.`,
  }
}
