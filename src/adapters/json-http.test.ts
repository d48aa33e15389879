import { expect, test } from 'bun:test'
import { FetchFailed, type FetchErrorClass } from '../core/net/fetch-failure'
import type { GuardedResponse } from '../core/net/guarded-fetch'
import type { AdapterContext } from './context'
import { AdapterError, mayHaveApplied } from './failure'
import { requestJson, jsonOf, responseError, retryAfterOf, serverMessage } from './json-http'

const timings = { dns_ms: 1, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 1 } as const
const failing = (errorClass: FetchErrorClass, more: object = {}): AdapterContext =>
  ({
    request: () => Promise.reject(new FetchFailed(errorClass, 'It failed.', { ...timings, ...more })),
  }) as unknown as AdapterContext
const answering = (text: string) =>
  ({
    request: () =>
      Promise.resolve({
        status: 200,
        headers: new Headers(),
        body: new TextEncoder().encode(text),
      } as unknown as GuardedResponse),
  }) as unknown as AdapterContext
const ask = (around: AdapterContext) => requestJson(around, { url: 'https://api.example/', method: 'PATCH' }, {})
const failureOf = async (request: Promise<unknown>) => {
  try {
    await request
  } catch (error) {
    return error instanceof AdapterError && error.ambiguous !== null
      ? [error.failure, error.ambiguous]
      : (error as { failure?: string }).failure
  }
  return null
}

test('a failed request tells whether it may have been processed', async () => {
  expect(await failureOf(ask(failing('dns')))).toEqual(['unreachable', false])
  expect(await failureOf(ask(failing('blocked_address')))).toEqual(['unreachable', false])
  // The certificate was refused, such as one that differs from the pinned one.
  expect(await failureOf(ask(failing('tls')))).toEqual(['unreachable', false])
  expect(await failureOf(ask(failing('connect')))).toEqual(['unreachable', false])
  expect(await failureOf(ask(failing('timeout')))).toEqual(['timeout', false])
  expect(await failureOf(ask(failing('timeout', { connect_ms: 3 })))).toEqual(['timeout', true])
  expect(await failureOf(ask(failing('connect', { connect_ms: 3 })))).toEqual(['unreachable', true])
  expect(await failureOf(ask(failing('connect', { connect_ms: 3, first_byte_ms: 4 })))).toEqual(['incomplete', true])
  expect(await failureOf(ask(failing('too_large', { connect_ms: 3, first_byte_ms: 4 })))).toEqual(['incomplete', true])
})

test('truncated JSON is distinguished from other content', async () => {
  const read = async (text: string) => jsonOf(await ask(answering(text)))
  expect(await read('{"a": [1]}')).toEqual({ a: [1] })
  expect(await failureOf(read('{"a": [1'))).toBe('incomplete')
  expect(await failureOf(read('<html>'))).toBe('invalid_response')
  expect(await failureOf(read(''))).toBe('invalid_response')
})

test('an error status tells whether a retry, other credentials, or another request helps', () => {
  const answered = (status: number, headers: Record<string, string> = {}) => {
    const error = responseError(
      { status, reason: '', headers: new Headers(headers), text: '', json: undefined },
      { clock: { now: () => 0 } as AdapterContext['clock'] },
      { text: 'no, k3y-k3y', credentials: 'token', secrets: ['k3y-k3y'] },
    )
    return [error.failure, error.retryAfterMs, mayHaveApplied(error), error.message]
  }
  expect(answered(401)).toEqual(['unauthorized', null, false, 'The token was rejected (401): no, [redacted]'])
  expect(answered(429, { 'retry-after': '7' }).slice(0, 3)).toEqual(['throttled', 7_000, false])
  expect(answered(503, { 'retry-after': '7' }).slice(0, 3)).toEqual(['throttled', 7_000, false])
  expect(answered(422)).toEqual(['refused', null, false, 'The remote server rejected the request (422): no, [redacted]'])
  expect(answered(503)).toEqual(['refused', null, true, 'The remote server responded with status 503: no, [redacted]'])
  expect(answered(302).slice(0, 3)).toEqual(['invalid_response', null, true])
})

test('a server message is one short line without secrets', () => {
  expect(serverMessage('no\r\n key \u001b[31m0123456789!\n', ['0123456789'])).toBe('no key [31m[redacted]!')
  expect(serverMessage('x'.repeat(501), [])).toBe(`${'x'.repeat(500)}…`)
})

test('a retry delay is at most one day', () => {
  const clock = { now: () => 0 } as AdapterContext['clock']
  expect(retryAfterOf({ headers: new Headers({ 'retry-after': '30' }) }, { clock })).toBe(30_000)
  expect(retryAfterOf({ headers: new Headers({ 'retry-after': '9'.repeat(400) }) }, { clock })).toBe(86_400_000)
  expect(retryAfterOf({ headers: new Headers() }, { clock })).toBeNull()
})
