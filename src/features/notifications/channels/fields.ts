import { Type, type StringOptions } from '@sinclair/typebox'

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
