import { hasInOrder } from '../core/regex'

/** Whether a text is as a pattern says, in which `*` stands for any number of characters; letters match in either case. */
export const matches = (text: string, pattern: string): boolean =>
  hasInOrder(text.toLowerCase(), pattern.toLowerCase().split('*'))
