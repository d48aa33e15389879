import { serverMessage } from '../../../../adapters/json-http'
import { childOf, childrenOf, childText, parseXml, type XmlElement } from '../../../../adapters/xml'
import { RegistrarError, type RegistrarFailure } from '../../registrar'
import { ns, type EppServices } from './commands'

/** A response to a command that succeeded (RFC 5730 section 2.6). */
export interface EppResponse {
  /** 1000 to 1999. */
  code: number
  data: XmlElement | null
  extension: XmlElement | null
  /** Messages in the queue of the registrar; null if the response doesn’t include it. */
  queued: number | null
}

/** A greeting (RFC 5730 section 2.4). */
export interface EppGreeting extends EppServices {
  /** Name of the server. */
  server: string
}

/** @throws RegistrarError `invalid_response` */
export function greetingOf(message: string): EppGreeting {
  const greeting = childOf(rootOf(message), 'greeting')
  const menu = childOf(greeting, 'svcMenu')
  if (!menu) throw invalidResponse('has no greeting')
  const textsOf = (parent: XmlElement | null, name: string) => childrenOf(parent, name).map(one => one.text)
  if (!textsOf(menu, 'version').includes('1.0')) throw invalidResponse('offers no version of EPP that is supported')
  const languages = textsOf(menu, 'lang')
  const objects = textsOf(menu, 'objURI')
  if (!objects.includes(ns.domain)) throw invalidResponse('offers no domains')
  return {
    server: childText(greeting, 'svID') ?? 'EPP server',
    objects,
    extensions: textsOf(childOf(menu, 'svcExtension'), 'extURI'),
    language: languages.includes('en') ? 'en' : (languages[0] ?? 'en'),
  }
}

/**
 * @param id of the command
 * @param secrets that were sent, and may be echoed
 * @throws RegistrarError if the command failed, or if this is not its response
 */
export function responseOf(message: string, id: string, secrets: readonly string[]): EppResponse {
  const response = childOf(rootOf(message), 'response')
  const results = childrenOf(response, 'result')
  const codes = results.map(one => Number(/^[12]\d{3}$/.exec(one.attributes.get('code') ?? '')?.[0] ?? NaN))
  if (codes.length === 0 || codes.some(Number.isNaN)) throw invalidResponse('has no result')
  const echoed = childText(childOf(response, 'trID'), 'clTRID')
  if (echoed !== null && echoed !== id) throw invalidResponse('is for another command')
  const failed = codes.findIndex(code => code >= 2000)
  if (failed >= 0) throw failureOf(codes[failed]!, results[failed]!, secrets)
  const count = childOf(response, 'msgQ')?.attributes.get('count') ?? ''
  return {
    code: codes[0]!,
    data: childOf(response, 'resData'),
    extension: childOf(response, 'extension'),
    queued: /^\d{1,9}$/.test(count) ? Number(count) : null,
  }
}

/** The response is not what was expected. @param what as the end of a sentence */
export const invalidResponse = (what: string): RegistrarError =>
  new RegistrarError('invalid_response', `The response of the EPP server ${what}.`)

function rootOf(message: string): XmlElement {
  const root = parseXml(message)
  if (!root) throw invalidResponse('is not XML that can be read')
  if (root.name !== 'epp' || root.namespace !== ns.epp) throw invalidResponse('is not EPP')
  return root
}

/** Result codes of commands that failed (RFC 5730 section 3). Others are `refused`. */
const failures: Readonly<Record<number, RegistrarFailure>> = {
  2000: 'unsupported',
  2100: 'unsupported',
  2101: 'unsupported',
  2102: 'unsupported',
  2103: 'unsupported',
  2104: 'funds',
  2106: 'not_transferable',
  2200: 'unauthorized',
  2201: 'not_found',
  2202: 'auth_code',
  2300: 'not_transferable',
  2302: 'unavailable',
  2303: 'not_found',
  2307: 'unsupported',
  2400: 'unreachable',
  2500: 'unreachable',
  2501: 'unauthorized',
  2502: 'throttled',
}

/** When other sessions may have ended. */
const sessionRetryMs = 60_000

function failureOf(code: number, result: XmlElement, secrets: readonly string[]): RegistrarError {
  const reasons = childrenOf(result, 'extValue').flatMap(one => childText(one, 'reason') ?? [])
  const text = serverMessage([childText(result, 'msg') ?? '', ...reasons].filter(Boolean).join(': '), secrets)
  const detail = `${code}${text === '' ? '' : `: ${text}`}`
  const failure = failures[code] ?? 'refused'
  const retryAfterMs = failure === 'throttled' ? sessionRetryMs : null
  return new RegistrarError(failure, `The EPP server rejected the command (${detail}).`, {
    retryAfterMs,
    vendorCode: String(code),
  })
}
