import { humanize } from './status'

const names: Record<string, string> = { system: 'Bailiwick', anonymous: 'unauthenticated' }

/** The name of the user, token, or other actor that did something. */
export const actorName = ({ type, name }: { type: string; name?: string | null }): string => names[type] ?? name ?? humanize(type)
