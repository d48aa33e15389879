import { Type, type StringOptions } from '@sinclair/typebox'
import { optionGroup } from '../../../core/shapes'

/** An http or https URL. */
export const HttpUrl = (description: string, options: StringOptions = {}) =>
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    pattern: '^https?://[^\\s/?#@\\u0000-\\u001f\\u007f]+(?:[/?#][^\\s\\u0000-\\u001f\\u007f]*)?$',
    'x-rule': 'must be an http:// or https:// URL without credentials.',
    description,
    ...options,
  })

/** The time zone of the times in messages. @param more a sentence about exceptions */
export const Timezone = (more = '') =>
  Type.Optional(
    Type.String({
      [optionGroup]: 'Message',
      format: 'timezone',
      maxLength: 100,
      description: `Time zone of the times in messages, such as \`Europe/Berlin\`. Default: UTC.${more && ` ${more}`}`,
    }),
  )
