import type { AdapterContext } from '../../../adapters/context'
import { AdapterError } from '../../../adapters/failure'
import { jsonOf, requestJson, responseError, retryAfterOf, type JsonResponse } from '../../../adapters/json-http'
import { splitUpload, UploadError } from '../../../core/x509/upload'
import { publicCtApis, type CtKind } from './kinds'

/** An API that finds certificates in CT logs. */
export interface CtSource {
  kind: Exclude<CtKind, 'off'>
  /** Null for the public API. */
  url: string | null
  token: string | null
}

/** Some of the certificates for a zone, in the order in which the API found them. */
interface CtPage {
  /** In DER form. */
  certificates: Uint8Array[]
  /** Where to continue. */
  cursor: string
  /** Whether all that the API knows now were read. */
  isLast: boolean
  /** When the API wants to be asked again (ms from now); null if it doesn’t say. */
  retryAfterMs: number | null
}

/**
 * Reads the next certificates for a zone and the names below it.
 * @param cursor of the previous page; empty at first
 * @throws AdapterError
 */
export const readCtPage = (context: AdapterContext, source: CtSource, zone: string, cursor: string): Promise<CtPage> =>
  (source.kind === 'certspotter' ? readCertspotter : readCrtSh)(context, source, zone, cursor)

/** A page of Cert Spotter has at most 100 issuances, each with a certificate of usually 2 kB. */
const limits = { maxBodyBytes: 4 * 1024 ** 2, totalMs: 60_000 }
const maxIdLength = 100
const maxPerPage = 1000

/** Cert Spotter: CT Search API, version 1. https://sslmate.com/help/reference/ct_search_api_v1 */
async function readCertspotter(context: AdapterContext, source: CtSource, zone: string, cursor: string): Promise<CtPage> {
  const query = new URLSearchParams({ domain: zone, include_subdomains: 'true' })
  // Older versions of the API return the certificate in `cert`.
  for (const field of ['dns_names', 'cert', 'cert_der']) query.append('expand', field)
  if (cursor !== '') query.set('after', cursor)
  const response = await get(context, source, `/v1/issuances?${query}`)
  const rows = listOf(response)
  const ids = rows.map(row => String(row.id ?? ''))
  const last = ids.at(-1) ?? cursor
  if (ids.some(id => id === '' || id.length > maxIdLength) || (rows.length > 0 && last === cursor)) throw unexpected()
  const certificates = rows.map(({ cert, cert_der }) => {
    const data = cert_der ?? (cert as { data?: unknown } | null | undefined)?.data
    if (typeof data !== 'string') throw unexpected()
    return new Uint8Array(Buffer.from(data, 'base64'))
  })
  return { certificates, cursor: last, isLast: rows.length === 0, retryAfterMs: retryAfterOf(response, context) }
}

/** Certificates that are downloaded one by one before the list is read again. */
const perList = 25

/** crt.sh: its list has no certificates, so that each is a request of its own. */
async function readCrtSh(context: AdapterContext, source: CtSource, zone: string, cursor: string): Promise<CtPage> {
  const found = new Set<number>()
  for (const name of [zone, `%.${zone}`]) {
    const query = new URLSearchParams({ q: name, output: 'json', exclude: 'expired', deduplicate: 'Y' })
    for (const { id } of listOf(await get(context, source, `/?${query}`), Infinity)) {
      if (!Number.isSafeInteger(id)) throw unexpected()
      if ((id as number) > Number(cursor)) found.add(id as number)
    }
  }
  const ids = [...found].sort((a, b) => a - b)
  const next = ids.slice(0, perList)
  const certificates: Uint8Array[] = []
  for (const id of next) certificates.push(certificateOf(await get(context, source, `/?d=${id}`)))
  return {
    certificates,
    cursor: String(next.at(-1) ?? cursor),
    isLast: next.length === ids.length,
    retryAfterMs: null,
  }
}

function certificateOf({ text }: JsonResponse): Uint8Array {
  try {
    return splitUpload(Buffer.from(text))[0]!
  } catch (error) {
    throw error instanceof UploadError ? unexpected() : error
  }
}

async function get(context: AdapterContext, { kind, url, token }: CtSource, path: string): Promise<JsonResponse> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const base = (url ?? publicCtApis[kind]).replace(/\/+$/, '')
  const response = await requestJson(context, { url: base + path, headers }, limits)
  if (response.status === 200) return response
  const message = (response.json as { message?: unknown } | undefined)?.message
  const text = typeof message === 'string' ? message : response.reason
  throw responseError(response, context, { text, credentials: 'API key', secrets: token === null ? [] : [token] })
}

function listOf(response: JsonResponse, max = maxPerPage): Record<string, unknown>[] {
  const list = jsonOf(response)
  const isList = Array.isArray(list) && list.length <= max && list.every(one => typeof one === 'object' && one !== null)
  if (!isList) throw unexpected()
  return list
}

const unexpected = () =>
  new AdapterError('invalid_response', 'The response is not what the API is documented to send.', null, true)
