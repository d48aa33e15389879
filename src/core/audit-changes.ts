import type { TSchema } from '@sinclair/typebox'
import { secretMembers, silentMembers } from './audit'

/**
 * JSON Schema 2020-12 of the `changes` of an entry whose resource has these members: those that differ, before and after, secrets
 * as keyed tags; null where nothing that is shown differs.
 */
export function changesSchema(members: Readonly<Record<string, TSchema>>): Record<string, unknown> {
  const side = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => !silentMembers.has(name))
        .map(([name, schema]) => [name, secretMembers.has(name) ? tag : { anyOf: [plain(schema), { type: 'null' }] }]),
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

const tag = { type: ['string', 'null'], pattern: '^hmac:[0-9a-f]{16}$', description: 'A keyed tag: tells whether two are equal.' }

/** Keywords of JSON Schema alone, without the names and examples that a schema has as a component of the API description. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const own = Object.entries(value).filter(([name]) => name !== '$id' && name !== 'examples' && !name.startsWith('x-'))
  return Object.fromEntries(own.map(([name, inner]) => [name, plain(inner)]))
}
