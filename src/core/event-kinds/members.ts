import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../shapes'

// Members that several kinds have in common. Only keywords of JSON Schema itself: receivers compile these schemas too.

/** An instant: RFC 3339, UTC, milliseconds. */
export const At = (description: string) =>
  Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
  })

export const MaybeAt = (description: string) => Nullable(At('RFC 3339, UTC.'), { description })

/** A calendar date. */
export const On = (description: string) => Type.String({ format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description })

export const Text = (description: string) => Type.String({ minLength: 1, description })

export const MaybeText = (description: string) => Nullable(Type.String(), { description })

export const Texts = (description: string) => Type.Array(Type.String(), { description })

/** A TypeID of one prefix. */
export const IdOf = (prefix: string, description: string) =>
  Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, description })

export const DomainName = Type.String({
  minLength: 1,
  maxLength: 253,
  description: 'Domain name in lower case, A-labels (xn--…) where needed, no dot at the end.',
})

export const Seconds = (description: string) => Type.Integer({ minimum: 0, description })

/** An id and a name: enough to recognise a resource, the rest is a GET away. */
export const Named = (prefix: string, what: string) =>
  Shape({ id: IdOf(prefix, 'Its id.'), name: Type.String({ description: 'Its name.' }) }, { description: what })

/** Who did something, in the words of the audit log. */
export const Actor = (description: string) =>
  Shape(
    {
      type: Words(['user', 'token', 'ingest', 'system', 'operator'], { description: 'What kind of caller it was.' }),
      id: Text('Id of the user, the token or the source; for `system` the name of the job.'),
      name: MaybeText('Name of the user or label of the token.'),
    },
    { description },
  )
