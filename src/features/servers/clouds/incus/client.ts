import { jsonOf, proxiedError, requestJson, serverMessage } from '../../../../adapters/json-http'
import { isObject } from '../../../../dns/octets'
import { CloudError, type AdapterContext, type CloudFailure } from '../cloud'

/** How to access the API. */
interface IncusAccess {
  url: string
  project: string
  /** SHA-256 of the certificate of the server; undefined for certificates of public CAs. */
  pin: string | undefined
  /** Absent for requests that need no authentication. */
  clientCertificate?: { cert: string; key: string }
  /** Other secrets that are sent. */
  secrets?: readonly string[]
  /** How long a request may take, in milliseconds; absent for the default. */
  totalMs?: number
}

/** What an accepted request returns: a result, or the id of an operation in the background. */
export type Accepted = { metadata: unknown; operation: null } | { metadata: null; operation: string }

/** How far an operation is. */
type OperationState =
  | { state: 'running'; progress: number | null; detail: string | null }
  | { state: 'done' }
  // The server forgets operations 5 seconds after their end.
  | { state: 'gone' }
  | { state: 'failed'; error: OperationFailed }

/** An operation that failed, as the server reported it. */
export class OperationFailed extends CloudError {}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Client of the REST API 1.0 of Incus (linuxcontainers.org/incus/docs/main/rest-api) and of LXD, which it was forked from. */
export class IncusClient {
  constructor(
    private readonly access: IncusAccess,
    private readonly around: AdapterContext,
  ) {}

  /** @throws CloudError; `not_found` for status 404 */
  async get(path: string): Promise<unknown> {
    return (await this.send('GET', path)).metadata
  }

  /** Reads an object; null if it doesn’t exist. */
  async find(path: string): Promise<Record<string, unknown> | null> {
    try {
      return objectOf(await this.get(path))
    } catch (error) {
      if (error instanceof CloudError && error.failure === 'not_found') return null
      throw error
    }
  }

  /** Reads a list of objects. */
  async list(path: string): Promise<Record<string, unknown>[]> {
    const rows = await this.get(path)
    if (Array.isArray(rows) && rows.every(isObject)) return rows
    throw invalidResponse('is not a list of objects')
  }

