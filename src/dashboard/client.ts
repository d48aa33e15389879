import { systemClock } from '../core/clock'
import type { FieldProblem } from '../core/problem'
import { reportNoResponse, reportResponse } from './connection'
import { compareClocks, hubNow } from './hub-clock'
import { keyedPaths } from './keyed-paths'
import { store } from './parts/store'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

/** A request to the API. `path` is relative to `/v1`, such as `/monitors`. */
export interface Call {
  method: Method
  path: string
  query?: Query
  /** Sent as JSON. A string is sent unchanged, with `contentType`. */
  body?: unknown
  contentType?: string
  /** Expected version. The hub responds with 412 if the resource has changed since. */
  ifMatch?: number
  /** Media type of the response. Defaults to JSON. */
  accept?: string
}

/** One page of a list. */
export interface Page<Row> {
  data: Row[]
  pagination: { has_more: boolean; next_cursor: string | null; total?: number }
}

/** An error response of the API (RFC 9457). Its message can be shown to users. */
export class ApiError extends Error {
  override name = 'ApiError'
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    /** Errors by field. The pointer is such as `#/schedule` or `#/query/status`. */
    readonly errors: readonly FieldProblem[],
    readonly requestId: string | null,
    /** The whole response body, for fields that are specific to a code. */
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(detail)
  }
}

/** A request that was sent, for the list of API calls. */
export interface RecordedCall extends Call {
  /** Milliseconds since the epoch. */
  at: number
  /** HTTP status. 0 if the hub could not be reached. */
  status: number
}

const maxRecorded = 60
/** The API calls of this tab, newest first. */
export const recentCalls = store<readonly RecordedCall[]>([])

const workspaceKey = 'bailiwick.workspace'

/** The workspace selected in this tab. Null means the workspace used last. */
export const tabWorkspace = (): string | null => sessionStorage.getItem(workspaceKey)

export function setTabWorkspace(id: string | null): void {
  if (id === null) sessionStorage.removeItem(workspaceKey)
  else sessionStorage.setItem(workspaceKey, id)
}

/**
 * Calls the API with the session cookie. Returns undefined for 204, and the text if `accept` is set.
 * @throws ApiError for error responses, and with status 0 if the hub can't be reached
 */
export async function call<Result = unknown>(request: Call, signal?: AbortSignal): Promise<Result> {
  const workspace = tabWorkspace()
  const { method, body } = request
  const headers: Record<string, string> = { accept: request.accept ?? 'application/json' }
  if (method !== 'GET') headers['bailiwick-csrf'] = '1'
  if (body !== undefined) headers['content-type'] = request.contentType ?? 'application/json'
  if (workspace) headers['bailiwick-workspace'] = workspace
  if (request.ifMatch !== undefined) headers['if-match'] = `"${request.ifMatch}"`
  const submission = needsIdempotencyKey(request) ? submissionOf(request) : null
  if (submission) headers['idempotency-key'] = submission.key
  const sentAt = systemClock.now()
  let response: Response
  let text: string
  try {
    response = await fetch(apiUrl(request), {
      method,
      headers,
      signal: signal ?? null,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    throw unreachable(request)
  }
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
  // The response of a proxy, in place of the hub.
  if (response.status >= 502 && response.status <= 504 && !isJson) throw unreachable(request)
  compareClocks(response.headers.get('date'), sentAt)
  reportResponse()
  record(request, response.status)
  if (response.status < 500) submission?.end()
  if (!response.ok) throw errorFrom(response, isJson ? (JSON.parse(text) as Record<string, unknown>) : {})
  if (response.status === 204 || text === '') return undefined as Result
  return (isJson && request.accept === undefined ? JSON.parse(text) : text) as Result
}

/** Whether a request can spend money, so that the API requires an idempotency key. */
const needsIdempotencyKey = ({ method, path, query }: Call): boolean =>
  method === 'POST' && keyedPaths.includes(path) && query?.dry_run !== true

const openSubmissions = new Map<string, string>()

/** Returns a new idempotency key, or the one of the same request if it was sent before and it is not known whether it succeeded. */
function submissionOf({ path, query, body }: Call): { key: string; end(): void } {
  const text = JSON.stringify([path, query, body])
  const key = openSubmissions.get(text) ?? [...crypto.getRandomValues(new Uint32Array(4))].map(one => one.toString(36)).join('')
  openSubmissions.set(text, key)
  return { key, end: () => void openSubmissions.delete(text) }
}

/** Reads a JSON file that the hub serves outside the API. @throws Error if it can’t */
export async function readJson<Content>(path: string, signal: AbortSignal): Promise<Content> {
  const response = await fetch(path, { signal })
  if (!response.ok) throw new Error(`${path}: ${response.status}`)
  return (await response.json()) as Content
}

/** Returns the URL path and query of a call: `/v1/monitors?status=down`. */
export function apiUrl({ path, query }: Pick<Call, 'path' | 'query'>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue
    search.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = search.toString()
  return `/v1${path}${text && `?${text}`}`
}

/** Downloads a file from the API. A link can’t have headers, so its query names the workspace. */
export const download = (path: string, query?: Call['query']): void =>
  location.assign(apiUrl({ path, query: { ...query, workspace: tabWorkspace() } }))

/** Returns the call as a curl command. The token is a shell variable, since the dashboard uses a session. */
export function curlCommand(request: Call, origin: string = location.origin): string {
  const parts = [`curl${request.method === 'GET' ? '' : ` -X ${request.method}`} '${origin}${apiUrl(request)}'`]
  parts.push(`-H "Authorization: Bearer $TOKEN"`)
  if (request.ifMatch !== undefined) parts.push(`-H 'If-Match: "${request.ifMatch}"'`)
  if (request.accept !== undefined) parts.push(`-H 'Accept: ${request.accept}'`)
  if (needsIdempotencyKey(request)) parts.push(`-H "Idempotency-Key: $(uuidgen)"`)
  if (request.body !== undefined) {
    parts.push(`-H 'Content-Type: ${request.contentType ?? 'application/json'}'`)
    const text = typeof request.body === 'string' ? request.body : JSON.stringify(masked(request.body), null, 2)
    parts.push(`--data-binary '${text.replaceAll("'", `'\\''`)}'`)
  }
  return parts.join(' \\\n  ')
}

// Values of these fields are masked in curl commands, so that secrets don't appear on screen.
const secretNames = /^(password|current|new|secret|token|code|api_key|api_token|client_secret|key|recovery_code)$/

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) =>
      secretNames.test(name) && typeof inner === 'string' && inner !== '' ? [name, '…'] : [name, masked(inner)],
    ),
  )
}

function unreachable(request: Call): ApiError {
  reportNoResponse()
  record(request, 0)
  return new ApiError(0, 'unreachable', 'Can’t reach Bailiwick. Check that it is running and that you are online.', [], null, {})
}

const record = (request: Call, status: number): void =>
  recentCalls.set([{ ...request, at: hubNow(), status }, ...recentCalls.now()].slice(0, maxRecorded))

function errorFrom(response: Response, body: Record<string, unknown>): ApiError {
  const detail = typeof body.detail === 'string' ? body.detail : `The hub responded with status ${response.status}.`
  const errors = Array.isArray(body.errors) ? (body.errors as FieldProblem[]) : []
  return new ApiError(response.status, String(body.code ?? 'unknown'), detail, errors, response.headers.get('x-request-id'), body)
}
