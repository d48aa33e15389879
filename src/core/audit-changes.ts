import type { TSchema } from '@sinclair/typebox'
import { secretFields, ignoredFields } from './audit'

/**
 * JSON Schema 2020-12 of the `changes` of an audit event: the changed fields before and after, with secrets as keyed hashes. Null
 * if no visible field changed.
 */
export function changesSchema(members: Readonly<Record<string, TSchema>>): Record<string, unknown> {
  const side = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => !ignoredFields.has(name))
        .map(([name, schema]) => [name, secretFields.has(name) ? tag : { anyOf: [plain(schema), { type: 'null' }] }]),
    ),
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: ['object', 'null'],
    additionalProperties: false,
    required: ['before', 'after'],
    properties: { before: side, after: side },
  }
}

const tag = {
  type: ['string', 'null'],
  pattern: '^hmac:[0-9a-f]{16}$',
  description: 'Keyed hash of a secret. Equal secrets have equal hashes.',
}

/** Strips the ids, examples and extensions that a schema has as a component of the OpenAPI document. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const own = Object.entries(value).filter(([name]) => name !== '$id' && name !== 'examples' && !name.startsWith('x-'))
  return Object.fromEntries(own.map(([name, inner]) => [name, plain(inner)]))
}
