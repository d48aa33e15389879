import { instant } from '../../../core/clock'
import type { Outgoing } from './channel'

/** How inserted values are escaped: not at all, for a JSON string, or percent-encoded (RFC 3986 section 2.1). */
export type Escaping = 'none' | 'json' | 'percent'

/** Values of placeholders; null is inserted as an empty string. */
type Values = Readonly<Record<string, (outgoing: Outgoing) => string | null>>

const statuses = { problem: 'down', recovery: 'up', information: 'information' } as const
const statusOf = ({ message }: Outgoing): string => statuses[message.state]
const nameOf = ({ message }: Outgoing): string => message.resource?.name ?? message.resource?.id ?? message.title
const actions = { problem: 'trigger', recovery: 'resolve', information: 'trigger' } as const

/** Placeholders in double braces: `{{message.title}}`. */
const placeholders: Values = {
  'hub.name': one => one.hub.name,
  'hub.url': one => one.hub.url,
  'notification.id': one => one.id,
  'message.kind': one => one.message.kind,
  'message.state': one => one.message.state,
  'message.severity': one => one.message.severity,
  'message.title': one => one.message.title,
  'message.text': one => one.message.text,
  'message.facts': one => one.message.facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
  'message.link': one => one.message.link,
  'message.acknowledge_link': one => one.message.acknowledgeLink,
  'message.thread': one => one.message.thread,
  'message.tags': one => one.message.tags.join(' '),
  'message.occurred_at': one => instant(one.message.occurredAt),
  'message.count': one => String(one.count),
  'resource.type': one => one.message.resource?.type ?? null,
  'resource.id': one => one.message.resource?.id ?? null,
  'resource.name': one => one.message.resource?.name ?? null,
  status: statusOf,
  event_action: one => actions[one.message.state],
}

/** Placeholders of Healthchecks, such as `$NAME`, for existing templates. `$NAME_JSON` inserts a JSON string with quotes. */
const healthchecksPlaceholders: Values = {
  NAME: nameOf,
  CODE: one => one.message.resource?.id ?? one.message.thread,
  STATUS: statusOf,
  NOW: one => instant(one.message.occurredAt),
  TAGS: one => one.message.tags.join(' '),
  BODY: one => [one.message.text, ...one.message.facts.map(([name, value]) => `${name}: ${value}`)].filter(Boolean).join('\n'),
}

const placeholderPattern = /\{\{\s*([\w.-]+)\s*\}\}/g
const healthchecksPattern = new RegExp(
  `\\$(TAG\\d{1,2}|${Object.keys(healthchecksPlaceholders).join('|')})(_JSON)?(?![A-Z])`,
  'g',
)

/** Unknown placeholders in double braces. @param secrets names of the existing secrets */
export const unknownPlaceholders = (text: string, secrets: readonly string[]): string[] =>
  [...text.matchAll(placeholderPattern)].map(match => match[1]!).filter(name => !isKnown(name, secrets))

/** Inserts the values of placeholders. Inserted values are not expanded again. */
export function renderTemplate(
  text: string,
  outgoing: Outgoing,
  secrets: Readonly<Record<string, string>>,
  escaping: Escaping,
): string {
  const escape = escapes[escaping]
  return text
    .split(new RegExp(`(${placeholderPattern.source})`))
    .map((part, index) => {
      // Splitting by nested groups yields the text between, the placeholder, and its name.
      if (index % 3 === 1) return ''
      // Already JSON, so not escaped.
      if (index % 3 === 2)
        return part === 'json' && escaping === 'json'
          ? valueOf(part, outgoing, secrets)
          : escape(valueOf(part, outgoing, secrets))
      return part.replaceAll(healthchecksPattern, (_, name: string, json: string | undefined) => {
        const value = healthchecksValue(name, outgoing)
        if (json !== undefined) return JSON.stringify(value)
        return escaping === 'percent' ? escape(value) : value
      })
    })
    .join('')
}

const isKnown = (name: string, secrets: readonly string[]): boolean =>
  name === 'json' || Object.hasOwn(placeholders, name) || (name.startsWith('secret.') && secrets.includes(name.slice(7)))

function valueOf(name: string, outgoing: Outgoing, secrets: Readonly<Record<string, string>>): string {
  if (name === 'json') return JSON.stringify(messageJson(outgoing))
  if (name.startsWith('secret.')) return secrets[name.slice(7)] ?? ''
  return (Object.hasOwn(placeholders, name) ? placeholders[name]!(outgoing) : null) ?? ''
}

function healthchecksValue(name: string, outgoing: Outgoing): string {
  const tag = /^TAG(\d+)$/.exec(name)
  if (tag) return outgoing.message.tags[Number(tag[1]) - 1] ?? ''
  return healthchecksPlaceholders[name]!(outgoing) ?? ''
}

/** The message as JSON. */
export const messageJson = ({ id, message, count, hub }: Outgoing) => ({
  hub,
  notification_id: id,
  count,
  kind: message.kind,
  state: message.state,
  severity: message.severity,
  title: message.title,
  text: message.text,
  facts: message.facts.map(([name, value]) => ({ name, value })),
  link: message.link,
  acknowledge_link: message.acknowledgeLink,
  thread: message.thread,
  resource: message.resource,
  tags: message.tags,
  occurred_at: instant(message.occurredAt),
})

const escapes: Record<Escaping, (text: string) => string> = {
  none: text => text,
  json: text => JSON.stringify(text).slice(1, -1),
  percent: encodeURIComponent,
}
