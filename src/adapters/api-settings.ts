import { Type } from '@sinclair/typebox'
import { urlProblem } from './json-http'
import { destination, secret } from './settings-form'
import { invalid } from '../core/problem'
import { Line } from '../core/shapes'

/** Setting for the token of an HTTP API. */
export const apiToken = (description: string) =>
  Type.String({
    ...secret,
    minLength: 20,
    maxLength: 400,
    pattern: '^[\\x21-\\x7e]+$',
    'x-rule': 'must be printable ASCII without spaces.',
    description: `${description} Stored encrypted.`,
    writeOnly: true,
  })

/** Setting for the address of an HTTP API, which is {@link publicApi} unless there is a proxy. */
export const baseUrl = (publicApi: string) =>
  Type.Optional(
    Line({
      ...destination,
      maxLength: 1000,
      description: `Base URL of the API, if you use a proxy. Default: ${publicApi}.`,
      default: publicApi,
    }),
  )

/** Validates {@link baseUrl}. @throws Problem 422 */
export function validateBaseUrl({ base_url }: { base_url?: string }): void {
  const problem = base_url === undefined ? null : urlProblem('base_url', base_url)
  if (problem) throw invalid([problem])
}

/** The address of an HTTP API, without a trailing slash. */
export const apiUrl = ({ base_url }: { base_url?: string }, publicApi: string): string =>
  (base_url ?? publicApi).replace(/\/+$/, '')
