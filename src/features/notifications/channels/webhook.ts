import { Type } from '@sinclair/typebox'
import { invalid, type FieldProblem } from '../../../core/problem'
import { Prose, Shape, Words } from '../../../core/shapes'
import { judged } from './answers'
import type { ChannelKind, Outgoing } from './channel'
import { HttpAddress } from './fields'
import { filled, unknownIn, wholeOf, type Escaping } from './template'

interface WebhookSettings {
  url: string
  method: 'POST' | 'PUT' | 'PATCH' | 'GET'
  headers: Record<string, string>
  secrets: Record<string, string>
  content_type: string
  body?: string
  recovery_body?: string
}

const mostBody = 16_384
const template = (description: string) => Type.Optional(Prose({ maxLength: mostBody, description }))
const named = (value: ReturnType<typeof Type.String>, pattern: string, most: number, description: string) =>
  Type.Record(Type.String({ pattern }), value, { maxProperties: most, default: {}, additionalProperties: false, description })

/** Any service that takes an HTTP request: what is sent is written down as a template. */
export const webhook: ChannelKind<WebhookSettings> = {
  kind: 'webhook',
  title: 'Webhook',
  settings: Shape({
    url: HttpAddress('Where to. Placeholders are percent-encoded.'),
    method: Words(['POST', 'PUT', 'PATCH', 'GET'], { default: 'POST', description: 'The request method.' }),
    headers: named(
      Type.String({ maxLength: 4_096, pattern: '^[\\x20-\\x7e\\x80-\\xff]*$' }),
      "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
      20,
      'Headers of the request, by name. Values are secrets.',
    ),
    secrets: named(
      Type.String({ minLength: 1, maxLength: 4_096 }),
      '^[A-Za-z0-9_-]{1,50}$',
      20,
      'Values that templates name as `{{secret.<name>}}`.',
    ),
    content_type: Type.String({
      maxLength: 100,
      pattern: '^[a-z0-9.+-]+/[a-z0-9.+-]+(;[ -~]*)?$',
      default: 'application/json',
      description: 'Media type of the body. In JSON, and in a form, what placeholders stand for is escaped.',
    }),
    body: template('Template of the body; absent, it is the whole message as JSON. A GET has none.'),
    recovery_body: template('Template of the body of recoveries; absent, they have that of `body`.'),
  }),
  secrets: ['headers/*', 'secrets/*'],
  destination: ['url'],
  paceMs: 200,
  // A receiver that is being deployed anew answers 404 for a moment.
  goneToDisable: 3,
  refuse(settings) {
    const secrets = Object.keys(settings.secrets)
    const problems: FieldProblem[] = []
    for (const name of ['url', 'body', 'recovery_body'] as const)
      for (const unknown of unknownIn(settings[name] ?? '', secrets))
        problems.push({
          pointer: `#/settings/${name}`,
          code: 'unknown_placeholder',
          detail: `has the placeholder {{${unknown.slice(0, 60)}}}, which stands for nothing.`,
        })
    // The host is settled here, and what secrets may go there with it.
    if (/\{\{|\$/.test(authorityOf(settings.url)))
      problems.push({ pointer: '#/settings/url', code: 'not_allowed', detail: 'has placeholders behind the host alone.' })
    if (settings.method === 'GET' && (settings.body ?? settings.recovery_body) !== undefined)
      problems.push({ pointer: '#/settings/body', code: 'not_allowed', detail: 'does not go with the method GET.' })
    if (problems.length > 0) throw invalid(problems)
  },
  async send(settings, outgoing, around) {
    const { method, secrets } = settings
    const headers = new Headers(
      Object.entries(settings.headers).map(
        ([name, value]) => [name, headerText(filled(value, outgoing, secrets, 'none'))] as [string, string],
      ),
    )
    if (method !== 'GET' && !headers.has('content-type')) headers.set('content-type', settings.content_type)
    const answer = await around.request(
      {
        url: filled(settings.url, outgoing, secrets, 'percent'),
        method,
        headers,
        ...(method !== 'GET' && { body: bodyOf(settings, outgoing) }),
      },
      { totalMs: 20_000 },
    )
    return judged(answer, around.clock.now(), [401, 403, 404, 410])
  },
}

/** A header holds octets of one line (RFC 9110 section 5.5): other scripts than Latin go as UTF-8. */
const headerText = (text: string): string => Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').trim(), 'utf8').toString('latin1')

function bodyOf(settings: WebhookSettings, outgoing: Outgoing): string {
  const text = (outgoing.message.state === 'recovery' ? settings.recovery_body : undefined) ?? settings.body
  if (text === undefined) return JSON.stringify(wholeOf(outgoing))
  return filled(text, outgoing, settings.secrets, escapingOf(settings.content_type))
}

const escapingOf = (contentType: string): Escaping =>
  /[/+]json\b/.test(contentType) ? 'json' : contentType.startsWith('application/x-www-form-urlencoded') ? 'percent' : 'none'

const authorityOf = (url: string): string => /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
