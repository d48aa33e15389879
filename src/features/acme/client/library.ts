import { AsyncLocalStorage } from 'node:async_hooks'
import type * as AcmeLibrary from 'acme-client'
import type { AdapterContext } from '../../../adapters/context'
import { requestJson, type JsonResponse } from '../../../adapters/json-http'
import { AdapterError } from '../../../adapters/failure'
import type { GuardedRequest } from '../../../core/net/guarded-fetch'

/** What a call of the ACME library belongs to. */
interface Call {
  context: AdapterContext
  /** PEM certificates to trust instead of the public CAs. */
  ca: string | null
  /** The last response, because errors of the library contain only its text. */
  last: JsonResponse | null
}

/** The part of a request of the library that is sent. */
interface LibraryRequest {
  url?: string
  method?: string
  headers: { toJSON?(): Record<string, unknown> }
  data?: unknown
}

const calls = new AsyncLocalStorage<Call>()
let library: Promise<typeof AcmeLibrary> | undefined

// A chain of certificates with 100 names each is below 100 kB.
const limits = { maxBodyBytes: 262_144, totalMs: 30_000 }
const maxRedirects = 3

/**
 * Runs `run` with the ACME library, whose requests are sent by the guarded client of the context. The library is loaded at the first
 * call.
 */
export async function withLibrary<T>(
  context: AdapterContext,
  ca: string | null,
  run: (library: typeof AcmeLibrary, lastResponse: () => JsonResponse | null) => Promise<T>,
): Promise<T> {
  const loaded = await loadAcmeLibrary()
  const call: Call = { context, ca, last: null }
  return await calls.run(call, () => run(loaded, () => call.last))
}

/** Loads the ACME library, without its own HTTP client and retries. */
export const loadAcmeLibrary = (): Promise<typeof AcmeLibrary> => (library ??= load())

async function load() {
  const { default: loaded } = (await import('acme-client')) as unknown as { default: typeof AcmeLibrary }
  loaded.axios.defaults.adapter = send as never
  // Failed requests are repeated by jobs, which can wait for hours and survive a restart.
  Object.assign((loaded.axios.defaults as unknown as { acmeSettings: object }).acmeSettings, { retryMaxAttempts: 0 })
  return loaded
}

/** Sends a request of the library. Redirects are followed only for requests without a signature, which contains the URL. */
async function send(config: LibraryRequest) {
  const call = calls.getStore()
  if (!call) throw new Error('The ACME library sent a request outside of a call.')
  const method = (config.method ?? 'get').toUpperCase() as 'GET' | 'HEAD' | 'POST'
  const request: Omit<GuardedRequest, 'url'> = {
    method,
    headers: headersOf(config),
    ...(method === 'POST' && { body: String(config.data) }),
    ...(call.ca !== null && { ca: call.ca }),
  }
  let url = config.url ?? ''
  for (let redirects = 0; ; redirects++) {
    if (!url.startsWith('https://'))
      throw new AdapterError('invalid_response', 'The ACME server sent a URL that doesn’t start with https://.', null, false)
    const response = await requestJson(call.context, { ...request, url }, limits)
    call.last = response
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) return libraryResponse(response, config)
    if (method === 'POST' || redirects === maxRedirects || !URL.canParse(location, url))
      throw new AdapterError('invalid_response', 'The ACME server redirected the request.', null, false)
    url = new URL(location, url).href
  }
}

const headersOf = ({ headers }: LibraryRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers.toJSON?.() ?? {}).flatMap(([name, value]) =>
      value === null || value === undefined || value === false ? [] : [[name, String(value)]],
    ),
  )

const libraryResponse = ({ status, reason, headers, text, json }: JsonResponse, config: LibraryRequest) => ({
  data: json ?? text,
  status,
  statusText: reason,
  headers: Object.fromEntries(headers),
  config,
  request: null,
})
