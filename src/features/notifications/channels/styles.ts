import type { Message } from '../message'

/** Visual style of a message. */
type Style = 'critical' | 'warning' | 'good' | 'plain'

export const styleOf = ({ state, severity }: Pick<Message, 'state' | 'severity'>): Style =>
  state === 'recovery'
    ? 'good'
    : severity === 'critical'
      ? 'critical'
      : severity === 'warning' || state === 'problem'
        ? 'warning'
        : 'plain'

const colors: Record<Style, string> = { critical: '#e01e5a', warning: '#ecb22e', good: '#2eb886', plain: '#6b7280' }

/** As `#rrggbb`. */
export const colorOf = (message: Message): string => colors[styleOf(message)]

/** Truncates a text to a maximum length, with an ellipsis. */
export const truncate = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  return `${text.slice(0, maxLength - 1).toWellFormed()}…`
}
