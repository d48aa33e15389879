import { AwsV4Signer } from 'aws4fetch'
import { XMLParser } from 'fast-xml-parser'
import { isObject } from '../../../dns/octets'
import { requestJson, serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { redactSecrets } from '../../../adapters/redaction'
import { ProviderError, type AdapterContext } from './provider'
import { listOf } from './route53-records'

/** How to access the API. */
interface Route53Access {
  /** Without a trailing slash. */
  base_url: string
  access_key_id: string
  secret_access_key: string
  session_token?: string
}

/** The API rejected a change, and nothing was applied. */
export class Route53Refusal extends ProviderError {
  constructor(
    /** Such as `InvalidChangeBatch`. */
    readonly code: string,
    /** Complete, without secrets; an invalid batch has a message for each problem. */
    readonly reasons: readonly string[],
    message: string,
  ) {
    super('refused', message, null, false)
  }
}

type Element = Record<string, unknown>

/** Client of the API of Route 53, version 2013-04-01 (docs.aws.amazon.com/Route53/latest/APIReference). */
export class Route53Client {
  constructor(
    private readonly access: Route53Access,
    private readonly around: AdapterContext,
  ) {}

  /** @param root expected root element @throws ProviderError */
  async get(path: string, query: Record<string, string>, root: string): Promise<Element> {
    const search = new URLSearchParams(query)
    return this.#parsed(await this.#send('GET', search.size > 0 ? `${path}?${search}` : path), root)
  }

  /**
   * Sends a change.
   * @param body content of the root element, as XML
   * @throws Route53Refusal, or ProviderError `throttled`, `unauthorized`, `zone_not_found`: not applied; otherwise as `mayHaveApplied`
   * tells
   */
  async post(path: string, request: string, body: string, root: string): Promise<Element> {
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<${request} xmlns="${namespace}">${body}</${request}>`
    return this.#parsed(await this.#send('POST', path, xml), root)
  }

  async #send(method: 'GET' | 'POST', path: string, body?: string): Promise<JsonResponse> {
    const { base_url, access_key_id, secret_access_key, session_token } = this.access
    const signed = await new AwsV4Signer({
      method,
      url: `${base_url}/2013-04-01${path}`,
      headers: { accept: 'text/xml', ...(body !== undefined && { 'content-type': 'text/xml' }) },
      ...(body !== undefined && { body }),
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      ...(session_token !== undefined && { sessionToken: session_token }),
      service: 'route53',
      region: 'us-east-1',
      datetime: new Date(this.around.clock.now()).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    }).sign()
    const request = { url: signed.url.href, method, headers: signed.headers, ...(body !== undefined && { body }) }
    return await requestJson(this.around, request, limits)
  }

  /** Returns the root element of a successful response. */
  #parsed(response: JsonResponse, root: string): Element {
    const { status, text } = response
    if (status >= 300) throw this.#errorOf(response)
    const found = documentOf(text)
    if (!found) throw /^\s*<(?!html)/i.test(text) && !/<!DOCTYPE/i.test(text) ? truncated() : invalidFormat('is not XML')
    const element = found[root]
    if (!isObject(element)) throw invalidFormat(`has no ${root}`)
    return element
  }

  #errorOf(response: JsonResponse): ProviderError {
    const { status, text } = response
    const { code, reasons } = errorOf(documentOf(text))
    const secrets = this.#secrets()
    const shown = serverMessage([code, reasons.join('; ')].filter(Boolean).join(': '), secrets)
    const detail = shown === '' ? '.' : ` (${status}): ${shown}`
    if (code === 'PriorRequestNotComplete')
      return new ProviderError('throttled', `Route 53 is still applying an earlier change${detail}`, 1000, false)
    if (status === 429 || throttleCodes.has(code))
      return new ProviderError('throttled', `Route 53 rate limit exceeded${detail}`, null, false)
    if (code === 'RequestExpired' || /signature (expired|not yet current)/i.test(shown))
      return new ProviderError('unauthorized', `The clock of this server differs from the one of AWS${detail}`)
    if (status === 401 || status === 403 || credentialCodes.has(code))
      return new ProviderError('unauthorized', `AWS rejected the credentials${detail}`)
    if (code === 'NoSuchHostedZone') return new ProviderError('zone_not_found', 'Route 53 has no such hosted zone.')
    if (status >= 500) return new ProviderError('unreachable', `Route 53 responded with status ${status}${detail}`)
    if (code === '') return invalidFormat(`has status ${status} and no error code`)
    return new Route53Refusal(
      code,
      reasons.map(one => redactSecrets(one, secrets)),
      `Route 53 rejected the request${detail}`,
    )
  }

  #secrets(): string[] {
    const { secret_access_key, session_token } = this.access
    return [secret_access_key, ...(session_token === undefined ? [] : [session_token])]
  }
}

const namespace = 'https://route53.amazonaws.com/doc/2013-04-01/'

const lists = new Set(['ResourceRecordSet', 'ResourceRecord', 'HostedZone', 'Message'])
const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  // Numeric entities.
  htmlEntities: true,
  isArray: (name, path) => lists.has(name) && /(Sets|Records|Zones|Messages)\.\w+$/.test(String(path)),
})

/** Parses a document; null if it is not well-formed. Documents with their own entities are not accepted. */
function documentOf(text: string): Element | null {
  if (/<!DOCTYPE/i.test(text)) return null
  try {
    const parsed: unknown = parser.parse(text, true)
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** Error code and messages. An invalid batch has its own root element with a list of messages. */
function errorOf(document: Element | null): { code: string; reasons: string[] } {
  const batch = document?.InvalidChangeBatch
  if (isObject(batch)) {
    const messages = listOf(batch.Messages, 'Message')
    const texts = (messages.length > 0 ? messages : [batch.Message].flat()).filter(one => typeof one === 'string')
    return { code: 'InvalidChangeBatch', reasons: texts }
  }
  const root = document?.ErrorResponse
  const error = isObject(root) ? root.Error : null
  if (!isObject(error)) return { code: '', reasons: [] }
  const texts = [error.Message].flat().filter(one => typeof one === 'string')
  return { code: typeof error.Code === 'string' ? error.Code : '', reasons: texts }
}

const throttleCodes = new Set(['Throttling', 'ThrottlingException', 'RequestLimitExceeded', 'TooManyRequestsException'])
const credentialCodes = new Set([
  ...[
    'AccessDenied',
    'ExpiredToken',
    'ExpiredTokenException',
    'IncompleteSignature',
    'InvalidClientTokenId',
    'MissingAuthenticationToken',
  ],
  ...['OptInRequired', 'SignatureDoesNotMatch', 'UnrecognizedClientException'],
])

// 300 record sets with long values are about 2 MB.
const limits = { totalMs: 60_000, maxBodyBytes: 16 * 1024 * 1024 }

const truncated = () => new ProviderError('incomplete', 'The XML response of Route 53 is truncated.')
const invalidFormat = (what: string) => new ProviderError('invalid_response', `The response of Route 53 ${what}.`)
