import { Type } from '@sinclair/typebox'
import { Line, Nullable, NullableInstant, Shape, Words } from '../../core/shapes'
import { accountStates } from './columns'

/** Name of an account. */
export const accountName = Line({ minLength: 1, maxLength: 100, description: 'Name, unique within the workspace.' })
const settings = (description: string) => Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), { description })

/** Fields of an account in responses. @param kinds all possible kinds; `listedAt` the path of their list */
export const accountFields = <const K extends readonly string[]>(kinds: K, listedAt: string) => ({
  kind: kindField(kinds, listedAt),
  name: Type.String({ description: 'Name, unique within the workspace.' }),
  settings: settings('Settings of the kind, without secrets.'),
  secrets_set: Type.Array(Type.String(), {
    description: 'Paths of the secret settings that are set. Their values are never returned.',
  }),
})

/** Fields to create an account with. */
export const accountInput = <const K extends readonly string[]>(kinds: K, listedAt: string) => ({
  kind: kindField(kinds, listedAt),
  name: accountName,
  settings: settings('Settings of the kind, including secrets.'),
})

/** Fields of an account that can be updated. */
export const accountPatch = {
  name: Type.Optional(accountName),
  settings: Type.Optional(
    settings('Settings to change, merged into the existing ones. Omitted secrets are kept; null removes an optional setting.'),
  ),
}

/** Fields with the result of the last check. @param failures codes of failures */
export const checkFields = <const F extends readonly string[]>(failures: F) => ({
  state: Words(accountStates, {
    description: 'Result of the last health check; `unknown` until the current settings have been checked.',
  }),
  detail: Nullable(Type.String(), {
    description: 'What the last successful health check found, such as the server version; null if there is nothing to report.',
  }),
  warnings: Type.Array(Type.String(), { description: 'Limitations found by the health check, such as missing permissions.' }),
  last_checked_at: NullableInstant({ description: 'When the last health check ran; null if never.' }),
  last_ok_at: NullableInstant({ description: 'When a health check last succeeded; null if never.' }),
  last_error: Nullable(
    Shape({
      code: Words(failures, { description: 'Error code.' }),
      detail: Type.String({ description: 'Human-readable message.' }),
    }),
    { description: 'Error of the last health check; null if it succeeded.' },
  ),
})

const kindField = <const K extends readonly string[]>(kinds: K, listedAt: string) =>
  Words(kinds, { description: `Kind. For the settings of each kind, see \`GET ${listedAt}\`.` })
