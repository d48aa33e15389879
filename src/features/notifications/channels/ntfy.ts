import { Type } from '@sinclair/typebox'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { grouped, Line } from '../../../core/shapes'
import { invalid } from '../../../core/problem'
import { checkResponse, objectOf, postJson } from './responses'
import type { ChannelKind, Outgoing } from './channel'
import { HttpUrl, Timezone } from './fields'
import { truncate, styleOf } from './styles'

const priorities = { critical: 5, warning: 4, plain: 3, good: 2 } as const
// Short codes that ntfy shows as emoji before the title.
const tags = { critical: 'rotating_light', warning: 'warning', plain: 'information_source', good: 'white_check_mark' } as const

const form = settingsForm({
  server_url: HttpUrl('Server URL.', { ...destination, default: 'https://ntfy.sh' }),
  topic: Type.String({
    pattern: '^[-_A-Za-z0-9]{1,64}$',
    description: 'Topic. On a public server, anyone who knows it can read the messages.',
  }),
  ...grouped('Authentication', {
    token: Type.Optional(Line({ ...secret, minLength: 1, maxLength: 200, description: 'Access token. Stored encrypted.' })),
    username: Type.Optional(
      Type.String({
        ...destination,
        minLength: 1,
        maxLength: 100,
        pattern: '^[^:\\u0000-\\u001f]+$',
        description: 'Username, if you don’t use a token.',
      }),
    ),
    password: Type.Optional(Line({ ...secret, minLength: 1, maxLength: 200, description: 'Password. Stored encrypted.' })),
  }),
  timezone: Timezone(),
})
type NtfySettings = SettingsOf<typeof form>

/** An ntfy topic (docs.ntfy.sh/publish, “publish as JSON”). Limits: 4,096 bytes per message, priorities 1 to 5. */
export const ntfy: ChannelKind<NtfySettings> = {
  kind: 'ntfy',
  title: 'ntfy',
  ...form,
  paceMs: 500,
  goneBeforeDisable: 3,
  validate({ token, username, password }) {
    if ((username === undefined) !== (password === undefined))
      throw invalid([{ pointer: '#/settings/password', code: 'required', detail: 'must be set together with `username`.' }])
    if (token !== undefined && username !== undefined)
      throw invalid([
        { pointer: '#/settings/token', code: 'not_allowed', detail: 'can’t be combined with `username`. Set only one of them.' },
      ])
  },
  async send(settings, outgoing, context) {
    const { message } = outgoing
    const style = styleOf(message)
    const actions = [
      ...(message.link === null ? [] : [{ action: 'view', label: 'View details', url: message.link }]),
      ...(message.acknowledgeLink === null ? [] : [{ action: 'view', label: 'Acknowledge', url: message.acknowledgeLink }]),
    ]
    const content = {
      topic: settings.topic,
      title: truncate(message.title, 250),
      message: textOf(outgoing),
      priority: priorities[style],
      tags: [tags[style]],
      ...(message.link !== null && { click: message.link }),
      ...(actions.length > 0 && { actions }),
    }
    const response = await postJson(context, `${settings.server_url.replace(/\/+$/, '')}/`, content, authorization(settings))
    const body = objectOf(response)
    return checkResponse(context, response, [401, 403, 404], {
      ...(typeof body['error'] === 'string' && { text: truncate(body['error'], 200) }),
      ...(response.status === 200 && { text: `Message ${String(body['id'] ?? '')}`.trim() }),
    })
  },
}

function authorization({ token, username, password }: NtfySettings): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

/** Limited by bytes. Never empty: ntfy shows an empty message as `triggered`. */
function textOf({ message, hub }: Outgoing): string {
  const text = [message.text, ...message.facts.map(([name, value]) => `${name}: ${value}`)].filter(Boolean).join('\n')
  let truncated = truncate(text, 3_500)
  while (Buffer.byteLength(truncated) > 3_800) truncated = truncate(truncated, Math.floor(truncated.length * 0.9))
  return `${truncated}\n\n${truncate(hub.name, 100)}`.trim()
}
