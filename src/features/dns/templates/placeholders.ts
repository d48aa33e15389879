import { pointerPart } from '../../../core/pointer'

/** Names that every template may use without declaring them. */
export const builtinVariables = {
  zone: 'The name of the zone, such as `example.com`.',
  host: 'The name within the zone at which the template is applied; `@` is the apex.',
  fqdn: 'The whole name at which the template is applied, such as `shop.example.com`.',
} as const

/** A piece of a text: as it stands, or what a variable is put for. */
export type Piece = { text: string } | { variable: string }

/** A placeholder that is not closed or has no name; the message is a rule, to follow "must". */
export class PlaceholderError extends Error {
  override name = 'PlaceholderError'
}

/**
 * Cuts a text at its placeholders, such as `{{mail_host}}`; blanks within the braces mean nothing.
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
    if (variable === '' || /[{}]/.test(variable)) throw new PlaceholderError('have the name of a variable within {{ and }}')
    if (open > at) pieces.push({ text: text.slice(at, open) })
    pieces.push({ variable })
    at = close + 2
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

/** Names of the variables in a text. @throws PlaceholderError */
export const variablesIn = (text: string): string[] => piecesOf(text).flatMap(one => ('variable' in one ? [one.variable] : []))

/** Every text within JSON, with where it stands below it. */
export function textsIn(value: unknown, pointer = ''): { text: string; pointer: string }[] {
  if (typeof value === 'string') return [{ text: value, pointer }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => textsIn(one, `${pointer}/${pointerPart(name)}`))
}
