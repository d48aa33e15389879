import { hasInOrder } from '../core/regex'

/** Whether a text matches a pattern: `*` matches any number of characters, letters match case-insensitively. */
export const matches = (text: string, pattern: string): boolean =>
  hasInOrder(text.toLowerCase(), pattern.toLowerCase().split('*'))
