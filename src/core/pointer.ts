/** Escapes a name as a reference token of a JSON pointer (RFC 6901 section 3). */
export const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
