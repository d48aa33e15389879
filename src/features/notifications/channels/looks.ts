import type { Message } from '../message'

/** What a message looks like at a glance. */
type Look = 'critical' | 'warning' | 'good' | 'plain'

export const lookOf = ({ state, severity }: Pick<Message, 'state' | 'severity'>): Look =>
  state === 'recovery'
    ? 'good'
    : severity === 'critical'
      ? 'critical'
      : severity === 'warning' || state === 'problem'
        ? 'warning'
        : 'plain'

const colors: Record<Look, string> = { critical: '#e01e5a', warning: '#ecb22e', good: '#2eb886', plain: '#6b7280' }

/** As `#rrggbb`. */
export const colorOf = (message: Message): string => colors[lookOf(message)]

/** A text of at most so many characters, with an ellipsis where something is missing. */
export const cut = (text: string, most: number): string => {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).toWellFormed()}…`
}
