import { Type } from '@sinclair/typebox'

/** An http or https address. */
export const HttpAddress = (description: string, fallback?: string) =>
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    pattern: '^https?://[^\\s/?#@\\u0000-\\u001f\\u007f]+(?:[/?#][^\\s\\u0000-\\u001f\\u007f]*)?$',
    'x-rule': 'must be an http:// or https:// address without a login.',
    ...(fallback !== undefined && { default: fallback }),
    description,
  })
