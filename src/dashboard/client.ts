import { systemClock } from '../core/clock'
import type { FieldProblem } from '../core/problem'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
export type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

/** A request to the API: its path behind `/v1`, such as `/monitors`. */
export interface Call {
  method: Method
  path: string
  query?: Query
  /** Sent as JSON; a string is sent as it is, of the type `contentType`. */
  body?: unknown
  contentType?: string
  /** Version that is changed; another one by now is 412. */
  ifMatch?: number
  /** Of the answer; JSON when absent. */
  accept?: string
}

/** A page of a list. */
export interface Page<Row> {
  data: Row[]
  pagination: { has_more: boolean; next_cursor: string | null; total?: number }
}

/** An answer of the API that is an error (RFC 9457). Its message is made for people. */
export class Refused extends Error {
  override name = 'Refused'
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    /** What is wrong with which member: `#/schedule`, `#/query/status`. */
    readonly errors: readonly FieldProblem[],
    readonly requestId: string | null,
    /** The whole answer, for members that one code has beside the others. */
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(detail)
  }
}

/** What was called and what came of it, for «as API call». */
export interface Called extends Call {
  /** Milliseconds since the epoch. */
  at: number
  /** HTTP status; 0 when the hub was not reached. */
  status: number
}

const mostRemembered = 60
const listeners = new Set<() => void>()
let remembered: readonly Called[] = []

/** The calls of this tab, newest first. */
export const calls = {
  now: () => remembered,
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

const workspaceKey = 'bailiwick.workspace'

/** The workspace that this tab looks at; null is the one last used. */
export const tabWorkspace = (): string | null => sessionStorage.getItem(workspaceKey)

export function chooseTabWorkspace(id: string | null): void {
  if (id === null) sessionStorage.removeItem(workspaceKey)
  else sessionStorage.setItem(workspaceKey, id)
}

/**
 * Calls the API with the session's cookie. 204 gives undefined; an `accept` other than JSON gives the text.
 * @throws Refused for each answer that is no success, also with status 0 when the hub is not reached
 */
export async function call<Answer = unknown>(asked: Call, signal?: AbortSignal): Promise<Answer> {
  const workspace = tabWorkspace()
  const { method, body } = asked
  const headers: Record<string, string> = { accept: asked.accept ?? 'application/json' }
  if (method !== 'GET') headers['bailiwick-csrf'] = '1'
  if (body !== undefined) headers['content-type'] = asked.contentType ?? 'application/json'
  if (workspace) headers['bailiwick-workspace'] = workspace
  if (asked.ifMatch !== undefined) headers['if-match'] = `"${asked.ifMatch}"`
  let answer: Response
  try {
    answer = await fetch(addressOf(asked), {
      method,
      headers,
      signal: signal ?? null,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    remember(asked, 0)
    throw new Refused(0, 'not_reached', 'The hub was not reached. Is it running, and is there a way to it?', [], null, {})
  }
  remember(asked, answer.status)
  const text = await answer.text()
  const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '')
  if (!answer.ok) throw refused(answer, isJson ? (JSON.parse(text) as Record<string, unknown>) : {})
  if (answer.status === 204 || text === '') return undefined as Answer
  return (isJson && asked.accept === undefined ? JSON.parse(text) : text) as Answer
}

/** The path and query of a call, from the root: `/v1/monitors?status=down`. */
export function addressOf({ path, query }: Pick<Call, 'path' | 'query'>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue
    search.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = search.toString()
  return `/v1${path}${text && `?${text}`}`
}

/** The call as a command for a shell. The token is a variable: this page knows none. */
export function asCurl(asked: Call, origin: string = location.origin): string {
  const parts = [`curl${asked.method === 'GET' ? '' : ` -X ${asked.method}`} '${origin}${addressOf(asked)}'`]
  parts.push(`-H "Authorization: Bearer $TOKEN"`)
  if (asked.ifMatch !== undefined) parts.push(`-H 'If-Match: "${asked.ifMatch}"'`)
  if (asked.accept !== undefined) parts.push(`-H 'Accept: ${asked.accept}'`)
  if (asked.body !== undefined) {
    parts.push(`-H 'Content-Type: ${asked.contentType ?? 'application/json'}'`)
    const text = typeof asked.body === 'string' ? asked.body : JSON.stringify(masked(asked.body), null, 2)
    parts.push(`--data-binary '${text.replaceAll("'", `'\\''`)}'`)
  }
  return parts.join(' \\\n  ')
}

// What a person typed in as a secret is not to stand on the screen because they asked how to do it by the API.
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

function remember(asked: Call, status: number): void {
  remembered = [{ ...asked, at: systemClock.now(), status }, ...remembered].slice(0, mostRemembered)
  for (const listener of listeners) listener()
}

function refused(answer: Response, body: Record<string, unknown>): Refused {
  const detail = typeof body.detail === 'string' ? body.detail : `The hub answered ${answer.status}.`
  const errors = Array.isArray(body.errors) ? (body.errors as FieldProblem[]) : []
  return new Refused(answer.status, String(body.code ?? 'unknown'), detail, errors, answer.headers.get('x-request-id'), body)
}
