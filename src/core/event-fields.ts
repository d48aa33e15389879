import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from './shapes'

// Fields shared by several kinds. Use only standard JSON Schema keywords, because receivers compile these schemas too.

/** An instant: RFC 3339, UTC, milliseconds. */
export const At = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
  })

export const MaybeAt = (description: string) => Nullable(At('RFC 3339, UTC.'), { description })

/** A calendar date. */
export const CalendarDate = (description: string) =>
  Type.String({ format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description })

export const Text = (description: string) => Type.String({ minLength: 1, description })

export const MaybeText = (description: string) => Nullable(Type.String(), { description })

export const Texts = (description: string) => Type.Array(Type.String(), { description })

/** A TypeID with a given prefix. */
export const IdOf = (prefix: string, description: string) =>
  Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, description })

export const DomainName = Type.String({
  minLength: 1,
  maxLength: 253,
  description: 'Domain name in lowercase, with A-labels (xn--…) if needed, without a trailing dot.',
})

export const Seconds = (description: string) => Type.Integer({ minimum: 0, description })

/** ID and name of a resource. */
export const Named = (prefix: string, what: string) =>
  Shape(
    { id: IdOf(prefix, 'ID of the resource.'), name: Type.String({ description: 'Name of the resource.' }) },
    { description: what },
  )

/** The actor of a change, as in the audit log. */
export const Actor = (description: string) =>
  Shape(
    {
      type: Words(['user', 'token', 'ingest', 'system', 'operator'], { description: 'Type of the actor.' }),
      id: Text('ID of the user, token, or source; for `system`, the name of the job.'),
      name: MaybeText('Name of the actor; null if it has none.'),
    },
    { description },
  )