  /**
   * Sends a request for the project.
   * @param totalMs how long it may take, in milliseconds; undefined for the default
   * @throws CloudError as `mayHaveApplied` tells
   */
  async send(method: Method, path: string, body?: object, totalMs?: number): Promise<Accepted> {
    return acceptedOf(await this.#request(method, path, body, null, totalMs))
  }

  /**
   * Reads an object and replaces parts of it, unless it was changed by others in between. Then, it tries once more.
   * @param bodyOf the request for what was read, which is null if it doesn’t exist; null if there is nothing to change
   * @returns null if there was nothing to change
   * @throws CloudError `locked` if it was changed again
   */
  async update(
    method: 'PUT' | 'PATCH',
    path: string,
    bodyOf: (current: Record<string, unknown> | null) => object | null | Promise<object | null>,
  ): Promise<Accepted | null> {
    for (let tries = 0; tries < 2; tries++) {
      const read = await this.#request('GET', path)
      const isGone = read.error !== null && requestError(codeOf(read), read.error.text).failure === 'not_found'
      const body = await bodyOf(isGone ? null : objectOf(acceptedOf(read).metadata))
      if (body === null) return null
      const sent = await this.#request(method, path, body, read.etag)
      if (codeOf(sent) !== preconditionFailed) return acceptedOf(sent)
    }
    throw new CloudError('locked', 'It is being changed by others.', null, false)
  }

  /** Looks how far an operation is, and waits up to a second for its end. */
  async operation(id: string): Promise<OperationState> {
    // What this returns for an operation that failed or isn’t finished depends on the version.
    await this.#request('GET', `/operations/${id}/wait?timeout=1`)
    const { status, error, metadata } = await this.#request('GET', `/operations/${id}`)
    if (error && status === 404) return { state: 'gone' }
    if (error) throw requestError(codeOf({ status, error }), error.text)
    const { status_code: code, err, metadata: details } = objectOf(metadata)
    if (typeof code !== 'number') throw invalidResponse('has an operation without a status')
    if (code >= 100 && code < 200) return { state: 'running', ...progressOf(details) }
    if (code < 400) return { state: 'done' }
    return {
      state: 'failed',
      error: operationError(this.#shown(typeof err === 'string' && err !== '' ? err : 'It was canceled.')),
    }
  }

  /** Ids of the operations that are creating an instance, or will. */
  async creationsOf(instance: string): Promise<string[]> {
    const { pending, running } = objectOf(await this.get('/operations?recursion=1'))
    return [pending, running]
      .flat()
      .filter(isObject)
      .flatMap(({ id, description, resources }) => {
        const { instances } = isObject(resources) ? resources : {}
        const isAbout = Array.isArray(instances) && instances.some(path => nameIn(String(path)) === instance)
        return isAbout && description === 'Creating instance' && typeof id === 'string' ? [id] : []
      })
  }

  async #request(
    method: Method,
    path: string,
    body?: object,
    etag: string | null = null,
    totalMs: number = this.access.totalMs ?? limits.totalMs,
  ): Promise<Answer> {
    const { url, project, pin, clientCertificate } = this.access
    const response = await requestJson(
      this.around,
      {
        url: `${url.replace(/\/+$/, '')}/1.0${path}${path.includes('?') ? '&' : '?'}project=${encodeURIComponent(project)}`,
        method,
        headers: {
          accept: 'application/json',
          ...(body && { 'content-type': 'application/json' }),
          ...(etag !== null && { 'if-match': etag }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ...(pin !== undefined && { pin }),
        ...(clientCertificate && { clientCertificate }),
      },
      { ...limits, totalMs },
    )
    const { status, json } = response
    const read = { status, etag: response.headers.get('etag') }
    const { type, error, error_code, metadata, operation } = isObject(json) ? json : {}
    const isError = type === 'error' && typeof error === 'string'
    if (status >= 400 && (!isError || status === 429 || status === 503))
      throw proxiedError(response, this.around, {
        text: isError ? error : 'no message',
        credentials,
        secrets: this.#secrets(),
      })
    jsonOf(response)
    if (isError)
      return { ...read, error: { code: Number(error_code), text: this.#shown(error) }, metadata: null, operation: null }
    const id = typeof operation === 'string' ? (/^\/1\.0\/operations\/([\w-]{1,100})/.exec(operation)?.[1] ?? null) : null
    if (type === 'sync') return { ...read, error: null, metadata, operation: null }
    if (type === 'async' && id !== null) return { ...read, error: null, metadata: null, operation: id }
    throw invalidResponse('was not sent by Incus or LXD')
  }

  #shown(text: string): string {
    return serverMessage(text, this.#secrets())
  }

  #secrets(): string[] {
    const { clientCertificate, secrets = [] } = this.access
    return [...(clientCertificate ? [clientCertificate.key] : []), ...secrets]
  }
}

/** A response. Its error can have status 200. */
interface Answer {
  status: number
  etag: string | null
  error: { code: number; text: string } | null
  metadata: unknown
  operation: string | null
}

const preconditionFailed = 412

/** The name in a path such as `/1.0/instances/web-1?project=default`. */
const nameIn = (path: string): string => path.split('?')[0]!.slice(path.lastIndexOf('/') + 1)

const codeOf = ({ status, error }: Pick<Answer, 'status' | 'error'>): number =>
  status >= 400 || error === null ? status : error.code

/** @throws CloudError for an error */
function acceptedOf(answer: Answer): Accepted {
  const { error, metadata, operation } = answer
  if (error !== null) throw requestError(codeOf(answer), error.text)
  return operation === null ? { metadata, operation } : { metadata: null, operation }
}

const credentials = 'client certificate'
const limits = { totalMs: 30_000, maxBodyBytes: 16 * 1024 * 1024 }

/** What messages mean. Incus reports most errors with status 500. */
const reasons: [RegExp, CloudFailure][] = [
  // Another member of its cluster, or an operation that is being forgotten: it is looked for at the member that it ran on.
  [/missing event connection/i, 'unreachable'],
  // The state of an instance that is just starting or stopping.
  [/invalid PID/i, 'incomplete'],
  [/not authorized|have permissions?\b/i, 'unauthorized'],
  [/UNIQUE constraint|already exists|already in use/i, 'already_exists'],
  [/is protected/i, 'protected'],
  [/failed shutting down|deadline exceeded|timed? ?out/i, 'timeout'],
  [/busy running|already running a|in progress/i, 'locked'],
  [/reached maximum|would exceed|exceeds? .*limit|no space left|not enough (?:space|memory)|out of space/i, 'quota'],
  [/not found|doesn.t exist|does not exist|image not provided/i, 'not_found'],
  [/invalid|must be|must not|not allowed|not supported|cannot|can.t|is running|isn.t running|not running|is already/i, 'invalid'],
]

const failureOf = (text: string): CloudFailure | undefined => reasons.find(([pattern]) => pattern.test(text))?.[1]

function requestError(status: number, text: string): CloudError {
  if (status === 401 || status === 403)
    return new CloudError('unauthorized', `The ${credentials} was rejected (${status}): ${text}`)
  const failure = failureOf(text) ?? (status === 404 ? 'not_found' : status === 409 ? 'already_exists' : null)
  if (failure === 'unauthorized') return new CloudError(failure, `The ${credentials} was rejected (${status}): ${text}`)
  const message = `The server rejected the request (${status}): ${text}`
  if (failure !== null || status < 500) return new CloudError(failure ?? 'invalid', message, null, false)
  return new CloudError('refused', message)
}

const operationError = (text: string): OperationFailed =>
  new OperationFailed(failureOf(text) ?? 'refused', `The operation failed: ${text}`, null, false)

/** The progress of downloads and unpacking, such as `rootfs: 45% (12MB/s)`. */
function progressOf(details: unknown): { progress: number | null; detail: string | null } {
  const texts = isObject(details) ? Object.entries(details).filter(([key]) => key.endsWith('_progress')) : []
  const text = texts.map(([, value]) => value).find(value => typeof value === 'string')
  const percent = /(\d{1,3})%/.exec(text ?? '')?.[1]
  return { progress: percent === undefined ? null : Math.min(100, Number(percent)), detail: text ?? null }
}

export function objectOf(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value
  throw invalidResponse('is not an object')
}

const invalidResponse = (what: string) => new CloudError('invalid_response', `The response ${what}.`)
