import { Type } from '@sinclair/typebox'
import { Line, Shape } from '../../../core/shapes'
import { invalid } from '../../../core/problem'
import type { Message } from '../message'
import { jsonIn, judged } from './answers'
import type { ChannelKind } from './channel'
import { HttpAddress } from './fields'
import { cut, lookOf } from './looks'

interface NtfySettings {
  server_url: string
  topic: string
  token?: string
  username?: string
  password?: string
}

const priorities = { critical: 5, warning: 4, plain: 3, good: 2 } as const
// Short codes that ntfy shows as an emoji in front of the title.
const tags = { critical: 'rotating_light', warning: 'warning', plain: 'information_source', good: 'white_check_mark' } as const

/** A topic of ntfy (docs.ntfy.sh/publish, “publish as JSON”): messages of 4,096 bytes, priorities from 1 to 5. */
export const ntfy: ChannelKind<NtfySettings> = {
  kind: 'ntfy',
  title: 'ntfy',
  settings: Shape({
    server_url: HttpAddress('The server.', 'https://ntfy.sh'),
    topic: Type.String({
      pattern: '^[-_A-Za-z0-9]{1,64}$',
      description: 'The topic. Where it is open to all, it is as good as a password.',
    }),
    token: Type.Optional(Line({ minLength: 1, maxLength: 200, description: 'Access token.' })),
    username: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[^:\\u0000-\\u001f]+$',
        description: 'Name to log in with, where there is no token.',
      }),
    ),
    password: Type.Optional(Line({ minLength: 1, maxLength: 200, description: 'Its password.' })),
  }),
  secrets: ['token', 'password'],
  destination: ['server_url', 'username'],
  paceMs: 500,
  goneToDisable: 3,
  refuse({ token, username, password }) {
    if ((username === undefined) !== (password === undefined))
      throw invalid([{ pointer: '#/settings/password', code: 'required', detail: 'goes together with `username`.' }])
    if (token !== undefined && username !== undefined)
      throw invalid([
        { pointer: '#/settings/token', code: 'not_allowed', detail: 'does not go with `username`: name one of the two.' },
      ])
  },
  async send(settings, { message }, around) {
    const look = lookOf(message)
    const actions = [
      ...(message.link === null ? [] : [{ action: 'view', label: 'Open', url: message.link }]),
      ...(message.acknowledgeLink === null ? [] : [{ action: 'view', label: 'Acknowledge', url: message.acknowledgeLink }]),
    ]
    const answer = await around.request({
      url: `${settings.server_url.replace(/\/+$/, '')}/`,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...login(settings) },
      body: JSON.stringify({
        topic: settings.topic,
        title: cut(message.title, 250),
        message: textOf(message),
        priority: priorities[look],
        tags: [tags[look]],
        ...(message.link !== null && { click: message.link }),
        ...(actions.length > 0 && { actions }),
      }),
    })
    const told = jsonIn(answer)
    return judged(answer, around.clock.now(), [401, 403, 404], {
      ...(typeof told['error'] === 'string' && { said: cut(told['error'], 200) }),
      ...(answer.status === 200 && { said: `Message ${String(told['id'] ?? '')}`.trim() }),
    })
  },
}

function login({ token, username, password }: NtfySettings): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (username === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

/** Bytes count, and an empty message is shown as `triggered`. */
function textOf(message: Message): string {
  const text = [message.text, ...message.facts.map(([name, value]) => `${name}: ${value}`)].filter(Boolean).join('\n')
  let short = cut(text || message.title, 3_500)
  while (Buffer.byteLength(short) > 4_000) short = cut(short, Math.floor(short.length * 0.9))
  return short
}
