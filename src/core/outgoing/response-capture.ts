import type { FetchTimings } from '../net/fetch-timings'
import type { GuardedResponse } from '../net/guarded-fetch'
import type { SignatureHeaders } from './sign'

/** A response to store. The body is the start that was kept. */
export interface CapturedResponse {
  headers: Record<string, string>
  body: string
  body_truncated: boolean
}

export const captured = (response: GuardedResponse, redact: (text: string) => string): CapturedResponse => ({
  headers: Object.fromEntries([...response.headers].map(([name, value]) => [name, redact(value)])),
  // PostgreSQL rejects NUL.
  body: redact(new TextDecoder().decode(response.body).replaceAll('\0', '')),
  body_truncated: response.bodyTruncated,
})

/** Redacts header values that a receiver echoed in its response. */
export function redactValues(text: string, headers: Record<string, string>): string {
  // A short value may appear by chance, and redacting it there would reveal it.
  const distinctive = Object.values(headers).filter(value => value.length >= 8)
  return distinctive.reduce((rest, value) => rest.replaceAll(value, '[redacted]'), text)
}

/** The signature headers for the log: the scheme, without the signature. */
export const redactSignatures = (signed: SignatureHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(signed).map(([name, value]: [string, string]) => [name, value.replaceAll(/([=,])[^ ]+/g, '$1[redacted]')]),
  )

export function roundedTimings(timings: FetchTimings): { durationMs: number; timings: Record<string, number | null> } {
  const tenths = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)
  return {
    durationMs: Math.round(timings.total_ms),
    timings: Object.fromEntries(Object.entries(timings).map(([phase, ms]) => [phase, tenths(ms)])),
  }
}
