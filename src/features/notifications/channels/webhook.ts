import { Type } from '@sinclair/typebox'
import { requestJson } from '../../../adapters/json-http'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { invalid, type FieldProblem } from '../../../core/problem'
import { grouped, Prose, Words } from '../../../core/shapes'
import { checkResponse } from './responses'
import type { ChannelKind, Outgoing } from './channel'
import { HttpUrl, Timezone } from './fields'
import { renderTemplate, unknownPlaceholders, messageJson, type Escaping } from './template'

const maxBodyLength = 16_384
const template = (description: string) => Type.Optional(Prose({ maxLength: maxBodyLength, description }))
const stringMap = (value: ReturnType<typeof Type.String>, pattern: string, maxProperties: number, description: string) =>
  Type.Record(Type.String({ pattern }), value, { maxProperties, default: {}, additionalProperties: false, description })

const form = settingsForm({
  url: HttpUrl('URL to send the request to. Placeholder values are percent-encoded.', destination),
  ...grouped('Request', {
    method: Words(['POST', 'PUT', 'PATCH', 'GET'], { default: 'POST', description: 'HTTP method.' }),
    headers: stringMap(
      Type.String({ ...secret, maxLength: 4_096, pattern: '^[\\x20-\\x7e\\x80-\\xff]*$' }),
      "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
      20,
      'HTTP headers to send. Values are stored encrypted.',
    ),
    content_type: Type.String({
      maxLength: 100,
      pattern: '^[a-z0-9.+-]+/[a-z0-9.+-]+(;[ -~]*)?$',
      default: 'application/json',
      description: 'Media type of the body. Placeholder values are escaped in JSON and form bodies.',
    }),
    secrets: stringMap(
      Type.String({ ...secret, minLength: 1, maxLength: 4_096 }),
      '^[A-Za-z0-9_-]{1,50}$',
      20,
      'Secrets for use in templates as `{{secret.<name>}}`. Stored encrypted.',
    ),
  }),
  ...grouped('Body', {
    body: template('Body template. Default: the whole message as JSON. Not used with GET.'),
    recovery_body: template('Body template for recoveries. Default: `body`.'),
  }),
  timezone: Timezone('`{{message.occurred_at}}` is always in UTC.'),
})
type WebhookSettings = SettingsOf<typeof form>

/** Any service with an HTTP API: the request is built from templates. */
export const webhook: ChannelKind<WebhookSettings> = {
  kind: 'webhook',
  title: 'Webhook',
  ...form,
  paceMs: 200,
  // A receiver may respond with 404 during a deployment.
  goneBeforeDisable: 3,
  validate(settings) {
    const secrets = Object.keys(settings.secrets)
    const problems: FieldProblem[] = []
    for (const name of ['url', 'body', 'recovery_body'] as const)
      for (const unknown of unknownPlaceholders(settings[name] ?? '', secrets))
        problems.push({
          pointer: `#/settings/${name}`,
          code: 'unknown_placeholder',
          detail: `has the unknown placeholder {{${unknown.slice(0, 60)}}}.`,
        })
    // A fixed host determines where secrets are sent.
    if (/\{\{|\$/.test(authorityOf(settings.url)))
      problems.push({
        pointer: '#/settings/url',
        code: 'not_allowed',
        detail: 'can’t have placeholders in the host or before it.',
      })
    if (settings.method === 'GET' && (settings.body ?? settings.recovery_body) !== undefined)
      problems.push({ pointer: '#/settings/body', code: 'not_allowed', detail: 'can’t be set with the method GET.' })
    if (problems.length > 0) throw invalid(problems)
  },
  async send(settings, outgoing, context) {
    const { method, secrets } = settings
    const headers = new Headers(
      Object.entries(settings.headers).map(
        ([name, value]) => [name, headerValue(renderTemplate(value, outgoing, secrets, 'none'))] as [string, string],
      ),
    )
    if (method !== 'GET' && !headers.has('content-type')) headers.set('content-type', settings.content_type)
    const response = await requestJson(
      context,
      {
        url: renderTemplate(settings.url, outgoing, secrets, 'percent'),
        method,
        headers,
        ...(method !== 'GET' && { body: bodyOf(settings, outgoing) }),
      },
      { totalMs: 20_000, overflow: 'drop' },
    )
    return checkResponse(context, response, [401, 403, 404, 410])
  },
}

/** A header value is one line of bytes (RFC 9110 section 5.5): non-Latin text is sent as UTF-8. */
const headerValue = (text: string): string => Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').trim(), 'utf8').toString('latin1')

function bodyOf(settings: WebhookSettings, outgoing: Outgoing): string {
  const text = (outgoing.message.state === 'recovery' ? settings.recovery_body : undefined) ?? settings.body
  if (text === undefined) return JSON.stringify(messageJson(outgoing))
  return renderTemplate(text, outgoing, settings.secrets, escapingOf(settings.content_type))
}

const escapingOf = (contentType: string): Escaping =>
  /[/+]json\b/.test(contentType) ? 'json' : contentType.startsWith('application/x-www-form-urlencoded') ? 'percent' : 'none'

const authorityOf = (url: string): string => /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
