import { requestJson, type JsonResponse } from '../../../adapters/json-http'
import { AdapterError } from '../../../adapters/failure'
import { parseMoney, type Money } from '../../../core/money'
import type { FetchLimits, GuardedRequest } from '../../../core/net/guarded-fetch'
import { canonicalHost } from '../../../core/net/host-name'
import { oneLine } from '../../../core/one-line'
import { registryDate } from '../../registry/registry-date'
import { RegistrarError, type AdapterContext, type RegistrarFailure } from '../registrar'

/** A page of 1,000 domains with labels is about 500 kB. */
const defaultLimits: FetchLimits = { totalMs: 60_000, maxBodyBytes: 8 * 1024 * 1024 }

/** Sends a request to the API of a registrar. Returns responses with any status. @throws RegistrarError */
export async function requestRegistrar(
  around: AdapterContext,
  request: GuardedRequest,
  limits: FetchLimits = defaultLimits,
): Promise<JsonResponse> {
  try {
    return await requestJson(around, request, limits)
  } catch (error) {
    throw registrarErrorOf(error)
  }
}

/** Converts an error of the adapter kit. Others are returned as they are. */
export function registrarErrorOf(error: unknown): unknown {
  if (!(error instanceof AdapterError) || error instanceof RegistrarError) return error
  const { failure, message, retryAfterMs, ambiguous } = error as AdapterError<RegistrarFailure>
  return new RegistrarError(failure, message, { sent: ambiguous ?? true, retryAfterMs })
}

/** A domain name in A-labels and lowercase; null if it is none. */
export function nameOf(value: unknown): string | null {
  const name = typeof value === 'string' ? canonicalHost(value.replace(/\.$/, '')) : null
  return name !== null && name.includes('.') && !/[\d:]$/.test(name) ? name : null
}

/** A flag that registrars report as 1, "1", true, "yes", or "on"; null if it is none. */
export function flagOf(value: unknown): boolean | null {
  const text = String(value).toLowerCase()
  if (['1', 'true', 'yes', 'on'].includes(text)) return true
  return ['0', 'false', 'no', 'off'].includes(text) ? false : null
}

/** A price such as `9.73`, `1,034.56`, or 9.73; null if it is none. */
export function moneyOf(value: unknown, currency: string): Money | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const text = typeof value === 'number' ? withoutNoise(value) : value.trim()
  return parseMoney(/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text, currency)
}

/** Binary fractions of sums, such as 22.320000000000004, are not more precise than 22.32. */
const withoutNoise = (value: number): string => String(Number(value.toFixed(6)))

/** Text of a registrar as a sentence of limited length. */
export const sentenceOf = (text: string): string => `${oneLine(text, maxSentence).replace(/\.$/, '')}.`

const maxSentence = 200

/** A date of a registrar (ms UTC); null if it is none. Times without a time zone are in UTC. */
export const dateOf = (value: unknown): number | null => (typeof value === 'string' ? registryDate(value) : null)
