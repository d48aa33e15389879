import { serverMessage, type JsonResponse } from '../../../adapters/json-http'
import { childOf, childrenOf, parseXml, type XmlElement } from '../../../adapters/xml'
import { RegistrarError, type AdapterContext, type RegistrarFailure } from '../registrar'
import { requestRegistrar } from './responses'

/** How to access the API. */
interface NamecheapAccess {
  url: string
  api_user: string
  api_key: string
  username: string
  client_ip: string
}

const namespace = 'http://api.namecheap.com/xml.response'

/** Client of the XML API of Namecheap (namecheap.com/support/api). Errors have the status 200. */
export class NamecheapClient {
  constructor(
    private readonly access: NamecheapAccess,
    private readonly around: AdapterContext,
  ) {}

  /** Runs a command. @returns the element with its results @throws RegistrarError */
  async run(command: string, parameters: Record<string, string> = {}): Promise<XmlElement> {
    const { url, api_user, api_key, username, client_ip } = this.access
    // As a form, because addresses are often logged.
    const response = await requestRegistrar(this.around, {
      url,
      method: 'POST',
      headers: { accept: 'text/xml', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        ...{ ApiUser: api_user, ApiKey: api_key, UserName: username, ClientIp: client_ip },
        Command: `namecheap.${command}`,
        ...parameters,
      }).toString(),
    })
    const root = this.#rootOf(response)
    // The rest of an error response is meaningless.
    if (root.attributes.get('Status') !== 'OK') throw this.#errorOf(root)
    const result = childOf(root, 'CommandResponse')
    if (!result) throw invalidResponse('has no result')
    return result
  }

  #rootOf({ status, text }: JsonResponse): XmlElement {
    // 405 means that there were too many requests.
    if (status === 405 || status === 429)
      throw new RegistrarError('throttled', `Namecheap limits the rate of requests (${status}).`, { retryAfterMs })
    if (status >= 500) throw new RegistrarError('unreachable', `Namecheap responded with status ${status}.`)
    const root = parseXml(text)
    if (root?.name === 'ApiResponse' && root.namespace === namespace) return root
    if (!root && /^\s*(<\?xml[^<>]*>\s*)?<ApiResponse\b/.test(text))
      throw new RegistrarError('incomplete', 'The XML response of Namecheap is truncated.')
    throw invalidResponse(`with status ${status} is not of its API`)
  }

  #errorOf(root: XmlElement): RegistrarError {
    const errors = childrenOf(childOf(root, 'Errors'), 'Error')
    const vendorCode = errors[0]?.attributes.get('Number')?.slice(0, 20) ?? null
    const text = serverMessage(errors.map(one => one.text).join('; '), [this.access.api_key])
    const detail = `${vendorCode ?? 'without a number'}${text === '' ? '' : `: ${text}`}`
    const failure = failures[vendorCode ?? ''] ?? 'refused'
    if (failure === 'throttled')
      return new RegistrarError(failure, `Namecheap limits the rate of requests (${detail}).`, { retryAfterMs, vendorCode })
    return new RegistrarError(failure, `Namecheap rejected the request (${detail}).`, { vendorCode })
  }
}

/** The shortest of its limits is for a minute. */
const retryAfterMs = 60_000

/** Errors by number (namecheap.com/support/api/error-codes). Others are `refused`. */
const failures: Readonly<Record<string, RegistrarFailure>> = {
  __proto__: null!,
  // API user, key, or address of the hub.
  1010101: 'unauthorized',
  1010102: 'unauthorized',
  1011101: 'unauthorized',
  1011102: 'unauthorized',
  1011150: 'unauthorized',
  1016103: 'unauthorized',
  1017150: 'unauthorized',
  4011103: 'unauthorized',
  // Domains of other accounts, and those that Namecheap doesn’t have.
  2016166: 'not_found',
  2019166: 'not_found',
  // Its own servers, and those of registries.
  3031510: 'unreachable',
  3050900: 'unreachable',
  5050900: 'unreachable',
  500000: 'throttled',
}

/** The response is not what was expected. @param what as the end of a sentence */
export const invalidResponse = (what: string) => new RegistrarError('invalid_response', `The response of Namecheap ${what}.`)

/** A result of a command. @throws RegistrarError `invalid_response` */
export function resultOf(response: XmlElement, element: string): XmlElement {
  const result = childOf(response, element)
  if (!result) throw invalidResponse(`has no ${element}`)
  return result
}
