import { pointerPart } from '../../../core/pointer'

/** Variables available in every template without declaring them. */
export const builtinVariables = {
  zone: 'The name of the zone, such as `example.com`.',
  host: 'The name the template is applied to, relative to the zone; `@` is the apex.',
  fqdn: 'The fully qualified name the template is applied to, such as `shop.example.com`.',
} as const

/** A piece of a text: literal text or a variable. */
export type Piece = { text: string } | { variable: string }

/** An unclosed placeholder, or one without a name. The message completes a sentence that starts with "must". */
export class PlaceholderError extends Error {
  override name = 'PlaceholderError'
}

/**
 * Splits a text at its placeholders, such as `{{mail_host}}`. Spaces inside the braces are ignored.
 * @throws PlaceholderError
 */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open < 0) break
    const close = text.indexOf('}}', open)
    if (close < 0) throw new PlaceholderError('close each {{ with }}')
    const variable = text.slice(open + 2, close).trim()
    if (variable === '' || /[{}]/.test(variable)) throw new PlaceholderError('have a variable name between {{ and }}')
    if (open > at) pieces.push({ text: text.slice(at, open) })
    pieces.push({ variable })
    at = close + 2
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

/** Names of the variables in a text. @throws PlaceholderError */
export const variablesIn = (text: string): string[] => piecesOf(text).flatMap(one => ('variable' in one ? [one.variable] : []))

/** All strings in a JSON value, with their pointers. */
export function textsIn(value: unknown, pointer = ''): { text: string; pointer: string }[] {
  if (typeof value === 'string') return [{ text: value, pointer }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => textsIn(one, `${pointer}/${pointerPart(name)}`))
}
