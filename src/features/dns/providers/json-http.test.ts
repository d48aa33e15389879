import { expect, test } from 'bun:test'
import { FetchFailed, type FetchErrorClass } from '../../../core/net/fetch-failure'
import type { GuardedResponse } from '../../../core/net/guarded-fetch'
import { askJson, jsonOf, saidBy, Unanswered, waitOf } from './json-http'
import type { Surroundings } from './provider'

const timings = { dns_ms: 1, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 1 } as const
const failing = (errorClass: FetchErrorClass, more: object = {}): Surroundings =>
  ({
    request: () => Promise.reject(new FetchFailed(errorClass, 'It failed.', { ...timings, ...more })),
  }) as unknown as Surroundings
const answering = (text: string) =>
  ({
    request: () =>
      Promise.resolve({
        status: 200,
        headers: new Headers(),
        body: new TextEncoder().encode(text),
      } as unknown as GuardedResponse),
  }) as unknown as Surroundings
const ask = (around: Surroundings) => askJson(around, { url: 'https://api.example/', method: 'PATCH' }, {})
const failureOf = async (asked: Promise<unknown>) => {
  try {
    await asked
  } catch (error) {
    return error instanceof Unanswered ? [error.failure, error.sent] : (error as { failure?: string }).failure
  }
  return null
}

test('what did not come tells whether the request may have arrived', async () => {
  expect(await failureOf(ask(failing('dns')))).toEqual(['unreachable', false])
  expect(await failureOf(ask(failing('blocked_address')))).toEqual(['unreachable', false])
  expect(await failureOf(ask(failing('connect')))).toEqual(['unreachable', false])
  expect(await failureOf(ask(failing('timeout')))).toEqual(['timeout', false])
  expect(await failureOf(ask(failing('timeout', { connect_ms: 3 })))).toEqual(['timeout', true])
  expect(await failureOf(ask(failing('connect', { connect_ms: 3 })))).toEqual(['unreachable', true])
  expect(await failureOf(ask(failing('connect', { connect_ms: 3, first_byte_ms: 4 })))).toEqual(['incomplete', true])
  expect(await failureOf(ask(failing('too_large', { connect_ms: 3, first_byte_ms: 4 })))).toEqual(['incomplete', true])
})

test('JSON that ends early is told from what is no JSON', async () => {
  const read = async (text: string) => jsonOf(await ask(answering(text)))
  expect(await read('{"a": [1]}')).toEqual({ a: [1] })
  expect(await failureOf(read('{"a": [1'))).toBe('incomplete')
  expect(await failureOf(read('<html>'))).toBe('invalid_answer')
  expect(await failureOf(read(''))).toBe('invalid_answer')
})

test('what a server said is one short line without secrets', () => {
  expect(saidBy('no\r\n key \u001b[31m0123456789!\n', ['0123456789'])).toBe('no key [31m[redacted]!')
  expect(saidBy('x'.repeat(501), [])).toBe(`${'x'.repeat(500)}…`)
})

test('a wait is a day at most', () => {
  const clock = { now: () => 0 } as Surroundings['clock']
  expect(waitOf({ headers: new Headers({ 'retry-after': '30' }) }, { clock })).toBe(30_000)
  expect(waitOf({ headers: new Headers({ 'retry-after': '9'.repeat(400) }) }, { clock })).toBe(86_400_000)
  expect(waitOf({ headers: new Headers() }, { clock })).toBeNull()
})
